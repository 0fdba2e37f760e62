"""May a judge replace one of the people who label? The alternative annotator test.

Calderon, Reichart & Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, ACL 2025, 16051-16081.
Each person in turn is compared with the judge: who is nearer to what the other people say? The judge may
be worse by epsilon, for what it saves. Of replies in sessions, which are alike, the t-test takes whole
sessions as what varies; with one reply in each it is the published test.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import asdict

from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.estimates.quantiles import student_probability
from annotations_app.domain.to_json import to_json
from datasets_app.domain.packages.quality_statement import StatedAlternative, describe_alternative

# As the paper has it: 0.2 for experts, 0.15 for trained people, 0.1 for crowd workers.
DEFAULT_EPSILON = 0.15
MIN_REPLIES, MIN_SESSIONS, MIN_ANNOTATORS = 30, 10, 3
FALSE_DISCOVERY_RATE = 0.05
MIN_WINNING_RATE = 0.5


class Advantage(NamedTuple):
    """``judge`` is how often the judge is at least as near to the others as this person is, ``person`` the
    reverse. ``beaten``: the judge is not worse by epsilon, after correction for several comparisons."""

    annotator: str
    replies: int
    sessions: int
    judge: float
    person: float
    p_value: float
    beaten: bool


class AlternativeTest(NamedTuple):
    """``left_out`` annotators labeled too few replies together with others. ``passes`` is None if fewer than
    three remain."""

    epsilon: float
    advantages: tuple[Advantage, ...]
    left_out: int

    @property
    def advantage(self) -> float | None:
        """How likely the judge is as good as a person taken by chance, or better."""
        return float(np.mean([one.judge for one in self.advantages])) if self.advantages else None

    @property
    def winning_rate(self) -> float | None:
        return float(np.mean([one.beaten for one in self.advantages])) if self.advantages else None

    @property
    def passes(self) -> bool | None:
        if len(self.advantages) < MIN_ANNOTATORS or self.winning_rate is None:
            return None
        return self.winning_rate >= MIN_WINNING_RATE

    @property
    def summary(self) -> StatedAlternative:
        """Without names."""
        return StatedAlternative(
            self.epsilon,
            len(self.advantages),
            self.left_out,
            self.advantage,
            self.winning_rate,
            self.passes,
        )

    @property
    def sentence(self) -> str:
        return describe_alternative(self.summary)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self.summary), "by_annotator": to_json(self.advantages)}


class Ratings(NamedTuple):
    """Labels of people, one place each: who, of which reply (numbered from 0) what."""

    annotator: IntArray
    reply: IntArray
    label: IntArray


def compare_with_people(
    ratings: Ratings,
    names: Sequence[str],
    session: IntArray,
    verdict: FloatArray,
    distance: IntArray,
    epsilon: float = DEFAULT_EPSILON,
) -> AlternativeTest:
    """``session`` and ``verdict`` are by reply, NaN where the judge gave none. ``distance`` is by two
    answers: 0 and 1 of answers without an order, else squared."""
    counts = np.zeros((len(session), len(distance)), np.int64)
    np.add.at(counts, (ratings.reply, ratings.label), 1)
    cost = counts @ distance
    usable = (counts.sum(axis=1) > 1) & ~np.isnan(verdict)
    compared, left_out = [], 0
    for number, name in enumerate(names):
        own = (ratings.annotator == number) & usable[ratings.reply]
        reply, label = ratings.reply[own], ratings.label[own]
        groups = np.unique(session[reply], return_inverse=True)[1]
        sessions = int(groups.max(initial=-1)) + 1
        if len(reply) < MIN_REPLIES or sessions < MIN_SESSIONS:
            left_out += 1
            continue
        said = verdict[reply].astype(np.int64)
        # From what the others say: the person's own label counts in neither.
        judge_cost = cost[reply, said] - distance[said, label]
        person_cost = cost[reply, label]
        judge, person = judge_cost <= person_cost, person_cost <= judge_cost
        p_value = _test_less(person.astype(float) - judge, groups, sessions, epsilon)
        compared.append(
            Advantage(name, len(reply), sessions, float(judge.mean()), float(person.mean()), p_value, False)
        )
    beaten = reject_hypotheses([one.p_value for one in compared], FALSE_DISCOVERY_RATE)
    advantages = (one._replace(beaten=so) for one, so in zip(compared, beaten, strict=True))
    return AlternativeTest(epsilon, tuple(advantages), left_out)


def _test_less(values: FloatArray, groups: IntArray, sessions: int, limit: float) -> float:
    """How likely a mean this far below ``limit`` is if the true one is ``limit``: a t-test of one sample."""
    mean = float(values.mean())
    sums = np.bincount(groups, values - mean)
    error = float(np.sqrt(sums @ sums * sessions / (sessions - 1))) / len(values)
    if error < 1e-12:
        return 0.0 if mean < limit else 1.0
    return student_probability((mean - limit) / error, sessions - 1)


def reject_hypotheses(p_values: Sequence[float], rate: float) -> list[bool]:
    """Which are rejected, so that of those at most ``rate`` are true, however they depend on each other
    (Benjamini & Yekutieli 2001, Annals of Statistics 29, 1165-1188)."""
    many = len(p_values)
    order = sorted(range(many), key=lambda place: p_values[place])
    harmonic = sum(1 / rank for rank in range(1, many + 1))
    passed = [
        rank for rank, place in enumerate(order, 1) if p_values[place] <= rank * rate / (many * harmonic)
    ]
    rejected = set(order[: max(passed, default=0)])
    return [place in rejected for place in range(many)]
