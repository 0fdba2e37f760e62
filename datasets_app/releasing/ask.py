"""Ask the people who can take a step of a dataset to take it: they are notified."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from datasets_app.catalog.steps import Step
from datasets_app.core import outgoing
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, OutgoingEvent


def ask_for_step(dataset: Dataset, step: Step, *, actor: Any) -> list[str]:
    """Notify the people who can take the step that ``actor`` asks for it; returns their names. Raises
    UserError if there is nobody, or if they were asked today."""
    people = list_people(dataset, step.permission)
    if not people:
        raise UserError("No active account can do this. Ask an administrator to give someone the permission.")
    names = [person.get_full_name() or person.get_username() for person in people]
    once = _name_request(dataset, step)
    with transaction.atomic():
        if list_requested(dataset, [step]):
            raise UserError(f"They were notified today: {', '.join(names[:5])}.")
        outgoing.emit(
            outgoing.Kind.STEP_REQUESTED,
            dataset=dataset,
            recipients=people,
            once=once,
            step=step.name,
            action=step.action,
            requested_by=actor.pk,
        )
    return names


def _name_request(dataset: Dataset, step: Step) -> str:
    return f"{dataset.pk}:{step.name}:{timezone.localdate().isoformat()}"


def list_requested(dataset: Dataset, steps: Sequence[Step]) -> list[Step]:
    """Those of the steps that were requested today."""
    keys = {f"{outgoing.Kind.STEP_REQUESTED}:{_name_request(dataset, step)}": step for step in steps}
    known = set(OutgoingEvent.objects.filter(key__in=keys).values_list("key", flat=True))
    return [step for key, step in keys.items() if key in known]


def list_people(dataset: Dataset, permission: str) -> list[Any]:
    """Who holds a permission and sees the dataset; superusers only if nobody else does."""
    visible = Dataset.objects.filter(pk=dataset.pk)
    users = get_user_model().objects.with_perm(permission).filter(is_staff=True).order_by("username")
    people = [user for user in users if visible.visible_to(user).exists()]
    return [user for user in people if not user.is_superuser] or people
