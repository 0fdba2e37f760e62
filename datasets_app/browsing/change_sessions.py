"""Tags selected sessions or turns, and excludes them from what leaves a dataset."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection, transaction

from datasets_app.catalog import gates
from datasets_app.catalog.facts import lock_dataset
from datasets_app.catalog.written_text import check_written
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.models import Dataset, JobRun, Session

KEYS_PER_BATCH = 500
TAG_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._/-]{0,99}")

_ADD_TAG = """
UPDATE datasets_app_turn SET tags = array_append(tags, %(tag)s::text)
WHERE dataset_id = %(dataset)s AND {column} = ANY(%(keys)s) AND NOT tags @> ARRAY[%(tag)s]::text[]
"""
_REMOVE_TAG = """
UPDATE datasets_app_turn SET tags = array_remove(tags, %(tag)s::text)
WHERE dataset_id = %(dataset)s AND {column} = ANY(%(keys)s) AND tags @> ARRAY[%(tag)s]::text[]
"""


def check_tag(dataset: Dataset, tag: str) -> None:
    """Raises UserError for what is no tag, or may be personal data: nothing searches it later."""
    if not TAG_PATTERN.fullmatch(tag):
        raise UserError(
            "A tag has up to 100 letters, digits and the signs : . _ - and /, and starts with a letter or "
            "digit."
        )
    check_written(dataset, {}, tags=[tag], always=True)


def tag_sessions(
    dataset: Dataset,
    keys: Sequence[int],
    tag: str,
    *,
    turns: Sequence[int] | None = None,
    remove: bool = False,
    actor: Any = None,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, int]:
    """Add a tag to all turns of sessions (primary keys), or to these ``turns`` of them, or remove it; returns
    how many turns changed.

    Raises UserError if the dataset is on legal hold or a job is running on it: a scrub writes tags, too.
    """
    if not remove:
        check_tag(dataset, tag)
    changed = 0
    with transaction.atomic():
        locked = lock_dataset(dataset.pk)
        gates.check_can_replace_text(locked)
        gates.check_is_idle(locked.name, job_run, "tag sessions when the job has finished.")
        query = _REMOVE_TAG if remove else _ADD_TAG
        column, tagged = ("session_id", keys) if turns is None else ("id", turns)
        for done, batch in _split(tagged):
            with connection.cursor() as cursor:
                cursor.execute(
                    query.format(column=column), {"dataset": dataset.pk, "keys": batch, "tag": tag}
                )
                changed += cursor.rowcount
            report_progress(done, len(tagged))
        locked.save(update_fields=["updated_at"])
        # Not which tag: a later deletion could not remove it from here.
        audit.record(
            "untag_sessions" if remove else "tag_sessions",
            actor=actor,
            dataset_name=dataset.name,
            sessions=len(keys),
            turns=changed,
        )
    return {"sessions": len(keys), "turns": changed}


def exclude_sessions(
    dataset: Dataset,
    keys: Sequence[int],
    *,
    include: bool = False,
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, int]:
    """Leave sessions (primary keys) out of exports, packages, samples, releases and new campaigns, or, with
    ``include``, no longer; returns how many changed. Their text is still scrubbed and checked."""
    changed = 0
    with transaction.atomic():
        locked = lock_dataset(dataset.pk)
        gates.check_can_use(locked)
        for done, batch in _split(keys):
            sessions = Session.objects.filter(dataset=dataset, pk__in=batch, excluded=include)
            changed += sessions.update(excluded=not include)
            report_progress(done, len(keys))
        locked.save(update_fields=["updated_at"])
        audit.record(
            "include_sessions" if include else "exclude_sessions",
            actor=actor,
            dataset_name=dataset.name,
            sessions=changed,
        )
    return {"sessions": changed}


def _split(keys: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """(number of keys up to the end of the batch, the batch)."""
    for start in range(0, len(keys), KEYS_PER_BATCH):
        batch = list(keys[start : start + KEYS_PER_BATCH])
        yield start + len(batch), batch
