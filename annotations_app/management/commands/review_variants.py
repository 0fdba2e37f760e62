from typing import Any

from annotations_app.cases.drafts import count_drafts, decide_draft, list_drafts
from datasets_app.catalog import raw_access
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.domain.generation.families import CHANGE, SAME
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Show the variants of test cases that a model wrote, and keep or discard them.

A draft that is kept counts as a variant of its case, and says what is expected of the answer:
--same, it must stay the same, or --change. One that is discarded stays excluded.

examples:
  manage.py review_variants support-cases
  manage.py review_variants support-cases --same 4711 4712 --change 4713 --discard 4714

exit codes:
  0  shown, or decided
  2  could not run: no such dataset, no such draft"""

    arguments = (
        option("name NAME", "a dataset of cases"),
        *(
            option(f"--{answer} DRAFT", "numbers of drafts", type=int, nargs="+", default=[])
            for answer in (SAME, CHANGE, "discard")
        ),
    )

    def handle(self, *, name: str, **options: Any) -> None:
        dataset = get_dataset(name)
        answers = {SAME: SAME, CHANGE: CHANGE, "discard": None}
        decided = [(draft, answer) for option, answer in answers.items() for draft in options[option]]
        for draft, answer in decided:
            decide_draft(dataset, draft, answer)
        drafts = list_drafts(dataset)
        raw_access.record_access(dataset, None, place="drafts", turns=len(drafts))
        if decided:
            self.stdout.write(f"{format_count(len(decided), 'draft')} decided.")
        else:
            for one in drafts:
                self.stdout.write(
                    f"{one.session} {one.case}, {one.label.lower()}, answer: {one.answer}\n"
                    f"    case:    {one.message}\n    variant: {one.text}"
                )
        self.stdout.write(f"{format_count(count_drafts(dataset), 'draft')} to be reviewed.")
