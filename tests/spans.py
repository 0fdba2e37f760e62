"""Spans as applications send them, and the bodies that carry them."""

import json
from typing import Any


def make_span(
    trace: int = 1, span: int = 1, *, question: str = "How do I export it?", answer: str = "Choose Export.",
    conversation: str = "", **fields: Any,
) -> dict[str, Any]:  # fmt: skip
    """A call of a model, as OTLP has it in JSON."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.input.messages": _encode_message("user", question),
        "gen_ai.output.messages": _encode_message("assistant", answer),
        **({"gen_ai.conversation.id": conversation} if conversation else {}),
    }
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{trace:08x}{span:08x}",
        "name": "chat gpt-5",
        "startTimeUnixNano": str(1_780_000_000_000_000_000 + trace * 1_000_000_000 + span * 10_000_000),
        "endTimeUnixNano": str(1_780_000_000_500_000_000 + trace * 1_000_000_000 + span * 10_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        **fields,
    }


def _encode_message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def encode_request(*spans: Any) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()
