"""Who has read raw text of production: every page and command that shows some of it says so here.

Raw is what no scrub has verified yet. Reading anything else leaves no trace. What was read is told by primary
keys and numbers, never by the text itself or a name that stands in it.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from datasets_app.catalog import policies
from datasets_app.core import audit
from datasets_app.models import Dataset, JobRun, Release

ACTION = "read_raw_text"


def record_access(dataset: Dataset, actor: Any, *, place: str, **counts: int | str) -> None:
    """Write down that ``actor`` (a user, or None for the command line) is shown text of this dataset, if it
    is raw. ``place`` names the page or command; ``counts`` are numbers and primary keys. Call it before the
    text is sent: what can't be recorded is not shown."""
    if is_raw(dataset):
        audit.record(ACTION, actor=actor, dataset_name=dataset.name, place=place, **counts)


def record_turn_access(datasets: Iterable[Dataset], actor: Any, *, place: str, **counts: int | str) -> None:
    """The same for turns of several datasets on one page: ``datasets`` has the dataset of each turn."""
    for dataset, turns in Counter(datasets).items():
        record_access(dataset, actor, place=place, turns=turns, **counts)


def record_version_access(
    dataset: Dataset, versions: Iterable[Release | None], actor: Any, *, place: str, **counts: int | str
) -> None:
    """The same for stored versions (None: as it stands): one that was released by an override may hold what a
    scrub has taken out of the dataset since."""
    overridden = any(version is not None and version.override_reason for version in versions)
    if is_raw(dataset) or (overridden and dataset.origin == Dataset.Origin.PRODUCTION):
        audit.record(ACTION, actor=actor, dataset_name=dataset.name, place=place, **counts)


def record_upload_access(job: JobRun, actor: Any, *, place: str, **counts: int | str) -> None:
    """The same for a file that is to be imported: production data is raw as it comes."""
    production = Dataset.Origin.PRODUCTION
    adds_to_it = Dataset.objects.filter(name=job.dataset_name, origin=production).exists()
    if adds_to_it or job.parameters.get("origin") == production:
        audit.record(
            ACTION, actor=actor, dataset_name=job.dataset_name, place=place, job_run=job.pk, **counts
        )


def is_raw(dataset: Dataset) -> bool:
    """Whether this is production data that no scrub has verified."""
    return dataset.origin == Dataset.Origin.PRODUCTION and not policies.is_scrubbed(dataset)
