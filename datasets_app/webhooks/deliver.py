"""Sends what waits for webhooks.

Each attempt is written down before it is made, with the time of the next one: a worker that is killed repeats
nothing at once, and what it sent is repeated under the same message id at most.
"""

import json
import random
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from datasets_app.core import audit
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.webhook_retries import MAX_ATTEMPTS, pause_seconds
from datasets_app.models import OutgoingEvent, WebhookDelivery, WebhookEndpoint
from datasets_app.webhooks import send
from datasets_app.webhooks.access import can_receive
from datasets_app.webhooks.endpoints import host_of
from datasets_app.webhooks.secrets import SecretLost, read_secrets

State = WebhookDelivery.State
USER_AGENT = "alignmenter-datasets"
# A run ends then, so that a worker gets to other jobs; the next run continues.
MAX_RUN_SECONDS = 60.0
BATCH_SIZE = 100
# How long others wait for an endpoint that has just failed.
HOLD = timedelta(minutes=1)
GONE = 410


def list_due() -> Any:
    return WebhookDelivery.objects.filter(state=State.WAITING, next_attempt_at__lte=timezone.now())


def deliver_due(report_progress: ProgressCallback = ignore_progress) -> int:
    """Make an attempt for each delivery that is due; returns the number of those that arrived."""
    deadline, arrived, failing = time.monotonic() + MAX_RUN_SECONDS, 0, set[int]()
    due = list_due().order_by("next_attempt_at", "pk").values_list("pk", "endpoint")[:BATCH_SIZE]
    for number, (pk, endpoint) in enumerate(list(due)):
        report_progress(number, None)
        if time.monotonic() > deadline:
            break
        if endpoint in failing:
            continue
        if (delivery := _claim(pk)) is None:
            continue
        if _attempt(delivery):
            arrived += 1
        else:
            failing.add(endpoint)
            list_due().filter(endpoint=endpoint).update(next_attempt_at=timezone.now() + HOLD)
    return arrived


def make_body(event: OutgoingEvent) -> str:
    """The same text each time it is sent."""
    data = {"dataset": event.dataset_name} if event.dataset_name else {}
    at = event.at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"type": event.kind, "timestamp": at, "data": data | event.data}, separators=(",", ":"))


def message_id(event: OutgoingEvent) -> str:
    return f"msg_{event.message_id.hex}"


@transaction.atomic
def _claim(pk: int) -> WebhookDelivery | None:
    """Count the attempt before it is made; None if another worker has it, or it must not be sent."""
    delivery: WebhookDelivery | None = (
        list_due()
        .select_related("event", "endpoint__owner")
        .select_for_update(of=("self",), skip_locked=True)
        .filter(pk=pk)
        .first()
    )
    if delivery is None:
        return None
    if not can_receive(delivery.endpoint, delivery.event):
        delivery.state = State.DROPPED
        delivery.save(update_fields=["state"])
        return None
    delivery.attempts += 1
    number = delivery.attempts - delivery.attempts_before
    pause = pause_seconds(number, random.random())  # no secret # nosec B311
    delivery.next_attempt_at = timezone.now() + timedelta(seconds=pause)
    delivery.log = [*delivery.log, {"at": timezone.now().isoformat(), "error": "interrupted"}]
    if number >= MAX_ATTEMPTS:
        delivery.state = State.DEAD
    delivery.save(update_fields=["state", "attempts", "next_attempt_at", "log"])
    return delivery


def _attempt(delivery: WebhookDelivery) -> bool:
    """Send, and write down what came of it. Whether it arrived."""
    began = time.monotonic()
    outcome: dict[str, Any]
    try:
        outcome = {"status": _send(delivery)}
    except send.DeliveryFailed as failure:
        outcome = {"error": str(failure)}
    except SecretLost:
        outcome = {"error": "secret_lost"}
    delivery.log[-1].pop("error")
    delivery.log[-1].update(outcome, seconds=round(time.monotonic() - began, 3))
    status = outcome.get("status", 0)
    if 200 <= status < 300:
        delivery.state = State.DELIVERED
    # The webhook may have been deleted meanwhile.
    WebhookDelivery.objects.filter(pk=delivery.pk).update(state=delivery.state, log=delivery.log)
    if status == GONE:
        _switch_off(delivery.endpoint)
    return delivery.state == State.DELIVERED


def _send(delivery: WebhookDelivery) -> int:
    body, now = make_body(delivery.event), datetime.now(UTC)
    signed = send.sign(read_secrets(delivery.endpoint), message_id(delivery.event), now, body)
    return send.post(
        delivery.endpoint.url, {"Content-Type": "application/json", "User-Agent": USER_AGENT, **signed}, body
    )


@transaction.atomic
def _switch_off(endpoint: WebhookEndpoint) -> None:
    """The receiver says that it is gone for good (410)."""
    if WebhookEndpoint.objects.filter(pk=endpoint.pk, active=True).update(active=False):
        audit.record("edit_webhook", actor=None, webhook=endpoint.pk, host=host_of(endpoint), active=False)


def queue_deliveries(event: OutgoingEvent, endpoints: Iterable[WebhookEndpoint]) -> None:
    """Write the event down for the endpoints that get it."""
    WebhookDelivery.objects.bulk_create(
        [
            WebhookDelivery(endpoint=endpoint, event=event)
            for endpoint in endpoints
            if can_receive(endpoint, event)
        ],
        ignore_conflicts=True,
    )
