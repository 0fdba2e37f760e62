from typing import Any

from annotations_app.campaigns.members import get_campaign
from annotations_app.judges.parameters import JuryParameters
from annotations_app.judges.tasks import form_jury
from annotations_app.management.judging import report_outcome
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.model_calls.endpoint import DEFAULT_CONCURRENCY
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """\
Form a jury: several judges whose verdicts are combined by weights learned from labels of people.

The members judge the replies that people labeled outside of the test split. Weights are learned from
these, the jury is saved as the next version of NAME, and judges the campaign. It is a judge like any
other: run_judge NAME, certify_judge, export_judge. With --certainty a member is asked only about
replies of which those before it are less sure: name the cheapest first.

examples:
  manage.py form_jury tone-may --name panel --members offline,brand,strict
  manage.py form_jury tone-may --name cascade --members small,large --certainty 0.95 --max-cost 5

exit codes:
  0  every reply is judged, by the criteria that juries can answer: not texts, tags, numbers, many answers
  1  some are not judged, the budget is spent, or a criterion has too few labels
  2  could not run: no such campaign or judge, too few labels, endpoint not allowed"""

    arguments = (
        option("campaign CAMPAIGN"),
        option("--name NAME", "of the jury", required=True),
        option("--members JUDGE,…", "judges, or NAME@VERSION, the cheapest first", required=True),
        option(
            "--certainty P",
            "ask a member only where those before it are less sure (default: ask all)",
            type=float,
        ),
        option("--swap", "judge each pair both ways round: an answer must be the same"),
        option("--concurrency N", default=DEFAULT_CONCURRENCY),
        option("--max-tokens-total N", "stop before more are used", type=int, dest="max_tokens"),
        option("--max-cost AMOUNT", "stop before it costs more, at members' prices", type=float),
        option("--override REASON", "why to send raw text to members' endpoints", default=""),
    )

    def handle(self, *, campaign: str, members: str, **options: Any) -> None:
        found = get_campaign(campaign)
        names = [name.strip() for name in members.split(",") if name.strip()]
        formed = run_job(
            "form_jury",
            form_jury,
            dataset_name=found.dataset.name,
            parameters=JuryParameters.from_options(options, campaign=found.name, members=names),
            progress=Progress("Judging", "replies"),
        )
        for key, count in formed.learned.items():
            self.stdout.write(
                f"{key}: weights from {format_count(count, 'labeled reply', 'labeled replies')}."
            )
        for key, reason in (formed.left_out | formed.too_few).items():
            self.stdout.write(f"{key}: left out, {reason}.")
        report_outcome(self.stdout, formed.judge, formed.outcome)
        if not formed.is_complete:
            raise SystemExit(EXIT_FINDINGS)
