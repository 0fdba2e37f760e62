"""What of a table may have been understood wrongly, in sentences that name no value of it."""

from collections.abc import Sequence

from datasets_app.domain.traces.dates import DAY_FIRST, MONTH_FIRST
from datasets_app.domain.traces.records import MAX_KINDS_NOTED, Note
from datasets_app.domain.traces.table_rows import ORIGINAL_TIMESTAMP, TableNotes
from datasets_app.domain.wording import format_count

MAX_LINES_SHOWN = 10


def list_table_warnings(notes: TableNotes, place: str) -> list[str]:
    """``place`` is what rows are counted by: "line" or "row"."""
    kept = f"; kept in the metadata as {ORIGINAL_TIMESTAMP}"
    found = [
        (notes.unread_dates, "timestamp", "can't be read as a date", kept),
        (
            notes.ambiguous_dates,
            "timestamp",
            "could have the day or the month first",
            f"{kept}. Set dates to {DAY_FIRST} or {MONTH_FIRST}",
        ),
        (
            notes.unknown_zones,
            "timestamp",
            "in a time zone that could be several, or isn't known",
            f"{kept}. Write offsets, such as +01:00",
        ),
        (notes.uneven_rows, "row", "with too few or too many cells, perhaps cut off", ""),
        (notes.unnamed_sessions, "row", "without a session ID, each read as a conversation of its own", ""),
        (
            notes.rounded_ids,
            "row",
            "with a session ID in scientific notation (such as 1.0E+05), which may have lost digits",
            "",
        ),
        (notes.html_texts, "text", "in HTML, read as the text it shows", ""),
        (
            notes.repeated_sessions,
            "session",
            "with repeated turns, perhaps exported twice",
            "; repeated=drop leaves out exact repetitions",
        ),
    ]
    sentences = [_describe(*item, place) for item in found if item[0].total]
    return [*sentences, _describe_senders(notes, place)] if notes.senders.total else sentences


def format_lines(lines: Sequence[int], total: int, place: str) -> str:
    """ " (lines 3, 5 and 9)"; empty if no line is known."""
    if not lines:
        return ""
    shown = [f"{line:,}" for line in sorted(lines)[:MAX_LINES_SHOWN]]
    more = total - len(shown)
    shown += [f"{more:,} more"] if more > 0 else []
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f" ({place if total == 1 else f'{place}s'} {listed})"


def _describe(note: Note, counted: str, text: str, remedy: str, place: str) -> str:
    shapes = ", ".join(kind for kind, _ in note.kinds.most_common(3))
    like = f" (like {shapes})" if shapes else ""
    lines = format_lines(note.lines, note.total, place)
    return f"{format_count(note.total, counted)}{like} {text}{lines}{remedy}."


def _describe_senders(notes: TableNotes, place: str) -> str:
    note = notes.senders
    counts = " and ".join(f"{count:,} as {role}" for role, count in notes.sender_roles.most_common())
    messages, senders = format_count(note.total, "message"), format_count(len(note.kinds), "sender")
    senders = f"at least {senders}" if len(note.kinds) == MAX_KINDS_NOTED else senders
    lines = format_lines(note.lines, note.total, place)
    return f"{messages} by {senders} without a known role, read {counts}{lines}."
