"""How many kinds there are in all, of which a sample has shown some: Chao1.

Chao (1984, 1987), with the interval of Chao (1987): the number that wasn't seen is taken to be log-normal.
"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from annotations_app.domain.agreement.intervals import NORMAL_QUANTILE


class Richness(NamedTuple):
    """``seen`` kinds, and an estimate of all with its standard error and 95 % interval."""

    seen: int
    estimate: float
    error: float
    low: float
    high: float

    @property
    def unseen(self) -> float:
        return self.estimate - self.seen


def estimate_richness(counts: Iterable[int]) -> Richness | None:
    """From how often each kind was seen; None if there is too little to tell, because none was."""
    found = [count for count in counts if count > 0]
    if not found:
        return None
    seen, share, often = len(found), 1 - 1 / sum(found), Counter(found)
    once, twice = often[1], often[2]
    if twice:
        ratio = once / twice
        unseen = share * once**2 / (2 * twice)
        variance = twice * (share * ratio**2 / 2 + share**2 * ratio**3 + share**2 * ratio**4 / 4)
    else:
        unseen = share * once * (once - 1) / 2
        variance = unseen + share**2 * once * (2 * once - 1) ** 2 / 4
        variance -= share**2 * once**4 / (4 * (seen + unseen))
    if not unseen:
        return Richness(seen, seen, 0, seen, seen)
    spread = math.exp(NORMAL_QUANTILE * math.sqrt(math.log(1 + max(0, variance) / unseen**2)))
    return Richness(
        seen, seen + unseen, math.sqrt(max(0, variance)), seen + unseen / spread, seen + unseen * spread
    )
