"""Finds, locks and creates datasets, and builds their metadata."""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from datasets_app.catalog import gates
from datasets_app.core.errors import UserError
from datasets_app.domain.metadata.metadata import METADATA_FIELDS, DatasetMetadata
from datasets_app.domain.pii.session_ids import is_key_statement
from datasets_app.domain.quality.kept_terms import METADATA_KEY
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, ScrubRun
from datasets_app.models.dataset import NAME_PATTERN


def check_dataset_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise UserError(
            f"{name!r} can't be the name of a dataset: use at most 100 letters, digits, dots, dashes and "
            "underscores, starting with a letter or digit."
        )


def get_dataset(name: str) -> Dataset:
    """The dataset with this name. Raises UserError with similar names if there is none."""
    dataset: Dataset | None = Dataset.objects.filter(name=name).first()
    if dataset is not None:
        return dataset
    near = Dataset.objects.filter(name__icontains=name[:4]).values_list("name", flat=True)[:5] if name else []
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    raise UserError(f"There is no dataset {name!r}.{hint}")


def lock_dataset(pk: int) -> Dataset:
    """The dataset, locked until the end of the transaction; rows that refer to it can still be added."""
    dataset: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=pk)
    return dataset


def lock_or_create_dataset(name: str, *, origin: str | None, actor: Any) -> tuple[Dataset, bool]:
    """The locked dataset, and whether this created it.

    Imports with the same name wait for each other here. Raises UserError if the dataset is being scrubbed,
    has expired or has another origin.
    """
    _, created = Dataset.objects.get_or_create(
        name=name, defaults={"origin": origin or Dataset.Origin.EXTERNAL, "created_by": actor}
    )
    dataset: Dataset = Dataset.objects.select_for_update(no_key=True).get(name=name)
    gates.check_can_copy(dataset)
    gates.check_import_origin(dataset, origin)
    return dataset, created


_STATED_FIELDS = ("source", "license", "attribution")
# What was done to the data. The application vouches only for what it did itself.
_CLAIMED_FIELDS = ("modifications", "anonymization")
_CLAIMED = "stated by an imported file: "
# Computed by the application, so an imported metadata file can't set them.
_COMPUTED_FIELDS = ("name", "total_sessions", "total_turns", "sha256")
MAX_LICENSE_CHARACTERS = 100


def merge_metadata(dataset: Dataset, metadata: DatasetMetadata) -> None:
    """Copy values from a metadata file to fields that the dataset has not filled yet."""
    if len(metadata.license or "") > MAX_LICENSE_CHARACTERS:
        raise UserError(
            f"The license in the metadata file is longer than {MAX_LICENSE_CHARACTERS} characters, so "
            "nothing was imported. Use an SPDX identifier."
        )
    for item in fields(metadata):
        value = getattr(metadata, item.name)
        if item.name in _COMPUTED_FIELDS or value in (None, "", [], {}):
            continue
        if item.name in _CLAIMED_FIELDS:
            dataset.provenance.setdefault(item.name, [_mark_claim(text) for text in value])
        elif item.name in _STATED_FIELDS:
            setattr(dataset, item.name, getattr(dataset, item.name) or value)
        elif item.name == "extra":
            for key, other in value.items():
                if key not in ("origin", METADATA_KEY):
                    dataset.provenance.setdefault(key, other)
        else:
            dataset.provenance.setdefault(item.name, value)


def _mark_claim(text: str) -> str:
    """A scrub looks for the statement with which key ids were hashed, so that one stays as it is."""
    return text if text.startswith(_CLAIMED) or is_key_statement(text) else f"{_CLAIMED}{text}"


def add_modification(dataset: Dataset, what: str) -> None:
    """Record a change that the application made to the data."""
    done = dataset.provenance.get("modifications")
    if not isinstance(done, list):
        done = dataset.provenance["modifications"] = [str(done)] if done else []
    if what not in done:
        done.append(what)


def build_metadata(
    dataset: Dataset, *, sessions: int, turns: int, sha256: str, modifications: Iterable[str] = ()
) -> DatasetMetadata:
    """The ``.meta.yaml`` of a file exported from a dataset. ``modifications`` apply only to this file."""
    known = METADATA_FIELDS - {"extra"}
    provenance = describe_provenance(dataset)
    stated = {key: provenance.pop(key) for key in sorted(known & provenance.keys())}
    stated["modifications"] = [*stated.get("modifications", []), *modifications]
    stated.update(
        name=dataset.name,
        created=stated.get("created") or dataset.created_at.date().isoformat(),
        source=dataset.source or None,
        license=dataset.license or None,
        attribution=dataset.attribution or None,
        total_sessions=sessions,
        total_turns=turns,
        sha256=sha256,
    )
    return DatasetMetadata(**stated, extra={**provenance, "origin": dataset.origin})


def describe_provenance(dataset: Dataset) -> dict[str, Any]:
    """The provenance as it is true now: a scrub did nothing to sessions that were added after it."""
    provenance = dict(dataset.provenance)
    done = provenance.get("anonymization")
    scrub = ScrubRun.objects.filter(dataset=dataset).exclude(verified_at=None).first() if done else None
    if scrub and (added := dataset.sessions.filter(pk__gt=scrub.last_session).count()):
        later = f"not done to {format_count(added, 'session')} added later"
        provenance["anonymization"] = [*(done if isinstance(done, list) else [str(done)]), later]
    return provenance


def subset_metadata(stated: DatasetMetadata) -> DatasetMetadata:
    """Metadata for a file with a part of the sessions: without the counts that are true only of all."""
    extra = {key: value for key, value in stated.extra.items() if key != "edge_cases"}
    return replace(stated, safety_traps=None, brand_traps=None, extra=extra)
