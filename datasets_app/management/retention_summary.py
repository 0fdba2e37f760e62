"""What retention and erasure say on a terminal."""

from typing import Any

from datasets_app.core.deletion_summary import format_counts
from datasets_app.management.terminal import pluralize
from datasets_app.retention.dry_run import HELD, LATER, NOW, DeletionSchedule

_HEADINGS = {NOW: "due now", LATER: "due later", HELD: "on legal hold, not deleted"}


def schedule_lines(rehearsal: DeletionSchedule) -> list[str]:
    """What goes when: a line for each dataset, with its rule and its releases under it."""
    lines = []
    for when, head in _HEADINGS.items():
        group = [going for going in rehearsal.deletions if going.when == when]
        if group:
            lines.append(f"{pluralize(len(group), 'dataset')} {head}:")
        for going in group:
            rule = going.policy
            lines.append(f"  {going.due}  {going.dataset}: {format_counts(going.counts) or 'empty'}")
            lines.append(f"    by rule {rule.position}, {rule.pattern}, {rule.retention}")
            if going.hold_reason:
                lines.append(f"    held: {going.hold_reason}")
            if going.releases:
                lines.append(f"    loses its data: release {', '.join(going.releases)}")
    return lines or ["Nothing is deleted, now or later."]


def recipient_lines(recipients: list[dict[str, Any]]) -> list[str]:
    if not recipients:
        return []
    lines = [f"{pluralize(len(recipients), 'copy').replace('copys', 'copies')} handed out, to be told:"]
    for item in recipients:
        what = f"release {item['release']}" if item["release"] else "an export"
        of = f" of {item['dataset']}" if "dataset" in item else ""
        lines.append(f"  {item['at']}  {item['by']}: {what}{of}")
    return lines
