"""The answers to a comparison of two replies: only this file knows them."""

from datasets_app.domain.labels.criterion import Level

PREFERENCE_LEVELS = (
    Level("a", "A is better", "0"),
    Level("b", "B is better", "1"),
    Level("tie", "Tie", "2"),
    Level("both_bad", "Both are bad", "3"),
)
SIDE_A, SIDE_B, TIE, BOTH_BAD = range(len(PREFERENCE_LEVELS))
OTHER_SIDE = {SIDE_A: SIDE_B, SIDE_B: SIDE_A}
