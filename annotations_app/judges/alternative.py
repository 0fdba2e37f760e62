"""May a judge replace one of the people of a campaign?"""

from typing import Any

import numpy as np

from annotations_app.domain.arrays import IntArray
from annotations_app.domain.estimates.alternative import (
    DEFAULT_EPSILON,
    AlternativeTest,
    Ratings,
    compare_with_people,
)
from annotations_app.domain.scales import NOMINAL, scale_of
from annotations_app.judges.judge_rows import Sessions, look_up
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.criterion import Criterion

MAX_EPSILON = 0.5
ASSUMPTIONS = (
    "Assumed is that the people are as good as those to be replaced, that they label without each other’s "
    "help, and that these replies are like those the judge will be used on. Where people agree little, even "
    "a judge that is right may fail."
)


def check_epsilon(epsilon: float) -> float:
    """Raises UserError."""
    if not 0 <= epsilon <= MAX_EPSILON:
        raise UserError(f"Epsilon must be from 0 to {MAX_EPSILON}.")
    return epsilon


def measure_alternative(
    raters: dict[str, tuple[IntArray, IntArray]],
    verdicts: tuple[IntArray, IntArray],
    sessions: Sessions,
    criterion: Criterion,
    levels: int,
    read: Any,
    epsilon: float = DEFAULT_EPSILON,
) -> AlternativeTest | None:
    """``read`` makes answers of ``levels`` codes from stored ones; None without labels of two people."""
    if len(raters) < 2:
        return None
    turns = sessions.turn
    places = [np.searchsorted(turns, turn) for turn, _ in raters.values()]
    ratings = Ratings(
        np.repeat(np.arange(len(raters)), [len(place) for place in places]),
        np.concatenate(places),
        np.concatenate([read(value) for _, value in raters.values()]),
    )
    verdict = look_up(turns, verdicts[0], read(verdicts[1]))
    codes = np.arange(levels)
    difference = codes[:, None] - codes
    is_nominal = scale_of(criterion.kind) == NOMINAL
    distance = (difference != 0).astype(np.int64) if is_nominal else difference**2
    return compare_with_people(ratings, list(raters), sessions.session, verdict, distance, epsilon)
