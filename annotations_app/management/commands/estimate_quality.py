"""How good the assistant is, from the labels of a campaign."""

import json
from typing import Any

from annotations_app.domain.to_json import to_json
from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Estimate how many replies have each answer to a campaign's criteria, with a 95 % interval.

examples:
  estimate_quality --campaign autumn
  estimate_quality --campaign autumn --plan 8
  estimate_quality --campaign autumn --format json

The labels of people so far stand for all replies of the campaign; whole sessions are what varies.
Judges that have judged the campaign's replies make the interval shorter (prediction-powered
inference); people decide what is right, and the estimate is right however bad a judge is.

Two intervals are printed: one for a single look, and a wider one that holds however often one
looks while labels come in. --plan says how many more labels bring the first to a width.

exit codes:
  0  estimated
  2  could not run: no such campaign, no labels"""

    arguments = (
        option("--campaign NAME", "the campaign whose labels to use", required=True),
        option(
            "--judge NAME",
            "a judge, or NAME@VERSION, whose verdicts help; repeat it for several "
            "(default: all that judged the campaign)",
            repeatable=True,
        ),
        option(
            "--plan POINTS",
            "say how many more labels give an interval this wide, in percentage points",
            type=float,
        ),
        option("--format", "output format", choices=("text", "json"), default="text"),
    )

    def handle(self, **options: Any) -> None:
        from annotations_app.campaigns.members import get_campaign
        from annotations_app.domain.estimates.quality import format_quality
        from annotations_app.estimates.measure import estimate_quality

        width = None if options["plan"] is None else options["plan"] / 100
        report = estimate_quality(get_campaign(options["campaign"]), judges=options["judge"], width=width)
        if not any(rate.people.labels for rate in report.rates):
            raise command_error(f"There are no labels in {report.campaign}.")
        if options["format"] == "json":
            self.stdout.write(json.dumps(to_json(report), indent=2, allow_nan=False))
        else:
            self.stdout.write(format_quality(report), ending="")
