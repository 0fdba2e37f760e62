from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from datasets_app.catalog.import_persona import import_persona
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import read_text
from datasets_app.management.terminal import EXIT_FINDINGS, format_problem, report_errors


class Command(BaseCommand):
    help = (
        "Import persona YAML files: one with a new id is created, one that exists is brought up to date. "
        "What Alignmenter would crash on (E701) is refused; what it would silently pass over is reported. "
        "Exit codes: 0 saved, 1 a file was refused (the others are saved), 2 could not run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", metavar="FILE", nargs="+", help="a YAML file, or - for standard input")
        parser.add_argument(
            "--strict", action="store_true", help="refuse a persona that has warnings as well"
        )

    def handle(self, *, files: list[str], strict: bool, **_: Any) -> None:
        refused = 0
        for file in files:
            text = read_text(file)
            try:
                with report_errors(self):
                    self.import_text("standard input" if file == "-" else file, text, strict)
            except CommandError as error:
                if error.returncode != EXIT_FINDINGS or len(files) == 1:
                    raise
                self.stderr.write(str(error))
                refused += 1
        if refused:
            raise CommandError(f"{refused} of {len(files)} files were refused.", returncode=EXIT_FINDINGS)

    def import_text(self, file: str, text: str, strict: bool) -> None:
        imported = import_persona(text, strict=strict, file_name=file)
        for item in imported.findings:
            self.stderr.write(
                format_problem(file=file, code=item.code, field=item.field, message=item.message)
            )
        self.stdout.write(f"{imported.persona.persona_id}: {imported.change}.")
