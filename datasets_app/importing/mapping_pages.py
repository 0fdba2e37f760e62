"""The options of an import as the preview shows them: menus of columns, and groups of what few files need."""

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.convert import read_convert_options
from datasets_app.domain.traces.dates import DAY_FIRST, MONTH_FIRST
from datasets_app.domain.traces.table_columns import (
    CHOICES,
    COLUMNS,
    EACH_ROW,
    FIELDS,
    LEAVE_OUT,
    ONE_CONVERSATION,
    REQUIRED,
    SENDER,
    SIDES,
    WITH_COLUMN,
    fold_sender,
    format_columns,
    guess_columns,
    read_sides,
)
from datasets_app.importing.forms import PreviewForm
from datasets_app.importing.parameters import ImportParameters
from datasets_app.importing.preview import ImportPreview

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
    "drop": "Left out",
    "windows-1252": "Western European (windows-1252)",
    "windows-1250": "Central European (windows-1250)",
    "windows-1251": "Cyrillic (windows-1251)",
    "windows-1253": "Greek (windows-1253)",
    "windows-1254": "Turkish (windows-1254)",
    "windows-1255": "Hebrew (windows-1255)",
    "windows-1256": "Arabic (windows-1256)",
    "mac-roman": "Western European, Macintosh (mac-roman)",
    "shift-jis": "Japanese (shift-jis)",
    "euc-kr": "Korean (euc-kr)",
    "gb18030": "Chinese, simplified (gb18030)",
    "big5": "Chinese, traditional (big5)",
}
EMPTY_LABELS = {"dates": "Not stated", "repeated": "Kept", "encoding": "UTF-8 only"}
SIDE_LABELS = {"user": "The user", "assistant": "The assistant", LEAVE_OUT: "Left out"}
# More are named by hand.
MAX_COLUMNS_CHOSEN_FROM = 100


def list_mapping(
    shown: ImportPreview, options: ImportParameters, posted: Mapping[str, Any]
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """For each field of a turn: the column it is read from, and (value, label) of all that can be chosen."""
    columns = [name for name in shown.table_columns if name.strip()]
    fields = ("encoding",) if shown.has_other_encoding else FIELDS
    if not (columns or shown.has_other_encoding) or len(columns) > MAX_COLUMNS_CHOSEN_FROM:
        return []
    current = shown.columns or {**guess_columns(columns), **options.reading.mapping}
    if "detected-columns" in posted:
        current = {field: posted.get(f"column-{field}", "") for field in FIELDS}
    listed = []
    for field in fields:
        if field == "dates" and not (shown.has_ambiguous_dates or current.get("dates")):
            continue
        if field == "encoding" and not (shown.has_other_encoding or current.get("encoding")):
            continue
        named = [(name, name) for name in columns] if field in WITH_COLUMN else []
        others = [
            (choice, CHOICE_LABELS.get(choice, choice))
            for choice in CHOICES.get(field, ())
            if choice != "keep"
        ]
        empty = ("", EMPTY_LABELS.get(field, "none"))
        listed.append((field, current.get(field, ""), [empty, *named, *others]))
    return listed


def list_sides(
    shown: ImportPreview, options: ImportParameters, posted: Mapping[str, Any]
) -> list[tuple[str, str, int, str]]:
    """(sender or role, what it is read as, messages, what was chosen for it) of all that a file names."""
    chosen = read_sides(_read_sides(posted) or options.reading.mapping)
    return [
        (speaker, role, count, chosen.get(fold_sender(speaker), ""))
        for speaker, role, count in shown.speakers
    ]


def _read_sides(posted: Mapping[str, Any]) -> dict[str, str]:
    numbers = [key.removeprefix("sender-") for key in posted if key.startswith("sender-")]
    sides = {f"{SENDER}{posted[f'sender-{number}']}": posted.get(f"side-{number}", "") for number in numbers}
    return {sender: side for sender, side in sides.items() if side in SIDES}


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
    """The columns and senders that were chosen one by one, as the text of the option, unless they are as
    detected."""
    columns = {field: str(posted[f"column-{field}"]) for field in FIELDS if f"column-{field}" in posted}
    chosen = {field: column for field, column in columns.items() if column}
    if not chosen and "sender-0" not in posted:
        return posted
    try:
        written = {} if chosen else read_convert_options("", posted.get("columns", "")).mapping
    except UnreadableFile:
        return posted  # which the form explains
    kept = {field: column for field, column in written.items() if not field.startswith(SENDER)}
    sides = _read_sides(posted)
    posted = posted.copy()
    if not chosen or format_columns({**chosen, **sides}) != posted.get("detected-columns"):
        # Without a column on purpose, so that none is guessed.
        # Where no column can be read yet, only the encoding is to be chosen.
        named = columns.keys() & set(COLUMNS)
        empty = {field: "" for field in COLUMNS if named and (field in columns or field in REQUIRED)}
        posted["columns"] = format_columns({**kept, **(empty if chosen else {}), **chosen, **sides})
    return posted
