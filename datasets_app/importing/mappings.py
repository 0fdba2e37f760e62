"""Column mappings of tables, saved by name."""

import re
from collections.abc import Mapping

from django.utils import timezone

from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.convert import check_columns
from datasets_app.models import TableMapping
from datasets_app.models.dataset import NAME_PATTERN


def get_mapping(name: str) -> dict[str, str]:
    """Raises UserError if there is none of this name."""
    found = TableMapping.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(TableMapping.objects.values_list("name", flat=True)[:20]) or "none is saved"
        raise UserError(f"There is no column mapping {name!r}: {names}.")
    return dict(found.columns)


def save_mapping(name: str, columns: Mapping[str, str]) -> None:
    """Save ``columns`` under a name, in place of an earlier mapping. Raises UserError."""
    if not re.fullmatch(NAME_PATTERN, name) or len(name) > 100:
        raise UserError(f"{name!r} is no name for a column mapping. Use letters, digits, dots and dashes.")
    try:
        check_columns(columns)
    except UnreadableFile as error:
        raise UserError(f"The column mapping was not saved: {error}.") from None
    values = {"columns": dict(columns), "updated_at": timezone.now()}
    TableMapping.objects.update_or_create(name=name, defaults=values)


def delete_mapping(name: str) -> None:
    get_mapping(name)
    TableMapping.objects.filter(name=name).delete()
