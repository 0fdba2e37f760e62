from pathlib import Path
from typing import Any

from annotations_app.models.campaign import DEFAULT_SEED
from annotations_app.review.create import create_review_campaigns
from datasets_app.catalog.facts import get_dataset
from datasets_app.catalog.personas import get_persona
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Create campaigns from the review tasks that `alignmenter review-export` wrote.

Import the file first, which makes a dataset of its conversations:

  manage.py import_dataset tasks.jsonl --name review-may
  manage.py create_review tasks.jsonl --dataset review-may --persona default_v1 --annotators ana,ben
  manage.py export_review tasks.jsonl --dataset review-may --out reviewed.jsonl
  alignmenter review-import RUN --annotations reviewed.jsonl

There is one campaign for each criterion. It asks for the outcome and for the reason, which
Alignmenter requires; the rubric is the guidelines. What the machine said isn't shown. With
--audit, estimate_review says from the judged part how many of all answers violate a criterion.

exit codes:
  0  created and open
  2  could not run: no review tasks, no such dataset, persona or user, data not scrubbed"""

    arguments = (
        option("tasks FILE", "review tasks", type=Path),
        option("--dataset NAME", required=True),
        option("--persona ID", "a persona_id", required=True),
        option("--annotators USER,…", "user names, separated by commas", required=True),
        option("--overlap N", "annotators for each reply (default: 1)", default=1),
        option(
            "--audit N",
            "only tasks that the machine didn't pass, and N others of each criterion, drawn at random "
            "(default: all tasks)",
            type=int,
        ),
        option("--seed N", "of the draw", default=DEFAULT_SEED),
        option("--override REASON", "why to judge unscrubbed data", default=""),
    )

    def handle(self, *, tasks: Path, dataset: str, persona: str, annotators: str, **options: Any) -> None:
        found = get_dataset(dataset)
        with Progress("Preparing", "replies") as progress:
            made = create_review_campaigns(
                tasks,
                found,
                get_persona(persona),
                annotators.split(","),
                overlap=options["overlap"],
                audit=options["audit"],
                seed=options["seed"],
                override=options["override"],
                report_progress=progress,
            )
        for campaign in made.campaigns:
            replies = format_count(campaign.item_count, "reply", "replies")
            self.stdout.write(f"{campaign.name} is open: {replies}.")
        for sentence in made.describe_without():
            self.stderr.write(sentence)
