"""Announces upcoming deletions: on the home page, and once by e-mail."""

import logging
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage

from datasets_app.core import outgoing
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset
from datasets_app.retention.due import WARNING_PERIOD, RetentionDecision, list_due_datasets

log = logging.getLogger(__name__)


def announce_deletions() -> int:
    """Write an event for each dataset that is due within 14 days, once for each date; returns the number of
    these datasets."""
    due = [item for item in list_due_datasets(WARNING_PERIOD) if item.due and not item.is_on_hold]
    for item in due:
        outgoing.emit(
            outgoing.Kind.DELETION_AHEAD,
            dataset=item.dataset,
            once=f"{item.dataset.pk}:{item.due}",
            due=str(item.due),
            turns=item.dataset.turn_count,
        )
    return len(due)


def mail_warnings() -> dict[str, Any]:
    """E-mail the upcoming deletions that were not announced yet, if recipients are configured.

    Each dataset is announced once per due date, so a changed policy causes another e-mail. If sending
    fails, the next night tries again.
    """
    if not settings.MAIL_TO:
        return {"mailed": 0}
    new = [
        item
        for item in list_due_datasets(WARNING_PERIOD)
        if not item.is_on_hold and item.dataset.warned_of != item.due
    ]
    if not new:
        return {"mailed": 0}
    try:
        EmailMessage(_mail_subject(new), _mail_text(new), None, settings.MAIL_TO).send()
    except OSError as error:  # what smtplib raises is of this kind
        log.error("the retention warning can't be sent: %s", type(error).__name__)
        return {"mailed": 0, "mail_error": f"The e-mail could not be sent ({type(error).__name__})."}
    for item in new:
        Dataset.objects.filter(pk=item.dataset.pk).update(warned_of=item.due)
    return {"mailed": len(new)}


def _mail_subject(new: list[RetentionDecision]) -> str:
    first = min(item.due for item in new if item.due)
    verb = "is" if len(new) == 1 else "are"
    return f"{format_count(len(new), 'dataset')} {verb} due for deletion, starting {first:%-d %B %Y}"


def _mail_text(new: list[RetentionDecision]) -> str:
    lines = [
        f"{item.due:%Y-%m-%d}  {item.dataset.name} ({format_count(item.dataset.turn_count, 'turn')}): "
        f"policy {item.policy.position}, {item.policy.pattern}, {item.policy.retention}"
        for item in new
        if item.policy
    ]
    return "\n".join(
        [
            "Retention will delete these datasets with all their releases, labels and files:",
            "",
            *lines,
            "",
            "To keep a dataset, set a legal hold on its Retention page.",
            "",
        ]
    )
