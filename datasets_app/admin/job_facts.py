"""What a job was asked to do, in the words of the form it was asked with."""

from typing import Any

from django.forms import Form

from datasets_app.admin.export_pages import OverrideForm
from datasets_app.admin.import_pages import OptionsForm
from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.models import JobRun
from datasets_app.templatetags.datasets_display import plain, words

_FORMS: dict[str, type[Form]] = {"import_dataset": OptionsForm, "export_dataset": OverrideForm}
# What need not be told, as it is done unless somebody says otherwise.
_DEFAULTS = {"format": "auto", "on_error": "abort", "origin": "external"}


def asked_for(job: JobRun) -> list[tuple[str, str]]:
    """(label, value) of each parameter that says something."""
    if job.operation == "scrub_dataset":
        return _scrub_asked_for(job.parameters)
    form = _FORMS.get(job.operation)
    return [
        _told(key, value, form)
        for key, value in job.parameters.items()
        if value not in (None, "", [], {}, False) and _DEFAULTS.get(key) != value
    ]


def _told(key: str, value: Any, form: type[Form] | None) -> tuple[str, str]:
    field = form.base_fields.get(key) if form else None
    label = str(field.label or words(key)) if field else words(key)
    choices = dict(getattr(field, "choices", []))
    return label, str(choices.get(value) or plain(value))


def _scrub_asked_for(asked: dict[str, Any]) -> list[tuple[str, str]]:
    """The policy in sentences; the terms never to be scrubbed are told by their number."""
    try:
        policy = Policy.from_json(asked.get("policy") or {})
    except (PolicyError, TypeError, ValueError):
        return []
    sample = asked.get("sample")
    told = [("What", "Preview" if asked.get("dry_run") else "Scrub")]
    told += [("Sessions looked at", f"{sample:,}")] if sample else []
    told += [("Policy", "; ".join([*policy.as_words(), f"{policy.placeholders} placeholders"]))]
    return told + ([("Never scrubbed", f"{len(policy.allow):,} terms")] if policy.allow else [])
