"""The deletion schedule, and who received copies, as lines of text."""

from typing import Any

from datasets_app.core.deletion_summary import format_counts
from datasets_app.domain.wording import format_count
from datasets_app.retention.dry_run import HELD, LATER, NOW, DeletionSchedule

_HEADINGS = {NOW: "due now", LATER: "due later", HELD: "on legal hold, not deleted"}


def schedule_lines(schedule: DeletionSchedule) -> list[str]:
    """The datasets by when they are deleted, each with its rule and its releases."""
    lines = []
    for when, heading in _HEADINGS.items():
        group = [item for item in schedule.deletions if item.when == when]
        if group:
            lines.append(f"{format_count(len(group), 'dataset')} {heading}:")
        for item in group:
            lines.append(f"  {item.due}  {item.dataset}: {format_counts(item.counts) or 'empty'}")
            lines.append("    rule {position}: {pattern}, {retention}".format(**item.rule))
            if item.hold_reason:
                lines.append(f"    legal hold: {item.hold_reason}")
            if item.releases:
                lines.append(f"    deletes the data of release {', '.join(item.releases)}")
    return lines or ["No dataset is due for deletion, now or later."]


def recipient_lines(recipients: list[dict[str, Any]]) -> list[str]:
    if not recipients:
        return []
    lines = [f"Notify the recipients of {format_count(len(recipients), 'copy', 'copies')}:"]
    for item in recipients:
        what = f"release {item['release']}" if item["release"] else "an export"
        dataset = f" of {item['dataset']}" if "dataset" in item else ""
        endpoint = item.get("endpoint")
        copy = f"texts{dataset} sent to {endpoint}" if endpoint else f"{what}{dataset}"
        lines.append(f"  {item['at']}  {item['by']}: {copy}")
    return lines
