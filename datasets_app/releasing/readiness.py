"""Whether a dataset can be released: computed once before the work, and once under the dataset's lock."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from datasets_app.catalog import gates, policies
from datasets_app.catalog.dataset_facts import DatasetFacts, Remedy
from datasets_app.catalog.policies import Blocker, Verdict
from datasets_app.catalog.steps import CHECKS_TITLE
from datasets_app.domain.quality.output import Totals
from datasets_app.domain.quality.text_tally import KINDS_BY_CODE
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

# By this title in the audit log, package_facts.py recognizes a version that was released raw.
SCRUBBED_TITLE = "Scrubbed"


class Readiness(NamedTuple):
    """``totals`` are those of the checks; None before they have run."""

    facts: DatasetFacts
    totals: Totals | None

    @property
    def blockers(self) -> list[Blocker]:
        return list(_find_blockers(self))

    def decide(self, *, actor: Any, override: str) -> Verdict:
        return policies.decide_release(self.facts, self.blockers, gates.request_override(actor, override))


def assess_readiness(dataset: Dataset, totals: Totals | None) -> Readiness:
    return Readiness(gates.load_facts(dataset), totals)


def find_known_blockers(dataset: Dataset) -> list[Blocker]:
    """What is known without reading the dataset: by the last report of the checks."""
    report = dataset.check_reports.first()
    return assess_readiness(dataset, Totals(report.totals) if report else None).blockers


def _find_blockers(readiness: Readiness) -> Iterator[Blocker]:
    facts = readiness.facts
    if facts.is_known_raw:
        yield Blocker(SCRUBBED_TITLE, f"The dataset contains {facts.raw_because}.", facts.remedy)
    # What the checks find of personal data is what makes a text raw, unless someone has attested it.
    errors = {
        code: count
        for code, count in sorted((readiness.totals or {}).items())
        if code.startswith("E") and code not in KINDS_BY_CODE
    }
    if errors:
        codes = ", ".join(f"{code}: {count:,}" for code, count in errors.items())
        reason = f"The checks found {format_count(sum(errors.values()), 'error')} ({codes})."
        yield Blocker(CHECKS_TITLE, reason, Remedy.CHECKS)
