"""Stores received spans. What is answered with success is committed; the same span again adds nothing."""

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.core.copy import open_copy
from datasets_app.domain.traces.formats.otlp import find_span_conversation
from datasets_app.models import Dataset, ReceivedSpan, Source
from datasets_app.sources import otlp_body
from datasets_app.sources.secrets import digest_token
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
_COPY = """
COPY datasets_app_receivedspan (source_id, trace, conversation, size, content) FROM STDIN (FORMAT BINARY)
"""
_TYPES = ("int8", "bytea", "bytea", "int4", "bytea")


class SpoolFull(Exception):
    """As much waits to become conversations as may."""


def find_receiver(token: str) -> Source | None:
    """The source with this token that may receive now."""
    source = Source.objects.filter(
        kind=Source.Kind.OTLP, active=True, token_digest=digest_token(token)
    ).first()
    expired = Dataset.objects.filter(status=Dataset.Status.EXPIRED).values("name")
    return None if source and expired.filter(name=source.dataset_name).exists() else source


def store_spans(source: Source, encoded: Sequence[Any], content_type: str) -> int:
    """Commit the spans that the source has not delivered before; returns how many can't be read as spans,
    and were not stored. Raises SpoolFull."""
    _refuse_if_full()
    rows, rejected = _make_rows(encoded, content_type)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_REMEMBER, [source.pk, list(rows)])
        new = cursor.fetchall()
        with open_copy(_COPY) as copy:
            copy.set_types(_TYPES)
            for (digest,) in new:
                copy.write_row((source.pk, *rows[digest]))
    return rejected


def _make_rows(encoded: Sequence[Any], content_type: str) -> tuple[dict[bytes, tuple[Any, ...]], int]:
    """(trace, conversation, size, content) by the digest of the span; and how many can't be read."""
    key, rows, rejected = hash_key(), {}, 0
    digest = cache(lambda name: digest_id(name, key))
    for item in encoded:
        span = otlp_body.read_span(item, content_type)
        try:
            conversation = find_span_conversation(span) if span else ""
            content = msgspec.json.encode(span)
        except (ValueError, RecursionError):
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


def _refuse_if_full() -> None:
    if time.monotonic() - _waiting["at"] > _SUM_SECONDS:
        _waiting["bytes"] = ReceivedSpan.objects.aggregate(sum=Sum("size"))["sum"] or 0
        _waiting["at"] = time.monotonic()
    if _waiting["bytes"] >= settings.OTLP_MAX_WAITING_BYTES:
        raise SpoolFull
