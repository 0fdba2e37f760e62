"""A schema as YAML or JSON ⇄ :class:`Schema`. The format: docs/schemas.md."""

import re
from typing import Any, NoReturn

from datasets_app.domain.labels.criterion import (
    SESSION,
    Criterion,
    InvalidCriterion,
    Kind,
    Level,
    make_criterion,
)
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.preference import PREFERENCE_LEVELS
from datasets_app.domain.labels.schema import (
    MAX_CRITERIA,
    Condition,
    Question,
    Schema,
    assign_keys,
)
from datasets_app.domain.labels.values import InvalidValue, encode_level
from datasets_app.domain.metadata.yaml_text import YamlError, dump_yaml, load_yaml

MAX_CHARACTERS = 100_000
MAX_TEXT_CHARACTERS, MAX_NAME_CHARACTERS = 1000, 100
NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Keys of the queue itself.
RESERVED_KEYS = frozenset("sfnc?")
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_NO_AND_YES = (Level(0, "No", "0"), Level(1, "Yes", "1"))
_DEFAULT_LEVELS = {Kind.YES_NO: _NO_AND_YES, Kind.PREFERENCE: PREFERENCE_LEVELS}
_SCHEMA_KEYS = ("schema", "description", "criteria")
_CRITERION_KEYS = ("key", "question", "kind", "answers", "help", "optional", "when", "of")
_ANSWER_KEYS = ("value", "name", "help", "key")


class InvalidSchema(ValueError):
    """A document that isn't a schema; the message says where and why."""


def parse_schema(text: str) -> Schema:
    """YAML → Schema. Raises :class:`InvalidSchema`."""
    if len(text) > MAX_CHARACTERS:
        _refuse(f"the schema is longer than {MAX_CHARACTERS:,} characters")
    try:
        document = load_yaml(text)
    except YamlError as error:
        raise InvalidSchema(str(error)) from None
    return read_document(document)


def read_document(document: Any) -> Schema:
    """What YAML or JSON says → Schema. Raises :class:`InvalidSchema`."""
    said = _mapping(document, "the schema", _SCHEMA_KEYS)
    name = said.get("schema")
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        _refuse("schema: use only letters, digits, dots, dashes and underscores in its name, at most 100")
    criteria = said.get("criteria")
    if not isinstance(criteria, list) or not 1 <= len(criteria) <= MAX_CRITERIA:
        _refuse(f"criteria: expected a list of 1 to {MAX_CRITERIA} criteria")
    questions: list[Question] = []
    for number, item in enumerate(criteria, 1):
        questions.append(_read_question(_mapping(item, f"criterion {number}", _CRITERION_KEYS), questions))
    named = [level.key for one in questions for level in one.criterion.levels if level.key]
    if len(set(named)) < len(named):
        _refuse("two answers have the same keyboard key")
    return Schema(name, _text(said, "description", "the schema"), assign_keys(tuple(questions)))


def write_document(schema: Schema) -> dict[str, Any]:
    """The document of a schema, with all that :func:`read_document` would choose by itself written out."""
    return _without_empty(
        {
            "schema": schema.name,
            "description": schema.description,
            "criteria": [_write_question(question, schema) for question in schema.questions],
        }
    )


def dump_schema(schema: Schema) -> str:
    return dump_yaml(write_document(schema))


def _read_question(said: dict[str, Any], before: list[Question]) -> Question:
    key = said.get("key")
    place = key if isinstance(key, str) and len(key) <= 50 else f"criterion {len(before) + 1}"
    if key == ON_BRAND.key:
        _refuse(f"{key}: this is the built-in criterion; campaigns without a schema ask it")
    if any(question.criterion.key == key for question in before):
        _refuse(f"{place}: two criteria have this key")
    if said.get("kind") not in list(Kind):
        _refuse(f"{place}: kind must be one of {', '.join(Kind)}")
    kind = Kind(said["kind"])
    try:
        levels = _read_levels(said.get("answers"), kind, place)
        criterion = make_criterion(
            str(key), _text(said, "question", place), kind, levels, _read_subject(said.get("of"), place)
        )
    except InvalidCriterion as error:
        raise InvalidSchema(str(error)) from None
    optional = said.get("optional", False)
    if type(optional) is not bool:
        _refuse(f"{place}: optional must be true or false")
    condition = _read_condition(said.get("when"), place, before)
    for other in before:
        is_same = other.criterion.is_of_session == criterion.is_of_session
        if condition and condition.key == other.criterion.key and not is_same:
            _refuse(
                f"{place}: when must name a criterion that is also asked of the {said.get('of', 'reply')}"
            )
    return Question(criterion, _text(said, "help", place), optional, condition)


def _read_subject(of: Any, place: str) -> tuple[str, ...]:
    if of not in (None, "reply", SESSION):
        _refuse(f"{place}: of must be reply or session")
    return (SESSION,) if of == SESSION else ()


def _read_levels(answers: Any, kind: Kind, place: str) -> tuple[Level, ...]:
    if answers is None:
        return _DEFAULT_LEVELS.get(kind, ())
    if not isinstance(answers, list):
        _refuse(f"{place}: answers must be a list")
    levels = tuple(_read_level(answer, code, place) for code, answer in enumerate(answers))
    known = [level.value for level in PREFERENCE_LEVELS]
    if kind == Kind.PREFERENCE and [level.value for level in levels] != known:
        _refuse(f"{place}: the answers of a preference are {', '.join(map(str, known))}, in this order")
    return levels


def _read_level(answer: Any, code: int, place: str) -> Level:
    said = answer if isinstance(answer, dict) else {"value": answer}
    said = _mapping(said, f"{place}: answer {code + 1}", _ANSWER_KEYS)
    value = said.get("value")
    if isinstance(value, bool):
        _refuse(f'{place}: answer {code + 1} is read as true or false; put it in quotes, such as "yes"')
    if not isinstance(value, int | str) or (isinstance(value, int) and abs(value) >= 2**53):
        _refuse(f"{place}: the value of answer {code + 1} must be a text or a whole number")
    _check_text(str(value), MAX_NAME_CHARACTERS, f"{place}: answer {code + 1}")
    name = _text(said, "name", place, MAX_NAME_CHARACTERS) or _name_of(value)
    key = said.get("key", "")
    key = str(key) if type(key) is int else key
    if key != "" and (not isinstance(key, str) or not re.fullmatch("[a-z0-9]", key) or key in RESERVED_KEYS):
        _refuse(f"{place}: a keyboard key is a digit or a lowercase letter other than c, f, n and s")
    return Level(value, name, str(code), key=key, help=_text(said, "help", place))


def _name_of(value: int | str) -> str:
    name = str(value).replace("_", " ").strip()
    return name[:1].upper() + name[1:]


def _read_condition(when: Any, place: str, before: list[Question]) -> Condition | None:
    if when is None:
        return None
    if not isinstance(when, dict) or len(when) != 1:
        _refuse(f"{place}: when names one criterion and its answers, such as {{safe: 0}}")
    [(key, values)] = when.items()
    other = next((question.criterion for question in before if question.criterion.key == key), None)
    if other is None or not other.has_one_level:
        _refuse(f"{place}: when must name an earlier criterion with one answer of several")
    chosen = values if isinstance(values, list) else [values]
    try:
        codes = tuple(sorted({encode_level(other, _unfold_boolean(value, other)) for value in chosen}))
    except InvalidValue as error:
        raise InvalidSchema(f"{place}: when: {other.key} is {error}") from None
    if not codes:
        _refuse(f"{place}: when names no answer")
    return Condition(other.key, codes)


def _unfold_boolean(value: Any, criterion: Criterion) -> Any:
    """YAML reads an unquoted yes and no as true and false."""
    if isinstance(value, bool) and criterion.kind == Kind.YES_NO:
        return criterion.levels[int(value)].value
    return value


def _write_question(question: Question, schema: Schema) -> dict[str, Any]:
    criterion, condition = question.criterion, question.condition
    other = schema.find(condition.key) if condition else None
    return _without_empty(
        {
            "key": criterion.key,
            "question": criterion.question,
            "kind": str(criterion.kind),
            "answers": [
                _without_empty(
                    {"value": level.value, "name": level.name, "help": level.help, "key": level.key}
                )
                for level in criterion.levels
            ],
            "help": question.help,
            "of": SESSION if criterion.is_of_session else None,
            "optional": question.optional,
            "when": {other.key: [other.levels[code].value for code in condition.codes]}
            if other and condition
            else None,
        }
    )


def _without_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in values.items()
        if value is not None and value is not False and value not in ("", [])
    }


def _mapping(value: Any, place: str, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(f"{place}: expected {', '.join(keys)}")
    if strange := [key for key in value if key not in keys]:
        _refuse(f"{place}: {str(strange[0])[:50]!r} isn't one of {', '.join(keys)}")
    return value


def _text(said: dict[str, Any], key: str, place: str, limit: int = MAX_TEXT_CHARACTERS) -> str:
    value = said.get(key, "")
    if not isinstance(value, str):
        _refuse(f"{place}: {key} must be a text")
    _check_text(value, limit, f"{place}: {key}")
    return value.strip()


def _check_text(text: str, limit: int, place: str) -> None:
    if len(text) > limit:
        _refuse(f"{place} has more than {limit} characters")
    if _CONTROL_CHARACTERS.search(text):
        _refuse(f"{place} has a control character")


def _refuse(message: str) -> NoReturn:
    raise InvalidSchema(message)
