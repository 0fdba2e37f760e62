"""What of a table may have been understood wrongly, in sentences that name no value of it."""

from collections import Counter
from collections.abc import Sequence

from datasets_app.domain.traces.dates import DAY_FIRST, MONTH_FIRST
from datasets_app.domain.traces.table_rows import ORIGINAL_TIMESTAMP, WITHOUT_SESSION, Note, TableNotes
from datasets_app.domain.wording import format_count

MAX_LINES_SHOWN = 10
MAX_SENDERS_SHOWN = 20


def list_table_warnings(notes: TableNotes) -> list[str]:
    kept = f"; kept in the metadata as {ORIGINAL_TIMESTAMP}"
    order = f". Set dates to {DAY_FIRST} or {MONTH_FIRST}"
    found = [
        _describe(notes.unread_dates, "timestamp", "can't be read as a date", kept),
        _describe(notes.ambiguous_dates, "timestamp", "could have the day or the month first", kept + order),
        _describe(notes.uneven_rows, "row", "with too few or too many cells, so its text may be cut off"),
        _describe(notes.unnamed_sessions, "row", f"without a session ID, put into session {WITHOUT_SESSION}"),
        _describe(notes.repeated_sessions, "session", "with repeated turns, perhaps exported twice"),
        _describe_senders(notes.senders),
    ]
    return [f"{sentence}." for sentence in found if sentence]


def list_senders(notes: TableNotes) -> list[tuple[str, str, int]]:
    """(sender, role, messages) of senders that name no known role. They may be names of people."""
    common = notes.senders.kinds.most_common(MAX_SENDERS_SHOWN)
    return [
        (sender, role, count) for (role, sender), count in ((_split(kind), count) for kind, count in common)
    ]


def format_lines(lines: Sequence[int], total: int) -> str:
    """ " (lines 3, 5 and 9)"; empty if no line is known."""
    if not lines:
        return ""
    shown = [f"{line:,}" for line in lines[:MAX_LINES_SHOWN]]
    more = total - len(shown)
    shown += [f"{more:,} more"] if more > 0 else []
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f" ({'line' if total == 1 else 'lines'} {listed})"


def _describe(note: Note, counted: str, text: str, remedy: str = "") -> str:
    if not note.total:
        return ""
    shapes = ", ".join(kind for kind, _ in note.kinds.most_common(3))
    like = f" (like {shapes})" if shapes else ""
    lines = format_lines(note.lines, note.total)
    return f"{format_count(note.total, counted)}{like} {text}{lines}{remedy}"


def _describe_senders(note: Note) -> str:
    if not note.total:
        return ""
    roles: Counter[str] = Counter()
    for kind, count in note.kinds.items():
        roles[_split(kind)[0]] += count
    counts = " and ".join(f"{count:,} as {role}" for role, count in roles.most_common())
    senders = format_count(len(note.kinds), "sender")
    messages = format_count(note.total, "message")
    return (
        f"{messages} by {senders} without a known role, read {counts}{format_lines(note.lines, note.total)}"
    )


def _split(kind: str) -> tuple[str, str]:
    role, _, sender = kind.partition(": ")
    return role, sender
