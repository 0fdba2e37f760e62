"""An estimate from review tasks: all that the machine didn't pass, and a random audit of the others.

The tool's queue is a selection: what it passed by mistake is in none of it. Drawn at random without
replacement, `drawn` of `others` tasks have the inclusion probability `drawn / others` each, so the two strata
together stand for all tasks.
"""

from collections import defaultdict
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

from datasets_app.domain.pii.audit_estimate import LeakEstimate, StratumCount, estimate_leaks
from datasets_app.domain.traces.formats import review_tasks

# What the machine passed; all else is selected.
PASSED = ("met", "not_applicable")
VIOLATED = "violated"


class Stratum(NamedTuple):
    """``included`` of ``total`` tasks are judged by people, or are to be; ``judged`` have an outcome that is
    settled."""

    total: int
    included: int
    judged: int
    violated: int

    @property
    def probability(self) -> float | None:
        """Of being included; None of an empty stratum."""
        return self.included / self.total if self.total else None


class ReviewEstimate(NamedTuple):
    """How many tasks of a criterion violate it, as people judge."""

    criterion: str
    selected: Stratum
    others: Stratum

    @property
    def total(self) -> int:
        return self.selected.total + self.others.total

    @property
    def judged(self) -> int:
        return self.selected.judged + self.others.judged

    @property
    def rate(self) -> float | None:
        """None as long as nobody has judged a part of the tasks."""
        if any(part.total and not part.judged for part in (self.selected, self.others)):
            return None
        return self._estimate.texts / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """With 95 % confidence."""
        return self._estimate.low / self.total, self._estimate.high / self.total

    @property
    def _estimate(self) -> LeakEstimate:
        parts = (self.selected, self.others)
        return estimate_leaks(StratumCount(part.total, part.judged, part.violated) for part in parts)

    def as_json(self) -> dict[str, Any]:
        low, high = self.interval
        parts = {
            name: {**part._asdict(), "probability": part.probability}
            for name, part in (("selected", self.selected), ("others", self.others))
        }
        return {"criterion": self.criterion, "rate": self.rate, "low": low, "high": high, **parts}


def describe_rate(one: ReviewEstimate) -> str:
    low, high = one.interval
    return "no estimate yet" if one.rate is None else f"{one.rate:.1%} violated ({low:.1%} to {high:.1%})"


def choose_tasks(tasks: Iterable[dict[str, Any]], audit: int, seed: int) -> dict[str, set[str]]:
    """By criterion the keys of the tasks that the machine didn't pass, and of ``audit`` others, drawn at
    random. Tasks that hold no conversation can't be judged."""
    chosen: defaultdict[str, set[str]] = defaultdict(set)
    others: defaultdict[str, list[str]] = defaultdict(list)
    for task in filter(_can_be_judged, tasks):
        criterion = task["criterion"]["id"]
        if is_selected(task):
            chosen[criterion].add(task["review_key"])
        else:
            others[criterion].append(task["review_key"])
    for criterion, keys in others.items():
        in_order = sorted(set(keys), key=lambda key: _hash(seed, key))
        chosen[criterion] |= set(in_order[:audit])
    return dict(chosen)


def is_selected(task: dict[str, Any]) -> bool:
    result = task.get("machine_result")
    return not isinstance(result, dict) or result.get("status") not in PASSED


def estimate_tasks(
    tasks: Iterable[dict[str, Any]], included: set[str], outcomes: dict[str, str]
) -> list[ReviewEstimate]:
    """``included`` are keys of tasks in a campaign; ``outcomes`` what people settled on, by key."""
    counts: dict[str, dict[bool, list[int]]] = {}
    for task in filter(_can_be_judged, tasks):
        key = task["review_key"]
        strata = counts.setdefault(task["criterion"]["id"], {True: [0] * 4, False: [0] * 4})
        outcome = outcomes.get(key) if key in included else None
        for place, more in enumerate((1, key in included, outcome is not None, outcome == VIOLATED)):
            strata[is_selected(task)][place] += more
    return [
        ReviewEstimate(criterion, Stratum(*strata[True]), Stratum(*strata[False]))
        for criterion, strata in counts.items()
    ]


def _can_be_judged(task: dict[str, Any]) -> bool:
    return bool(review_tasks.read_task(task).messages)


def _hash(seed: int, key: str) -> bytes:
    return blake2b(f"{seed} {key}".encode(), digest_size=16).digest()
