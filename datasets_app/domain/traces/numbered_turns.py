"""Records of turns → turns, counted in their order; calls of tools and their results go into the metadata."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object, parse_turn_object
from datasets_app.domain.conversations.lines import (
    BLOCK_BYTES,
    Limits,
    UnreadableFile,
    open_file,
    read_lines,
    unpack_stream,
)
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.conversations.roles import TOOL, TOOL_CALL, find_role
from datasets_app.domain.spool import Spool
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.messages import read_message
from datasets_app.domain.traces.parts import encode_text
from datasets_app.domain.traces.report import Report
from datasets_app.domain.traces.turns import add_steps, merge_metadata
from datasets_app.domain.traces.values import drop_empty

# Suffix of the session, model, line, record.
Row = tuple[str, str, int, Any]
_OTHER_ROLE = re.compile(rb'"role"\s*:\s*"(?!user"|assistant")')
_KNOWN_ROLES = tuple(
    f'"role":{blank}"{role}"'.encode() for blank in ("", " ") for role in ("user", "assistant")
)
_OF_A_STEP = frozenset("session_id turn_index role text persona_id name id tool_call_id call_id".split())


def has_tool_turns(path: Path, limits: Limits) -> bool:
    """Whether any line of a file of turns is a call of a tool or its result."""
    try:
        if not _names_other_roles(path, limits):
            return False
        return any(
            not isinstance(item, LineError) and _OTHER_ROLE.search(item[1]) and _is_tool_line(item[1])
            for item in read_lines(path, limits, None)
        )
    except (OSError, EOFError, UnreadableFile):
        return False  # reading the turns will say what is wrong


def _names_other_roles(path: Path, limits: Limits) -> bool:
    """Whether a role may be neither user nor assistant; counting is much faster than searching."""
    with open_file(path) as raw:
        stream, rest, total = unpack_stream(raw), b"", 0
        while (block := stream.read(BLOCK_BYTES)) and total < limits.unpacked_bytes:
            total += len(block)
            lines, _, rest = (rest + block).rpartition(b"\n")
            if lines.count(b'"role"') != sum(map(lines.count, _KNOWN_ROLES)) and _OTHER_ROLE.search(lines):
                return True
            rest = rest[-limits.line_bytes :]
        return _OTHER_ROLE.search(rest) is not None


def _is_tool_line(raw: bytes) -> bool:
    try:
        return _find_tool_role(decode_object(raw)) != ""
    except InvalidRecord:
        return False


def _find_tool_role(value: Any) -> str:
    role = value.get("role") if type(value) is dict else None
    found = find_role(role) if type(role) is str else ""
    return found if found in (TOOL, TOOL_CALL) else ""


def read_numbered_turns(path: Path, limits: Limits) -> Iterator[Row | LineError]:
    """The records of a file of turns, one a line."""
    for item in read_lines(path, limits, None):
        if isinstance(item, LineError):
            yield item
            continue
        try:
            yield "", "", item[0], decode_object(item[1])
        except InvalidRecord as error:
            yield error.to_line_error(item[0], None)


def read_rows(documents: Iterable[Document | LineError]) -> Iterator[Row | LineError]:
    """Documents that are each a turn; a row of a table is an object like any other."""
    for item in documents:
        if isinstance(item, LineError):
            yield item
        else:
            yield "", "", item.number, dict(item.value) if isinstance(item.value, dict) else item.value


def number_turns(records: Iterator[Row | LineError], report: Report) -> Iterator[TurnRecord | LineError]:
    """The turns of one session after the other, in the order of their numbers and records. Reports each
    record that goes into the metadata."""
    sessions: dict[str, int] = {}
    orders: dict[str, float] = {}
    spool: Spool[Row] = Spool(tuple[str, str, int, Any])
    for record in records:
        if isinstance(record, LineError):
            yield record
            continue
        suffix, _, number, value = record
        if type(value) is not dict:
            yield LineError(number, "E101", "expected a JSON object")
            continue
        session = f"{value.get('session_id')}{suffix}"
        place = sessions.setdefault(session, len(sessions))
        index = value.get("turn_index")
        # What has no number stays behind the record before it.
        orders[session] = float(index) if type(index) is int else orders.get(session, 0.0)
        spool.add(f"{place:012d}", orders[session], record)
    for group in spool.groups():
        yield from _read_session(group, report)


def _read_session(group: list[Row], report: Report) -> Iterator[TurnRecord | LineError]:
    """Tools leave no gap in the numbers of the turns."""
    tools = [_find_tool_role(value) for _, _, _, value in group]
    numbers = [value.get("turn_index") for _, _, _, value in group]
    taken = {number for number, tool in zip(numbers, tools, strict=True) if not tool}
    counted: set[Any] = set()
    waiting: dict[str, Any] = {}
    seen: dict[str, int] = {}
    held: TurnRecord | LineError | None = None
    place = 0
    for row, tool, number in zip(group, tools, numbers, strict=True):
        if tool:
            _add_step(row[3], waiting, seen)
            report.records += 1
            report.remarks[reasons.TOOL_TURNS].add(row[2])
            if type(number) is int and number not in taken:
                counted.add(number)
            continue
        place += 1
        index = number - len(counted) if type(number) is int else place if number is None else number
        if held is not None:
            yield held
        held = _make_turn(row, index)
        if waiting and isinstance(held, TurnRecord) and held.role == "assistant":
            held, waiting = _add_metadata(held, waiting), {}
    if isinstance(held, TurnRecord) and waiting:
        held = _add_metadata(held, waiting)
    if held is None:
        suffix, _, line, value = group[0]
        message = "the session has no turn of a user or an assistant"
        held = LineError(line, "E110", message, f"{value.get('session_id')}{suffix}")
    yield held


def _add_step(value: dict[str, Any], waiting: dict[str, Any], seen: dict[str, int]) -> None:
    message = read_message({**value, "text": encode_text(value.get("text") or "")})
    details = {key: value for key, value in message.details.items() if key != "timestamp"}
    rest = drop_empty({key: item for key, item in value.items() if key not in _OF_A_STEP})
    steps = details.get("tool_results") or details.get("tool_calls")
    if steps and rest:
        steps[0] = {**steps[0], "metadata": rest}
    add_steps(waiting, details, seen)


def _add_metadata(turn: TurnRecord, steps: dict[str, Any]) -> TurnRecord:
    return turn._replace(metadata=merge_metadata(turn.metadata or {}, steps))


def _make_turn(row: Row, index: Any) -> TurnRecord | LineError:
    suffix, model, number, value = row
    session = f"{value.get('session_id')}{suffix}"
    changed: dict[str, Any] = {"turn_index": index}
    if "turn_index" not in value:  # a transcript, which is read more leniently
        role = value.get("role") or "user"
        changed |= {"session_id": session, "role": role.strip().lower() if isinstance(role, str) else role}
    try:
        turn = parse_turn_object({**value, **changed}, number)
    except InvalidRecord as error:
        return error.to_line_error(number, session)
    if model and turn.role == "assistant":
        turn = turn._replace(metadata={"model": model, **(turn.metadata or {})})
    return turn
