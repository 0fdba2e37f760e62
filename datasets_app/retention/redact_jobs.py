"""Removes what finished jobs still say about an erased session."""

import json
from itertools import chain
from typing import Any

from datasets_app.models import Dataset, JobRun, Session, Turn
from datasets_app.retention import delete_contents


def list_session_terms(dataset: Dataset, sessions: list[Session]) -> set[str]:
    """The personas and tags by which a job may have selected the sessions."""
    tags = Turn.objects.filter(dataset=dataset, session__in=sessions).values_list("tags", flat=True)
    personas = (session.persona_id for session in sessions)
    return {term for term in (*personas, *chain.from_iterable(tags)) if term}


def redact_jobs(dataset: Dataset, session_ids: list[str], terms: set[str], job_run: JobRun | None) -> None:
    """Reduce the results of the dataset's other jobs to numbers, since problems and near-duplicate pairs name
    sessions. Parameters and errors are redacted only if they mention a session or one of ``terms``."""
    escaped_ids = [json.dumps(session_id, ensure_ascii=False)[1:-1] for session_id in session_ids]
    for job in delete_contents.list_other_jobs(dataset, job_run).iterator(500):
        result = keep_numbers(job.result) if isinstance(job.result, dict) else None
        text = json.dumps(job.parameters, ensure_ascii=False)
        mentioned = any(escaped_id in text for escaped_id in escaped_ids) or not terms.isdisjoint(
            map(str, job.parameters.values())
        )
        parameters = keep_numbers(job.parameters) if mentioned else job.parameters
        error = "" if any(term in job.error for term in (*session_ids, *terms)) else job.error
        if (result, parameters, error) != (job.result, job.parameters, job.error):
            JobRun.objects.filter(pk=job.pk).update(result=result, parameters=parameters, error=error)


def keep_numbers(facts: dict[str, Any]) -> dict[str, Any]:
    """Of what a job says, what names nobody."""
    return {key: value for key, value in facts.items() if isinstance(value, int | float)}
