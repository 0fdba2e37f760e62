"""What labels answer: a question about a reply, and the answers there are."""

import hashlib
import json
import re
from enum import StrEnum
from typing import NamedTuple

# What a question may be asked about besides the reply.
SESSION = "session"
# Codes of levels are small integers, in the database and in arrays.
MAX_LEVELS = 100
MAX_TAG_LEVELS = 60
_KEY_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,49}")


class Kind(StrEnum):
    YES_NO = "yes_no"
    CHOICE = "choice"
    ORDINAL = "ordinal"
    TAGS = "tags"
    NUMBER = "number"
    TEXT = "text"
    # Which of two replies is better.
    PREFERENCE = "preference"


# The fewest and the most levels of each kind.
_LEVEL_COUNTS = {
    Kind.YES_NO: (2, 2),
    Kind.CHOICE: (2, MAX_LEVELS),
    Kind.ORDINAL: (2, MAX_LEVELS),
    Kind.TAGS: (1, MAX_TAG_LEVELS),
    Kind.NUMBER: (0, 0),
    Kind.TEXT: (0, 0),
    Kind.PREFERENCE: (4, 4),
}


class Level(NamedTuple):
    """An answer to choose. Files have its ``value``, people read its ``name``, pages and scripts use its
    ``slug``. ``key`` chooses it on a keyboard, ``icon``, ``sign`` and ``help`` explain it there."""

    value: int | str
    name: str
    slug: str
    key: str = ""
    icon: str = ""
    sign: str = ""
    help: str = ""


class InvalidCriterion(Exception):
    """A criterion that can't be asked; the message says why."""


class Criterion(NamedTuple):
    """A question, and its answers by :attr:`kind`; made by :func:`make_criterion`.

    The code of a level is its place among the levels, from the lowest: no before yes. ``parameters`` are
    what the question is asked about besides the reply, such as a persona, or instead of it: the session.
    """

    key: str
    question: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def has_one_level(self) -> bool:
        """Whether an answer is one of the levels: of tags it may be several."""
        return bool(self.levels) and self.kind != Kind.TAGS

    @property
    def is_of_session(self) -> bool:
        """Whether it is asked once of a whole session."""
        return SESSION in self.parameters

    @property
    def codes(self) -> range:
        return range(len(self.levels))

    @property
    def values(self) -> list[int | str]:
        return [level.value for level in self.levels]

    @property
    def choices(self) -> list[tuple[int, str]]:
        """(code, name) of each level."""
        return [(code, level.name) for code, level in enumerate(self.levels)]

    @property
    def downwards(self) -> list[tuple[int, Level]]:
        """(code, level), the highest first."""
        return list(reversed(list(enumerate(self.levels))))

    @property
    def top(self) -> int:
        """The code of the highest level: of a yes/no question, yes."""
        return len(self.levels) - 1

    @property
    def digest(self) -> str:
        """Changes with whatever changes the meaning of a label; not with keys, icons or help."""
        levels = [[level.value, level.name] for level in self.levels]
        meaning = [self.key, self.question, self.kind, levels, self.parameters]
        return hashlib.sha256(json.dumps(meaning).encode()).hexdigest()


def make_criterion(
    key: str, question: str, kind: Kind, levels: tuple[Level, ...] = (), parameters: tuple[str, ...] = ()
) -> Criterion:
    """Raises :class:`InvalidCriterion`."""
    if not _KEY_PATTERN.fullmatch(key):
        raise InvalidCriterion("The key of a criterion is a lowercase word of at most 50 characters.")
    if not question.strip():
        raise InvalidCriterion(f"{key}: the question is empty.")
    fewest, most = _LEVEL_COUNTS[kind]
    if not fewest <= len(levels) <= most:
        expected = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise InvalidCriterion(f"{key}: {kind} needs {expected} answers, not {len(levels)}.")
    for field in ("value", "name", "slug", "key"):
        # 1 and "1" are the same in a form and in a table.
        said = [str(getattr(level, field)) for level in levels if getattr(level, field) != ""]
        if len(set(said)) < len(said):
            raise InvalidCriterion(f"{key}: two answers have the same {field}.")
    return Criterion(key, question, kind, levels, parameters)
