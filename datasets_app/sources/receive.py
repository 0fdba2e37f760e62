"""Stores received spans. What is answered with success is committed; the same span again adds nothing."""

import gzip
import time
import zlib
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.access.tokens import digest_token
from datasets_app.core.queries import fetch_all, open_copy
from datasets_app.domain.batches import batched
from datasets_app.domain.traces.formats.otlp import find_span_conversation
from datasets_app.models import Dataset, ReceivedRequest, ReceivedSpan, Source
from datasets_app.sources import otlp_body
from datasets_app.sources.seen import digest_id

# Sizes of what waits are added up so often.
_SUM_SECONDS = 5.0
_waiting: dict[str, float] = {"bytes": 0.0, "at": -_SUM_SECONDS}

# In one order, so that two requests with the same spans wait for each other and not both for ever.
_REMEMBER = """
INSERT INTO datasets_app_seentrace (source_id, digest)
SELECT %s, digest FROM unnest(%b::bytea[]) AS digest ORDER BY digest
ON CONFLICT DO NOTHING RETURNING digest
"""
_COLUMNS = {
    "source_id": "int8", "trace": "bytea", "conversation": "bytea", "size": "int4", "content": "bytea",
    "received_at": "timestamptz",
}  # fmt: skip
_COPY = f"COPY datasets_app_receivedspan ({', '.join(_COLUMNS)}) FROM STDIN (FORMAT BINARY)"
# Of one transaction.
_BATCH = 10_000


def find_receiver(token: str) -> Source | None:
    """The source with this token that may receive now."""
    source = Source.objects.filter(
        kind=Source.Kind.OTLP, active=True, token_digest=digest_token(token)
    ).first()
    expired = Dataset.objects.filter(status=Dataset.Status.EXPIRED).values("name")
    return None if source and expired.filter(name=source.dataset_name).exists() else source


def receive(source: Source, body: bytes, content_type: str) -> int:
    """Commit the spans of a request, or the request if they are many; returns how many can't be read as
    spans, as far as that is known. Raises Refusal."""
    _refuse_if_full()
    spans = otlp_body.split_request(body, content_type)
    _waiting["bytes"] += len(body)
    with transaction.atomic():
        if len(spans) <= settings.OTLP_MAX_SPANS:
            rejected = _store_spans(source, spans, content_type, timezone.now())
            _count_rejected(source, rejected)
            return rejected
        source.requests.create(
            content_type=content_type, spans=len(spans), size=len(body), body=gzip.compress(body, 1)
        )
    return 0


def store_request(key: int) -> None:
    """Store the spans of a request that waits, and delete it. What died in the middle is repeated: spans that
    are stored add nothing. Nothing is stored of a request that was deleted meanwhile, as with its source."""
    request = ReceivedRequest.objects.select_related("source").filter(pk=key).first()
    if request is None:
        return
    try:
        spans = otlp_body.split_request(gzip.decompress(request.body), request.content_type)
        rejected = 0
    except (otlp_body.Refusal, OSError, EOFError, zlib.error):
        spans, rejected = [], request.spans
    rows = ReceivedRequest.objects.select_for_update().filter(pk=key)
    for batch in batched(spans, _BATCH):
        with transaction.atomic():
            if not rows.first():
                return
            rejected += _store_spans(request.source, batch, request.content_type, request.received_at)
    with transaction.atomic():
        if rows.delete()[0]:
            _count_rejected(request.source, rejected)


def _store_spans(source: Source, encoded: Sequence[Any], content_type: str, received_at: datetime) -> int:
    """Store the spans that the source has not delivered before, in the caller's transaction; returns how many
    can't be read as spans, and were not stored."""
    rows, rejected = _make_rows(encoded, content_type)
    new = fetch_all(_REMEMBER, [source.pk, list(rows)])
    with open_copy(_COPY) as copy:
        copy.set_types(list(_COLUMNS.values()))
        for (digest,) in new:
            copy.write_row((source.pk, *rows[digest], received_at))
    return rejected


def _make_rows(encoded: Sequence[Any], content_type: str) -> tuple[dict[bytes, tuple[Any, ...]], int]:
    """(trace, conversation, size, content) by the digest of the span; and how many can't be read."""
    key, rows, rejected = hash_key(), {}, 0
    digest = cache(lambda name: digest_id(name, key))
    for span in otlp_body.read_spans(encoded, content_type):
        try:
            conversation = find_span_conversation(span) if span else ""
            content = msgspec.json.encode(span)
        except (ValueError, OverflowError, RecursionError):
            span = None
        if not span or len(content) > settings.MAX_LINE_BYTES:
            rejected += 1
            continue
        trace = span["traceId"]
        rows[digest_id(f"{trace}/{span['spanId']}", key)] = (
            digest(trace),
            digest(conversation) if conversation else None,
            len(content),
            content,
        )
    return rows, rejected


def _count_rejected(source: Source, rejected: int) -> None:
    if rejected:
        Source.objects.filter(pk=source.pk).update(rejected_spans=F("rejected_spans") + rejected)


def _refuse_if_full() -> None:
    if time.monotonic() - _waiting["at"] > _SUM_SECONDS:
        tables = (ReceivedSpan.objects, ReceivedRequest.objects)
        _waiting["bytes"] = sum(rows.aggregate(sum=Sum("size", default=0))["sum"] for rows in tables)
        _waiting["at"] = time.monotonic()
    if _waiting["bytes"] >= settings.OTLP_MAX_WAITING_BYTES:
        raise otlp_body.Refusal(429, "Too many spans wait to be processed.")
