"""Files of other tools → what becomes of them."""

import json
from pathlib import Path
from typing import Any

from datasets_app.domain.conversations.lines import DEFAULT_LIMITS, Limits
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.traces.converted_file import ConvertedFile, open_conversation_file
from datasets_app.domain.traces.report import Report

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "traces"


def write(folder: Path, value: Any, name: str = "export.json") -> Path:
    """``value`` as a file: a text as it is, a list as JSON lines if ``name`` says so, else as JSON."""
    path = folder / name
    if isinstance(value, bytes):
        path.write_bytes(value)
    elif isinstance(value, str):
        path.write_text(value, encoding="utf-8")
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(line) + "\n" for line in value))
    else:
        path.write_text(json.dumps(value))
    return path


def convert(
    path: Path, format: str = "auto", limits: Limits = DEFAULT_LIMITS, **options: Any
) -> tuple[dict[str, list[TurnRecord]], Report]:
    """(turns by session, report); every turn is read again as an import does."""
    file = open_conversation_file(path, format=format, limits=limits, options=ConvertOptions(**options))
    sessions: dict[str, list[TurnRecord]] = {}
    for turn in file.turns():
        if isinstance(turn, TurnRecord):
            sessions.setdefault(turn.session_id, []).append(turn)
    return sessions, file.report if isinstance(file, ConvertedFile) else Report(format=file.format)


def texts(turns: list[TurnRecord]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns]


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """Spans with plain attributes → OTLP JSON."""
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
                "scopeSpans": [{"scope": {"name": "test"}, "spans": [_encode_span(span) for span in spans]}],
            }
        ]
    }


def _encode_span(span: dict[str, Any]) -> dict[str, Any]:
    start = (1_700_000_000 + span.pop("start", 1)) * 10**9
    attributes = [
        {"key": key, "value": encode_value(value)} for key, value in span.pop("attributes", {}).items()
    ]
    events = [
        {
            "name": event["name"],
            "timeUnixNano": str(start),
            "attributes": [
                {"key": key, "value": encode_value(value)} for key, value in event.items() if key != "name"
            ],
        }
        for event in span.pop("events", [])
    ]
    return {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": "b7ad6b7169203331",
        "name": "chat",
        "kind": 3,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 10**9),
        "attributes": attributes,
        "events": events,
        **span,
    }


def encode_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [encode_value(item) for item in value]}}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}
