"""What a conversion did, in a sentence."""

from collections.abc import Sequence
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.report import MAX_KINDS_NOTED, Note, Report
from datasets_app.domain.wording import format_count

MAX_LINES_SHOWN = 10


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
    return sorted(
        found, key=lambda item: (item[0] in (reasons.OTHER_SPANS, reasons.OTHER_EVENTS), -item[1], item[0])
    )


def list_left_out_with_lines(report: Report) -> list[str]:
    """ "12 failed calls (lines 3, 4 and 10 more)", for each reason."""
    return [
        describe_count(reason, count)
        + (_list_kinds(report.left_out[reason]) if reason == reasons.OTHER_MEMBERS else "")
        + format_lines(report.left_out[reason].lines, count, report.place)
        for reason, count in list_left_out(report)
    ]


def describe_count(what: str, count: int) -> str:
    """ "12 failed calls", "1 failed call"."""
    return f"{count:,} {reasons.SINGULARS.get(what, what) if count == 1 else what}"


def _list_kinds(note: Note) -> str:
    return f" ({', '.join(f'{kind} {count:,}' for kind, count in note.kinds.most_common(10))})"


def explain_missing_sessions(report: Report) -> str:
    """Why a table can't be imported as it is; empty if it can."""
    if not report.lacks_sessions:
        return ""
    return (
        f"no column says which of the {report.records:,} rows belong to the same conversation. Choose the "
        "session column, or state that the table is one conversation or that each row is one."
    )


def list_warnings(report: Report) -> list[str]:
    """What was guessed, cut or may have been understood wrongly, in sentences that name no value."""
    return [
        _describe_senders(note, report)
        if what == reasons.GUESSED_SENDERS
        else _describe_remark(what, note, report)
        for what, note in report.remarks.items()
        if note.total
    ]


def _describe_remark(what: str, note: Note, report: Report) -> str:
    """ "3 timestamps (like 99/99/9999) can't be read as a date (lines 2, 3 and 9); …"."""
    noun, _, rest = describe_count(what, note.total).partition(" ")[2].partition(" ")
    shapes = ", ".join(kind for kind, _ in note.kinds.most_common(MAX_LINES_SHOWN))
    like = f" (like {shapes})" if shapes else ""
    lines = format_lines(note.lines, note.total, report.place)
    return f"{note.total:,} {noun}{like} {rest}{lines}{reasons.REMEDIES[what]}."


def _describe_senders(note: Note, report: Report) -> str:
    counts = " and ".join(f"{count:,} as {role}" for role, count in report.guessed_roles.most_common())
    messages, senders = format_count(note.total, "message"), format_count(len(note.kinds), "sender")
    senders = f"at least {senders}" if len(note.kinds) == MAX_KINDS_NOTED else senders
    lines = format_lines(note.lines, note.total, report.place)
    return f"{messages} by {senders} without a known role, read {counts}{lines}."


def format_lines(lines: Sequence[int], total: int, place: str) -> str:
    """ " (lines 3, 5 and 9)", " (line 3 and 2 more)"; empty if no line is known. ``place`` is what is
    counted: "line" or "row"."""
    if not lines:
        return ""
    shown = [f"{line:,}" for line in sorted(lines)[:MAX_LINES_SHOWN]]
    more = total - len(shown)
    shown += [f"{more:,} more"] if more > 0 else []
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f" ({place if len(lines) == 1 else f'{place}s'} {listed})"


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
