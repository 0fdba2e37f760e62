"""What a notification says, in the language of its page, and the page where one acts on it. Names of jobs and
steps are those of the administration, which is in English."""

from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext, ngettext

from datasets_app.models import JobRun, OutgoingEvent

Kind = OutgoingEvent.Kind


class Wording(NamedTuple):
    """``subject`` is a name: of the dataset, or of the campaign; ``text`` a sentence that has it."""

    title: str
    subject: str
    text: str


def describe(event: OutgoingEvent) -> Wording:
    subject = str(event.data.get("campaign") or event.dataset_name)
    write = _SENTENCES.get(event.kind)
    text = write(event.data | {"name": subject}) if write else ""
    return Wording(event.get_kind_display(), subject, text)


def page_of(event: OutgoingEvent) -> str:
    """The path of the page; that of all notifications if there is none any more."""
    name, key = PAGES.get(event.kind, ("", ""))
    argument = event.dataset_id if key == "dataset" else event.data.get(key)
    if not name or (key and argument is None):
        return reverse("notifications")
    return reverse(name, args=[argument] if key else [])


def _operation(data: dict[str, Any]) -> dict[str, Any]:
    operation = str(data.get("operation", ""))
    return data | {"operation": JobRun(operation=operation).get_operation_label()}


def _step_text(data: dict[str, Any]) -> str:
    """Events of earlier versions only name the step."""
    words = data | {"step": str(data.get("action") or data["step"])}
    person = get_user_model().objects.filter(pk=data.get("requested_by")).first()
    if person is None:
        return gettext("You are asked to take the next step of %(name)s: %(step)s.") % words
    words["person"] = person.get_full_name() or person.get_username()
    return gettext("%(person)s asks you to take the next step of %(name)s: %(step)s.") % words


def _count(text: str, count: int, **more: Any) -> str:
    """``text`` with its %(count)s as numbers are written in the language."""
    return text % {"count": number_format(count, force_grouping=True), **more}


def _import_text(data: dict[str, Any]) -> str:
    sessions = ngettext("%(count)s session", "%(count)s sessions", data["sessions"])
    turns = ngettext("%(count)s turn", "%(count)s turns", data["turns"])
    return gettext("The import into %(name)s added %(sessions)s with %(turns)s.") % {
        "sessions": _count(sessions, data["sessions"]),
        "turns": _count(turns, data["turns"]),
        "name": data["name"],
    }


def _scrub_text(data: dict[str, Any]) -> str:
    text = ngettext(
        "%(name)s is scrubbed: %(count)s turn was searched, and the result was verified.",
        "%(name)s is scrubbed: %(count)s turns were searched, and the result was verified.",
        data["turns"],
    )
    return _count(text, data["turns"], name=data["name"])


def _check_text(data: dict[str, Any]) -> str:
    if not data["errors"] and not data["warnings"]:
        return gettext("The checks of %(name)s found no errors and no warnings.") % data
    errors = ngettext("%(count)s error", "%(count)s errors", data["errors"])
    warnings = ngettext("%(count)s warning", "%(count)s warnings", data["warnings"])
    return gettext("The checks of %(name)s found %(errors)s and %(warnings)s.") % {
        "errors": _count(errors, data["errors"]),
        "warnings": _count(warnings, data["warnings"]),
        "name": data["name"],
    }


def _campaign_text(data: dict[str, Any]) -> str:
    if not data.get("complete"):
        return gettext("%(name)s was closed before all of its replies were done.") % data
    text = ngettext(
        "%(name)s is complete: its %(count)s reply is done.",
        "%(name)s is complete: all %(count)s replies are done.",
        data["replies"],
    )
    return _count(text, data["replies"], name=data["name"])


def _disputes_text(data: dict[str, Any]) -> str:
    text = ngettext(
        "Annotators disagree on %(count)s reply of %(name)s.",
        "Annotators disagree on %(count)s replies of %(name)s.",
        data["replies"],
    )
    return _count(text, data["replies"], name=data["name"])


def _release_text(data: dict[str, Any]) -> str:
    text = ngettext(
        "Version %(version)s of %(name)s was released, with %(count)s session.",
        "Version %(version)s of %(name)s was released, with %(count)s sessions.",
        data["sessions"],
    )
    return _count(text, data["sessions"], version=data["version"], name=data["name"])


def _failure_text(data: dict[str, Any]) -> str:
    if not data["name"]:
        return gettext("“%(operation)s” has failed (job %(job)s).") % _operation(data)
    return gettext("“%(operation)s” of %(name)s has failed (job %(job)s).") % _operation(data)


def _deletion_text(data: dict[str, Any]) -> str:
    day = date_format(date.fromisoformat(str(data["due"])))
    return gettext("%(name)s is due for deletion on %(day)s.") % (data | {"day": day})


_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    Kind.IMPORT_FINISHED: _import_text,
    Kind.SCRUB_FINISHED: _scrub_text,
    Kind.CHECK_FINISHED: _check_text,
    Kind.CAMPAIGN_ASSIGNED: lambda data: gettext("You can now label replies in %(name)s.") % data,
    Kind.CAMPAIGN_FINISHED: _campaign_text,
    Kind.DISPUTES_WAITING: _disputes_text,
    Kind.CHECKS_CHANGED: lambda data: (
        gettext("In %(name)s, one annotator’s answers to gold replies or repeats have changed.") % data
    ),
    Kind.RELEASE_CREATED: _release_text,
    Kind.JOB_FAILED: _failure_text,
    Kind.DELETION_AHEAD: _deletion_text,
    Kind.COMMENT_MENTION: lambda data: (
        gettext("Somebody mentioned you in a comment on a session of %(name)s.") % data
    ),
    Kind.APPROVAL_REQUESTED: lambda data: (
        gettext("“%(operation)s” of %(name)s needs the approval of a second person.") % _operation(data)
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
