"""What Alignmenter's manifest says of a dataset: its content's digest, its counts, where it is from.

Alignmenter 0.3: ``alignmenter dataset manifest DATA --verify MANIFEST`` checks a file against one.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

SCHEMA_VERSION = 1
# Of a dataset's provenance: the entries of manifests that came with imported files.
LINEAGE_KEY = "lineage"
MAX_ENTRIES = 1000
_DIGEST_BYTES = 32
_DIGEST = re.compile(r"[0-9a-f]{64}")


def encode_canonical_json(value: Any) -> bytes:
    """The one form of a JSON value that digests are made of: sorted keys, no spaces, UTF-8."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


class ContentDigest:
    """SHA-256 over the list of the records' digests, sorted: the order of the lines does not matter.

    Holds 32 bytes a record. They are kept in 256 parts by their first byte, so that sorting needs no
    second copy of all of them.
    """

    def __init__(self) -> None:
        self._parts = [bytearray() for _ in range(256)]

    def add(self, record: Any) -> None:
        digest = hashlib.sha256(encode_canonical_json(record)).digest()
        self._parts[digest[0]] += digest

    def hexdigest(self) -> str:
        whole = hashlib.sha256(b"[")
        first = True
        for part in self._parts:
            for digest in sorted(part[at : at + _DIGEST_BYTES] for at in range(0, len(part), _DIGEST_BYTES)):
                whole.update((b'"' if first else b',"') + digest.hex().encode() + b'"')
                first = False
        whole.update(b"]")
        return whole.hexdigest()


class ContentSummary(NamedTuple):
    """What a data file holds. ``tags`` and ``personas`` count turns; ``fields`` are the keys of its lines."""

    sessions: int
    turns: int
    content_digest: str
    fields: list[str]
    tags: dict[str, int]
    personas: dict[str, int]


class ContentCounter:
    """Counts and hashes records one by one. The turns of a session must be consecutive."""

    def __init__(self) -> None:
        self._digest = ContentDigest()
        self._tags: Counter[str] = Counter()
        self._personas: Counter[str] = Counter()
        self._fields: set[str] = set()
        self._session: str | None = None
        self.sessions = self.turns = 0

    def add_record(self, record: dict[str, Any]) -> None:
        self._digest.add(record)
        self.turns += 1
        if record["session_id"] != self._session:
            self.sessions += 1
            self._session = record["session_id"]
        self._fields.update(record)
        self._tags.update(record["tags"])
        if record["persona_id"] is not None:
            self._personas[record["persona_id"]] += 1

    def summarize(self) -> ContentSummary:
        return ContentSummary(
            self.sessions,
            self.turns,
            self._digest.hexdigest(),
            sorted(self._fields),
            dict(sorted(self._tags.items())),
            dict(sorted(self._personas.items())),
        )


def build_manifest(
    contents: ContentSummary, *, id: str, revision: str, created_at: str, provenance: Iterable[dict[str, Any]]
) -> dict[str, Any]:
    """The manifest as a JSON object. ``created_at`` is ISO 8601 with its time zone."""
    return {
        "schema_version": SCHEMA_VERSION,
        "id": id,
        "revision": revision,
        "content_digest": contents.content_digest,
        "record_count": contents.turns,
        "session_count": contents.sessions,
        "created_at": created_at,
        "tags": contents.tags,
        "personas": contents.personas,
        "provenance": [{"schema_version": SCHEMA_VERSION, **entry} for entry in provenance],
    }


def read_manifest(content: bytes) -> list[dict[str, Any]]:
    """The provenance of a manifest, and the manifest itself as its last entry. Raises ValueError."""
    value = json.loads(content)
    if type(value) is not dict or value.get("schema_version") != SCHEMA_VERSION:
        raise ValueError("no manifest")
    own = {
        "kind": "import",
        "ref": f"{value.get('id')} {value.get('revision')}",
        "count": value.get("record_count"),
        "digest": value.get("content_digest"),
    }
    if not _DIGEST.fullmatch(str(own["digest"])) or type(own["count"]) is not int:
        raise ValueError("no manifest")
    return [*read_lineage(value.get("provenance")), own]


def read_lineage(value: Any) -> list[dict[str, Any]]:
    """The valid entries of a provenance, without what Alignmenter doesn't know."""
    found = []
    for entry in value[:MAX_ENTRIES] if isinstance(value, list) else ():
        if not isinstance(entry, dict) or not str(entry.get("kind") or "").strip():
            continue
        count, digest = entry.get("count"), entry.get("digest")
        found.append(
            {
                "kind": str(entry["kind"])[:100],
                "ref": str(entry.get("ref") or "")[:500],
                "count": count if type(count) is int and count >= 0 else 0,
                "digest": digest if isinstance(digest, str) and _DIGEST.fullmatch(digest) else None,
            }
        )
    return found
