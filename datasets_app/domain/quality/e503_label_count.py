from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.quality.base import Check
from datasets_app.domain.quality.label_counts import LabelCounts
from datasets_app.domain.wording import format_count

MIN_LABELS = 50


class LabelCount(LabelCounts, Check):
    """With fewer labels chance decides what calibration learns."""

    code = "E503"
    title = "fewer than 50 labels"

    def end(self) -> tuple[Finding, ...]:
        if self.total >= MIN_LABELS or (self.answers and not self.total):
            return ()
        labels = format_count(self.total, "label")
        return (Finding(self.code, f"{labels}; calibration needs at least {MIN_LABELS}"),)
