"""Counting labels, for the checks of a calibration set's size and balance."""

from datasets_app.domain.conversations.records import LabelRecord


class LabelCounts:
    """Of the built-in criterion: nothing is calibrated on ``answers`` under a schema."""

    def __init__(self) -> None:
        self.total = 0
        self.positive = 0
        self.answers = 0

    def label(self, record: LabelRecord) -> None:
        if record.label is None:
            self.answers += 1
            return
        self.total += 1
        self.positive += record.label

    def is_outside(self, low: int, high: int) -> bool:
        """Whether the share of on-brand labels is below ``low`` or above ``high`` percent."""
        return not low * self.total <= 100 * self.positive <= high * self.total


def format_share(counts: LabelCounts) -> str:
    percent = 100 * counts.positive / counts.total
    return f"{counts.positive} of {counts.total} labels ({percent:.1f} %) are"
