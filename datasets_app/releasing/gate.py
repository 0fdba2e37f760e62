"""What must hold before a version is released; each line that does not is told."""

from typing import Any, NamedTuple

from datasets_app.catalog import activity, policies
from datasets_app.catalog.require_active import refuse_expired
from datasets_app.core.errors import Refused
from datasets_app.domain.quality.output import Totals
from datasets_app.models import Dataset
from datasets_app.releasing.sharing.checklist import YES, SharingItem, sharing_list

# The title of a line; by it, in the audit trail, a release that was made raw is known.
SCRUBBED = "Scrubbed"


class Unmet(NamedTuple):
    """``remedy`` is the page that mends it: "scrub", "checks", "sharing"."""

    title: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.title}: {self.reason}"


def refuse_unfit(dataset: Dataset) -> None:
    """Refuse what no reason helps against: nothing there, gone, or in the middle of a scrub."""
    refuse_expired(dataset)
    activity.refuse_while_scrubbed(dataset)
    if not Dataset.objects.filter(pk=dataset.pk, turn_count__gt=0).exists():
        raise Refused(f"{dataset.name} has no turns; there is nothing to release.")


def unmet_lines(
    dataset: Dataset, totals: Totals | None, items: list[SharingItem] | None = None
) -> list[Unmet]:
    """What does not hold. ``totals`` are those of the checks of what is released, if they have been made."""
    lines = []
    if not policies.is_scrubbed(dataset):
        lines.append(Unmet(SCRUBBED, "It holds production data that no scrub has verified.", "scrub"))
    if totals is not None and totals.errors:
        codes = ", ".join(f"{code}: {count:,}" for code, count in sorted(totals.items()) if code[0] == "E")
        found = "1 error" if totals.errors == 1 else f"{totals.errors:,} errors"
        lines.append(Unmet("Checks without error", f"They have found {found} ({codes}).", "checks"))
    for item in sharing_list(dataset) if items is None else items:
        if item.answer != YES:
            lines.append(Unmet(item.title, f"{item.answer_words.capitalize()}. {item.reason}", "sharing"))
    return lines


def refuse_unmet(dataset: Dataset, lines: list[Unmet], override: str) -> None:
    """Refused, with every line, unless nothing is unmet or there is a reason."""
    if not lines or override.strip():
        return
    what = "1 thing stands" if len(lines) == 1 else f"{len(lines)} things stand"
    raise Refused(
        f"{dataset.name} can't be released: {what} in the way. {' '.join(map(_sentence, lines))} "
        "Who may override this must give a reason.",
        {"unmet": [str(line) for line in lines]},
    )


def _sentence(line: Unmet) -> str:
    return f"{line.title}: {line.reason[:1].lower()}{line.reason[1:]}"


def record_override(dataset: Dataset, lines: list[Unmet], *, actor: Any, override: str) -> str:
    """The reason as it is kept, on record if something is unmet; else nothing is, and none is needed."""
    reason = " ".join(override.split())
    if not lines:
        return ""
    policies.record_override(
        dataset, "release", actor=actor, reason=reason, refusal="release a version that is not ready"
    )
    return reason
