"""What will be deleted soon is told in time: on the start page, and once by mail."""

import logging
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage

from datasets_app.models import Dataset
from datasets_app.retention.due import WARNING_PERIOD, RetentionDecision, list_due_datasets

log = logging.getLogger(__name__)


def list_warnings(datasets: Iterable[Dataset]) -> list[RetentionDecision]:
    """Those of ``datasets`` that are due in the next 14 days, or already; held ones among them."""
    return list_due_datasets(WARNING_PERIOD, datasets)


def mail_warnings() -> dict[str, Any]:
    """Mail a list of what is due soon and was not told yet, if a server for mail is configured.

    Each dataset is told once for each day on which it would go: who changes the rule is told again. What
    could not be sent is sent in the next night.
    """
    if not settings.MAIL_TO:
        return {"mailed": 0}
    new = [
        item
        for item in list_due_datasets(WARNING_PERIOD)
        if not item.held and item.dataset.warned_of != item.due
    ]
    if not new:
        return {"mailed": 0}
    try:
        EmailMessage(_mail_subject(new), _mail_text(new), None, settings.MAIL_TO).send()
    except OSError as error:  # what smtplib raises is of this kind
        log.error("warnings of retention can't be mailed: %s", type(error).__name__)
        return {"mailed": 0, "mail_error": f"The mail could not be sent ({type(error).__name__})."}
    for item in new:
        Dataset.objects.filter(pk=item.dataset.pk).update(warned_of=item.due)
    return {"mailed": len(new)}


def _mail_subject(new: list[RetentionDecision]) -> str:
    first = min(item.due for item in new if item.due)
    what = "1 dataset is" if len(new) == 1 else f"{len(new)} datasets are"
    return f"{what} to be deleted, from {first:%-d %B %Y} on"


def _mail_text(new: list[RetentionDecision]) -> str:
    lines = [
        f"{item.due:%Y-%m-%d}  {item.dataset.name} ({item.dataset.turn_count:,} turns): "
        f"rule {item.policy.position}, {item.policy.pattern}, {item.policy.retention}"
        for item in new
        if item.policy
    ]
    return "\n".join(
        [
            "The retention rules will delete, with all releases, labels and files:",
            "",
            *lines,
            "",
            "A legal hold keeps a dataset; it is set on the dataset's page, under Retention.",
            "",
        ]
    )
