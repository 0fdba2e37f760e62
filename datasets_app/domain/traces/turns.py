"""A conversation → turns: what isn't a turn goes into the metadata of the one that follows."""

from collections.abc import Iterable
from typing import Any

from datasets_app.domain.conversations.cases import wrap_context
from datasets_app.domain.conversations.jsonl import MAX_NAME_CHARACTERS
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.traces.parts import encode_text
from datasets_app.domain.traces.records import ORIGINAL_TIMESTAMP, Conversation, Message
from datasets_app.domain.traces.table_rows import TURN_TAGS
from datasets_app.domain.traces.values import decode_json, drop_empty, format_time

_LISTS = ("tool_calls", "tool_results")
# Unix seconds of 1973: a lower number counts from the beginning of a call, or is a year.
MIN_TIME = 100_000_000
# Facts of a conversation, which stand at its first turn; scores stand at the last answer.
_OF_THE_ANSWER = ("scores", "feedback")


def build_turns(conversation: Conversation, session_id: str) -> list[TurnRecord]:
    """The turns, counted from 1; [] if nobody says anything."""
    turns: list[TurnRecord] = []
    waiting: dict[str, Any] = {}
    seen: dict[str, int] = {}
    system = ""
    for message in conversation.messages:
        details = dict(message.details)
        time, unread = details.pop("timestamp", None), details.pop(ORIGINAL_TIMESTAMP, None)
        if isinstance(time, int | float) and time < MIN_TIME:
            time, unread = None, unread or f"{time:g}"
        add_steps(waiting, details, seen)
        text = message.text.strip("\n")
        if message.role == "system":
            if text.strip() and text != system:
                before, system = waiting.get("system_prompt"), text
                waiting["system_prompt"] = f"{before}\n\n{text}" if before else text
            continue
        if message.role not in ("user", "assistant") or not text.strip():
            if message.role == "assistant":
                waiting |= details
            continue
        if message.role == "assistant" or conversation.separate:
            metadata, waiting = {**waiting, **details}, {}
        else:  # what else waits is the answer's
            metadata = {key: waiting.pop(key) for key in ("system_prompt",) if key in waiting} | details
        if turns and turns[-1].role == message.role == "assistant" and not conversation.separate:
            turns[-1] = _join(turns[-1], text, metadata)
        else:
            metadata[ORIGINAL_TIMESTAMP] = unread
            turn = _make_turn(session_id, len(turns) + 1, message, text, metadata, time)
            turns.append(turn._replace(line=message.line or conversation.line))
    if turns and waiting:
        turns[-1] = turns[-1]._replace(metadata=merge_metadata(turns[-1].metadata or {}, waiting))
    return _add_facts(turns, conversation.facts)


def add_steps(waiting: dict[str, Any], details: dict[str, Any], seen: dict[str, int]) -> None:
    """Move tool calls and results into ``waiting``, each once however often the history repeats it.

    Calls are numbered: the ids that providers give them look like credentials.
    """
    for name in _LISTS:
        for step in details.pop(name, ()):
            step = {key: decode_json(value) if key == "arguments" else value for key, value in step.items()}
            key = f"{name} {step.get('id') or encode_text(step)}"
            if key not in seen:
                seen[key] = len(seen)
                if "id" in step:
                    step = {**step, "id": f"call_{_number_call(str(step['id']), seen)}"}
                waiting.setdefault(name, []).append(step)
    reasoning = details.pop("reasoning", "")
    if reasoning and f"reasoning {reasoning}" not in seen:
        seen[f"reasoning {reasoning}"] = len(seen)
        waiting["reasoning"] = "\n\n".join(filter(None, (waiting.get("reasoning"), reasoning)))


def _number_call(name: str, seen: dict[str, int]) -> int:
    key = f"id {name}"
    if key not in seen:
        seen["ids"] = seen[key] = seen.get("ids", 0) + 1
    return seen[key]


def _make_turn(
    session_id: str, index: int, message: Message, text: str, metadata: dict[str, Any], time: Any
) -> TurnRecord:
    stamp = format_time(time) if isinstance(time, int | float) else None
    tags = metadata.pop(TURN_TAGS, [])
    if "context" in metadata:
        metadata = {**metadata, "context": wrap_context(metadata["context"])}
    return TurnRecord(session_id, index, message.role, text, tags, None, stamp, drop_empty(metadata) or None)


def _join(turn: TurnRecord, text: str, metadata: dict[str, Any]) -> TurnRecord:
    return turn._replace(
        text=f"{turn.text}\n\n{text}",
        metadata=merge_metadata(turn.metadata or {}, drop_empty(metadata)) or None,
    )


def merge_metadata(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    lists = {name: [*one.get(name, []), *two.get(name, [])] for name in (*_LISTS, "labels")}
    return {**one, **two, **{name: value for name, value in lists.items() if value}}


def split_facts(facts: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(metadata of the question, metadata of the answer)."""
    renamed = {"attributes" if key == "metadata" else key: value for key, value in facts.items()}
    of_first = drop_empty({key: value for key, value in renamed.items() if key not in _OF_THE_ANSWER})
    return of_first, drop_empty({key: value for key, value in facts.items() if key in _OF_THE_ANSWER})


def _add_facts(turns: list[TurnRecord], facts: dict[str, Any]) -> list[TurnRecord]:
    of_first, of_answer = split_facts(facts)
    if turns and of_first:
        turns[0] = turns[0]._replace(metadata={**of_first, **(turns[0].metadata or {})})
    answers = [number for number, turn in enumerate(turns) if turn.role == "assistant"]
    if answers and of_answer:
        turn = turns[answers[-1]]
        turns[answers[-1]] = turn._replace(metadata={**(turn.metadata or {}), **of_answer})
    return turns


def add_labels(turns: list[TurnRecord], labels: list[dict[str, Any]]) -> list[TurnRecord]:
    """Labels stand at the last reply, which is what they are about unless they say otherwise; where nobody
    replied, at the last turn."""
    if labels:
        answers = [number for number, turn in enumerate(turns) if turn.role == "assistant"]
        place = answers[-1] if answers else -1
        metadata = merge_metadata(turns[place].metadata or {}, {"labels": labels})
        turns[place] = turns[place]._replace(metadata=metadata)
    return turns


def make_session_id(name: str, default: str, used: set[int]) -> str:
    """A session id that the file has not used: the conversation's own, or ``default``."""
    name = (name or default)[: MAX_NAME_CHARACTERS - 10].strip() or default
    found, number = name, 1
    while hash(found) in used:
        number += 1
        found = f"{name}-{number}"
    used.add(hash(found))
    return found


def has_answer(turns: Iterable[TurnRecord]) -> bool:
    return any(turn.role == "assistant" for turn in turns)
