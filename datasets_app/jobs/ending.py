"""How a job ends: its row says so in the transaction of its work, or after an error."""

import logging
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone

from datasets_app.core.queries import execute, fetch_value
from datasets_app.domain.pii.masking import mask_values
from datasets_app.jobs.parameters import P
from datasets_app.jobs.running import ClaimLost, RunningJob, announce_failure, run_heartbeat
from datasets_app.models import Dataset, JobRun

log = logging.getLogger(__name__)

R = TypeVar("R")


def run_operation(job: RunningJob[P], function: Callable[[RunningJob[P]], R], *, commits_itself: bool) -> R:
    """Save the changes of ``function`` and the end of the job's row together, while the heartbeat runs."""
    with run_heartbeat(job), nullcontext() if commits_itself else transaction.atomic():
        result = function(job)
        if not commits_itself:
            _check_deferred_constraints()
        row = job.row
        # An import or a generation may have made the dataset.
        made = {} if row.dataset_id else {"dataset": Dataset.objects.filter(name=row.dataset_name).first()}
        finish(job, "done", result=describe_result(result), total=job.total or job.done, **made)
    return result


def describe_result(result: Any) -> dict[str, Any]:
    """What the row keeps: a mapping as it is, of anything else its ``facts()`` or fields."""
    if isinstance(result, dict):
        return result
    return dict(result.facts() if hasattr(result, "facts") else result._asdict())


def _check_deferred_constraints() -> None:
    """Check foreign keys while the heartbeat still runs, and not in COMMIT.

    Other constraints stay deferred: audit events are sealed in COMMIT, after all waiting for locks.
    """
    names = fetch_value(
        "SELECT string_agg(DISTINCT quote_ident(conname), ', ') FROM pg_constraint "
        "WHERE condeferrable AND contype <> 't' AND connamespace = current_schema()::regnamespace"
    )
    execute(f"SET CONSTRAINTS {names} IMMEDIATE")


def finish(job: RunningJob[Any], state: str, **fields: Any) -> None:
    fields.setdefault("done", job.done)
    # They quote the lines of a file; the row of a failed import is never scrubbed with a dataset.
    if isinstance(fields.get("result"), dict) and fields["result"].get("problems"):
        fields["result"] = fields["result"] | {"problems": mask_values(fields["result"]["problems"])}
    with transaction.atomic():
        if not job.own_row().update(state=state, finished_at=timezone.now(), **fields):
            raise ClaimLost
        if state == JobRun.State.FAILED:
            announce_failure(job.row)


def record_end(job: RunningJob[Any], state: str, **fields: Any) -> None:
    """:func:`finish` after an error, which must not be hidden by another one."""
    try:
        finish(job, state, **fields)
    except ClaimLost:
        log.warning("job %s was taken over by another worker", job.row.pk)
    except Exception as error:
        log.error("job %s: its end can't be stored (%s)", job.row.pk, type(error).__name__)
