from typing import Any

from annotations_app.rubrics.create import REASONS, create_rubric_campaigns
from datasets_app.catalog.facts import get_dataset
from datasets_app.catalog.personas import get_persona
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Have people judge the rubrics of a dataset's cases: one campaign for all with the same rubrics.

  manage.py create_rubrics cases --persona default_v1 --annotators ana,ben
  manage.py export_dataset cases --out cases.jsonl
  alignmenter rubric-grade cases.jsonl --judge MODEL --out grades.json
  manage.py compare_rubrics cases --grades grades.json

A case is a session with metadata.rubrics, a list of {"criterion", "points", "tags"}; its last
reply is judged, as rubric-grade does. The campaign asks of each rubric whether it is met; the
rubrics are its guidelines. Run it again after rubrics have changed: their judgments become
stale, and can be queued again.

exit codes:
  0  every case has a campaign
  1  some cases were left out; standard error says why
  2  could not run: no rubrics, no such dataset, persona or user, data not scrubbed"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--persona ID", "a persona_id", required=True),
        option("--annotators USER,…", "user names, separated by commas", required=True),
        option("--overlap N", "annotators for each case (default: 2)", default=2),
        option("--override REASON", "why to judge unscrubbed data", default=""),
    )

    def handle(self, *, name: str, persona: str, annotators: str, **options: Any) -> None:
        dataset = get_dataset(name)
        with Progress("Preparing", "cases") as progress:
            done = create_rubric_campaigns(
                dataset,
                get_persona(persona),
                annotators.split(","),
                overlap=options["overlap"],
                override=options["override"],
                report_progress=progress,
            )
        self.stdout.write(
            f"{format_count(done.created, 'campaign')} created, {done.changed:,} with changed rubrics, "
            f"{done.unchanged:,} as before."
        )
        for reason, count in sorted(done.left_out.items()):
            self.stderr.write(f"{format_count(count, 'case')} left out: {REASONS[reason]}.")
        if done.left_out:
            raise SystemExit(EXIT_FINDINGS)
