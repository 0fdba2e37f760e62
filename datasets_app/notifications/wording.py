"""What a notification says, in the language of its page, and the page where one acts on it. Names of jobs and
steps are those of the administration, which is in English."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

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
    name, key = PAGES.get(event.kind, ("", ""))
    argument = event.dataset_id if key == "dataset" else event.data.get(key)
    if not name or (key and argument is None):
        return reverse("notifications")
    return reverse(name, args=[argument] if key else [])


def _operation(data: dict[str, Any]) -> str:
    return JobRun(operation=str(data.get("operation", ""))).get_operation_label()


def _step_text(data: dict[str, Any]) -> str:
    """Events of earlier versions only name the step."""
    step = str(data.get("action") or data["step"])
    person = get_user_model().objects.filter(pk=data.get("requested_by")).first()
    if person is None:
        return gettext("You are asked to take the next step: %(step)s.") % {"step": step}
    name = person.get_full_name() or person.get_username()
    return gettext("%(person)s asks you to take the next step: %(step)s.") % {"person": name, "step": step}


def _count(text: str, count: int, **more: Any) -> str:
    """``text`` with its %(count)s as numbers are written in the language."""
    return text % {"count": number_format(count, force_grouping=True), **more}


def _import_text(data: dict[str, Any]) -> str:
    sessions = ngettext("%(count)s session", "%(count)s sessions", data["sessions"])
    turns = ngettext("%(count)s turn", "%(count)s turns", data["turns"])
    return gettext("%(sessions)s and %(turns)s added.") % {
        "sessions": _count(sessions, data["sessions"]),
        "turns": _count(turns, data["turns"]),
    }


def _scrub_text(data: dict[str, Any]) -> str:
    text = ngettext(
        "%(count)s turn scrubbed and verified.", "%(count)s turns scrubbed and verified.", data["turns"]
    )
    return _count(text, data["turns"])


def _check_text(data: dict[str, Any]) -> str:
    errors = ngettext("%(count)s error", "%(count)s errors", data["errors"])
    warnings = ngettext("%(count)s warning", "%(count)s warnings", data["warnings"])
    return gettext("%(errors)s and %(warnings)s.") % {
        "errors": _count(errors, data["errors"]),
        "warnings": _count(warnings, data["warnings"]),
    }


def _campaign_text(data: dict[str, Any]) -> str:
    if not data.get("complete"):
        return gettext("The campaign was closed.")
    text = ngettext("%(count)s reply is done.", "All %(count)s replies are done.", data["replies"])
    return _count(text, data["replies"])


def _disputes_text(data: dict[str, Any]) -> str:
    text = ngettext(
        "%(count)s reply with different labels.", "%(count)s replies with different labels.", data["replies"]
    )
    return _count(text, data["replies"])


def _release_text(data: dict[str, Any]) -> str:
    text = ngettext(
        "Version %(version)s with %(count)s session.",
        "Version %(version)s with %(count)s sessions.",
        data["sessions"],
    )
    return _count(text, data["sessions"], version=data["version"])


_TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    Kind.IMPORT_FINISHED: _import_text,
    Kind.SCRUB_FINISHED: _scrub_text,
    Kind.CHECK_FINISHED: _check_text,
    Kind.CAMPAIGN_ASSIGNED: lambda data: gettext("You can label replies."),
    Kind.CAMPAIGN_FINISHED: _campaign_text,
    Kind.DISPUTES_WAITING: _disputes_text,
    Kind.RELEASE_CREATED: _release_text,
    Kind.JOB_FAILED: lambda data: (
        gettext("%(operation)s (job %(job)s) has failed.")
        % {"operation": _operation(data), "job": data["job"]}
    ),
    Kind.DELETION_AHEAD: lambda data: gettext("Due for deletion on %(day)s.") % {"day": data["due"]},
    Kind.COMMENT_MENTION: lambda data: gettext("Somebody mentions you in a comment on a session."),
    Kind.APPROVAL_REQUESTED: lambda data: (
        gettext("%(operation)s waits for a second person.") % {"operation": _operation(data)}
    ),
    Kind.STEP_REQUESTED: _step_text,
}

# The name of a page's URL, and where its argument is.
PAGES: dict[str, tuple[str, str]] = {
    Kind.IMPORT_FINISHED: ("admin:datasets_app_dataset_change", "dataset"),
    Kind.SCRUB_FINISHED: ("admin:datasets_app_dataset_scrub", "dataset"),
    Kind.CHECK_FINISHED: ("admin:datasets_app_dataset_checks", "dataset"),
    Kind.CAMPAIGN_ASSIGNED: ("annotate:queue", "campaign"),
    Kind.RELEASE_CREATED: ("admin:datasets_app_dataset_releases", "dataset"),
    Kind.JOB_FAILED: ("admin:datasets_app_jobrun_change", "job"),
    Kind.DELETION_AHEAD: ("admin:datasets_app_dataset_retention", "dataset"),
    Kind.COMMENT_MENTION: ("admin:datasets_app_session_change", "session"),
    Kind.APPROVAL_REQUESTED: ("admin:datasets_app_jobrun_requests", ""),
    Kind.STEP_REQUESTED: ("admin:datasets_app_dataset_change", "dataset"),
}
