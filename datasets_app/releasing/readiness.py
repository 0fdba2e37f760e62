"""Whether a dataset can be released: computed once before the work, and once under the dataset's lock."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from datasets_app.catalog import gates, policies
from datasets_app.catalog.policies import Blocker, DatasetFacts, Remedy, Verdict
from datasets_app.domain.quality.output import Totals
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset
from datasets_app.releasing.sharing.checklist import YES, ChecklistItem, build_checklist

# By this title in the audit log, package_facts.py recognizes a version that was released raw.
SCRUBBED_TITLE = "Scrubbed"


class Readiness(NamedTuple):
    """``totals`` are those of the checks; None before they have run."""

    facts: DatasetFacts
    checklist: list[ChecklistItem]
    totals: Totals | None

    @property
    def blockers(self) -> list[Blocker]:
        return list(_find_blockers(self))

    def decide(self, *, actor: Any, override: str) -> Verdict:
        return policies.decide_release(self.facts, self.blockers, gates.request_override(actor, override))


def assess_readiness(dataset: Dataset, totals: Totals | None) -> Readiness:
    return Readiness(gates.load_facts(dataset), build_checklist(dataset), totals)


def _find_blockers(readiness: Readiness) -> Iterator[Blocker]:
    if not readiness.facts.is_scrubbed:
        yield Blocker(
            SCRUBBED_TITLE, "The dataset contains production data without a verified scrub.", Remedy.SCRUB
        )
    totals = readiness.totals
    if totals is not None and totals.errors:
        codes = ", ".join(f"{code}: {count:,}" for code, count in sorted(totals.items()) if code[0] == "E")
        reason = f"The checks found {format_count(totals.errors, 'error')} ({codes})."
        yield Blocker("Checks without error", reason, Remedy.CHECKS)
    for item in readiness.checklist:
        if item.answer != YES:
            yield Blocker(item.title, f"{item.answer_label.capitalize()}. {item.reason}", Remedy.SHARING)
