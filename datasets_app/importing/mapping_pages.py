"""The options of an import as the preview shows them: menus of columns, and groups of what few files need."""

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from datasets_app.domain.traces.convert import format_columns
from datasets_app.domain.traces.dates import DAY_FIRST, MONTH_FIRST
from datasets_app.domain.traces.table_columns import (
    CHOICES,
    EACH_ROW,
    FIELDS,
    ONE_CONVERSATION,
    guess_columns,
)
from datasets_app.importing.forms import PreviewForm
from datasets_app.importing.preview import ImportPreview
from datasets_app.jobs.parameters import ImportParameters

# Options of few files, folded unless they are set or of use for this file.
OPTION_GROUPS = {
    "Options for tables": ("assistant", "columns", "saved_mapping", "save_mapping"),
    "Options for labels of other tools": ("question", "label_map"),
    "More options": ("persona", "format", "renumber", "append"),
}
CHOICE_LABELS = {
    ONE_CONVERSATION: "No column: the table is one conversation",
    EACH_ROW: "No column: each row is a conversation",
    DAY_FIRST: "Day first: 31/12/2026",
    MONTH_FIRST: "Month first: 12/31/2026",
}
# More are named by hand.
MAX_COLUMNS_CHOSEN_FROM = 100


def list_mapping(
    shown: ImportPreview, options: ImportParameters, posted: Mapping[str, Any]
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """For each field of a turn: the column it is read from, and (value, label) of all that can be chosen."""
    # The text of an option separates columns with commas.
    columns = [name for name in shown.table_columns if name.strip() and not set(name) & set(",=")]
    if not columns or len(columns) > MAX_COLUMNS_CHOSEN_FROM:
        return []
    current = shown.columns or {**guess_columns(columns), **options.reading.mapping}
    if "detected-columns" in posted:
        current = {field: posted.get(f"column-{field}", "") for field in FIELDS}
    listed = []
    for field in FIELDS:
        if field == "dates" and not (shown.has_ambiguous_dates or current.get("dates")):
            continue
        named = [] if field == "dates" else [(name, name) for name in columns]
        others = [(choice, CHOICE_LABELS[choice]) for choice in CHOICES.get(field, ())]
        listed.append((field, current.get(field, ""), [*named, *others]))
    return listed


def group_options(
    form: PreviewForm, shown: ImportPreview, *, menus: bool
) -> list[tuple[str, bool, list[Any]]]:
    """(title, whether it is open, fields) of options that are folded. Those that say which columns are read
    are left to the ``menus``, if there are any."""
    groups = []
    for title, names in OPTION_GROUPS.items():
        fields = [form[name] for name in names if not (menus and name == "columns")]
        is_set = any(field.errors or field.value() not in (None, "", "auto", False) for field in fields)
        of_use = bool(shown.questions) and "question" in names
        groups.append((title, is_set or of_use, fields))
    return groups


def join_columns(posted: QueryDict) -> QueryDict:
    """The columns that were chosen one by one, as the text of the option, unless they are as detected."""
    chosen = {field: posted.get(f"column-{field}", "") for field in FIELDS}
    if not any(chosen.values()):
        return posted
    joined = format_columns({field: column for field, column in chosen.items() if column})
    posted = posted.copy()
    if joined != posted.get("detected-columns"):
        posted["columns"] = joined
    return posted
