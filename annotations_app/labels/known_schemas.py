"""The answers in lines of a file, by the schemas that are stored."""

from typing import NamedTuple

from annotations_app.models import LabelSchema
from datasets_app.domain.conversations.jsonl import make_field_error
from datasets_app.domain.conversations.records import Answer, LabelRecord
from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.labels.schema_document import read_document
from datasets_app.domain.labels.values import InvalidValue, Stored, encode_value
from datasets_app.models import Persona


class StoredAnswer(NamedTuple):
    """An answer as it is stored: the primary key of its schema, the place of its criterion, its value."""

    schema: int
    place: int
    value: Stored


class KnownSchemas:
    """All versions of all schemas, and the personas. Runs its queries when it is made."""

    def __init__(self) -> None:
        self.personas = set(Persona.objects.values_list("persona_id", flat=True))
        rows = LabelSchema.objects.only("name", "version", "document")
        self._documents = {row.full_name: (row.pk, row.document) for row in rows}
        self._schemas: dict[int, Schema] = {}

    def get(self, key: int) -> Schema:
        """By its primary key."""
        if key not in self._schemas:
            self._schemas[key] = read_document(dict(self._documents.values())[key])
        return self._schemas[key]

    def find(self, full_name: object) -> Schema | None:
        """By its name with its version."""
        known = self._documents.get(str(full_name))
        return self.get(known[0]) if known else None

    def check(self, label: LabelRecord) -> None:
        """Raises InvalidRecord for an answer that can't be stored. Its persona must be known: a scrub leaves
        the personas of decisions."""
        if label.answer is None:
            return
        self.encode(label.answer)
        if label.persona_id not in self.personas:
            expected = "a persona that is stored; import it first (import_persona)"
            raise make_field_error("persona_id", expected, label.persona_id)

    def encode(self, answer: Answer) -> StoredAnswer:
        """Raises InvalidRecord for an unknown schema or criterion, and for what isn't an answer to it."""
        if answer.schema not in self._documents:
            raise make_field_error(
                "schema",
                "a version of a schema that is stored; import it first (import_schema)",
                answer.schema,
            )
        key, _ = self._documents[answer.schema]
        schema = self.get(key)
        keys = [criterion.key for criterion in schema.criteria]
        if answer.criterion not in keys:
            expected = f"of {answer.schema}: {', '.join(keys)}"
            raise make_field_error("criterion", expected, answer.criterion)
        place = keys.index(answer.criterion)
        criterion = schema.criteria[place]
        try:
            value = encode_value(criterion, answer.value)
        except InvalidValue as error:
            raise make_field_error("value", f"{error} for {answer.criterion}", answer.value) from None
        return StoredAnswer(key, place, value)
