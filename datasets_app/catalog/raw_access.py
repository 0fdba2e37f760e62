"""Records who has read raw text: every page and command that shows some of it calls this first.

:mod:`policies` says what is raw. Reading anything else leaves no trace. Entries hold primary
keys and counts, never the text itself or a name from it.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from datasets_app.catalog import gates
from datasets_app.core import audit
from datasets_app.models import Dataset, JobRun, Release

ACTION = "read_raw_text"


def record_access(
    dataset: Dataset,
    actor: Any,
    *,
    place: str,
    versions: Iterable[Release | None] = (),
    **counts: int | str,
) -> None:
    """Record that ``actor`` (None for the command line) is shown text of this dataset, if it is raw. Call it
    before the text is sent: what can't be recorded is not shown.

    ``place`` names the page or command; ``counts`` are numbers and primary keys. Stored ``versions`` that
    were released by override count as raw even after a later scrub of the dataset.
    """
    if any(version and version.override_reason for version in versions) or gates.is_raw(dataset):
        audit.record(ACTION, actor=actor, dataset_name=dataset.name, place=place, **counts)


def record_turn_access(datasets: Iterable[Dataset], actor: Any, *, place: str, **counts: Any) -> None:
    """The same for turns of several datasets on one page: ``datasets`` has the dataset of each turn."""
    shown = Counter(datasets)
    facts = gates.load_all_facts(Dataset.objects.filter(pk__in=[dataset.pk for dataset in shown]))
    for dataset, turns in shown.items():
        if facts[dataset.pk].is_raw:
            audit.record(ACTION, actor=actor, dataset_name=dataset.name, place=place, turns=turns, **counts)


def record_upload_access(
    job: JobRun, actor: Any, *, origins: Collection[str | None], place: str, **counts: int | str
) -> None:
    """The same for a file before its import: production data is raw then, if any of the ``origins`` that
    were stated for it is production."""
    production = Dataset.Origin.PRODUCTION
    existing = Dataset.objects.filter(name=job.dataset_name, origin=production)
    if production in origins or existing.exists():
        audit.record(
            ACTION, actor=actor, dataset_name=job.dataset_name, place=place, job_run=job.pk, **counts
        )
