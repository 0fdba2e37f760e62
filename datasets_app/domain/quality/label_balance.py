"""Whether a calibration set has enough labels, and both kinds of them."""

from datasets_app.domain.conversations.records import Finding, LabelRecord
from datasets_app.domain.quality.base import Check
from datasets_app.domain.wording import format_count

MIN_LABELS = 50


class _LabelCounts(Check):
    """Of the built-in criterion: nothing is calibrated on ``answers`` under a schema."""

    def __init__(self) -> None:
        self.total = self.positive = self.answers = 0

    def label(self, record: LabelRecord) -> None:
        if record.label is None:
            self.answers += 1
            return
        self.total += 1
        self.positive += record.label

    def is_outside(self, low: int, high: int) -> bool:
        """Whether the share of on-brand labels is below ``low`` or above ``high`` percent."""
        return bool(self.total) and not low * self.total <= 100 * self.positive <= high * self.total

    def make_findings(self, advice: str) -> tuple[Finding, ...]:
        share = f"{self.positive} of {self.total} labels ({100 * self.positive / self.total:.1f} %)"
        return (Finding(self.code, f"{share} are on-brand; {advice}", field="label"),)


class LabelBalance(_LabelCounts):
    """A calibration set has about as many on-brand as off-brand replies."""

    code = "W501"
    title = "labels outside 40–60 % on-brand"

    def end(self) -> tuple[Finding, ...]:
        if not self.is_outside(40, 60) or self.is_outside(30, 70):
            return ()
        return self.make_findings("40 to 60 % is better for calibration")


class LabelImbalance(_LabelCounts):
    """A model trained on so imbalanced a set mostly learns the imbalance."""

    code = "E502"
    title = "labels outside 30–70 % on-brand"

    def end(self) -> tuple[Finding, ...]:
        if not self.is_outside(30, 70):
            return ()
        wanted = "off-brand" if 2 * self.positive > self.total else "on-brand"
        return self.make_findings(f"label more {wanted} replies until it is 30 to 70 %")


class LabelCount(_LabelCounts):
    """With fewer labels chance decides what calibration learns."""

    code = "E503"
    title = "fewer than 50 labels"

    def end(self) -> tuple[Finding, ...]:
        if self.total >= MIN_LABELS or (self.answers and not self.total):
            return ()
        labels = format_count(self.total, "label")
        return (Finding(self.code, f"{labels}; calibration needs at least {MIN_LABELS}"),)
