"""What a conversion did, in a sentence."""

from typing import Any

from datasets_app.domain.traces.convert import Report
from datasets_app.domain.traces.records import (
    ABOVE_COLUMNS,
    ATTACHED,
    BACKWARDS,
    BETWEEN_TURNS,
    CANCELED,
    CHOSEN_OUT,
    CUT_ROWS,
    CUT_TEXTS,
    DELETED,
    DUPLICATES,
    EACH_A_CONVERSATION,
    EMPTY,
    EMPTY_MEMBERS,
    ERRORS,
    FAILED,
    HIDDEN,
    LINES_BEFORE,
    NO_ANSWER,
    NO_CONTENT,
    NO_MESSAGES,
    NO_QUESTION,
    NO_REPLY,
    NOT_CONVERSATIONS,
    ONE_CONVERSATION,
    ONE_CONVERSATION_OF_PAIRS,
    OTHER_BRANCHES,
    OTHER_ENCODING,
    OTHER_EVENTS,
    OTHER_MEMBERS,
    OTHER_SPANS,
    PRIVATE_NOTES,
    REPEATED,
    ROUNDED_IDS,
    SAME_COLUMNS,
    SECOND_COPY,
    SUB_AGENTS,
    TEXT_BETWEEN,
    TOO_DEEP,
    TOOL_TURNS,
    TOTALS,
    UNANSWERED,
    UNCLEAR_DATES,
    UNKNOWN_ROLES,
    UNREAD_DATES,
    UNREADABLE_FORM,
    Note,
)
from datasets_app.domain.traces.table_warnings import format_lines, list_table_warnings
from datasets_app.domain.wording import format_count


def describe_report(report: Report) -> str:
    """ "Langfuse traces, 412 traces with 530 calls → 97 conversations of 388 turns, 31 without an answer"."""
    read = []
    if report.traces:
        read.append(f"{format_count(report.traces, 'trace')} with {format_count(report.calls, 'call')}")
    elif report.calls and not report.mapping:
        read.append(format_count(report.calls, "call"))
    elif report.records:
        read.append(format_count(report.records, "record"))
    made = f"{format_count(report.conversations, 'conversation')} of {format_count(report.turns, 'turn')}"
    if report.unanswered:
        made += f", {report.unanswered:,} without an answer"
    if report.labels:
        made += f", {format_count(report.labels, 'label')}"
    return f"{', '.join([report.format, *read])} → {made}"


def list_left_out(report: Report) -> list[tuple[str, int]]:
    """(reason, count), the largest first; what every trace or log has around its calls comes last."""
    found = [(reason, note.total) for reason, note in report.left_out.items() if note.total]
    return sorted(found, key=lambda item: (item[0] in (OTHER_SPANS, OTHER_EVENTS), -item[1], item[0]))


def list_left_out_with_lines(report: Report) -> list[str]:
    """ "12 failed calls (lines 3, 4 and 10 more)", for each reason."""
    return [
        describe_count(reason, count)
        + (_list_kinds(report.left_out[reason]) if reason == OTHER_MEMBERS else "")
        + format_lines(report.left_out[reason].lines, count, report.place)
        for reason, count in list_left_out(report)
    ]


def describe_count(what: str, count: int) -> str:
    """ "12 failed calls", "1 failed call"."""
    return f"{count:,} {SINGULARS.get(what, what) if count == 1 else what}"


def _list_kinds(note: Note) -> str:
    return f" ({', '.join(f'{kind} {count:,}' for kind, count in note.kinds.most_common(10))})"


def explain_missing_sessions(report: Report) -> str:
    """Why a table can't be imported as it is; empty if it can."""
    if not report.notes.lacks_sessions:
        return ""
    return (
        f"no column says which of the {report.records:,} rows belong to the same conversation. Choose the "
        "session column, or state that the table is one conversation or that each row is one."
    )


def list_warnings(report: Report) -> list[str]:
    """What was guessed, cut or may have been understood wrongly, in sentences that name no value."""
    remarks = [
        f"{describe_count(what, note.total)}{format_lines(note.lines, note.total, report.place)}."
        for what, note in report.remarks.items()
    ]
    return remarks + list_table_warnings(report.notes, report.place)


SINGULARS = {
    NO_CONTENT: "call without content",
    TOTALS: "row of totals",
    UNANSWERED: "trace that holds no answer",
    TOO_DEEP: "span nested too deeply to be read",
    UNKNOWN_ROLES: "message of an unknown role",
    CHOSEN_OUT: "message of a sender that is left out by choice",
    REPEATED: "exact repetition of a message",
    UNREADABLE_FORM: "text in a form that can't be read",
    EMPTY_MEMBERS: "empty file of the archive",
    OTHER_MEMBERS: "file of the archive that holds no conversations",
    NO_ANSWER: "conversation without an answer",
    NO_MESSAGES: "record without messages",
    OTHER_SPANS: "span that is no model call",
    SUB_AGENTS: "call of sub-agents and tools",
    DUPLICATES: "repetition of a call",
    FAILED: "failed call",
    SECOND_COPY: "conversation that the file holds twice",
    OTHER_BRANCHES: "message of other branches",
    HIDDEN: "hidden message",
    PRIVATE_NOTES: "private note",
    DELETED: "deleted or unsent message",
    NOT_CONVERSATIONS: "labeled text that is no conversation",
    CANCELED: "canceled annotation",
    "messages of the messenger itself": "message of the messenger itself",
    "media without text": "file without text",
    CUT_ROWS: "row cut off before its text",
    EMPTY: "empty message",
    LINES_BEFORE: "line before the first message",
    OTHER_EVENTS: "event that is no message",
    ERRORS: "error message of the application",
    ONE_CONVERSATION: "message without the ID of a conversation, read as one conversation",
    ONE_CONVERSATION_OF_PAIRS: (
        "question with an answer of a list without IDs of conversations, read as one conversation"
    ),
    EACH_A_CONVERSATION: (
        "question with an answer and a time, but without the ID of a conversation, read as a conversation"
    ),
    ATTACHED: "file attached to a text, whose content isn't read",
    CUT_TEXTS: "text cut off in the file, kept as far as it goes and marked as truncated",
    BETWEEN_TURNS: f"text between the turns of a chat template, kept as {TEXT_BETWEEN} in the metadata",
    TOOL_TURNS: "call of a tool or its result, kept in the metadata of the turn that follows",
    BACKWARDS: (
        "time that runs backwards; if day and month are exchanged, set dates to day-first or month-first"
    ),
    UNCLEAR_DATES: (
        "date that could have the day or the month first, read as day-first; set dates to change that"
    ),
    OTHER_ENCODING: "line that isn't UTF-8, read in the encoding that was stated",
    ABOVE_COLUMNS: "line above the names of the columns, which isn't read",
    SAME_COLUMNS: "column with the name of another one, kept with a number behind it",
    ROUNDED_IDS: "message whose ID has more digits than a float keeps; others may have become one with it",
    UNREAD_DATES: (
        "date that can't be read, could have the day or the month first, or a time zone that isn't clear; "
        "set dates, or write offsets"
    ),
    NO_QUESTION: "call that names no question, or has it in a form that isn't known",
    NO_REPLY: "call that names no reply, or has it in a form that isn't known",
    "requests without a reply": "request without a reply",
    "replies without their request": "reply without its request",
    "calls that are no chat": "call that is no chat",
    "scores": "score",
    "turns that were not captured": "turn that was not captured",
}


def summarize_report(report: Report) -> dict[str, Any]:
    """For the result of an import, which is stored: without names of senders."""
    left_out = dict(list_left_out(report))
    return {
        "converted": describe_report(report),
        "without_answer": report.unanswered,
        "left_out": left_out,
        "left_out_rows": list_left_out_with_lines(report),
        "warnings": list_warnings(report),
        **({"columns": dict(report.mapping)} if report.mapping else {}),
    }
