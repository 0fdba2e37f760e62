"""Files of label tools and tables that answer the criteria of schemas → label records."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from annotations_app.domain.answer_files.decisions import ReadDecision, read_answer
from annotations_app.domain.answer_files.formats import READERS, TABLE
from annotations_app.labels.known_schemas import KnownSchemas
from datasets_app.core.errors import UserError
from datasets_app.core.limits import configured_limits
from datasets_app.domain.conversations.jsonl import InvalidRecord
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.records import LabelRecord, LineError
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.labels.values import is_code
from datasets_app.domain.traces.containers import open_source
from datasets_app.domain.traces.documents import peek_documents
from datasets_app.domain.traces.registry import FORMATS

MAX_PEEKED = 20
# What Prodigy and doccano call a question without a name.
_UNNAMED = "label"
Parse = Callable[[dict[str, Any], int], LabelRecord]
_TABLES = ("csv", "xlsx", "parquet")


class AnswerFile:
    """``schema`` is that of answers which name none. Labels of other questions are counted in
    :attr:`unmapped`."""

    has_places = True
    left_out: Sequence[str] = ()

    def __init__(
        self, path: Path, format: str, schemas: KnownSchemas, schema: str | None, parse: Parse
    ) -> None:
        self.path, self.schemas, self.schema, self._parse = path, schemas, schema, parse
        self._read = READERS[format]
        self._questions: Counter[str] = Counter()
        # The record of each label.
        self._numbers = array("q")

    @property
    def unmapped(self) -> int:
        return self._questions.total()

    @property
    def questions(self) -> list[tuple[str, str]]:
        return [
            (name, f"{count:,} no criterion of the schema") for name, count in self._questions.most_common()
        ]

    @property
    def no_labels_message(self) -> str:
        """What to say if it has no labels."""
        schema = self.schemas.find(self.schema)
        keys = ", ".join(criterion.key for criterion in schema.criteria) if schema else ""
        return f"answers no criterion of {self.schema}. Name its questions or columns like these: {keys}."

    def find_record(self, line: int) -> int:
        """The record of the file that a label is of."""
        return self._numbers[line - 1] if 0 < line <= len(self._numbers) else line

    def records(self) -> Iterator[LabelRecord | LineError]:
        """Each has a ``line`` of its own: the number of the label."""
        with open_source(self.path, configured_limits()) as source:
            for item in source.documents():
                if isinstance(item, LineError):
                    yield item
                    continue
                for decision in self._read(item.value):
                    yield from self._list_labels(decision, item.number)

    def _list_labels(self, decision: ReadDecision, number: int) -> Iterator[LabelRecord | LineError]:
        details = {key: value for key, value in decision.details.items() if value is not None}
        for answer in self._list_answers(decision, details):
            self._numbers.append(number)
            try:
                yield self._parse({"text": decision.text, **details, **answer}, len(self._numbers))
            except InvalidRecord as error:
                yield error.to_line_error(number, str(details.get("session_id") or "") or None)

    def _list_answers(self, decision: ReadDecision, details: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """In the order of the schema, as the lines of a decision are."""
        answers = dict(decision.answers)
        if ON_BRAND.key in answers:
            yield {"label": read_answer(ON_BRAND, answers.pop(ON_BRAND.key))}
        name = details.get("schema") or self.schema
        schema = self.schemas.find(name) if name else None
        if schema is not None:
            answers = _name_questions(answers, details, schema)
            for criterion in schema.criteria:
                if criterion.key in answers:
                    value = read_answer(criterion, answers.pop(criterion.key))
                    yield {"schema": name, "criterion": criterion.key, "value": value}
        for question, said in answers.items():
            if details.get("schema"):
                # The import refuses it.
                yield {"criterion": question, "value": said}
            else:
                self._questions[question] += 1


def _name_questions(answers: dict[str, Any], details: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Of a table with a column for each criterion, its cells; a label without a question answers the only
    one."""
    keys = [criterion.key for criterion in schema.criteria]
    if not answers:
        answers = {key: details.pop(key) for key in keys if key in details}
    if len(keys) == 1 and _UNNAMED in answers and keys[0] not in answers:
        answers = {keys[0] if key == _UNNAMED else key: said for key, said in answers.items()}
    return answers


def open_answer_file(
    path: Path, format: str, name: str, schemas: KnownSchemas, schema: str | None, parse: Parse
) -> AnswerFile | None:
    """None for what has no answers under a schema but those of annotation JSONL. ``parse`` makes a label of
    the object and the number of its line. Raises UserError."""
    if schema and schemas.find(schema) is None:
        raise UserError(f"There is no schema {schema}; import it first (import_schema), or name its version.")
    try:
        with open_source(path, configured_limits()) as source:
            first = [document.value for document in peek_documents(source.documents(), MAX_PEEKED)]
            found = TABLE if source.layout in _TABLES else _find_tool(first) if format == "auto" else format
    except UnreadableFile as error:
        raise UserError(f"{name} {error}") from None
    if found not in READERS or not _answers_schema(first, found, schema):
        return None
    return AnswerFile(path, found, schemas, schema, parse)


def _find_tool(first: list[Any]) -> str:
    if any(type(value) is dict and "criterion" in value for value in first):
        return ""
    tools = (name for name in READERS if name != TABLE)
    return next((name for name in tools if any(map(FORMATS[name].matches, first))), "")


def _answers_schema(first: list[Any], format: str, schema: str | None) -> bool:
    decisions = [decision for value in first for decision in READERS[format](value)]
    return bool(decisions) and (schema is not None or any(map(_names_criteria, decisions)))


def _names_criteria(decision: ReadDecision) -> bool:
    """Whether its fields are those of a line. Other files with labels of the built-in criterion are read by
    what their values mean: see tool_labels.py."""
    answers, details = decision.answers, decision.details
    said = read_answer(ON_BRAND, answers.get(ON_BRAND.key))
    is_label = "persona_id" in details and is_code(ON_BRAND, said)
    return bool(answers and details.get("schema")) or is_label
