import json
from pathlib import Path
from typing import Any

from annotations_app.cases.make_case import CaseOptions, draft_by_rules, make_case
from annotations_app.cases.parameters import CaseParameters
from annotations_app.cases.tasks import send_case
from annotations_app.models import Campaign
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress
from datasets_app.core.errors import UserError
from datasets_app.domain.generation.families import Variant
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.models import Session


class Command(BaseCommand):
    help = """Make a test case of a reply: its conversation, scrubbed, and variants of what the user asked.

Without --variants, variants are drafted by rules: typos, another tone, an added distraction and
another number. --variants takes those that people wrote, as a JSON list:

  [{"kind": "rephrase", "answer": "same", "text": "Where did my parcel go?"},
   {"kind": "changed_fact", "answer": "change", "text": "Where is my second parcel?"}]

Kinds: typos, tone, distraction, rephrase, language, changed_fact.

examples:
  manage.py make_case support trace-17 --turn 4 --into support-cases --rubric "Apologizes"
  manage.py make_case support trace-17 --turn 4 --into support-cases --annotators ana,ben

exit codes:
  0  made and scrubbed; the campaign is open
  2  could not run: no such conversation, variants that are no variants, a legal hold"""

    arguments = (
        option("dataset NAME", "the dataset of the conversation"),
        option("session SESSION", "its session_id"),
        option("--turn N", "the reply", type=int, required=True),
        option("--first N", "the first turn to keep", default=1),
        option("--into NAME", "the dataset of cases", required=True),
        option("--rubric TEXT", "what a good answer does", default=""),
        option("--failure-mode TEXT", "what was wrong", default=""),
        option("--variants FILE", "default: drafts by rules", type=Path),
        option("--annotators USER,…", "who judges the replies", default=""),
    )

    def handle(self, *, dataset: str, session: str, turn: int, **options: Any) -> None:
        source = get_dataset(dataset)
        found = Session.objects.filter(dataset=source, session_id=session).first()
        if found is None:
            raise UserError(f"{dataset} has no such session.")
        variants = _read_variants(options["variants"]) if options["variants"] else draft_by_rules(found, turn)
        annotators = [name.strip() for name in options["annotators"].split(",") if name.strip()]
        chosen = CaseOptions(
            options["first"], options["rubric"], options["failure_mode"], variants, annotators
        )
        made = make_case(found, turn, options["into"], chosen)
        sent = run_job(
            "send_case",
            send_case,
            progress=Progress("Scrubbing"),
            dataset_name=made.dataset.name,
            parameters=CaseParameters(case=made.family, annotators=",".join(annotators)),
        )
        self.stdout.write(
            f"{made.family} is in {made.dataset.name}, with {format_count(made.sessions - 1, 'variant')}."
        )
        if alike := sent.get("alike_after_scrub"):
            self.stderr.write(f"{format_count(alike, 'variant')} became equal to another one by the scrub.")
        if campaign := sent.get("campaign"):
            self.stdout.write(f"The campaign {Campaign.objects.get(pk=campaign).name} is open.")


def _read_variants(path: Path) -> list[Variant]:
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        return [Variant(str(one["kind"]), str(one["answer"]), str(one["text"])) for one in listed]
    except OSError as error:
        raise UserError(f"{path.name} can't be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path.name} is no list of variants with kind, answer and text.") from None
