from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.quality.base import Check
from datasets_app.domain.quality.label_counts import LabelCounts, format_share


class LabelBalance(LabelCounts, Check):
    """A calibration set has about as many on-brand as off-brand replies."""

    code = "W501"
    title = "labels outside 40–60 % on-brand"

    def end(self) -> tuple[Finding, ...]:
        if not self.total or not self.is_outside(40, 60) or self.is_outside(30, 70):
            return ()
        message = f"{format_share(self)} on-brand; 40 to 60 % is better for calibration"
        return (Finding(self.code, message, field="label"),)
