from argparse import ArgumentTypeError
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from typing import Any

from datasets_app.auditing.export_audit import AUDIT_FORMATS, export_audit
from datasets_app.auditing.parameters import FILTERS, AuditExportParameters
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress, get_standard_output
from datasets_app.core.atomic_files import write_atomically
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a day; write it like 2026-01-31") from None


class Command(BaseCommand):
    help = """Write the audit log, or part of it, to a file, oldest event first.

Each line has its position in the chain of seals. The export itself is recorded in the log.

examples:
  manage.py export_audit --out audit.jsonl
  manage.py export_audit --dataset support --action download --out downloads.csv
  manage.py export_audit --from 2026-01-01 --to 2026-01-31 --out - | wc -l

exit codes:
  0  written, even if no event matches
  2  could not run"""

    arguments = (
        option("--out FILE", "- for standard output", required=True),
        option("--format", "default: csv for FILE.csv, else jsonl", choices=AUDIT_FORMATS),
        option("--from DAY", "first day, for example 2026-01-31", dest="since", type=_parse_day),
        option("--to DAY", "last day", dest="until", type=_parse_day),
        option("--action ACTION", "only this action, for example download", default=""),
        option("--dataset NAME", "only events of this dataset", default=""),
        option("--actor NAME", "only events of this user", default=""),
    )

    def handle(self, **options: Any) -> None:
        to_stdout = options["out"] == "-"
        format = options["format"] or ("csv" if options["out"].endswith(".csv") else "jsonl")
        parameters = AuditExportParameters(format=format, **{name: options[name] for name in FILTERS})
        target = (
            nullcontext(get_standard_output())
            if to_stdout
            else write_atomically(Path(options["out"]).resolve())
        )
        with Progress("Exporting", "events") as progress, target as out:
            result = export_audit(out, parameters, actor=None, report_progress=progress)
        if not to_stdout:
            self.stdout.write(
                f"{options['out']}: {format_count(result.events, 'event')}. sha256 {result.sha256}"
            )
