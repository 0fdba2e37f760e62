from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.quality.base import Check
from datasets_app.domain.quality.label_counts import LabelCounts, format_share


class LabelImbalance(LabelCounts, Check):
    """A model trained on so imbalanced a set mostly learns the imbalance."""

    code = "E502"
    title = "labels outside 30–70 % on-brand"

    def end(self) -> tuple[Finding, ...]:
        if not self.total or not self.is_outside(30, 70):
            return ()
        wanted = "off-brand" if 2 * self.positive > self.total else "on-brand"
        message = f"{format_share(self)} on-brand; label more {wanted} replies until it is 30 to 70 %"
        return (Finding(self.code, message, field="label"),)
