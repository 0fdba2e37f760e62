from typing import Any

from annotations_app.campaigns.members import get_campaign
from annotations_app.judges.judges import get_judge
from annotations_app.judges.parameters import DEFAULT_TRIES, ImproveParameters
from annotations_app.judges.tasks import improve_judge
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """\
Try better prompts for a judge: with replies that it gets wrong as examples, then with instructions
that its model writes from them.

Proposals come from the training split and are compared on the validation split; nothing of the test
split is read. One is accepted, as the next version of the judge, only if its agreement with most
people is surely higher, for as many tries as there were.

examples:
  manage.py improve_judge tone-may --judge brand
  manage.py improve_judge quality --judge brand --criterion correct --tries 5 --max-tokens-total 200000

exit codes:
  0  all prompts were tried, whether one was accepted or not
  1  fewer were tried: the budget is spent, a call failed, or the judge differs nowhere; see the output
  2  could not run: no such campaign or judge, no labels of both splits, endpoint not allowed"""

    arguments = (
        option("campaign CAMPAIGN"),
        option("--judge NAME", "a judge, or NAME@VERSION", required=True),
        option("--criterion KEY", "whose agreement counts, if there are several", default=""),
        option("--tries N", f"default: {DEFAULT_TRIES}", default=DEFAULT_TRIES),
        option("--max-tokens-total N", "stop before more are used", type=int, dest="max_tokens"),
        option("--override REASON", "why to send raw text to the judge's endpoint", default=""),
    )

    def handle(self, *, campaign: str, judge: str, **options: Any) -> None:
        found, chosen = get_campaign(campaign), get_judge(judge)
        done = run_job(
            "improve_judge",
            improve_judge,
            dataset_name=found.dataset.name,
            parameters=ImproveParameters.from_options(options, campaign=found.name, judge=chosen.full_name),
            progress=Progress("Trying prompts", "prompts"),
        )
        for sentence in done.sentences:
            self.stdout.write(sentence)
        if not done.is_complete:
            raise SystemExit(EXIT_FINDINGS)
