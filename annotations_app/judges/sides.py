"""Whether a judge of pairs prefers a side: which it chooses, and the same pairs both ways round."""

from typing import Any, NamedTuple

import numpy as np

from annotations_app.agreement.criteria import read_swapped
from annotations_app.domain.agreement.agreement import DEFAULT_RESAMPLES, DEFAULT_SEED
from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.agreement.preference import measure_preference
from annotations_app.domain.arrays import IntArray
from annotations_app.domain.to_json import to_json
from annotations_app.judges.judge_rows import Sessions, read_repeats, read_verdicts
from annotations_app.models import JudgeRun
from datasets_app.domain.labels.criterion import Criterion
from datasets_app.domain.labels.preference import OTHER_SIDE, SIDE_A, SIDE_B
from datasets_app.domain.wording import format_count


class SideCheck(NamedTuple):
    """``both_ways`` are pairs judged both ways round. Of those the judge chose the reply shown ``first`` both
    times, or the ``second``; ``other`` changed between a reply and a tie. ``side_a`` is how often it chooses
    the reply shown as A, whichever that is."""

    both_ways: int
    first: int
    second: int
    other: int
    side_a: Statistic
    is_biased: bool

    @property
    def changes(self) -> int:
        return self.first + self.second + self.other

    @property
    def sentence(self) -> str:
        """For people; what it says nothing of is told by ``side_a``."""
        if not self.both_ways:
            return "No pair was judged both ways round, so verdicts that change with the sides count as well."
        return (
            f"Of {format_count(self.both_ways, 'pair')} judged both ways round, {self.changes:,} got another "
            f"answer when the sides changed, so they count as not judged: {self.first:,} times it chose the "
            f"reply shown first both times, {self.second:,} times the second, {self.other:,} times a "
            "tie came or went."
        )

    def as_json(self) -> dict[str, Any]:
        return {**to_json(self._asdict()), "changes": self.changes}


def measure_sides(run: JudgeRun, criterion: Criterion, sessions: Sessions) -> SideCheck:
    turn, answer, other = read_repeats(run, criterion, swapped=True)
    both = turn, answer, np.zeros(len(turn), bool)
    around = turn, _swap(other), np.ones(len(turn), bool)
    if not len(turn):
        once, said = read_verdicts(run, criterion)
        both = once, said, np.zeros(len(once), bool)
    turns, shown, is_around = (np.concatenate(columns) for columns in zip(both, around, strict=True))
    own_second = np.isin(turns, read_swapped(run.campaign)) ^ is_around
    _, session = np.unique(sessions.session_of(turns), return_inverse=True)
    found = measure_preference(shown, own_second, session, resamples=DEFAULT_RESAMPLES, seed=DEFAULT_SEED)
    changed = answer != other
    first = int((changed & (answer == SIDE_A) & (other == SIDE_B)).sum())
    second = int((changed & (answer == SIDE_B) & (other == SIDE_A)).sum())
    return SideCheck(
        len(turn), first, second, int(changed.sum()) - first - second, found.side_a, found.is_side_biased
    )


def _swap(answer: IntArray) -> IntArray:
    swapped = answer.copy()
    for code, other in OTHER_SIDE.items():
        swapped[answer == code] = other
    return swapped
