"""Column mappings of tables, saved by name."""

from collections.abc import Mapping
from typing import IO

from django.utils import timezone

from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.convert import check_columns
from datasets_app.importing.parameters import ImportParameters
from datasets_app.importing.preview import preview_upload
from datasets_app.models import TableMapping

MAX_NAME_CHARACTERS = 100
MAPPING_NAME_RULE = f"Use up to {MAX_NAME_CHARACTERS} printable characters."


def is_mapping_name(name: str) -> bool:
    return bool(name.strip()) and name.isprintable() and len(name) <= MAX_NAME_CHARACTERS


def get_mapping(name: str) -> dict[str, str]:
    """Raises UserError if there is none of this name."""
    found = TableMapping.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(TableMapping.objects.values_list("name", flat=True)[:20]) or "none is saved"
        raise UserError(f"There is no column mapping {name!r}: {names}.")
    return dict(found.columns)


def save_mapping(name: str, columns: Mapping[str, str]) -> None:
    """Save ``columns`` under a name, in place of an earlier mapping. Raises UserError."""
    if not is_mapping_name(name):
        raise UserError(f"{name!r} isn't a name for a column mapping. {MAPPING_NAME_RULE}")
    try:
        check_columns(columns)
    except UnreadableFile as error:
        raise UserError(f"The column mapping was not saved: {error}.") from None
    values = {"columns": dict(columns), "updated_at": timezone.now()}
    TableMapping.objects.update_or_create(name=name, defaults=values)


def save_upload_mapping(name: str, file: IO[bytes], file_name: str, options: ImportParameters) -> None:
    """Save the columns and senders of ``options``, or else those detected in the file. Raises UserError."""
    save_mapping(name, options.reading.mapping or preview_upload(file, file_name, options).columns)


def delete_mapping(name: str) -> None:
    get_mapping(name)
    TableMapping.objects.filter(name=name).delete()
