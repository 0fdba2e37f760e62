"""What the page of a webhook can do: replace its secret, send a test message, send messages again."""

from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app.core.web.pages import parse_pk, render_page, require_permissions
from datasets_app.domain.wording import format_count
from datasets_app.models import OutgoingEvent, WebhookDelivery, WebhookEndpoint
from datasets_app.templatetags.datasets_display import short_datetime
from datasets_app.webhooks import endpoints
from datasets_app.webhooks.send import ERRORS

SHOWN_DELIVERIES = 50
_STATE_COLORS = {"waiting": "info", "delivered": "good", "dead": "bad", "dropped": "neutral"}


@require_POST
def replace_secret(request: HttpRequest, pk: int) -> HttpResponse:
    endpoint = _get_own_endpoint(request, pk)
    return show_secret(request, endpoint, endpoints.rotate_secret(endpoint, actor=request.user))


def show_secret(request: HttpRequest, endpoint: WebhookEndpoint, secret: str) -> HttpResponse:
    """The only page that has the secret."""
    crumbs = [
        ("Webhooks", reverse("admin:datasets_app_webhookendpoint_changelist")),
        (str(endpoint), webhook_url(endpoint)),
        ("Secret", None),
    ]
    context = {"endpoint": endpoint, "secret": secret, "address": webhook_url(endpoint)}
    return render_page(request, "datasets_app/webhook_secret.html", crumbs, context)


@require_POST
def send_test(request: HttpRequest, pk: int) -> HttpResponse:
    endpoint = _get_own_endpoint(request, pk)
    endpoints.send_test(endpoint, actor=request.user)
    messages.success(request, "The test message will be sent in a few seconds. Reload the page to see it.")
    return redirect(webhook_url(endpoint))


@require_POST
def replay(request: HttpRequest, pk: int) -> HttpResponse:
    """One delivery (``delivery``), or all that were given up."""
    endpoint, chosen = _get_own_endpoint(request, pk), request.POST.get("delivery", "")
    delivery = (parse_pk(chosen) or 0) if chosen else None
    count = endpoints.replay(endpoint, delivery=delivery, actor=request.user)
    messages.success(request, f"{format_count(count, 'message')} will be sent again in a few seconds.")
    return redirect(webhook_url(endpoint))


def delivery_rows(endpoint: WebhookEndpoint, user: Any) -> list[dict[str, Any]]:
    """The latest deliveries, those given up first. Datasets that ``user`` can't see aren't named."""
    latest = endpoint.deliveries.select_related("event")
    dead = list(latest.filter(state=WebhookDelivery.State.DEAD)[:SHOWN_DELIVERIES])
    others = latest.exclude(state=WebhookDelivery.State.DEAD)[: SHOWN_DELIVERIES - len(dead)]
    shown = [*dead, *others]
    events = OutgoingEvent.objects.visible_to(user).filter(pk__in=[delivery.event_id for delivery in shown])
    names = dict(events.values_list("pk", "dataset_name"))
    return [{**_delivery_row(delivery), "dataset": names.get(delivery.event_id, "")} for delivery in shown]


def _delivery_row(delivery: WebhookDelivery) -> dict[str, Any]:
    answers = [str(entry.get("status") or ERRORS.get(entry.get("error"), "–")) for entry in delivery.log]
    runs = [(answer, len(list(run))) for answer, run in groupby(answers)]
    waits = delivery.state == WebhookDelivery.State.WAITING
    return {
        "row": delivery,
        "color": _STATE_COLORS[delivery.state],
        # 500 × 3, 204: one after the other.
        "answers": ", ".join(f"{answer} × {count}" if count > 1 else answer for answer, count in runs) or "–",
        "next": short_datetime(delivery.next_attempt_at) if waits and delivery.attempts else "–",
    }


def webhook_url(endpoint: WebhookEndpoint) -> str:
    return reverse("admin:datasets_app_webhookendpoint_change", args=[endpoint.pk])


def _get_own_endpoint(request: HttpRequest, pk: int) -> WebhookEndpoint:
    require_permissions(request, "change_webhookendpoint")
    found: WebhookEndpoint = get_object_or_404(WebhookEndpoint, pk=pk, owner=request.user.pk)
    return found
