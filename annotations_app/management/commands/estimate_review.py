import json
from pathlib import Path
from typing import Any

from annotations_app.domain.review_audit import ReviewEstimate, Stratum, describe_rate
from annotations_app.review.estimate import estimate_review
from annotations_app.review.tasks_file import describe_repeated
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Estimate how many answers of a run violate each criterion, from judged review tasks.

  manage.py create_review tasks.jsonl --dataset review-may --persona default_v1 \\
      --annotators ana,ben --audit 50
  manage.py estimate_review tasks.jsonl --dataset review-may

The tasks that the machine didn't pass are a selection and say nothing of the others. With --audit,
create_review has people judge all of these and a random sample of the others, so that both
together stand for all tasks. The 95 % interval is conservative; only settled judgments count.

exit codes:
  0  estimated
  2  could not run: no review tasks, no campaign for them"""

    arguments = (
        option("tasks FILE", "review tasks, as they were exported", type=Path),
        option("--dataset NAME", required=True),
        option("--format", "output format", choices=("text", "json"), default="text"),
    )

    def handle(self, *, tasks: Path, dataset: str, **options: Any) -> None:
        found, repeated = estimate_review(tasks, get_dataset(dataset))
        if repeated:
            self.stderr.write(describe_repeated(repeated))
        if options["format"] == "json":
            self.stdout.write(json.dumps([one.as_json() for one in found], indent=2, allow_nan=False))
            return
        for one in found:
            self.stdout.write(_format_estimate(one))


def _format_estimate(one: ReviewEstimate) -> str:
    return (
        f"{one.criterion}: {describe_rate(one)} of {one.total:,} tasks\n"
        f"    not passed by the machine: {_format_stratum(one.selected)}\n"
        f"    passed, audited at random: {_format_stratum(one.others)}"
    )


def _format_stratum(part: Stratum) -> str:
    chance = "" if part.probability is None else f", each with probability {part.probability:.3g}"
    return f"{part.included:,} of {part.total:,}{chance}; {part.judged:,} judged, {part.violated:,} violated"
