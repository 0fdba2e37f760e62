"""Schemas by name: their versions, and those that come with the application."""

from pathlib import Path
from typing import Any, NamedTuple

from annotations_app.criteria.versions import save_version
from annotations_app.models import LabelSchema
from annotations_app.models.querysets import find_version
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.labels.schema_document import (
    InvalidSchema,
    parse_schema,
    write_document,
)

_READY_MADE = Path(__file__).parent / "ready_made"
READY_MADE_NAMES = sorted(path.stem for path in _READY_MADE.glob("*.yaml"))


class SchemaImport(NamedTuple):
    """``change`` is "created", "updated" or "unchanged"."""

    schema: LabelSchema
    change: str


def import_schema(text: str, *, file_name: str = "", actor: Any = None) -> SchemaImport:
    """Save YAML as the first or the next version of the schema that it names. Raises UserError."""
    try:
        content = parse_schema(text)
    except InvalidSchema as error:
        raise UserError(f"{file_name or 'The text'} is not a valid schema: {error}.") from None
    return save_schema(content, actor=actor)


def save_schema(content: Schema, *, actor: Any = None) -> SchemaImport:
    """Nothing is saved if the latest version says the same."""
    return SchemaImport(*save_version(LabelSchema, "schema", content, write_document(content), actor=actor))


def get_schema(name: str) -> LabelSchema:
    """The latest version of a name, or that of ``NAME@VERSION``. Raises UserError."""
    schema: LabelSchema | None = find_version(LabelSchema.objects.all(), name)
    if schema is None:
        raise UserError(f"There is no schema {name[:120]!r}; make it, or import it from YAML.")
    return schema


def preference_schema(*, actor: Any = None) -> LabelSchema:
    """What a campaign asks of pairs unless it has a schema."""
    return save_schema(read_ready_made("preference"), actor=actor).schema


def read_ready_made(name: str) -> Schema:
    """One of :data:`READY_MADE_NAMES`. Raises UserError."""
    if name not in READY_MADE_NAMES:
        raise UserError(
            f"There is no ready-made schema {name!r}; it must be of {', '.join(READY_MADE_NAMES)}."
        )
    return parse_schema((_READY_MADE / f"{name}.yaml").read_text())
