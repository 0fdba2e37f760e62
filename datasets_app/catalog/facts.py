"""What the operations on a dataset share: its name, its row, its facts."""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from datasets_app.catalog import gates
from datasets_app.core.errors import UserError
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.models import Dataset
from datasets_app.models.dataset import NAME_PATTERN


def check_dataset_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise UserError(
            f"{name!r} can't be the name of a dataset: at most 100 letters, digits, dots, dashes and "
            "underscores, beginning with a letter or digit."
        )


def get_dataset(name: str) -> Dataset:
    """The dataset of that name; refuses with the names that come near if there is none."""
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


def lock_or_create_dataset(name: str, *, origin: str | None, actor: Any) -> Dataset:
    """The dataset's row, made if need be and locked until the end of the transaction.

    Two imports of one name wait for each other here. Rows that refer to it can be added meanwhile.
    Refused while the dataset is being scrubbed, and once it has expired.
    """
    _, created = Dataset.objects.get_or_create(
        name=name, defaults={"origin": origin or Dataset.Origin.EXTERNAL, "created_by": actor}
    )
    dataset: Dataset = Dataset.objects.select_for_update(no_key=True).get(name=name)
    gates.check_can_copy(dataset)
    if not created and origin and dataset.origin != origin and dataset.turn_count:
        raise UserError(
            f"The dataset {name} is of origin {dataset.origin}, not {origin}: keep what differs in origin "
            "in datasets of their own."
        )
    return dataset


_STATED_FIELDS = ("source", "license", "attribution")
# What the application knows by itself, whatever a file that came with the data says.
_COMPUTED_FIELDS = ("name", "total_sessions", "total_turns", "sha256")
MAX_LICENSE_CHARACTERS = 100


def merge_metadata(dataset: Dataset, metadata: DatasetMetadata) -> None:
    """Take over what a metadata file says and the dataset does not say yet."""
    if len(metadata.license or "") > MAX_LICENSE_CHARACTERS:
        raise UserError("The metadata file's license is longer than an SPDX id; nothing was imported.")
    _adopt_origin(dataset, metadata.extra.get("origin"))
    for item in fields(metadata):
        value = getattr(metadata, item.name)
        if item.name in _COMPUTED_FIELDS or value in (None, "", [], {}):
            continue
        if item.name in _STATED_FIELDS:
            setattr(dataset, item.name, getattr(dataset, item.name) or value)
        elif item.name == "extra":
            for key, other in value.items():
                if key != "origin":
                    dataset.provenance.setdefault(key, other)
        else:
            dataset.provenance.setdefault(item.name, value)


def _adopt_origin(dataset: Dataset, stated: Any) -> None:
    """A new dataset whose origin nobody gave is of the origin that its file states."""
    new = not dataset.turn_count and dataset.origin == Dataset.Origin.EXTERNAL
    if new and stated in Dataset.Origin.values:
        dataset.origin = stated


def add_modification(dataset: Dataset, what: str) -> None:
    """What the application did to the data itself is recorded by the application."""
    done = dataset.provenance.get("modifications")
    if not isinstance(done, list):
        done = dataset.provenance["modifications"] = [str(done)] if done else []
    if what not in done:
        done.append(what)


def build_metadata(
    dataset: Dataset, *, sessions: int, turns: int, sha256: str, modifications: Iterable[str] = ()
) -> DatasetMetadata:
    """What is known of a dataset, for the ``.meta.yaml`` beside one of its files.

    ``modifications`` are those that only this file has undergone.
    """
    known = {item.name for item in fields(DatasetMetadata)} - {"extra"}
    provenance = dict(dataset.provenance)
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


def subset_metadata(stated: DatasetMetadata) -> DatasetMetadata:
    """``stated`` of a whole dataset, for a file of some of its sessions: less what was counted in all."""
    extra = {key: value for key, value in stated.extra.items() if key != "edge_cases"}
    return replace(stated, safety_traps=None, brand_traps=None, extra=extra)
