"""Adding and changing webhooks, sending a test message, and sending messages again."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from datasets_app.core import audit
from datasets_app.models import OutgoingEvent, WebhookDelivery, WebhookEndpoint
from datasets_app.webhooks.secrets import encrypt_secret, make_secret, replace_secret


def host_of(endpoint: WebhookEndpoint) -> str:
    """The part of the address that others may see: its path can be a secret."""
    return urlsplit(endpoint.url).hostname or ""


@transaction.atomic
def add_endpoint(endpoint: WebhookEndpoint, *, actor: Any) -> str:
    """Save a new endpoint of ``actor``; returns its secret, which can't be read again."""
    secret = make_secret()
    endpoint.owner, endpoint.secret = actor, encrypt_secret(secret)
    endpoint.save()
    _record("add_webhook", endpoint, actor, events=endpoint.kinds)
    return secret


@transaction.atomic
def edit_endpoint(endpoint: WebhookEndpoint, *, changed: Sequence[str], actor: Any) -> None:
    endpoint.save()
    _record("edit_webhook", endpoint, actor, fields=sorted(changed), active=endpoint.active)


@transaction.atomic
def delete_endpoint(endpoint: WebhookEndpoint, *, actor: Any) -> None:
    _record("delete_webhook", endpoint, actor)
    endpoint.delete()


@transaction.atomic
def rotate_secret(endpoint: WebhookEndpoint, *, actor: Any) -> str:
    """Replace the secret; returns the new one. For a day, messages carry signatures by both."""
    row = WebhookEndpoint.objects.select_for_update(of=("self",)).get(pk=endpoint.pk)
    secret = replace_secret(row)
    row.save(update_fields=["secret", "previous_secret", "previous_until"])
    _record("rotate_webhook_secret", row, actor)
    return secret


@transaction.atomic
def send_test(endpoint: WebhookEndpoint, *, actor: Any) -> WebhookDelivery:
    """Queue a message of the type "test"."""
    event = OutgoingEvent.objects.create(kind=OutgoingEvent.Kind.TEST, dispatched_at=Now())
    _record("test_webhook", endpoint, actor)
    return WebhookDelivery.objects.create(endpoint=endpoint, event=event)


@transaction.atomic
def replay(endpoint: WebhookEndpoint, *, delivery: int | None = None, actor: Any) -> int:
    """Send a delivery again, or all that were given up: with the same message id, so that a receiver knows
    it. Returns how many."""
    ended = endpoint.deliveries.exclude(state=WebhookDelivery.State.WAITING)
    chosen = ended.filter(state=WebhookDelivery.State.DEAD) if delivery is None else ended.filter(pk=delivery)
    count: int = chosen.update(
        state=WebhookDelivery.State.WAITING, next_attempt_at=Now(), attempts_before=F("attempts")
    )
    if count:
        _record("replay_webhook", endpoint, actor, messages=count)
    return count


def _record(action: str, endpoint: WebhookEndpoint, actor: Any, **details: Any) -> None:
    audit.record(
        action,
        actor=actor,
        dataset_name=endpoint.dataset.name if endpoint.dataset else "",
        webhook=endpoint.pk,
        host=host_of(endpoint),
        **details,
    )
