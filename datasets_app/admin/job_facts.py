"""The parameters and the result of a job, for its page."""

from typing import Any

from datasets_app.catalog import raw_access
from datasets_app.command_line.conversion import ASSUMED_ORIGIN
from datasets_app.core.errors import UserError
from datasets_app.domain.wording import format_count
from datasets_app.generating.parameters import GenerationParameters
from datasets_app.jobs.parameters import read_parameters
from datasets_app.jobs.registry import get_operation
from datasets_app.models import JobRun, Session

WITHHELD_ERROR = "Failed. The message is withheld, because it may quote raw text; ask a curator."


def parameter_rows(job: JobRun) -> list[tuple[str, str]]:
    """(label, value) of each parameter that differs from the default; none if they can't be read."""
    try:
        return read_parameters(job, get_operation(job.operation).parameters).describe()
    except UserError:
        return []


# What an import that has created a dataset says of its access.
_RESTRICTED = (
    "restricted, as new datasets of production data are: only people with a grant and people who can limit "
    "access see it"
)
_SPLIT_FACTS = ("sessions", "placed_now", *Session.Split.values, "kept_together", "leaking_pairs")


def result_facts(job: JobRun, result: dict[str, Any]) -> dict[str, Any]:
    """The result of a job. An erasure lists replaced releases as "dataset version", and other datasets that
    have the session only if there are any. A completed verification of the audit log found no change, or
    it would have failed."""
    if result.get("restricted"):
        result = {key: value for key, value in result.items() if key != "restricted"} | {
            "access": _RESTRICTED
        }
    if result.get("assumed_origin"):
        result = {key: value for key, value in result.items() if key != "assumed_origin"} | {
            "origin": ASSUMED_ORIGIN
        }
    if job.operation == "verify_audit" and result.get("head"):
        return {"found": "nothing was changed", **result}
    if job.operation == "split_dataset":
        # The database sorts keys by their length.
        return {key: result[key] for key in dict.fromkeys((*_SPLIT_FACTS, *result)) if key in result}
    if job.operation == "pull_source":
        return {key: value for key, value in result.items() if key != "more"}
    if job.operation != "erase_session":
        return result
    shown = {key: value for key, value in result.items() if key != "releases" and (key != "also_in" or value)}
    replaced = result.get("releases") or {}
    shown["replaced_releases"] = [f"{name} {version}" for name in replaced for version in replaced[name]]
    return shown


def token_usage(job: JobRun) -> dict[str, Any] | None:
    """The tokens a generation by a model has used in all attempts; None for any other job."""
    if job.operation != "bootstrap_dataset":
        return None
    parameters = read_parameters(job, GenerationParameters)
    if not parameters.model_run:
        return None
    used = parameters.model_run["used"]["prompt"] + parameters.model_run["used"]["completion"]
    saved = parameters.model_run["sessions"]
    summary = (
        f"{format_count(used, 'token')} used and {format_count(saved, 'session')} saved. "
        "Retry to resume from there."
    )
    return {"used": used, "budget": parameters.max_tokens_total, "summary": summary}


def withhold_result(result: dict[str, Any]) -> dict[str, Any]:
    """Numbers and booleans, and codes of problems; anything else may quote a file."""
    kept: dict[str, Any] = {key: value for key, value in result.items() if isinstance(value, int | float)}
    problems = [
        {"line": problem.get("line"), "code": problem.get("code"), "message": raw_access.WITHHELD}
        for problem in result.get("problems") or []
    ]
    return {**kept, "problems": problems}
