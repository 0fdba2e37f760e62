import sys
from typing import Any

from annotations_app.campaigns.members import get_campaign
from annotations_app.domain.judging.judge_document import OFFLINE
from annotations_app.judges import tasks
from annotations_app.judges.judges import get_judge
from annotations_app.judges.parameters import JudgeParameters
from annotations_app.management.judging import report_outcome
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.model_calls.endpoint import DEFAULT_CONCURRENCY
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Have a judge answer the criteria of a campaign for each of its replies.

The judge "offline" needs no model: it judges by the persona's lexicon and style rules. Others are
imported with import_judge. One that calls a model sends it the replies with the turns before them,
which the dataset must allow for that endpoint (its metadata) and raw text takes an override for.

What was judged is kept as it comes; run the command again to resume. Replies that couldn't be
judged are counted by their reason, and requested again then.

examples:
  manage.py run_judge tone-may
  manage.py run_judge tone-may --judge brand@2 --max-cost 5 --concurrency 16
  manage.py run_judge tone-may --judge brand --repeat 3

exit codes:
  0  every reply is judged
  1  some are not judged, or the budget is spent
  2  could not run: no such campaign or judge, endpoint not allowed, data not scrubbed"""

    arguments = (
        option("campaign CAMPAIGN"),
        option("--judge NAME", "a judge, or NAME@VERSION (default: offline)", default=OFFLINE),
        option("--repeat K", "judge each reply K times (default: 1)", default=1, dest="repeats"),
        option("--swap", "judge each pair both ways round: an answer must be the same"),
        option("--concurrency N", default=DEFAULT_CONCURRENCY),
        option("--max-tokens-total N", "stop before more are used", type=int, dest="max_tokens"),
        option("--max-cost AMOUNT", "stop before it costs more, at the judge's prices", type=float),
        option("--override REASON", "why to send raw text to the judge's endpoint", default=""),
    )

    def handle(self, *, campaign: str, judge: str, **options: Any) -> None:
        found, chosen = get_campaign(campaign), get_judge(judge)
        outcome = run_job(
            "run_judge",
            tasks.run_judge,
            dataset_name=found.dataset.name,
            parameters=JudgeParameters.from_options(options, campaign=found.name, judge=chosen.full_name),
            progress=Progress("Judging", "replies"),
        )
        report_outcome(self.stdout, chosen.full_name, outcome)
        if not outcome.is_complete:
            sys.exit(EXIT_FINDINGS)
