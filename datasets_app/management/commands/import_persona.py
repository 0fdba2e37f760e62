from typing import Any

from django.core.management.base import CommandError

from datasets_app.catalog.import_persona import import_persona
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, show_name
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import read_text
from datasets_app.management.terminal import format_problem, report_errors


class Command(BaseCommand):
    help = """Import persona YAML files. A new id creates a persona; a known one updates it.

A file that Alignmenter would crash on (E701) is refused; content that it would silently
ignore is reported.

exit codes:
  0  imported
  1  a file was refused (the others are imported)
  2  could not run"""

    arguments = (
        option("files FILE", "a YAML file, or - for standard input", nargs="+"),
        option("--strict", "also refuse personas with warnings"),
    )

    def handle(self, *, files: list[str], strict: bool, **_: Any) -> None:
        refused = 0
        for file in files:
            text = read_text(file)
            try:
                with report_errors(self):
                    self._import(show_name(file), text, strict)
            except CommandError as error:
                if error.returncode != EXIT_FINDINGS or len(files) == 1:
                    raise
                self.stderr.write(str(error))
                refused += 1
        if refused:
            raise CommandError(f"{refused} of {len(files)} files were refused.", returncode=EXIT_FINDINGS)

    def _import(self, file: str, text: str, strict: bool) -> None:
        imported = import_persona(text, strict=strict, file_name=file)
        for item in imported.findings:
            self.stderr.write(
                format_problem(file=file, code=item.code, field=item.field, message=item.message)
            )
        self.stdout.write(f"{imported.persona.persona_id}: {imported.change}.")
