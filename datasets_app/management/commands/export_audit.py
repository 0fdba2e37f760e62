from argparse import ArgumentParser, ArgumentTypeError
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from typing import Any

from datasets_app.auditing.events import AuditFilter
from datasets_app.auditing.export_audit import AUDIT_FORMATS, export_audit
from datasets_app.core.atomic_files import write_atomically
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import pluralize


class Command(BaseCommand):
    help = """Write the audit trail, or some of it, to a file: the earliest event first.

Each line has its place in the chain of seals. That it was written is in the trail as well.

examples:
  manage.py export_audit --out trail.jsonl
  manage.py export_audit --dataset support --action download --out who.csv
  manage.py export_audit --from 2026-01-01 --to 2026-01-31 --out - | wc -l

exit codes:
  0  written, if only an empty file
  2  could not run"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", metavar="FILE", required=True, help="- for standard output")
        parser.add_argument("--format", choices=AUDIT_FORMATS, help="default: csv for FILE.csv, else jsonl")
        parser.add_argument(
            "--from", dest="since", type=_parse_day, metavar="DAY", help="2026-01-31; included"
        )
        parser.add_argument("--to", dest="until", type=_parse_day, metavar="DAY", help="included")
        parser.add_argument("--action", default="", help="for example download")
        parser.add_argument("--dataset", default="", metavar="NAME")
        parser.add_argument("--actor", default="", metavar="NAME")

    def handle(self, **options: Any) -> None:
        wanted = AuditFilter(*(options[name] for name in AuditFilter._fields))
        to_stdout, out_file = options["out"] == "-", Path(options["out"]).resolve()
        format = options["format"] or ("csv" if options["out"].endswith(".csv") else "jsonl")
        progress = terminal.Progress("Exporting", "events")
        place = nullcontext(terminal.get_standard_output()) if to_stdout else write_atomically(out_file)
        with place as out:
            result = export_audit(out, wanted, format=format, actor=None, report_progress=progress)
        progress.clear()
        if not to_stdout:
            told = f"{options['out']}: {pluralize(result.events, 'event')}. sha256 {result.sha256}"
            self.stdout.write(told)


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no day; write it like 2026-01-31") from None
