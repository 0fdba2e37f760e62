from pathlib import Path
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.core.errors import UserError
from datasets_app.domain.releases.run_report import InvalidReport, parse_report
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand
from datasets_app.releasing.runs import explain_invalid, import_run
from datasets_app.releasing.versions import find_release


class Command(BaseCommand):
    help = """Import the report of an `alignmenter run` beside the release that it ran on.

Reads manifest.json and results.json of the folder. The run must have read exactly the file of the
release: the digest in its manifest is compared. A run that was imported before changes nothing.

examples:
  manage.py import_run reports/2026-11-28T11-18-46_nightly --dataset support --version 1.2.0

exit codes:
  0  imported, now or before
  2  could not run: no report, another file than the release, no such release"""

    arguments = (
        option("report FOLDER", "what alignmenter run wrote", type=Path),
        option("--dataset NAME", required=True),
        option("--version V", "such as 1.2.0", required=True, dest="release"),
    )

    def handle(self, *, report: Path, dataset: str, release: str, **options: Any) -> None:
        found = find_release(get_dataset(dataset), release)
        try:
            parsed = parse_report(
                *((report / name).read_bytes() for name in ("manifest.json", "results.json"))
            )
        except InvalidReport as error:
            raise explain_invalid(error) from None
        except OSError as error:
            raise UserError(f"{report} isn't a report of alignmenter run: {error.strerror}.") from None
        run, is_new = import_run(found, parsed)
        replies = format_count(len(run.reply_scores), "scored reply", "scored replies")
        missing = f", {run.missing_replies:,} no longer in the dataset" if run.missing_replies else ""
        done = "imported" if is_new else "was imported before"
        self.stdout.write(f"{run.model} on {found}: {done}, {replies}{missing}.")
