"""Ask the people who can take a step of a dataset to take it, by mail."""

import logging
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.core.mail import EmailMessage

from alignmenter_site.mail import mail_is_configured
from datasets_app.catalog.steps import Step
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset

log = logging.getLogger(__name__)

# Nobody gets two mails about the same step in this time.
ASK_AGAIN_SECONDS = 24 * 3600


def ask_for_step(dataset: Dataset, step: Step, *, url: str, actor: Any) -> int:
    """Returns how many people were asked. Raises UserError, with their names, if no mail can reach them."""
    people = list_people(dataset, step.permission)
    if not people:
        raise UserError("No active account can do this. Ask an administrator to give someone the permission.")
    names = ", ".join(person.get_full_name() or person.get_username() for person in people[:5])
    to = [person.email for person in people if person.email]
    if not mail_is_configured() or not to:
        raise UserError(f"This installation can't send mail to them. Ask them yourself: {names}.")
    key = f"asked-{dataset.pk}-{step.name}"
    if not cache.add(key, 1, ASK_AGAIN_SECONDS):
        raise UserError(f"They were asked in the last 24 hours: {names}.")
    text = (
        f"{actor.get_username()} asks you to take the next step with {dataset.name}: {step.title.lower()}."
        "\n\n"
        f"{step.text}\n\n{url}\n"
    )
    try:
        EmailMessage(f"{dataset.name}: {step.title.lower()}", text, None, bcc=to).send()
    except OSError as error:  # what smtplib raises is of this kind
        cache.delete(key)
        log.error("the request for a step can't be mailed: %s", type(error).__name__)
        raise UserError(f"The mail can't be sent now. Try again, or ask them yourself: {names}.") from None
    return len(to)


def list_people(dataset: Dataset, permission: str) -> list[Any]:
    """Who holds a permission and sees the dataset; superusers only if nobody else does."""
    users = get_user_model().objects.with_perm(
        permission, backend=settings.AUTHENTICATION_BACKENDS[0], include_superusers=True
    )
    visible = Dataset.objects.filter(pk=dataset.pk)
    people = [
        user for user in users.filter(is_staff=True).order_by("username") if visible.visible_to(user).exists()
    ]
    return [user for user in people if not user.is_superuser] or people
