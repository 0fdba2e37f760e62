"""What a campaign asks: one or more criteria on one screen, some of them only after certain answers."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from datasets_app.domain.labels.criterion import Criterion, Kind, Level
from datasets_app.domain.labels.values import InvalidValue, Stored, decode_value, encode_value

MAX_CRITERIA = 12
# Rows of a keyboard; the keys of the queue itself are left out.
_KEY_ROWS = ("1234567890", "qwertyuiop", "adghjkl", "zxvbm")
_ALL_KEYS = "".join(_KEY_ROWS)


class Condition(NamedTuple):
    """Holds if the answer to the criterion ``key`` is, or has among its tags, one of ``codes``."""

    key: str
    codes: tuple[int, ...]


class Question(NamedTuple):
    """A criterion as a schema asks it. ``key`` reaches the field of a number or a text by the keyboard."""

    criterion: Criterion
    help: str = ""
    optional: bool = False
    condition: Condition | None = None
    key: str = ""


class Answers(NamedTuple):
    """Stored answers by the key of their criterion: numbers, and texts that people wrote."""

    codes: dict[str, int | float]
    texts: dict[str, str]

    def get(self, key: str) -> Stored | None:
        return self.codes.get(key, self.texts.get(key))


class Schema(NamedTuple):
    """Made by ``schema_document.py``."""

    name: str
    description: str
    questions: tuple[Question, ...]

    @property
    def criteria(self) -> list[Criterion]:
        return [question.criterion for question in self.questions]

    @property
    def decides_at_once(self) -> bool:
        """Whether one key answers everything."""
        return len(self.questions) == 1 and self.questions[0].criterion.has_one_level

    @property
    def compares_replies(self) -> bool:
        """Whether it is asked of two replies instead of one."""
        return any(criterion.kind == Kind.PREFERENCE for criterion in self.criteria)

    @property
    def asks_sessions(self) -> bool:
        return any(criterion.is_of_session for criterion in self.criteria)

    @property
    def asks_only_sessions(self) -> bool:
        return all(criterion.is_of_session for criterion in self.criteria)

    @property
    def digest(self) -> str:
        """Changes with whatever changes the meaning of a label."""
        meaning = [[one.criterion.digest, one.optional, one.condition] for one in self.questions]
        return hashlib.sha256(json.dumps(meaning).encode()).hexdigest()

    def find(self, key: str) -> Criterion | None:
        return next((criterion for criterion in self.criteria if criterion.key == key), None)


def encode_answers(schema: Schema, values: Mapping[str, Any], *, with_session: bool | None = None) -> Answers:
    """The stored form of answers by criterion, as files and pages give them: all of them, or none.

    Raises :class:`InvalidValue` for what is wrong, and as :func:`check_answers`.
    """
    known = {criterion.key for criterion in schema.criteria}
    if strange := sorted(str(key)[:50] for key in values if key not in known):
        raise InvalidValue(f"{strange[0]} is no criterion of {schema.name}")
    answers = Answers({}, {})
    for criterion in schema.criteria:
        if (value := values.get(criterion.key)) is not None:
            _store(answers, criterion, value)
    check_answers(schema, answers, with_session)
    return answers


def check_answers(schema: Schema, answers: Answers, with_session: bool | None = None) -> None:
    """Raises :class:`InvalidValue` for what is missing, or asked only after another answer.

    Questions about the session are asked ``with_session``, together with one of its replies; None: if one of
    them is answered.
    """
    about = [criterion.key for criterion in schema.criteria if criterion.is_of_session]
    if with_session is None:
        with_session = any(answers.get(key) is not None for key in about)
    for question in schema.questions:
        criterion = question.criterion
        is_answered = answers.get(criterion.key) is not None
        if criterion.is_of_session and not with_session:
            if is_answered:
                raise InvalidValue(f"{criterion.key} is asked of the session, with another of its replies")
            continue
        if is_answered and not is_asked(question, answers):
            raise InvalidValue(f"{criterion.key} is asked only after another answer")
        if not is_answered and not question.optional and is_asked(question, answers):
            raise InvalidValue(f"{criterion.key} has no answer: {criterion.question}")
    if not (answers.codes or answers.texts):
        raise InvalidValue("no criterion has an answer")


def decode_answers(schema: Schema, answers: Answers) -> dict[str, Any]:
    """By criterion, as files have them, in the order of the schema."""
    return {
        criterion.key: decode_value(criterion, stored)
        for criterion in schema.criteria
        if (stored := answers.get(criterion.key)) is not None
    }


def describe_answers(schema: Schema, answers: Answers) -> list[tuple[str, str]]:
    """(question, answer) as people read them."""
    return [
        (criterion.question, describe_stored(criterion, stored))
        for criterion in schema.criteria
        if (stored := answers.get(criterion.key)) is not None
    ]


def describe_stored(criterion: Criterion, stored: Stored) -> str:
    """An answer as people read it."""
    if criterion.kind == Kind.TAGS:
        names = [level.name for code, level in enumerate(criterion.levels) if int(stored) >> code & 1]
        return ", ".join(names) or "none"
    if criterion.levels:
        return criterion.levels[int(stored)].name
    return f"{stored:g}" if isinstance(stored, float) else str(stored)


def is_asked(question: Question, answers: Answers) -> bool:
    """Whether the answers before it call for this question."""
    if question.condition is None:
        return True
    stored = answers.codes.get(question.condition.key)
    if stored is None:
        return False
    return int(stored) in question.condition.codes


def assign_keys(questions: tuple[Question, ...]) -> tuple[Question, ...]:
    """Give each answer a key of its own, as far as there are keys: those that the schema names first, a digit
    for each level of that number, or a row of the keyboard that is free."""
    taken = {level.key for question in questions for level in question.criterion.levels if level.key}
    # Who reads "1" presses 1: before a "Yes" that is 1 in files.
    scales = {one: _assign_keys(one, taken) for one in questions if _shows_digits(one)}
    return tuple(scales.get(one) or _assign_keys(one, taken) for one in questions)


def _shows_digits(question: Question) -> bool:
    levels = question.criterion.levels
    return bool(levels) and all(level.name.isdecimal() and len(level.name) == 1 for level in levels)


def _assign_keys(question: Question, taken: set[str]) -> Question:
    levels = question.criterion.levels
    if not levels:
        key = next(iter(_free_keys(taken, 1, _KEY_ROWS[1:])), "")
        taken.add(key)
        return question._replace(key=key)
    unkeyed = [level for level in levels if not level.key]
    free = iter(_own_digits(unkeyed, taken) or _free_keys(taken, len(unkeyed), _KEY_ROWS))
    chosen = tuple(level if level.key else level._replace(key=next(free, "")) for level in levels)
    taken |= {level.key for level in chosen}
    return question._replace(criterion=question.criterion._replace(levels=chosen))


def _own_digits(levels: list[Level], taken: set[str]) -> list[str]:
    """The digits that the levels stand for, if all of them are free."""
    digits = [str(level.value) for level in levels]
    is_free = all(len(digit) == 1 and digit.isdecimal() and digit not in taken for digit in digits)
    return digits if is_free and len(set(digits)) == len(digits) else []


def _free_keys(taken: set[str], number: int, rows: tuple[str, ...]) -> list[str]:
    """Of one row of which none is taken, if it has enough; else of all."""
    whole = (row for row in rows if len(row) >= number and not taken & set(row))
    return [key for key in next(whole, _ALL_KEYS) if key not in taken]


def _store(answers: Answers, criterion: Criterion, value: Any) -> None:
    try:
        stored = encode_value(criterion, value)
    except InvalidValue as error:
        raise InvalidValue(f"{criterion.key} must be {error}") from None
    if isinstance(stored, str):
        answers.texts[criterion.key] = stored
    else:
        answers.codes[criterion.key] = stored
