"""The release documents: metadata, manifest, changelog, and digests with their signature."""

import base64
import json
from pathlib import Path
from typing import Any

from alignmenter_site.keys import release_key
from datasets_app.domain.conversations.reading import hash_file
from datasets_app.domain.metadata.metadata import DatasetMetadata, metadata_path, render_metadata
from datasets_app.domain.releases import changelog
from datasets_app.domain.releases.manifest import (
    LINEAGE_KEY,
    ContentSummary,
    build_manifest,
    encode_canonical_json,
    read_lineage,
)
from datasets_app.domain.releases.versions import Version
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import files

Kind = ReleaseFile.Kind
ALGORITHM = "Ed25519"


def data_file_name(dataset: Dataset, version: Version) -> str:
    return f"{dataset.name}_v{version}.jsonl.gz"


def store_release_files(
    release: Release,
    data: Path,
    contents: ContentSummary,
    metadata: DatasetMetadata,
    previous: Release | None,
) -> None:
    """Write the documents of a saved ``release`` next to ``data``, and store all its files."""
    meta = metadata_path(data)
    stem = meta.name.removesuffix(".meta.yaml")
    paths = {
        Kind.DATA: data,
        Kind.METADATA: meta,
        Kind.MANIFEST: data.with_name(f"{stem}.manifest.json"),
        Kind.CHANGELOG: data.with_name(f"{stem}.CHANGELOG.md"),
        Kind.SIGNATURE: data.with_name(f"{stem}.sig.json"),
    }
    meta.write_text(render_metadata(metadata), encoding="utf-8")
    paths[Kind.MANIFEST].write_bytes(_encode_json(_build_manifest(release, contents, previous)))
    paths[Kind.CHANGELOG].write_text(render_changelog(release), encoding="utf-8")
    signed = _build_statement(release, [path for kind, path in paths.items() if kind != Kind.SIGNATURE])
    paths[Kind.SIGNATURE].write_bytes(_encode_json(sign_statement(signed)))
    for kind, path in paths.items():
        files.store_file(release, kind, path)


def render_changelog(release: Release) -> str:
    """CHANGELOG.md of this release: its entry, and those of all earlier versions.

    Once ids are hashed, earlier entries no longer name sessions by their old ids.
    """
    own = (release.major, release.minor, release.patch)
    rows = [row for row in release.dataset.releases.all() if (row.major, row.minor, row.patch) <= own]
    hashed = release.dataset.sessions.filter(id_hashed=True).exists()
    return changelog.render_changelog(
        release.dataset.name,
        [
            (
                row.version,
                row.created_at.date().isoformat(),
                row.notes,
                changelog.redact_session_ids(row.changelog) if hashed else row.changelog,
            )
            for row in rows
        ],
    )


def _build_manifest(release: Release, contents: ContentSummary, previous: Release | None) -> dict[str, Any]:
    provenance = read_lineage(release.dataset.provenance.get(LINEAGE_KEY))
    if previous:
        ref = f"{previous.dataset.name} {previous.version}"
        digest = previous.content_digest
        provenance.append({"kind": "release", "ref": ref, "count": previous.turn_count, "digest": digest})
    return build_manifest(
        contents,
        id=release.dataset.name,
        revision=release.version,
        created_at=release.created_at.isoformat(),
        provenance=provenance,
    )


def _build_statement(release: Release, paths: list[Path]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "dataset": release.dataset.name,
        "version": release.version,
        "created_at": release.created_at.isoformat(),
        "content_digest": release.content_digest,
        "files": {path.name: {"size": path.stat().st_size, "sha256": hash_file(path)} for path in paths},
    }


def sign_statement(signed: dict[str, Any]) -> dict[str, Any]:
    """The statement with its signature, which is over its canonical JSON."""
    return {
        "signed": signed,
        "algorithm": ALGORITHM,
        "public_key": base64.b64encode(release_key.public_key()).decode(),
        "signature": base64.b64encode(release_key.sign(encode_canonical_json(signed))).decode(),
    }


def find_signature_fault(document: Any) -> str:
    """Why a signature document is invalid, as the end of a sentence; empty if it is valid."""
    try:
        public, signature = (
            base64.b64decode(document[key], validate=True) for key in ("public_key", "signature")
        )
        message = encode_canonical_json(document["signed"])
    except (KeyError, TypeError, ValueError):
        return "is not a readable signature"
    if not release_key.is_valid_signature(message, signature, public):
        return "has a signature that doesn't match what it signs"
    if not release_key.is_own_key(public):
        return f"was signed by an unknown key ({release_key.fingerprint(public)})"
    return ""


def _encode_json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
