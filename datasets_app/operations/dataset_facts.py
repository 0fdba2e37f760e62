"""What the operations on a dataset share: its name, its row, its facts, the files of its jobs."""

import re
from collections.abc import Iterable
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.utils import timezone

from datasets_app.domain.metadata import DatasetMetadata
from datasets_app.domain.reading import file_sha256
from datasets_app.models import Dataset, JobFile, JobRun
from datasets_app.models.dataset import NAME_PATTERN
from datasets_app.operations.refused import Refused


def check_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise Refused(
            f"{name!r} can't be the name of a dataset: at most 100 letters, digits, dots, dashes and "
            "underscores, beginning with a letter or digit."
        )


def dataset_named(name: str) -> Dataset:
    """The dataset of that name; refuses with the names that come near if there is none."""
    dataset: Dataset | None = Dataset.objects.filter(name=name).first()
    if dataset is not None:
        return dataset
    near = Dataset.objects.filter(name__icontains=name[:4]).values_list("name", flat=True)[:5] if name else []
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    raise Refused(f"There is no dataset {name!r}.{hint}")


def locked_dataset(name: str, *, origin: str | None, actor: Any) -> Dataset:
    """The dataset's row, made if need be and locked until the end of the transaction.

    Two imports of one name wait for each other here. Rows that refer to it can be added meanwhile.
    """
    _, created = Dataset.objects.get_or_create(
        name=name, defaults={"origin": origin or Dataset.Origin.EXTERNAL, "created_by": actor}
    )
    dataset: Dataset = Dataset.objects.select_for_update(no_key=True).get(name=name)
    if not created and origin and dataset.origin != origin and dataset.turn_count:
        raise Refused(
            f"The dataset {name} is of origin {dataset.origin}, not {origin}: keep what differs in origin "
            "in datasets of their own."
        )
    return dataset


_FACTS = ("source", "license", "attribution")
# What the application knows by itself, whatever a file that came with the data says.
_COUNTED = ("name", "total_sessions", "total_turns", "sha256")


def fill_in(dataset: Dataset, metadata: DatasetMetadata) -> None:
    """Take over what a metadata file says and the dataset does not say yet."""
    for item in fields(metadata):
        value = getattr(metadata, item.name)
        if item.name in _COUNTED or value in (None, "", [], {}):
            continue
        if item.name in _FACTS:
            setattr(dataset, item.name, getattr(dataset, item.name) or value)
        elif item.name == "extra":
            for key, other in value.items():
                dataset.provenance.setdefault(key, other)
        else:
            dataset.provenance.setdefault(item.name, value)


def note_modification(dataset: Dataset, what: str) -> None:
    """What the application did to the data itself is recorded by the application."""
    done = dataset.provenance.get("modifications")
    if not isinstance(done, list):
        done = dataset.provenance["modifications"] = [str(done)] if done else []
    if what not in done:
        done.append(what)


def metadata_of(
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
    return DatasetMetadata(**stated, extra={"origin": dataset.origin, **provenance})


def keep_job_files(job_run: JobRun, kind: str, paths: Iterable[Path]) -> list[JobFile]:
    """Store files that a job has made, until their date."""
    kept = []
    for path in paths:
        job_file = JobFile(
            job_run=job_run,
            kind=kind,
            name=path.name,
            size=path.stat().st_size,
            sha256=file_sha256(path),
            expires_at=timezone.now() + timedelta(days=settings.EXPORT_LINK_DAYS),
        )
        with path.open("rb") as content:
            job_file.file.save(f"{job_run.pk}/{kind}/{path.name}", File(content), save=True)
        kept.append(job_file)
    return kept


def discard_file(job_file: JobFile) -> None:
    """Delete the file once the transaction is committed; the row keeps its name and digest.

    The file is due from then on: if this process dies before it is gone, the scheduler deletes it.
    """
    JobFile.objects.filter(pk=job_file.pk).update(expires_at=timezone.now())
    transaction.on_commit(lambda: delete_file(job_file), robust=True)


def delete_file(job_file: JobFile) -> None:
    """Delete the file of a row, which stays: a page can say that there was one."""
    job_file.file.delete(save=False)
    JobFile.objects.filter(pk=job_file.pk).update(file="")
