"""The only code that writes outgoing events."""

from collections.abc import Iterable
from typing import Any

from datasets_app.models import Dataset, OutgoingEvent

Kind = OutgoingEvent.Kind


def emit(
    kind: str,
    *,
    dataset: Dataset | None = None,
    dataset_name: str = "",
    recipients: Iterable[Any] = (),
    once: str = "",
    **data: int | str | None,
) -> None:
    """Write an event. Call it in the transaction of what it is about.

    ``data`` are numbers, and names of campaigns and operations: never text of conversations, names of people
    or of files. ``recipients`` are users, or None, for whom there is a notification besides those that
    ``notifications.audience`` finds. Events with the same ``once`` are written once.
    """
    event = OutgoingEvent(
        kind=kind,
        dataset=dataset,
        dataset_name=dataset.name if dataset else dataset_name,
        data=data,
        recipients=sorted({user.pk for user in recipients if user is not None}),
        key=f"{kind}:{once}" if once else None,
    )
    OutgoingEvent.objects.bulk_create([event], ignore_conflicts=bool(once))
