"""The metadata of a session's turns, arranged for reading."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

# Shown with the turn itself.
STEP_KEYS = ("tool_calls", "tool_results", "reasoning")
_ABSENT = object()


class Step(NamedTuple):
    """What a model did beside its reply: a ``kind``, such as "Tool call", the ``name`` of the tool if there
    is one, and all of it as ``text``."""

    kind: str
    text: str
    name: str = ""


class SessionMetadata(NamedTuple):
    """``shared`` is the same for all turns that have it; ``by_turn`` are (turn_index, the others)."""

    shared: dict[str, Any]
    by_turn: list[tuple[int, dict[str, Any]]]


def arrange_metadata(turns: Iterable[tuple[int, Any, Any]]) -> SessionMetadata:
    """Separates what all turns have in common, from (turn_index, metadata, extra) of each."""
    merged = [(index, _merge(metadata, extra)) for index, metadata, extra in turns]
    values: dict[str, Any] = {}
    different = set()
    for _, fields in merged:
        for key, value in fields.items():
            if values.setdefault(key, value) != value:
                different.add(key)
    counts = {key: sum(key in fields for _, fields in merged) for key in values}
    # What one of several turns has is about that turn.
    different |= {key for key, count in counts.items() if count == 1 < len(merged)}
    shared = {key: value for key, value in values.items() if key not in different}
    by_turn = [
        (index, {key: value for key, value in fields.items() if key in different}) for index, fields in merged
    ]
    return SessionMetadata(shared, [(index, fields) for index, fields in by_turn if fields])


def list_steps(metadata: Any, extra: Any) -> list[Step]:
    """Reasoning, tool calls and their results, in this order."""
    sources = [source for source in (metadata, extra) if isinstance(source, dict)]
    found = {key: next((source[key] for source in sources if source.get(key)), None) for key in STEP_KEYS}
    steps = [Step("Reasoning", _as_text(found["reasoning"]))] if found["reasoning"] else []
    steps += [_describe_step("Tool call", call) for call in _as_list(found["tool_calls"])]
    return steps + [_describe_step("Tool result", result) for result in _as_list(found["tool_results"])]


def _merge(metadata: Any, extra: Any) -> dict[str, Any]:
    """Keys of ``extra`` that ``metadata`` has as well come second, under a name of their own."""
    fields: dict[str, Any] = dict(metadata) if isinstance(metadata, dict) else {}
    if metadata is not None and not isinstance(metadata, dict):
        fields["metadata"] = metadata
    for key, value in (extra or {}).items() if isinstance(extra, dict) else ():
        fields[f"{key} (line)" if fields.get(key, _ABSENT) is not _ABSENT else key] = value
    return {key: value for key, value in fields.items() if key not in STEP_KEYS}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _describe_step(kind: str, step: Any) -> Step:
    inner = step.get("function") if isinstance(step, Mapping) else None
    named = inner if isinstance(inner, Mapping) else step
    name = named.get("name") if isinstance(named, Mapping) else None
    return Step(kind, _as_text(step), str(name or "")[:80])


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
