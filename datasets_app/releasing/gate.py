"""What must hold before a version is released; each line that does not is told."""

from typing import Any, NamedTuple

from datasets_app.catalog import activity, policies
from datasets_app.catalog.require_active import require_active
from datasets_app.core.errors import UserError
from datasets_app.domain.quality.output import Totals
from datasets_app.models import Dataset
from datasets_app.releasing.sharing.checklist import YES, ChecklistItem, build_checklist

# The title of a line; by it, in the audit trail, a release that was made raw is known.
SCRUBBED_TITLE = "Scrubbed"


class UnmetRequirement(NamedTuple):
    """``remedy`` is the page that mends it: "scrub", "checks", "sharing"."""

    title: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.title}: {self.reason}"


def refuse_unreleasable(dataset: Dataset) -> None:
    """Refuse what no reason helps against: nothing there, gone, or in the middle of a scrub."""
    require_active(dataset)
    activity.refuse_during_scrub(dataset)
    if not Dataset.objects.filter(pk=dataset.pk, turn_count__gt=0).exists():
        raise UserError(f"{dataset.name} has no turns; there is nothing to release.")


def find_unmet_requirements(
    dataset: Dataset, totals: Totals | None, items: list[ChecklistItem] | None = None
) -> list[UnmetRequirement]:
    """What does not hold. ``totals`` are those of the checks of what is released, if they have been made."""
    lines = []
    if not policies.is_scrubbed(dataset):
        lines.append(
            UnmetRequirement(SCRUBBED_TITLE, "It holds production data that no scrub has verified.", "scrub")
        )
    if totals is not None and totals.errors:
        codes = ", ".join(f"{code}: {count:,}" for code, count in sorted(totals.items()) if code[0] == "E")
        found = "1 error" if totals.errors == 1 else f"{totals.errors:,} errors"
        lines.append(
            UnmetRequirement("Checks without error", f"They have found {found} ({codes}).", "checks")
        )
    for item in build_checklist(dataset) if items is None else items:
        if item.answer != YES:
            lines.append(
                UnmetRequirement(item.title, f"{item.answer_label.capitalize()}. {item.reason}", "sharing")
            )
    return lines


def refuse_unmet(dataset: Dataset, lines: list[UnmetRequirement], override: str) -> None:
    """Refused, with every line, unless nothing is unmet or there is a reason."""
    if not lines or override.strip():
        return
    what = "1 thing stands" if len(lines) == 1 else f"{len(lines)} things stand"
    raise UserError(
        f"{dataset.name} can't be released: {what} in the way. {' '.join(map(_format_requirement, lines))} "
        "Who may override this must give a reason.",
        {"unmet": [str(line) for line in lines]},
    )


def _format_requirement(line: UnmetRequirement) -> str:
    return f"{line.title}: {line.reason[:1].lower()}{line.reason[1:]}"


def record_override(dataset: Dataset, lines: list[UnmetRequirement], *, actor: Any, override: str) -> str:
    """The reason as it is kept, on record if something is unmet; else nothing is, and none is needed."""
    reason = " ".join(override.split())
    if not lines:
        return ""
    policies.record_override(
        dataset, "release", actor=actor, reason=reason, refusal="release a version that is not ready"
    )
    return reason
