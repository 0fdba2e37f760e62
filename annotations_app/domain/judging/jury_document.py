"""The members of a jury and their weights, as they are in the YAML of a judge. The format: docs/judges.md."""

import math
from typing import Any, NamedTuple

FOLDS = 5
MIN_MEMBERS, MAX_MEMBERS, MAX_ANSWERS = 2, 9, 12
_KEYS = {"members", "certainty", "criteria"}


class FoldWeights(NamedTuple):
    """The numbers of ``jury.JuryWeights``, in lists."""

    likelihood: list[list[list[float]]]
    weight: list[list[float]]
    bias: list[list[float]]


class JuryCriterion(NamedTuple):
    """``digest`` is that of the criterion that weights were learned for, from ``replies`` with labels of
    people; ``folds`` has weights for each fold of conversations."""

    digest: str
    replies: int
    folds: tuple[FoldWeights, ...]


class Member(NamedTuple):
    """``judge`` is NAME@VERSION."""

    judge: str
    digest: str


class Jury(NamedTuple):
    """``members`` in the order in which they are asked: the next one only about replies of which those before
    are less sure than ``certainty``, a probability, or about all (None)."""

    members: tuple[Member, ...]
    certainty: float | None
    criteria: dict[str, JuryCriterion]


def check_certainty(value: Any) -> None:
    """Raises ValueError."""
    if value is not None and not (type(value) in (int, float) and 0.5 <= value < 1):
        raise ValueError("certainty: expected a probability from 0.5 to below 1, or null to ask all members")


def read_jury(stored: Any) -> Jury:
    """What :func:`to_json` makes of a jury. Raises ValueError."""
    if not isinstance(stored, dict) or set(stored) != _KEYS:
        raise ValueError(f"expected {', '.join(sorted(_KEYS))}")
    members, criteria = stored["members"], stored["criteria"]
    if not isinstance(members, list) or not MIN_MEMBERS <= len(members) <= MAX_MEMBERS:
        raise ValueError(f"members: expected a list of {MIN_MEMBERS} to {MAX_MEMBERS}")
    for member in members:
        if not _is_map(member) or set(member) != set(Member._fields):
            raise ValueError("members: expected judge, NAME@VERSION, and digest of each")
        if not all(isinstance(value, str) for value in member.values()):
            raise ValueError("members: expected texts")
    check_certainty(stored["certainty"])
    if not _is_map(criteria) or not criteria:
        raise ValueError("criteria: expected the weights of each")
    read = {key: _read_criterion(key, value, len(members)) for key, value in criteria.items()}
    return Jury(tuple(Member(**member) for member in members), stored["certainty"], read)


def _read_criterion(key: str, value: Any, members: int) -> JuryCriterion:
    try:
        digest, replies, folds = (value[name] for name in JuryCriterion._fields)
        answers = len(folds[0]["bias"][0])
        if not isinstance(digest, str) or type(replies) is not int or len(folds) != FOLDS:
            raise ValueError(f"expected digest, replies and {FOLDS} folds")
        if not 2 <= answers <= MAX_ANSWERS:
            raise ValueError(f"expected 2 to {MAX_ANSWERS} answers")
        return JuryCriterion(digest, replies, tuple(read_weights(one, members, answers) for one in folds))
    except (TypeError, KeyError, IndexError):
        raise ValueError(f"criteria: {key[:50]}: expected digest, replies and folds") from None
    except ValueError as error:
        raise ValueError(f"criteria: {key[:50]}: {error}") from None


def read_weights(stored: Any, members: int, answers: int) -> FoldWeights:
    """The weights of as many members and answers. Raises ValueError."""
    shapes = (members, answers, answers), (members, members), (members, answers)
    if not isinstance(stored, dict) or set(stored) != set(FoldWeights._fields):
        raise ValueError(f"expected {', '.join(FoldWeights._fields)}")
    for name, shape in zip(FoldWeights._fields, shapes, strict=True):
        if not _has_shape(stored[name], shape):
            raise ValueError(f"{name}: expected {' x '.join(map(str, shape))} numbers")
    return FoldWeights(**stored)


def _has_shape(value: Any, shape: tuple[int, ...]) -> bool:
    if not shape:
        return type(value) in (int, float) and math.isfinite(value)
    return (
        isinstance(value, list)
        and len(value) == shape[0]
        and all(_has_shape(item, shape[1:]) for item in value)
    )


def _is_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)
