"""What a job was asked and what came of it, for its page."""

from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.jobs.parameters import GenerationParameters, read_parameters
from datasets_app.jobs.registry import get_operation
from datasets_app.models import JobRun


def parameter_rows(job: JobRun) -> list[tuple[str, str]]:
    """(label, value) of each parameter that differs from the default; none if they can't be read."""
    try:
        return read_parameters(job, get_operation(job.operation).parameters).describe()
    except UserError:
        return []


def result_facts(job: JobRun, result: dict[str, Any]) -> dict[str, Any]:
    """What a job answered. Of an erasure, the versions that were replaced stand with the names of their
    datasets as those are written, and other datasets that have the session only if there are any. A
    verification of the audit trail that ended has found nothing, or it would have failed."""
    if job.operation == "verify_audit" and result.get("head"):
        return {"found": "nothing was changed", **result}
    if job.operation != "erase_session":
        return result
    told = {key: value for key, value in result.items() if key != "releases" and (key != "also_in" or value)}
    replaced = result.get("releases") or {}
    told["replaced_releases"] = [f"{name} {version}" for name in replaced for version in replaced[name]]
    return told


def token_usage(job: JobRun) -> dict[str, Any] | None:
    """What a generation by a model has used so far, in all its attempts; None for any other job."""
    if job.operation != "bootstrap_dataset":
        return None
    asked = read_parameters(job, GenerationParameters)
    if not asked.model_run:
        return None
    used = asked.model_run["used"]["prompt"] + asked.model_run["used"]["completion"]
    kept = asked.model_run["sessions"]
    told = f"{used:,} tokens were used, and {kept:,} sessions are kept. Retry resumes from there."
    return {"used": used, "budget": asked.max_tokens_total, "told": told}
