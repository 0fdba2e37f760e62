"""Answers to a criterion: as files and people give them ⇄ as they are stored.

A stored answer is the code of a level; of several tags one number, a bit for each; a number; or a text.
"""

import json

from datasets_app.domain.labels.criterion import Criterion, Kind, Level

MAX_TEXT_CHARACTERS = 10_000
# Longer numbers are those of cards and telephones, which a scrub looks for in texts alone.
MAX_NUMBER = 1_000_000_000

Value = int | float | str | list[int | str]
Stored = int | float | str


class InvalidValue(Exception):
    """No answer to this criterion; the message says what would be one."""


def encode_value(criterion: Criterion, value: object) -> Stored:
    """The stored form of an answer. Raises :class:`InvalidValue`."""
    if criterion.kind == Kind.TAGS:
        if type(value) is not list:
            raise InvalidValue(describe_values(criterion))
        codes = [encode_level(criterion, one) for one in value]
        return sum(1 << code for code in set(codes))
    if criterion.kind == Kind.NUMBER and type(value) in (int, float):
        return _encode_number(criterion, value)
    if criterion.kind == Kind.TEXT and type(value) is str and 0 < len(value.strip()) <= MAX_TEXT_CHARACTERS:
        return value
    return encode_level(criterion, value)


def encode_level(criterion: Criterion, value: object) -> int:
    """The code of the level with this value. Raises :class:`InvalidValue`.

    1.0 and true aren't 1: they come from tools that also write 0.5 and null.
    """
    for code, level in enumerate(criterion.levels):
        if type(value) is type(level.value) and value == level.value:
            return code
    raise InvalidValue(describe_values(criterion))


def is_code(criterion: Criterion, code: object) -> bool:
    """Whether this is the code of a level."""
    return type(code) is int and code in criterion.codes


def parse_level(criterion: Criterion, text: str) -> int | None:
    """The code of the level whose value a form sends as ``text``; None if there is none."""
    return next((code for code, level in enumerate(criterion.levels) if str(level.value) == text), None)


def decode_value(criterion: Criterion, stored: Stored) -> Value:
    """The answer as files have it."""
    if criterion.kind == Kind.TAGS:
        assert type(stored) is int  # as encode_value made it  # nosec B101
        return [level.value for code, level in enumerate(criterion.levels) if stored >> code & 1]
    if criterion.kind == Kind.NUMBER:
        # A large one comes back from the database without its fraction.
        return float(stored)
    if not criterion.levels:
        return stored
    return criterion.levels[int(stored)].value


def name_of(criterion: Criterion, code: int) -> str:
    """The name of a level within a sentence."""
    return criterion.levels[code].name.lower()


def opposite(criterion: Criterion, code: int) -> int:
    """The other answer of a yes/no question."""
    assert criterion.kind == Kind.YES_NO  # others have no opposite  # nosec B101
    return criterion.top - code


def describe_values(criterion: Criterion) -> str:
    """ "0 (off-brand) or 1 (on-brand)"."""
    if criterion.kind == Kind.NUMBER:
        return f"a number from {-MAX_NUMBER:,} to {MAX_NUMBER:,}"
    if criterion.kind == Kind.TEXT:
        return f"a text of at most {MAX_TEXT_CHARACTERS:,} characters"
    levels = _describe_levels(list(criterion.levels))
    return f"an array of {levels}" if criterion.kind == Kind.TAGS else levels


def describe_label(criterion: Criterion) -> str:
    """ "A label is 1 (on-brand) or 0 (off-brand)." """
    return f"A label is {_describe_levels([level for _, level in criterion.downwards])}."


def _encode_number(criterion: Criterion, value: object) -> float:
    if not -MAX_NUMBER <= value <= MAX_NUMBER:  # type: ignore[operator]  # false for NaN, too
        raise InvalidValue(describe_values(criterion))
    return float(value)  # type: ignore[arg-type]


def _describe_levels(levels: list[Level]) -> str:
    parts = [f"{level.value} ({level.name.lower()})" for level in levels]
    return " or ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


# Levels of a criterion in SQL. All are numbers and texts of a criterion made in code, never of a request.
def json_values(criterion: Criterion) -> str:
    """The values of the levels as a list of jsonb literals."""
    return ", ".join(_json_literal(level.value) for level in criterion.levels)


def decode_json(criterion: Criterion, column: str) -> str:
    """The code of a jsonb value."""
    cases = (f"WHEN {_json_literal(level.value)} THEN {code}" for code, level in enumerate(criterion.levels))
    return f"CASE {column} {' '.join(cases)} END"


def opposite_code(criterion: Criterion, column: str) -> str:
    cases = (f"WHEN {code} THEN {opposite(criterion, code)}" for code in criterion.codes)
    return f"CASE {column} {' '.join(cases)} END"


def count_code(code: int, column: str) -> str:
    """How many rows of a group have this code."""
    return f"count(*) FILTER (WHERE {column} = {code})"


def _json_literal(value: int | str) -> str:
    return "'" + json.dumps(value).replace("'", "''") + "'"
