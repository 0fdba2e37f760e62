"""What a source has delivered before, by keyed hashes."""

from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.core.queries import execute
from datasets_app.domain.batches import batched
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.models import SeenTrace, Source

REMEMBERED = timedelta(days=400)
_BATCH = 10_000


def digest_id(name: str, key: bytes | None = None) -> bytes:
    """The beginning of the hash that a scrub makes of a session id; ``key`` spares many ids its reading."""
    return bytes.fromhex(hash_session_id(name, key or hash_key())[:32])


def find_seen(source: Source, names: Iterable[str]) -> set[str]:
    """Those of ``names`` that the source has delivered before."""
    key = hash_key()
    by_digest = {digest_id(name, key): name for name in names}
    seen = set[str]()
    for digests in batched(by_digest, _BATCH):
        rows = SeenTrace.objects.filter(source=source, digest__in=digests)
        seen.update(by_digest[bytes(digest)] for digest in rows.values_list("digest", flat=True))
    return seen


def add_seen(source: Source, names: Iterable[str]) -> None:
    """In the caller's transaction, the one that imports. What was known is remembered longer."""
    key = hash_key()
    digests = sorted({digest_id(name, key) for name in names})
    for some in batched(digests, _BATCH):
        execute(
            "INSERT INTO datasets_app_seentrace (source_id, digest) SELECT %s, unnest(%s::bytea[]) "
            "ON CONFLICT (source_id, digest) DO UPDATE SET seen_at = now()",
            [source.pk, some],
        )


def forget_old() -> int:
    """Keep the table bounded; returns how many were forgotten."""
    return SeenTrace.objects.filter(seen_at__lt=timezone.now() - REMEMBERED).delete()[0]
