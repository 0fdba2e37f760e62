"""Pages of webhooks: the secret once, one's own only, and no name of a hidden dataset."""

from ipaddress import ip_network
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from datasets_app.access import limit_access
from datasets_app.models import AuditEvent, Dataset, OutgoingEvent, WebhookDelivery, WebhookEndpoint
from datasets_app.webhooks import endpoints
from tests.everything import make_full_dataset

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
ADDRESS = "http://127.0.0.1:9/secret-path"


@pytest.fixture(autouse=True)
def private_network(settings: Any) -> None:
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]


def make_user(name: str, role: str) -> tuple[User, Client]:
    user = User.objects.create_user(name, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return user, client


def url(page: str, *arguments: Any) -> str:
    return reverse(f"admin:datasets_app_webhookendpoint_{page}", args=arguments)


def add(client: Client, **fields: Any) -> Any:
    form = {"url": ADDRESS, "only_dataset": "", "kinds": ["import.finished"], "active": "on", "_save": "1"}
    return client.post(url("add"), {**form, **fields})


def test_the_secret_is_shown_once() -> None:
    _, client = make_user("cora", "curator")
    shown = add(client)
    assert shown.status_code == 200
    assert "whsec_" in shown.content.decode()
    assert "no-store" in shown["Cache-Control"]
    endpoint = WebhookEndpoint.objects.get()
    page = client.get(url("change", endpoint.pk)).content.decode()
    assert "secret-path" in page
    assert "whsec_" not in page
    changed = client.post(
        url("change", endpoint.pk),
        {"url": ADDRESS, "kinds": ["check.finished"], "only_dataset": "", "_save": "1"},
    )
    assert changed.status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.kinds, endpoint.active) == (["check.finished"], False)
    assert "whsec_" in client.post(url("secret", endpoint.pk)).content.decode()
    events = AuditEvent.objects.filter(action__contains="webhook")
    actions = list(events.order_by("pk").values_list("action", flat=True))
    assert actions == ["add_webhook", "edit_webhook", "rotate_webhook_secret"]
    assert "secret-path" not in str(list(AuditEvent.objects.values()))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"url": "https://10.0.0.1/x"}, "private network"),
        ({"url": "https://user:pass@example.org/x"}, "without user, password"),
        ({"kinds": []}, "Choose at least one event"),
        ({"kinds": ["test"]}, "Select a valid choice"),
    ],
)
def test_what_can_not_be_saved_is_explained(fields: dict[str, Any], message: str) -> None:
    _, client = make_user("cora", "curator")
    assert message in add(client, **fields).content.decode()
    assert not WebhookEndpoint.objects.exists()


def test_a_dataset_that_is_hidden_can_not_be_chosen_and_is_not_named() -> None:
    dataset = make_full_dataset("harbour")
    user, client = make_user("cora", "curator")
    add(client, only_dataset=dataset.pk)
    endpoint = WebhookEndpoint.objects.get(owner=user)
    assert endpoint.dataset == dataset
    event = OutgoingEvent.objects.create(kind="import.finished", dataset=dataset, dataset_name=dataset.name)
    WebhookDelivery.objects.create(endpoint=endpoint, event=event)
    assert "harbour-data" in client.get(url("change", endpoint.pk)).content.decode()
    limit_access.restrict_dataset(Dataset.objects.get(), actor=None)
    for page in (url("add"), url("changelist"), url("change", endpoint.pk)):
        assert "harbour-data" not in client.get(page).content.decode(), page
    assert "Select a valid choice" in add(client, only_dataset=dataset.pk).content.decode()


def test_others_see_no_webhook_but_privacy_officers_see_hosts_and_can_delete() -> None:
    owner, _ = make_user("cora", "curator")
    endpoint = WebhookEndpoint(url=ADDRESS, kinds=["import.finished"])
    endpoints.add_endpoint(endpoint, actor=owner)
    _, other = make_user("carl", "curator")
    assert url("change", endpoint.pk) not in other.get(url("changelist")).content.decode()
    assert other.get(url("change", endpoint.pk)).status_code == 302
    for page in ("secret", "test", "replay"):
        assert other.post(url(page, endpoint.pk)).status_code == 404
    _, officer = make_user("ola", "privacy officer")
    for page in (url("changelist"), url("change", endpoint.pk)):
        shown = officer.get(page).content.decode()
        assert "127.0.0.1" in shown
        assert "secret-path" not in shown
    assert officer.post(url("change", endpoint.pk), {"url": ADDRESS}).status_code == 403
    assert officer.post(url("secret", endpoint.pk)).status_code == 403
    assert officer.post(url("delete", endpoint.pk), {"post": "yes"}).status_code == 302
    assert not WebhookEndpoint.objects.exists()
    assert AuditEvent.objects.filter(action="delete_webhook", actor="ola").exists()


def test_messages_are_tried_and_sent_again_by_button() -> None:
    user, client = make_user("cora", "curator")
    add(client)
    endpoint = WebhookEndpoint.objects.get(owner=user)
    client.post(url("test", endpoint.pk))
    delivery = endpoint.deliveries.get()
    log = [{"at": "2026-01-01T00:00:00Z", "status": 500, "seconds": 0.1}]
    WebhookDelivery.objects.update(state="dead", attempts=10, log=log)
    page = client.get(url("change", endpoint.pk)).content.decode()
    assert "Given up" in page
    assert "500" in page
    client.post(url("replay", endpoint.pk))
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts_before) == ("waiting", 10)
    for wrong in ("x", "9" * 30, str(delivery.pk + 1)):
        assert client.post(url("replay", endpoint.pk), {"delivery": wrong}).status_code == 302
