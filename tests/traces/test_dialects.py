"""One conversation as five observability tools write it down is five times the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.traces.reading import convert, otlp, texts, write

SESSION = "chat-1"
SYSTEM = "You answer for a shop."
QUESTION, ANSWER = "Where is order A-17?", "It arrives on Monday."
THANKS, BYE = "Thanks! Can I change the address?", "Yes, until tomorrow."
CALL = {
    "id": "call_aPxWmX6Jk0QyS4d2",
    "type": "function",
    "function": {"name": "find_order", "arguments": '{"id": "A-17"}'},
}
RESULT = "out for delivery"
# The histories of three requests in two traces: a tool is called, its result answered, a question follows.
FIRST = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
SECOND = [*FIRST, CALLED, {"role": "tool", "tool_call_id": CALL["id"], "content": RESULT}]
ANSWERED = {"role": "assistant", "content": ANSWER}
THIRD = [*SECOND, ANSWERED, {"role": "user", "content": THANKS}]
LAST = {"role": "assistant", "content": BYE}
REQUESTS = [("a" * 32, "1" * 16, 1, FIRST, CALLED), ("a" * 32, "2" * 16, 3, SECOND, ANSWERED),
            ("b" * 32, "3" * 16, 60, THIRD, LAST)]  # fmt: skip


def as_parts(message: dict[str, Any]) -> dict[str, Any]:
    """OpenAI's message in the conventions since 1.37."""
    if message["role"] == "tool":
        parts: list[Any] = [{"type": "tool_call_response", "id": CALL["id"], "response": message["content"]}]
    elif message.get("tool_calls"):
        parts = [{"type": "tool_call", "id": CALL["id"], "name": "find_order", "arguments": {"id": "A-17"}}]
    else:
        parts = [{"type": "text", "content": message["content"]}]
    return {"role": message["role"], "parts": parts}


COMMON = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "gen_ai.conversation.id": SESSION,
          "gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": 5}  # fmt: skip


def make_new() -> Any:
    return otlp(
        *(
            {"traceId": trace, "spanId": span, "start": start, "attributes": {
                **COMMON,
                "gen_ai.input.messages": [*map(as_parts, given)],
                "gen_ai.output.messages": [as_parts(produced)],
            }}
            for trace, span, start, given, produced in reversed(REQUESTS)
        )
    )  # fmt: skip


def make_old() -> Any:
    def events(given: list[Any], produced: dict[str, Any]) -> list[dict[str, Any]]:
        found = [
            {"name": f"gen_ai.{message['role']}.message", **{key: json.dumps(value) if isinstance(value,
            list) else value
             for key, value in message.items() if value is not None}}
            for message in given
        ]  # fmt: skip
        return [*found, {"name": "gen_ai.choice", "index": 0, "message": produced}]

    return otlp(
        *(
            {
                "traceId": trace,
                "spanId": span,
                "start": start,
                "attributes": COMMON,
                "events": events(given, produced),
            }
            for trace, span, start, given, produced in REQUESTS
        )
    )


def make_openinference() -> Any:
    def attributes(prefix: str, messages: list[Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, message in enumerate(messages):
            start = f"{prefix}.{number}.message"
            found[f"{start}.role"] = message["role"]
            if message["content"]:
                found[f"{start}.content"] = message["content"]
            for place, call in enumerate(message.get("tool_calls", [])):
                where = f"{start}.tool_calls.{place}.tool_call"
                found |= {f"{where}.id": call["id"], f"{where}.function.name": call["function"]["name"],
                          f"{where}.function.arguments": call["function"]["arguments"]}  # fmt: skip
            if "tool_call_id" in message:
                found[f"{start}.tool_call_id"] = message["tool_call_id"]
        return found

    return otlp(
        *(
            {"traceId": trace, "spanId": span, "start": start, "attributes": {
                "openinference.span.kind": "LLM", "llm.model_name": "m-1", "session.id": SESSION,
                "llm.token_count.prompt": 20, "llm.token_count.completion": 5,
                "input.value": {"messages": given}, "output.value": {"choices": [{"message": produced}]},
                **attributes("llm.input_messages", given), **attributes("llm.output_messages", [produced]),
            }}
            for trace, span, start, given, produced in REQUESTS
        )
    )  # fmt: skip


def clock(start: int) -> str:
    return f"2023-11-14T22:{13 + (20 + start) // 60}:{(20 + start) % 60:02}.000Z"


def make_langfuse() -> Any:
    traces = []
    for trace, question, answer in (("a" * 32, QUESTION, ANSWER), ("b" * 32, THANKS, BYE)):
        requests = [request for request in REQUESTS if request[0] == trace]
        traces.append({
            "id": trace, "name": "chat", "timestamp": clock(requests[0][2]), "sessionId": SESSION, "userId":
            None,
            "input": json.dumps(question), "output": json.dumps(answer), "metadata": "{}", "tags": [],
            "scores": [],
            "observations": [
                {"id": span, "traceId": trace, "type": "GENERATION", "startTime": clock(start), "endTime":
                 clock(start + 1),
                 "parentObservationId": None, "model": "m-1", "input": json.dumps(given), "output": produced,
                 "usageDetails": {"input": 20, "output": 5}}
                for _, span, start, given, produced in requests
            ],
        })  # fmt: skip
    return {"data": traces, "meta": {"page": 1}}


def make_langsmith() -> Any:
    runs: list[dict[str, Any]] = []
    for trace, question, answer in (("a" * 32, QUESTION, ANSWER), ("b" * 32, THANKS, BYE)):
        requests = [request for request in REQUESTS if request[0] == trace]
        metadata = {
            "extra": {"metadata": {"thread_id": SESSION, "ls_model_name": "m-1"}},
            "session_name": "my project",
        }
        runs.append({
            "id": trace, "trace_id": trace, "run_type": "chain", "name": "agent", "start_time":
            clock(requests[0][2]),
            "end_time": clock(requests[-1][2] + 1), "inputs": {"question": question}, "outputs": {"answer":
            answer}, **metadata,
        })  # fmt: skip
        runs += [
            {"id": span, "trace_id": trace, "parent_run_id": trace, "run_type": "llm", "start_time":
             clock(start),
             "end_time": clock(start + 1), "inputs": {"messages": given}, **metadata,
             "outputs": {"choices": [{"message": produced}], "usage_metadata": {"input_tokens": 20,
             "output_tokens": 5}}}
            for _, span, start, given, produced in requests
        ]  # fmt: skip
    return runs


DIALECTS = {"otel": make_new, "otel before 1.37": make_old, "openinference": make_openinference,
            "langfuse": make_langfuse, "langsmith": make_langsmith}  # fmt: skip


@pytest.mark.parametrize("name", DIALECTS)
def test_the_same_turns_in_every_dialect(name: str, tmp_path: Path) -> None:
    sessions, report = convert(write(tmp_path, DIALECTS[name]()))
    assert report.format.split()[0].lower() == {"otel": "opentelemetry"}.get(name.split()[0], name.split()[0])
    assert list(sessions) == [SESSION]
    turns = sessions[SESSION]
    assert [turn.turn_index for turn in turns] == [1, 2, 3, 4]
    assert texts(turns) == [("user", QUESTION), ("assistant", ANSWER), ("user", THANKS), ("assistant", BYE)]
    metadata = [turn.metadata or {} for turn in turns]
    assert metadata[0]["system_prompt"] == SYSTEM
    assert metadata[1]["tool_calls"] == [{"id": "call_1", "name": "find_order", "arguments": {"id": "A-17"}}]
    assert metadata[1]["tool_results"] == [{"id": "call_1", "content": RESULT}]
    assert "tool_calls" not in metadata[3]
    assert [entry.get("model") for entry in metadata] == [None, "m-1", None, "m-1"]
    assert (metadata[3]["input_tokens"], metadata[3]["output_tokens"]) == (20, 5)
    assert turns[3].timestamp == "2023-11-14T22:14:21Z"
    assert "my project" not in json.dumps(metadata)
