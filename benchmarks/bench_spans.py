"""Import of OpenTelemetry spans, against the import of as many plain turns in the same run.

    python -m benchmarks.bench_spans [--spans 1000000] [--rounds 1]

A trace is an agent's span, the call of the model within it with the history so far, and the call of a tool;
three traces are one conversation of six turns. Traces of several conversations alternate in the file.
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench_import import import_file, truncate_tables
from benchmarks.harness import WORDS, print_comparison, run_measured, temporary_servers, write_turns

MIN_RATIO, MAX_MEMORY_MB = 0.3, 300
SPANS_PER_TRACE, TRACES_PER_CONVERSATION = 3, 3
OPEN_CONVERSATIONS = 50


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spans", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return import_file(given.child)
    with temporary_servers() as folder:
        plain, spans = folder / "turns.jsonl", folder / "spans.jsonl"
        write_turns(plain, given.spans)
        count = write_spans(spans, given.spans)
        print(f"spans: {count:,} spans take {spans.stat().st_size / 1e6:,.0f} MB, as many turns "
              f"{plain.stat().st_size / 1e6:,.0f} MB")  # fmt: skip
        times: dict[Path, list[float]] = {plain: [], spans: []}
        memory = 0.0
        for _ in range(given.rounds):
            for path, seconds in times.items():
                truncate_tables()
                result = run_measured("benchmarks.bench_spans", "--child", path)
                seconds.append(result["seconds"])
            memory = max(memory, result["rss_mb"])
        print_comparison("spans", count, times[plain], times[spans], MIN_RATIO)
        print(f"spans: peak RSS {memory:.0f} MB (wanted: under {MAX_MEMORY_MB})")
    return None


def write_spans(path: Path, count: int) -> int:
    """OTLP lines, one for each trace. Returns how many spans these are, of whole conversations."""
    per_conversation = SPANS_PER_TRACE * TRACES_PER_CONVERSATION
    conversations = max(1, count // per_conversation)
    with path.open("w") as file:
        for first in range(0, conversations, OPEN_CONVERSATIONS):
            opened = [
                make_traces(number) for number in range(first, min(first + OPEN_CONVERSATIONS, conversations))
            ]
            for step in range(TRACES_PER_CONVERSATION):
                for traces in opened:
                    file.write(json.dumps(traces[step]) + "\n")
    return conversations * per_conversation


def make_traces(number: int) -> list[dict[str, Any]]:
    chance = random.Random(number)
    return [_wrap(list(spans)) for spans in _make_spans(number, chance)]


def _make_spans(number: int, chance: random.Random) -> Iterator[Iterator[dict[str, Any]]]:
    history: list[dict[str, Any]] = []
    for step in range(TRACES_PER_CONVERSATION):
        trace = f"{number * TRACES_PER_CONVERSATION + step + 1:032x}"
        history = [*history, _say(chance, "user")]
        answer = _say(chance, "assistant")
        yield _make_trace(trace, f"conversation-{number:07d}", history, answer, step)
        history = [*history, answer]


def _make_trace(
    trace: str, conversation: str, history: list[dict[str, Any]], answer: dict[str, Any], step: int
) -> Iterator[dict[str, Any]]:
    start = 1_760_000_000 + step * 60
    common = {"gen_ai.conversation.id": conversation}
    yield _span(trace, 1, 0, "invoke_agent", start, start + 9, common)
    yield _span(trace, 2, 1, "execute_tool", start + 1, start + 2, {"gen_ai.tool.name": "orders"})
    call = {
        **common,
        "gen_ai.request.model": "model-1",
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 40,
        "gen_ai.input.messages": json.dumps(history),
        "gen_ai.output.messages": json.dumps([answer]),
    }
    yield _span(trace, 3, 1, "chat", start + 3, start + 8, call)


def _say(chance: random.Random, role: str) -> dict[str, Any]:
    text = " ".join(chance.choices(WORDS, k=chance.randint(5, 45)))
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _span(
    trace: str, number: int, parent: int, operation: str, start: int, end: int, attributes: dict[str, Any]
) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": operation,
        "startTimeUnixNano": f"{start}000000000",
        "endTimeUnixNano": f"{end}000000000",
        "attributes": [
            {"key": key, "value": {"intValue" if type(value) is int else "stringValue": str(value)}}
            for key, value in {"gen_ai.operation.name": operation, **attributes}.items()
        ],
    }


def _wrap(spans: list[dict[str, Any]]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": spans}]}]}


if __name__ == "__main__":
    main()
