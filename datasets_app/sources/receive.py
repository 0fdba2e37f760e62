"""Stores received spans. What is answered with success is committed; the same span again adds nothing."""

import time
from typing import Any

import msgspec
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.domain.traces.formats.otlp import read_span
from datasets_app.models import Dataset, ReceivedSpan, Source
from datasets_app.sources.secrets import digest_token
from datasets_app.sources.seen import digest_id

# Sizes of what waits are added up so often.
_SUM_SECONDS = 5.0
_waiting: dict[str, float] = {"bytes": 0.0, "at": -_SUM_SECONDS}

# In one order, so that two requests with the same spans wait for each other and not both for ever.
_STORE = """
WITH added AS (
    INSERT INTO datasets_app_seentrace (source_id, digest)
    SELECT %(source)s, digest FROM unnest(%(spans)s::bytea[]) AS digest ORDER BY digest
    ON CONFLICT DO NOTHING RETURNING digest
)
INSERT INTO datasets_app_receivedspan (source_id, trace, conversation, size, content)
SELECT %(source)s, trace, conversation, octet_length(content), content
FROM unnest(%(spans)s::bytea[], %(traces)s::bytea[], %(conversations)s::bytea[], %(contents)s::bytea[])
    WITH ORDINALITY AS sent (span, trace, conversation, content, position)
JOIN added ON added.digest = sent.span ORDER BY position
"""


class SpoolFull(Exception):
    """As much waits to become conversations as may."""


def find_receiver(token: str) -> Source | None:
    """The source with this token that may receive now."""
    source = Source.objects.filter(
        kind=Source.Kind.OTLP, active=True, token_digest=digest_token(token)
    ).first()
    expired = Dataset.objects.filter(status=Dataset.Status.EXPIRED).values("name")
    return None if source and expired.filter(name=source.dataset_name).exists() else source


def store_spans(source: Source, spans: dict[tuple[str, str], dict[str, Any]]) -> int:
    """Commit the spans that the source has not delivered before; returns how many can't be read as spans,
    and were not stored: they would stop the import of all others. Raises SpoolFull."""
    _refuse_if_full()
    key = hash_key()
    rows = [row for (trace, name), span in spans.items() if (row := _make_row(trace, name, span, key))]
    columns: Any = zip(*rows, strict=True) if rows else ([], [], [], [])
    names = ("spans", "traces", "conversations", "contents")
    with transaction.atomic(), connection.cursor() as cursor:
        values = {name: list(column) for name, column in zip(names, columns, strict=True)}
        cursor.execute(_STORE, {"source": source.pk, **values})
    return len(spans) - len(rows)


def _make_row(
    trace: str, name: str, span: dict[str, Any], key: bytes
) -> tuple[bytes, bytes, bytes | None, bytes] | None:
    content = msgspec.json.encode(span)
    try:
        conversation = read_span(span).conversation
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError, OverflowError):
        return None
    if len(content) > settings.MAX_LINE_BYTES:
        return None
    digest = digest_id(conversation, key) if conversation else None
    return digest_id(f"{trace}/{name}", key), digest_id(trace, key), digest, content


def _refuse_if_full() -> None:
    if time.monotonic() - _waiting["at"] > _SUM_SECONDS:
        _waiting["bytes"] = ReceivedSpan.objects.aggregate(sum=Sum("size"))["sum"] or 0
        _waiting["at"] = time.monotonic()
    if _waiting["bytes"] >= settings.OTLP_MAX_WAITING_BYTES:
        raise SpoolFull
