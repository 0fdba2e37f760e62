"""What a job was asked to do, in the words of the form it was asked with."""

from typing import Any

from django.forms import Form

from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.domain.splits.splits import SplitSettings
from datasets_app.importing.pages import ImportOptionsForm
from datasets_app.models import JobRun
from datasets_app.releasing import pages
from datasets_app.releasing.sharing.export_pages import ExportForm
from datasets_app.templatetags.datasets_display import format_value, sentence_case

_FORM_BY_OPERATION: dict[str, type[Form]] = {
    "import_dataset": ImportOptionsForm,
    "export_dataset": ExportForm,
    "release_dataset": pages.ReleaseForm,
}
# What need not be told, as it is done unless somebody says otherwise.
_HIDDEN_DEFAULTS = {"format": "auto", "on_error": "abort", "origin": "external"}

# Of an erasure: numbers of rows that are gone when it is done, which tell a person nothing.
_ROW_ID_KEYS = {"erased", "session", "copies"}


def parameter_rows(job: JobRun) -> list[tuple[str, str]]:
    """(label, value) of each parameter that says something."""
    if job.operation == "scrub_dataset":
        return _scrub_rows(job.parameters)
    if job.operation == "bootstrap_dataset":
        return _generation_rows(job.parameters)
    if job.operation == "split_dataset":
        return _split_rows(job.parameters)
    form = _FORM_BY_OPERATION.get(job.operation)
    return [
        _parameter_row(key, value, form)
        for key, value in job.parameters.items()
        if value not in (None, "", [], {}, False)
        and _HIDDEN_DEFAULTS.get(key) != value
        and key not in _ROW_ID_KEYS
    ]


def _parameter_row(key: str, value: Any, form: type[Form] | None) -> tuple[str, str]:
    field = form.base_fields.get(key) if form else None
    label = str(field.label or sentence_case(key)) if field else sentence_case(key)
    # Commands keep lists as well: only a string can be one of a field's choices.
    choice = dict(getattr(field, "choices", [])).get(value) if isinstance(value, str) else None
    return label, str(choice or format_value(value))


def _scrub_rows(asked: dict[str, Any]) -> list[tuple[str, str]]:
    """The policy in sentences; the terms never to be scrubbed are told by their number."""
    try:
        policy = Policy.from_json(asked.get("policy") or {})
    except (PolicyError, TypeError, ValueError):
        return []
    sample = asked.get("sample")
    told = [("What", "Preview" if asked.get("dry_run") else "Scrub")]
    told += [("Sessions looked at", f"{sample:,}")] if sample else []
    told += [("Policy", "; ".join([*policy.describe(), f"{policy.placeholders} placeholders"]))]
    return told + ([("Never scrubbed", f"{len(policy.allow):,} terms")] if policy.allow else [])


def _split_rows(asked: dict[str, Any]) -> list[tuple[str, str]]:
    settings = SplitSettings.from_json(asked["settings"]).describe() if asked.get("settings") else ""
    told = [("What", "All sessions, again" if asked.get("again") else "Sessions without a split")]
    told += [("How", settings or "As the others were split")]
    return told + ([("Reason", str(asked["override"]))] if asked.get("override") else [])


_GENERATION_LABELS = {
    "persona": "Persona",
    "sessions": "Sessions",
    "seed": "Seed",
    "model": "Writer",
    "base_url": "Endpoint",
    "temperature": "Temperature",
    "concurrency": "Calls at a time",
    "max_tokens_total": "Token budget",
    "resume": "Goes on with an earlier run",
}
_SHARE_LABELS = {
    "safety_trap_ratio": "Safety traps",
    "brand_trap_ratio": "Brand traps",
    "edge_case_share": "Edge cases",
}


def _generation_rows(asked: dict[str, Any]) -> list[tuple[str, str]]:
    """Turns and shares as they were typed; how far a model has come stands elsewhere."""
    told = [
        (label, format_value(asked[key]))
        for key, label in _GENERATION_LABELS.items()
        if asked.get(key) not in (None, "", False)
    ]
    if turns := asked.get("turns"):
        low, high = turns
        told.insert(2, ("Turns per session", str(low) if low == high else f"{low} to {high}"))
    shares = [f"{label} {100 * asked[key]:g} %" for key, label in _SHARE_LABELS.items() if key in asked]
    told += [("Shares", ", ".join(shares))] if shares else []
    return told + ([("Plan", f"{asked['plan'][:12]}…")] if asked.get("plan") else [])


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
    """What a generation by a model has used so far, in all its attempts; None if it is no such job."""
    run = job.parameters.get("model_run")
    if not isinstance(run, dict) or not isinstance(run.get("used"), dict):
        return None
    used = run["used"].get("prompt", 0) + run["used"].get("completion", 0)
    kept = run.get("sessions", 0)
    told = f"{used:,} tokens were used, and {kept:,} sessions are kept. Retry goes on from there."
    return {"used": used, "budget": job.parameters.get("max_tokens_total"), "told": told}
