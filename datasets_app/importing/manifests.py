"""Alignmenter's manifest beside an imported file: its provenance goes on with the dataset's releases."""

from pathlib import Path

from datasets_app.core.errors import UserError
from datasets_app.core.limits import configured_limits
from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object
from datasets_app.domain.conversations.lines import read_lines
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.metadata.metadata import metadata_path
from datasets_app.domain.pii.masking import mask_values
from datasets_app.domain.releases.manifest import LINEAGE_KEY, ContentDigest, read_lineage, read_manifest
from datasets_app.models import Dataset

MAX_BYTES = 1 << 20


def apply_manifest(dataset: Dataset, data: Path) -> None:
    """Add the manifest of ``data`` and its provenance to the lineage of ``dataset``, if there is one.

    Raises UserError for a manifest that can't be read, or is that of another content.
    """
    path = find_manifest(data)
    if path is None or data.is_dir():
        return
    content = path.read_bytes()[: MAX_BYTES + 1]
    try:
        entries = read_manifest(content if len(content) <= MAX_BYTES else b"")
    except ValueError:
        raise UserError(
            f"{path.name} isn't a manifest of Alignmenter, so nothing was imported. Fix or remove it."
        ) from None
    if _digest_lines(data) != entries[-1]["digest"]:
        raise UserError(
            f"{path.name} describes another content than {data.name}: the digests differ, so nothing was "
            "imported. Transfer both again, or remove the manifest if the file was changed on purpose."
        )
    lineage = read_lineage(dataset.provenance.get(LINEAGE_KEY))
    added = [mask_values(entry) for entry in entries]
    dataset.provenance[LINEAGE_KEY] = [*lineage, *(entry for entry in added if entry not in lineage)]


def find_manifest(data: Path) -> Path | None:
    """a.jsonl → a.manifest.json, as releases have it, or a.jsonl.manifest.json, as Alignmenter writes it."""
    stem = metadata_path(data).name.removesuffix(".meta.yaml")
    places = (data.with_name(f"{name}.manifest.json") for name in (stem, data.name))
    return next((place for place in places if place.is_file()), None)


def _digest_lines(data: Path) -> str:
    digest = ContentDigest()
    for item in read_lines(data, configured_limits()):
        try:
            digest.add({} if isinstance(item, LineError) else decode_object(item[1]))
        except InvalidRecord:
            digest.add({})
    return digest.hexdigest()
