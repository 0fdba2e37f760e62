"""A decision as files have it, and answers as label tools write them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from datasets_app.domain.annotation_lines import CHOSEN, PAIR
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.labels.values import InvalidValue, encode_value
from datasets_app.domain.traces.values import decode_json, drop_zero_fraction

# The name of the question that holds what tools have no place for. No criterion has a dash in its key.
DETAILS = "annotation-details"
PLACE = ("session_id", "turn_index", "persona_id")
_ANSWER_FIELDS = ("text", "label", "criterion", "value", "of")

Line = dict[str, Any]
# What a tool keeps, but doesn't show as an answer, by how many answers.
Notes = Counter[str]


class FiledDecision(NamedTuple):
    """``lines`` are those of annotation JSONL, one for each answer."""

    schema: Schema
    lines: list[Line]

    @property
    def text(self) -> str:
        return str(self.lines[0]["text"])

    @property
    def details(self) -> Line:
        """All that isn't the text or an answer."""
        answered = (*_ANSWER_FIELDS, *(CHOSEN if PAIR in self.lines[0] else ()))
        line = {key: value for key, value in self.lines[0].items() if key not in answered}
        return without_labeler(line)

    @property
    def place(self) -> Line:
        return {key: self.lines[0][key] for key in PLACE if key in self.lines[0]}

    @property
    def answers(self) -> list[tuple[Criterion, Any]]:
        values = {
            line.get("criterion", ON_BRAND.key): line.get("value", line.get("label")) for line in self.lines
        }
        return [(one, values[one.key]) for one in self.schema.criteria if one.key in values]


class ReadDecision(NamedTuple):
    """A decision in a file of a tool: ``answers`` by question. ``details`` are the fields of its lines."""

    text: str
    answers: Mapping[str, Any]
    details: Mapping[str, Any]


Encoder = Callable[[Iterable[FiledDecision], Notes], Iterator[bytes]]
# The decisions of one record.
Reader = Callable[[Any], Iterator[ReadDecision]]


def without_labeler(line: Line) -> Line:
    """``labeler`` only repeats the annotator, unless a file had another one."""
    return {key: value for key, value in line.items() if key != "labeler" or value != line.get("annotator")}


def group_by_reply(decisions: Iterable[FiledDecision]) -> Iterator[list[FiledDecision]]:
    for _, group in groupby(decisions, lambda one: (one.text, one.place)):
        yield list(group)


def is_rating(criterion: Criterion, lowest: int, highest: int | None = None) -> bool:
    """Whether the points of a scale are whole numbers that a tool shows as a rating."""
    values = criterion.values
    if criterion.kind != Kind.ORDINAL or not all(type(value) is int for value in values):
        return False
    top = len(values) if highest is None else highest
    is_ascending = values == sorted(values, key=int)
    return is_ascending and int(values[0]) >= lowest and int(values[-1]) <= top


def name_choices(criterion: Criterion, value: Any) -> list[str]:
    return [str(one) for one in (value if criterion.kind == Kind.TAGS else [value])]


def read_answer(criterion: Criterion, said: Any) -> Any:
    """What a tool or a table says as the value that files have; as it is if it is none."""
    if criterion.kind == Kind.TAGS:
        # A cell of a table has the JSON of a list.
        said = found if type(found := decode_json(said)) is list else said
        return [_find_level(criterion, one) for one in (said if type(said) is list else [said])]
    if type(said) is list and len(said) == 1:
        [said] = said
    if criterion.kind == Kind.NUMBER and type(said) is str:
        try:
            return float(said)
        except ValueError:
            return said
    return said if criterion.kind == Kind.TEXT else _find_level(criterion, said)


def read_details(said: Any) -> Line:
    """The object in the text of :data:`DETAILS`; empty if it is none."""
    said = said[0] if type(said) is list and len(said) == 1 else said
    details = decode_json(said)
    return details if type(details) is dict else {}


def _find_level(criterion: Criterion, said: Any) -> Any:
    """The value of a level by itself, as a text, or by its name."""
    try:
        encode_value(criterion, [said] if criterion.kind == Kind.TAGS else said)
    except InvalidValue:
        names = [level.name.casefold() for level in criterion.levels]
        values = [str(value) for value in criterion.values]
        for text in (str(said), drop_zero_fraction(str(said))):
            if text in values:
                return criterion.values[values.index(text)]
            if names.count(text.casefold()) == 1:
                return criterion.values[names.index(text.casefold())]
    return said
