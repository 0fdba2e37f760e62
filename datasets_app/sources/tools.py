"""Traces of a time from the public APIs of Langfuse, LangSmith and Phoenix, as their exports have them."""

import base64
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import UUID

import msgspec
from django.utils import timezone

from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.traces.sampling import Rule, is_sampled
from datasets_app.domain.traces.values import as_dict, as_list, as_name, dig, pick, to_seconds
from datasets_app.models import Source
from datasets_app.sources.delivery import Delivery
from datasets_app.sources.http_client import ApiClient
from datasets_app.sources.secrets import decrypt_credential
from datasets_app.sources.seen import find_seen

# A pull is of at most this time; another one follows at once.
WINDOW = timedelta(days=1)
# Tools show some traces later than others, and spans of a trace come one after the other.
OVERLAP = timedelta(hours=1)
MAX_BYTES = 1 << 30
PAGE_SIZE = 100
MAX_PAGES = 10_000
_LANGSMITH_FIELDS = (
    "id name run_type start_time end_time error inputs outputs extra tags trace_id parent_run_id "
    "dotted_order feedback_stats total_cost prompt_tokens completion_tokens"
).split()


class Window(NamedTuple):
    start: datetime
    end: datetime


Records = Iterator[dict[str, Any]]


def fetch_traces(
    source: Source, rule: Rule, folder: Path, since: datetime | None, report_progress: ProgressCallback
) -> Delivery:
    """The traces since the last pull, or ``since`` then, that the source has not delivered before."""
    complete = timezone.now() - timedelta(minutes=source.quiet_minutes)
    start = since or source.pulled_until or complete - WINDOW
    end = min(start + WINDOW, complete)
    if end <= start:
        return Delivery([])
    headers, fetch, format = _TOOLS[source.kind]
    client = ApiClient(source.location, headers(decrypt_credential(source.credential)), report_progress)
    path, size = folder / "traces.jsonl", 0
    with path.open("wb") as out:
        for record in fetch(client, source, rule, Window(start - OVERLAP, end)):
            size += out.write(msgspec.json.encode(record) + b"\n")
            client.done += 1
            if size > MAX_BYTES:
                raise UserError(
                    f"{client.host} has more than 1 GB of traces in a day. Choose a lower sampling rate."
                )
    return Delivery([(path, format)] if size else [], until=end, more=end < complete)


def _list_new(source: Source, found: list[dict[str, Any]], key: str = "id") -> list[dict[str, Any]]:
    seen = find_seen(source, (as_name(item.get(key)) for item in found))
    return [item for item in found if as_name(item.get(key)) not in seen]


def _list_pages(
    client: ApiClient, fetch: Callable[[Any], Any], items: str, cursor: Callable[[Any], Any]
) -> Iterator[list[dict[str, Any]]]:
    """Pages until there is no next cursor. Raises UserError if that comes again, or for a strange answer."""
    current: Any = None
    for _ in range(MAX_PAGES):
        answer = fetch(current)
        if type(answer) is not dict or type(answer.get(items)) is not list:
            break
        yield [item for item in answer[items] if type(item) is dict]
        following = cursor(answer)
        if not following:
            return
        if following == current:
            break
        current = following
    raise UserError(f"{client.host} answered in an unexpected way. Check the address and the kind of source.")


# --- Langfuse ------------------------------------------------------------------------------------


def _langfuse_headers(keys: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(keys.encode()).decode()}"}


def _fetch_langfuse(client: ApiClient, source: Source, rule: Rule, window: Window) -> Records:
    """The list has no observations, so each trace of the sample is requested by itself."""

    def fetch(page: int | None) -> Any:
        times = {"fromTimestamp": _format(window.start), "toTimestamp": _format(window.end)}
        query = {"page": page or 1, "limit": PAGE_SIZE, "orderBy": "timestamp.asc", "fields": "core"}
        return client.get("/api/public/traces", {**query, **times})

    def following(answer: Any) -> int | None:
        page, total = dig(answer, "meta", "page"), dig(answer, "meta", "totalPages")
        return page + 1 if type(page) is int and type(total) is int and page < total else None

    for page in _list_pages(client, fetch, "data", following):
        for trace in _list_new(source, page):
            key = as_name(pick(trace, "sessionId")) or as_name(trace.get("id"))
            if is_sampled(key, rule.rate) and (
                not rule.tags or set(rule.tags) & set(map(str, as_list(trace.get("tags"))))
            ):
                yield client.get(f"/api/public/traces/{quote(as_name(trace.get('id')), safe='')}")


# --- LangSmith -----------------------------------------------------------------------------------


def _fetch_langsmith(client: ApiClient, source: Source, rule: Rule, window: Window) -> Records:
    project = _find_langsmith_project(client, source.project)
    end = window.end.timestamp()
    roots = {"session": [project], "is_root": True, "start_time": _format(window.start), "order": "asc"}
    for page in _query_runs(client, roots):
        for root in _list_new(source, page, "trace_id"):
            started = to_seconds(root.get("start_time"))
            if started is not None and started < end:
                trace = {"session": [project], "trace": as_name(root.get("trace_id"))}
                for runs in _query_runs(client, trace):
                    yield from runs


def _query_runs(client: ApiClient, query: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    query = {**query, "limit": PAGE_SIZE, "select": _LANGSMITH_FIELDS}

    def fetch(cursor: str | None) -> Any:
        return client.post("/api/v1/runs/query", {**query, **({"cursor": cursor} if cursor else {})})

    return _list_pages(client, fetch, "runs", lambda answer: dig(answer, "cursors", "next"))


def _find_langsmith_project(client: ApiClient, name: str) -> str:
    try:
        return str(UUID(name))
    except ValueError:
        found = as_list(client.get("/api/v1/sessions", {"name": name, "limit": 1}))
    if not found or not as_name(as_dict(found[0]).get("id")):
        raise UserError(f"{client.host} has no project of this name that the token can read.")
    return as_name(found[0]["id"])


# --- Phoenix -------------------------------------------------------------------------------------


def _phoenix_headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _fetch_phoenix(client: ApiClient, source: Source, rule: Rule, window: Window) -> Records:
    """Spans of traces that begin before the window's end; the others are for the next pull."""
    project = f"/v1/projects/{quote(source.project, safe='')}"
    times = [("start_time", _format(window.start)), ("end_time", _format(window.end + OVERLAP))]
    starts: dict[str, float] = {}
    for page in _list_phoenix(client, f"{project}/spans", times):
        for span in page:
            trace, start = _phoenix_trace(span), to_seconds(span.get("start_time")) or 0.0
            starts[trace] = min(start, starts.get(trace, start))
    begun = {trace for trace, start in starts.items() if start < window.end.timestamp()}
    begun -= find_seen(source, begun)
    for page in _list_phoenix(client, f"{project}/spans", times):
        yield from _add_annotations(client, project, [span for span in page if _phoenix_trace(span) in begun])


def _list_phoenix(
    client: ApiClient, path: str, query: list[tuple[str, Any]]
) -> Iterator[list[dict[str, Any]]]:
    def fetch(cursor: str | None) -> Any:
        return client.get(path, [("limit", PAGE_SIZE), *query, *([("cursor", cursor)] if cursor else [])])

    return _list_pages(client, fetch, "data", lambda answer: answer.get("next_cursor"))


def _phoenix_trace(span: dict[str, Any]) -> str:
    return as_name(dig(span, "context", "trace_id"))


def _add_annotations(client: ApiClient, project: str, spans: list[dict[str, Any]]) -> Records:
    by_id = {as_name(dig(span, "context", "span_id")): span for span in spans}
    if by_id:
        names = [("span_ids", name) for name in by_id]
        for page in _list_phoenix(client, f"{project}/span_annotations", names):
            for annotation in page:
                if span := by_id.get(as_name(annotation.get("span_id"))):
                    span.setdefault("span_annotations", []).append(annotation)
    yield from spans


def _format(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_Tool = tuple[Callable[[str], dict[str, str]], Callable[[ApiClient, Source, Rule, Window], Records], str]
_TOOLS: dict[str, _Tool] = {
    Source.Kind.LANGFUSE: (_langfuse_headers, _fetch_langfuse, "langfuse"),
    Source.Kind.LANGSMITH: (lambda token: {"x-api-key": token}, _fetch_langsmith, "langsmith"),
    Source.Kind.PHOENIX: (_phoenix_headers, _fetch_phoenix, "openinference"),
}
