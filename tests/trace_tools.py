"""A real HTTP server that speaks the APIs of Langfuse, LangSmith and Phoenix, and misbehaves on purpose."""

import base64
import json
import ssl
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

START = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEYS = {
    "langfuse": "pk-lf-test:sk-lf-wexkeyquill",
    "langsmith": "ls-wexkeyquill",
    "phoenix": "px-wexkeyquill",
}
PROJECT = "5f0c1c5e-6b0e-4c1e-9d5a-0d6a3b1b9d11"


class Conversation:
    """One trace of one call, as each of the tools has it. ``minutes`` are after START."""

    def __init__(
        self, name: str, *, minutes: int = 0, session: str = "", model: str = "gpt-5",
        tags: tuple[str, ...] = (), score: int | None = None, answer: str = "Choose Export, then CSV.",
    ) -> None:  # fmt: skip
        self.trace = f"{name}-trace"
        self.start = START + timedelta(minutes=minutes)
        self.session, self.model, self.tags, self.score = session, model, tags, score
        self.question, self.answer = f"How do I export {name}?", answer

    @property
    def _time(self) -> str:
        return self.start.isoformat()

    def langfuse(self, *, full: bool) -> dict[str, Any]:
        trace: dict[str, Any] = {"id": self.trace, "timestamp": self._time}
        trace |= {
            "sessionId": self.session or None,
            "tags": list(self.tags),
            "input": None,
            "output": None,
            "observations": [],
            "scores": [],
        }
        if full:
            observation = {
                "id": f"{self.trace}-call", "traceId": self.trace, "type": "GENERATION",
                "startTime": self._time, "model": self.model,
                "input": [{"role": "user", "content": self.question}],
                "output": {"role": "assistant", "content": self.answer},
            }  # fmt: skip
            trace["observations"] = [observation]
            if self.score is not None:
                trace["scores"] = [{"name": "user-feedback", "value": self.score}]
        return trace

    def langsmith(self) -> dict[str, Any]:
        return {
            "id": f"{self.trace}-run", "trace_id": self.trace, "run_type": "llm", "name": "chat",
            "start_time": self._time, "tags": list(self.tags),
            "inputs": {"messages": [{"role": "user", "content": self.question}]},
            "outputs": {
                "choices": [{"message": {"role": "assistant", "content": self.answer}}], "model": self.model,
            },
            "extra": {"metadata": {"session_id": self.session} if self.session else {}},
            "feedback_stats": {} if self.score is None else {"user_score": {"n": 1, "avg": self.score}},
        }  # fmt: skip

    def phoenix(self) -> dict[str, Any]:
        return {
            "id": self.trace, "name": "chat",
            "context": {"trace_id": self.trace, "span_id": f"{self.trace}-s"},
            "span_kind": "LLM", "parent_id": None, "start_time": self._time, "end_time": self._time,
            "attributes": {
                "llm.model_name": self.model, "tag.tags": list(self.tags),
                **({"session.id": self.session} if self.session else {}),
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": self.question,
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": self.answer,
            },
        }  # fmt: skip


class ToolServer:
    """``faults`` meet the next requests, one each; ``page`` is the size of a page, whatever is requested.
    With ``certificate``, a file with it and its key, it speaks https."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.traces: list[Conversation] = []
        self.faults: list[str] = []
        self.page = 2
        self.paths: list[str] = []
        tools = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                tools.handle(self, {})

            def do_POST(self) -> None:
                tools.handle(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self._server.server_port}"
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def handle(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        self.paths.append(request.path)
        if self.faults:
            self._misbehave(request, self.faults.pop(0))
            return
        address = urlsplit(request.path)
        query = {key: values[-1] for key, values in parse_qs(address.query).items()}
        for prefix, answer in self._routes().items():
            if address.path.startswith(prefix):
                key = KEYS[answer.__name__.split("_")[1]]
                allowed = {f"Basic {base64.b64encode(key.encode()).decode()}", f"Bearer {key}", key}
                if not {request.headers["Authorization"], request.headers["x-api-key"]} & allowed:
                    _send(request, 401, {"message": "no"})
                else:
                    _send(request, 200, answer(address.path, {**query, **body}))
                return
        _send(request, 404, {})

    def _misbehave(self, request: BaseHTTPRequestHandler, fault: str) -> None:
        if fault == "redirect":
            _send(request, 302, {}, {"Location": "http://169.254.169.254/latest/meta-data"})
        elif fault == "cut":
            request.send_response(200)
            request.send_header("Content-Length", "1000")
            request.end_headers()
            request.wfile.write(b'{"data": [')
            request.close_connection = True
        elif fault == "not_json":
            _send(request, 200, "<html>")
        elif fault == "strange":
            _send(request, 200, ["wexanswerquill"])
        else:
            _send(request, int(fault), {"message": "wexanswerquill"}, {"Retry-After": "0"})

    def _routes(self) -> dict[str, Callable[[str, dict[str, Any]], Any]]:
        return {
            "/api/public/traces": self._langfuse_traces,
            "/api/v1/sessions": self._langsmith_projects,
            "/api/v1/runs/query": self._langsmith_runs,
            "/v1/projects/shop/span_annotations": self._phoenix_annotations,
            "/v1/projects/shop/spans": self._phoenix_spans,
        }

    def _between(self, start: str | None, end: str | None) -> list[Conversation]:
        first = datetime.fromisoformat(start) if start else datetime.min.replace(tzinfo=UTC)
        last = datetime.fromisoformat(end) if end else datetime.max.replace(tzinfo=UTC)
        return [
            trace for trace in sorted(self.traces, key=lambda item: item.start) if first <= trace.start < last
        ]

    def _langfuse_traces(self, path: str, query: dict[str, Any]) -> Any:
        if name := path.removeprefix("/api/public/traces").strip("/"):
            return next(trace.langfuse(full=True) for trace in self.traces if trace.trace == name)
        found = self._between(query.get("fromTimestamp"), query.get("toTimestamp"))
        page = int(query["page"])
        pages = -(-len(found) // self.page)
        shown = [trace.langfuse(full=False) for trace in found[(page - 1) * self.page : page * self.page]]
        return {"data": shown, "meta": {"page": page, "limit": self.page, "totalPages": pages}}

    def _langsmith_projects(self, path: str, query: dict[str, Any]) -> Any:
        return [{"id": PROJECT, "name": "shop"}] if query["name"] == "shop" else []

    def _langsmith_runs(self, path: str, query: dict[str, Any]) -> Any:
        assert query["session"] == [PROJECT]
        found = self._between(query.get("start_time"), None)
        if "trace" in query:
            found = [trace for trace in found if trace.trace == query["trace"]]
        shown, following = self._page(found, query.get("cursor"))
        return {"runs": [trace.langsmith() for trace in shown], "cursors": {"next": following}}

    def _phoenix_spans(self, path: str, query: dict[str, Any]) -> Any:
        shown, following = self._page(
            self._between(query["start_time"], query["end_time"]), query.get("cursor")
        )
        return {"data": [trace.phoenix() for trace in shown], "next_cursor": following}

    def _phoenix_annotations(self, path: str, query: dict[str, Any]) -> Any:
        scored = [trace for trace in self.traces if trace.score is not None]
        shown = [
            {"span_id": f"{trace.trace}-s", "name": "user_feedback", "result": {"score": trace.score}}
            for trace in scored
        ]
        return {"data": shown, "next_cursor": None}

    def _page(self, found: list[Conversation], cursor: str | None) -> tuple[list[Conversation], str | None]:
        start = int(cursor or 0)
        end = start + self.page
        return found[start:end], str(end) if end < len(found) else None


def _send(
    request: BaseHTTPRequestHandler, status: int, value: Any, headers: dict[str, str] | None = None
) -> None:
    content = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    request.send_response(status)
    for name, header in {"Content-Length": str(len(content)), **(headers or {})}.items():
        request.send_header(name, header)
    request.end_headers()
    request.wfile.write(content)
