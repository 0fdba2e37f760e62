"""What a notification says, and the page where one acts on it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.urls import reverse

from datasets_app.domain.wording import format_count
from datasets_app.models import JobRun, OutgoingEvent

Kind = OutgoingEvent.Kind


class Wording(NamedTuple):
    """``subject`` is a name: of the dataset, or of the campaign."""

    title: str
    subject: str
    text: str


def describe(event: OutgoingEvent) -> Wording:
    subject = event.data.get("campaign") or event.dataset_name
    text = _TEXTS.get(event.kind, lambda data: "")(event.data)
    return Wording(event.get_kind_display(), str(subject), text)


def page_of(event: OutgoingEvent) -> str:
    """The path of the page; that of all notifications if there is none any more."""
    name, key = _PAGES.get(event.kind, ("", ""))
    argument = event.dataset_id if key == "dataset" else event.data.get(key)
    if not name or (key and argument is None):
        return reverse("notifications")
    return reverse(name, args=[argument] if key else [])


def _operation(data: dict[str, Any]) -> str:
    return JobRun(operation=str(data.get("operation", ""))).get_operation_label()


def _import_text(data: dict[str, Any]) -> str:
    return f"{format_count(data['sessions'], 'session')} and {format_count(data['turns'], 'turn')} added."


def _check_text(data: dict[str, Any]) -> str:
    return f"{format_count(data['errors'], 'error')} and {format_count(data['warnings'], 'warning')}."


_TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    Kind.IMPORT_FINISHED: _import_text,
    Kind.SCRUB_FINISHED: lambda data: f"{format_count(data['turns'], 'turn')} scrubbed and verified.",
    Kind.CHECK_FINISHED: _check_text,
    Kind.CAMPAIGN_ASSIGNED: lambda data: "You can label replies.",
    Kind.CAMPAIGN_FINISHED: lambda data: (
        f"All {format_count(data['replies'], 'reply', 'replies')} are done."
        if data.get("complete")
        else "The campaign was closed."
    ),
    Kind.DISPUTES_WAITING: lambda data: (
        f"{format_count(data['replies'], 'reply', 'replies')} with different labels."
    ),
    Kind.RELEASE_CREATED: lambda data: (
        f"Version {data['version']} with {format_count(data['sessions'], 'session')}."
    ),
    Kind.JOB_FAILED: lambda data: f"{_operation(data)} (job {data['job']}) has failed.",
    Kind.DELETION_AHEAD: lambda data: f"Due for deletion on {data['due']}.",
    Kind.COMMENT_MENTION: lambda data: "Somebody mentions you in a comment on a session.",
    Kind.APPROVAL_REQUESTED: lambda data: f"{_operation(data)} waits for a second person.",
    Kind.STEP_REQUESTED: lambda data: f"You are asked to take the next step: {data['step']}.",
}

# The name of a page's URL, and where its argument is.
_PAGES: dict[str, tuple[str, str]] = {
    Kind.IMPORT_FINISHED: ("admin:datasets_app_dataset_change", "dataset"),
    Kind.SCRUB_FINISHED: ("admin:datasets_app_dataset_scrub", "dataset"),
    Kind.CHECK_FINISHED: ("admin:datasets_app_dataset_checks", "dataset"),
    Kind.CAMPAIGN_ASSIGNED: ("annotate:queue", "campaign"),
    Kind.CAMPAIGN_FINISHED: ("admin:annotations_app_campaign_agreement", "campaign_id"),
    Kind.DISPUTES_WAITING: ("admin:annotations_app_campaign_agreement", "campaign_id"),
    Kind.RELEASE_CREATED: ("admin:datasets_app_dataset_releases", "dataset"),
    Kind.JOB_FAILED: ("admin:datasets_app_jobrun_change", "job"),
    Kind.DELETION_AHEAD: ("admin:datasets_app_dataset_retention", "dataset"),
    Kind.COMMENT_MENTION: ("admin:datasets_app_session_change", "session"),
    Kind.APPROVAL_REQUESTED: ("admin:datasets_app_jobrun_requests", ""),
    Kind.STEP_REQUESTED: ("admin:datasets_app_dataset_change", "dataset"),
}
