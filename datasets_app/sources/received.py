"""Received spans of conversations that are complete."""

import re
from array import array
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

import msgspec
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from datasets_app.core.queries import execute, fetch_all
from datasets_app.domain.batches import batched
from datasets_app.domain.traces.values import decode_json
from datasets_app.models import Dataset, ReceivedRequest, ReceivedSpan, Session, Source
from datasets_app.sources.delivery import Delivery
from datasets_app.sources.receive import store_request
from datasets_app.sources.seen import digest_id

# A conversation that never pauses is taken as it is after this time.
MAX_WAIT = timedelta(days=1)
_SUFFIX = re.compile(r"-[0-9a-f]{8}$")
# Of one pull; another one follows at once.
MAX_BYTES = 256 << 20

# Spans of a trace may come in many requests, and a conversation may have a trace for each question.
_GROUPS = """
WITH traces AS (
    SELECT trace,
           coalesce((array_agg(conversation) FILTER (WHERE conversation IS NOT NULL))[1], trace) AS key,
           max(received_at) AS last, min(received_at) AS first, sum(size) AS size
    FROM datasets_app_receivedspan WHERE source_id = %(source)s GROUP BY trace
)
SELECT array_agg(trace), sum(size)::bigint FROM traces GROUP BY key
HAVING max(last) <= %(quiet)s OR min(first) <= %(overdue)s ORDER BY min(first)
"""


def has_complete_conversations(source: Source) -> bool:
    return bool(_find_complete(source, 1)[0])


def fetch_received(source: Source, folder: Path) -> Delivery:
    traces, more = _find_complete(source, MAX_BYTES)
    path = folder / "spans.jsonl"
    with path.open("wb") as out:
        spans = _write_spans(source, traces, out)
    return Delivery([(path, "otel")] if spans else [], spans=spans, more=more)


def delete_received(delivery: Delivery) -> None:
    """In the transaction that imports their conversations."""
    execute("DELETE FROM datasets_app_receivedspan WHERE id = ANY(%s)", [list(delivery.spans)])


def delete_received_of(dataset: Dataset, session: Session) -> int:
    """Delete what waits of an erased session, in the transaction that erases it; returns how many spans.

    A session that continues another one has its id with a suffix. Requests that wait are stored first.
    """
    for key in ReceivedRequest.objects.filter(source__dataset_name=dataset.name).values_list("pk", flat=True):
        store_request(key)
    name = session.session_id
    names = {name, _SUFFIX.sub("", name)}
    digests = [bytes.fromhex(name[:32])] if session.id_hashed else list(map(digest_id, names))
    spans = ReceivedSpan.objects.filter(source__dataset_name=dataset.name)
    traces = spans.filter(Q(conversation__in=digests) | Q(trace__in=digests)).values("trace")
    return spans.filter(trace__in=list(traces.values_list("trace", flat=True))).delete()[0]


def search_received(sources: QuerySet[Source], is_wanted: Callable[[Any], bool]) -> Iterator[tuple[str, int]]:
    """(name of the dataset, key) of each span that waits and of which ``is_wanted`` is true; it gets a JSON
    value, in which JSON written as text is a value too. Requests that wait are stored first."""
    for source in sources.order_by("dataset_name", "pk"):
        for key in source.requests.values_list("pk", flat=True):
            store_request(key)
        for key, content in source.spans.values_list("pk", "content").iterator(1000):
            if is_wanted(_decode_texts(msgspec.json.decode(bytes(content)))):
                yield source.dataset_name, key


def _decode_texts(value: Any) -> Any:
    if type(value) is dict:
        return {key: _decode_texts(item) for key, item in value.items()}
    if type(value) is list:
        return [_decode_texts(item) for item in value]
    decoded = decode_json(value)
    return value if decoded is value else _decode_texts(decoded)


def delete_traces_of(spans: QuerySet[ReceivedSpan]) -> int:
    """Delete these spans and the others of their traces; returns how many."""
    traces = set(spans.values_list("source", "trace"))
    return sum(ReceivedSpan.objects.filter(source=key, trace=trace).delete()[0] for key, trace in traces)


def _find_complete(source: Source, max_bytes: int) -> tuple[list[bytes], bool]:
    """(traces, whether there are more): whole conversations, at least one, the oldest first.

    Requests that wait may continue any of them: for those, it is still the time when the oldest arrived.
    """
    oldest = source.requests.aggregate(at=Min("received_at"))["at"]
    now: datetime = min(timezone.now(), oldest or datetime.max.replace(tzinfo=UTC))
    quiet = now - timedelta(minutes=source.quiet_minutes)
    traces: list[bytes] = []
    for group, size in fetch_all(_GROUPS, {"source": source.pk, "quiet": quiet, "overdue": now - MAX_WAIT}):
        if traces and max_bytes < size:
            return traces, True
        traces += group
        max_bytes -= size
    return traces, False


def _write_spans(source: Source, traces: list[bytes], out: IO[bytes]) -> "array[int]":
    keys = array("q")
    for some in batched(traces, 1000):
        spans = source.spans.filter(trace__in=some).order_by("pk").values_list("pk", "content")
        for key, content in spans.iterator(1000):
            keys.append(key)
            out.write(bytes(content) + b"\n")
    return keys
