"""Notifications: who gets them, where they lead, what is mailed, and what nobody gets any more."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations_app.campaigns.edit import edit_campaign
from datasets_app.access import limit_access
from datasets_app.catalog.text_gates import scan_and_describe
from datasets_app.core import outgoing
from datasets_app.dispatch.dispatch_events import dispatch_events
from datasets_app.models import Dataset, Notification, NotificationPreference, OutgoingEvent
from datasets_app.notifications.audience import DEFAULT_MAIL, mail_time
from datasets_app.notifications.mails import mail_due
from tests.campaigns import make_campaign
from tests.factories import make_dataset, make_sessions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_queue")]


@pytest.fixture(autouse=True)
def mail_server(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


def make_user(name: str, role: str, **fields: Any) -> User:
    options = {"email": f"{name}@example.org", "is_staff": role != "annotator", **fields}
    user = User.objects.create_user(name, **options)
    user.groups.add(Group.objects.get(name=role))
    return user


@pytest.fixture
def people(db: None) -> dict[str, User]:
    roles = ("curator", "lead", "privacy officer", "viewer", "annotator")
    return {role: make_user(role.split()[0], role) for role in roles}


@pytest.fixture
def dataset(tmp_path: Path, people: dict[str, User]) -> Dataset:
    """Searched, so that it can be labeled; what happened so far is told."""
    dataset = make_dataset(tmp_path, make_sessions(2))
    scan_and_describe(dataset)
    dispatch_events()
    return dataset


def told() -> set[tuple[str, str]]:
    dispatch_events()
    return set(Notification.objects.values_list("event__kind", "user__username"))


def sign_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_each_event_reaches_those_whom_it_concerns(dataset: Dataset, people: dict[str, User]) -> None:
    curator = people["curator"]
    for kind, data in EXAMPLES.items():
        outgoing.emit(kind, dataset=dataset, recipients=[curator], **data)
    campaign = make_campaign(dataset, "annotator", actor=curator)
    assert told() == {
        *((str(kind), "curator") for kind in EXAMPLES),
        ("campaign.assigned", "annotator"),
        ("campaign.finished", "lead"),
        ("disputes.waiting", "lead"),
        ("checks.changed", "lead"),
        ("release.created", "privacy"),
        ("deletion.ahead", "privacy"),
    }
    assert campaign.members.count() == 1


EXAMPLES: dict[str, dict[str, Any]] = {
    "import.finished": {"sessions": 1, "turns": 2, "files": 1},
    "scrub.finished": {"turns": 2, "changed_turns": 1},
    "check.finished": {"turns": 2, "errors": 0, "warnings": 1},
    "campaign.finished": {"campaign": "round", "campaign_id": 1, "replies": 2, "complete": True},
    "disputes.waiting": {"campaign": "round", "campaign_id": 1, "replies": 2},
    "checks.changed": {"campaign": "round", "campaign_id": 1},
    "release.created": {"version": "1.0.0", "sessions": 1, "turns": 2},
    "job.failed": {"job": 1, "operation": "export_dataset"},
    "comment.mention": {"session": 1},
    "deletion.ahead": {"due": "2030-01-01", "turns": 2},
    "step.requested": {"step": "share"},
}


def test_a_failed_night_reaches_those_who_see_all_datasets(dataset: Dataset, people: dict[str, User]) -> None:
    outgoing.emit("job.failed", job=1, operation="nightly")
    assert told() == {("job.failed", "privacy")}


def test_pages_show_say_and_lead_on(dataset: Dataset, people: dict[str, User]) -> None:
    for kind, data in EXAMPLES.items():
        outgoing.emit(kind, dataset=dataset, recipients=[people["curator"]], **data)
    dispatch_events()
    client = sign_in(people["curator"])
    bell = f'aria-label="Notifications, {len(EXAMPLES)} unread"'
    assert bell in client.get(reverse("admin:index")).content.decode()
    page = client.get(reverse("notifications")).content.decode()
    for text in (
        "The import into support added 1 session with 2 turns.",
        "Version 1.0.0 of support was released",
        "support is due for deletion on Jan. 1, 2030.",
    ):
        assert text in page
    # With the navigation, as every page of the administration.
    framed = client.get(reverse("admin:index"))["Content-Security-Policy"]
    for name in ("notifications", "notification_settings"):
        response = client.get(reverse(name))
        assert f'href="{reverse("admin:datasets_app_dataset_changelist")}"' in response.content.decode()
        assert response["Content-Security-Policy"] == framed
    for row in Notification.objects.filter(user=people["curator"]).select_related("event"):
        response = client.post(reverse("notification_open", args=[row.pk]))
        assert response.status_code == 302
        assert response["Location"].startswith("/admin/"), row.event.kind
    assert not Notification.objects.filter(user=people["curator"], read_at=None).exists()
    assert 'aria-label="Notifications"' in client.get(reverse("admin:index")).content.decode()


def test_annotators_have_a_bell_a_page_and_their_campaign(dataset: Dataset, people: dict[str, User]) -> None:
    limit_access.restrict_dataset(dataset, actor=None)
    campaign = make_campaign(dataset, "annotator", actor=people["curator"])
    dispatch_events()
    client = sign_in(people["annotator"])
    assert "1 unread" in client.get(reverse("annotate:campaigns"), follow=True).content.decode()
    page = client.get(reverse("notifications")).content.decode()
    assert "round-1" in page
    assert "support" not in page
    row = Notification.objects.get(user=people["annotator"])
    response = client.post(reverse("notification_open", args=[row.pk]), follow=True)
    assert response.status_code == 200
    assert response.request["PATH_INFO"] == "/annotate/round-1/"
    make_user("eve", "annotator")
    edit_campaign(campaign, changes={"annotators": ["eve"]}, actor=None)
    assert told() >= {("campaign.assigned", "eve")}
    assert not Notification.objects.filter(user=people["annotator"]).exists()


def test_nobody_opens_those_of_others_nor_changes_by_looking(
    dataset: Dataset, people: dict[str, User]
) -> None:
    outgoing.emit(
        "check.finished", dataset=dataset, recipients=[people["curator"]], **EXAMPLES["check.finished"]
    )
    dispatch_events()
    row = Notification.objects.get()
    other, own = sign_in(people["lead"]), sign_in(people["curator"])
    assert other.post(reverse("notification_open", args=[row.pk])).status_code == 404
    other.post(reverse("notifications_read"), {"notification": row.pk})
    assert own.get(reverse("notification_open", args=[row.pk])).status_code == 405
    own.get(reverse("notifications"))
    row.refresh_from_db()
    assert row.read_at is None
    own.post(reverse("notifications_read"))
    row.refresh_from_db()
    assert row.read_at is not None


def test_what_is_hidden_since_is_neither_shown_counted_nor_mailed(
    dataset: Dataset, people: dict[str, User]
) -> None:
    outgoing.emit("job.failed", dataset=dataset, recipients=[people["curator"]], **EXAMPLES["job.failed"])
    dispatch_events()
    limit_access.restrict_dataset(dataset, actor=None)
    Notification.objects.update(mail_at=timezone.now())
    client = sign_in(people["curator"])
    assert 'aria-label="Notifications"' in client.get(reverse("admin:index")).content.decode()
    assert "support" not in client.get(reverse("notifications")).content.decode()
    row = Notification.objects.get(user=people["curator"])
    assert client.post(reverse("notification_open", args=[row.pk])).status_code == 404
    mail_due()
    assert mail.outbox == []


def test_one_mail_has_all_that_is_due_and_nothing_twice(
    dataset: Dataset, people: dict[str, User], settings: Any
) -> None:
    settings.BASE_URL = "https://datasets.example"
    for kind in ("job.failed", "deletion.ahead"):
        outgoing.emit(kind, dataset=dataset, recipients=[people["curator"]], **EXAMPLES[kind])
    dispatch_events()
    assert mail_due() == 0  # Daily, so not yet.
    Notification.objects.filter(mail_at__isnull=False).update(mail_at=timezone.now())
    assert mail_due() == 2
    assert mail_due() == 0
    curator, officer = sorted(mail.outbox, key=lambda message: message.to)
    assert (curator.to, officer.to) == (["curator@example.org"], ["privacy@example.org"])
    assert curator.subject == "2 notifications from Alignmenter Datasets"
    assert "“Export dataset” of support has failed (job 1).\n  https://" in curator.body
    assert f"https://datasets.example/admin/datasets_app/dataset/{dataset.pk}/retention/" in curator.body
    assert officer.subject == "Deletion ahead: support"
    assert "job 1" not in officer.body


def test_a_mail_server_that_is_away_is_tried_again(
    dataset: Dataset, people: dict[str, User], settings: Any
) -> None:
    outgoing.emit("job.failed", dataset=dataset, recipients=[people["curator"]], **EXAMPLES["job.failed"])
    dispatch_events()
    Notification.objects.update(mail_at=timezone.now())
    settings.EMAIL_BACKEND, settings.EMAIL_PORT = "django.core.mail.backends.smtp.EmailBackend", 1
    assert mail_due() == 0
    assert Notification.objects.get().mail_at > timezone.now() + timedelta(minutes=10)
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    Notification.objects.update(mail_at=timezone.now())
    assert mail_due() == 1


def test_each_kind_can_be_switched_off(dataset: Dataset, people: dict[str, User]) -> None:
    curator = people["curator"]
    client, address = sign_in(curator), reverse("notification_settings")
    assert 'name="mail-job.failed"' in client.get(address).content.decode()
    form = {f"mail-{kind}": "off" for kind in DEFAULT_MAIL} | {
        "mail-scrub.finished": "immediate",
        "mail-x": "y",
    }
    assert client.post(address, form | {"shown-check.finished": "on"}).status_code == 302
    assert NotificationPreference.objects.filter(user=curator).count() == len(DEFAULT_MAIL)
    for kind, data in EXAMPLES.items():
        outgoing.emit(kind, dataset=dataset, recipients=[curator], **data)
    dispatch_events()
    rows = Notification.objects.filter(user=curator).values_list("event__kind", "shown")
    assert set(rows) == {("check.finished", True), ("scrub.finished", False)}
    mail_due()
    assert [message.subject for message in mail.outbox] == ["Scrub finished: support"]
    assert "Scrub" not in client.get(reverse("notifications")).content.decode()


def test_those_whose_account_is_inactive_hear_nothing(dataset: Dataset, people: dict[str, User]) -> None:
    User.objects.update(is_active=False)
    outgoing.emit(
        "deletion.ahead", dataset=dataset, recipients=[people["curator"]], **EXAMPLES["deletion.ahead"]
    )
    assert told() == set()


def test_the_daily_mail_is_sent_at_the_next_seven_o_clock(settings: Any) -> None:
    settings.TIME_ZONE = "UTC"
    morning, evening = datetime(2026, 5, 1, 6, 30, tzinfo=UTC), datetime(2026, 5, 1, 7, 0, tzinfo=UTC)
    assert mail_time("daily", morning) == datetime(2026, 5, 1, 7, tzinfo=UTC)
    assert mail_time("daily", evening) == datetime(2026, 5, 2, 7, tzinfo=UTC)
    assert (mail_time("off", morning), mail_time("immediate", morning)) == (None, morning)


def test_an_event_is_handed_on_once_however_often_it_is_asked(
    dataset: Dataset, people: dict[str, User]
) -> None:
    for _ in range(2):
        outgoing.emit("deletion.ahead", dataset=dataset, once="1", **EXAMPLES["deletion.ahead"])
        dispatch_events()
    assert OutgoingEvent.objects.filter(kind="deletion.ahead").count() == 1
    assert Notification.objects.count() == 1


def test_the_bell_is_written_again_once_its_number_is_another(
    dataset: Dataset, people: dict[str, User]
) -> None:
    client = sign_in(people["curator"])
    url = reverse("notifications_bell")
    assert client.get(url, {"unread": ""}).status_code == 204
    outgoing.emit("scrub.finished", dataset=dataset, recipients=[people["curator"]], turns=4)
    dispatch_events()
    bell = client.get(url, {"unread": ""})
    assert bell["HX-Trigger"] == "notifications"
    assert 'aria-label="Notifications, 1 unread"' in bell.content.decode()
    assert client.get(url, {"unread": "1"}).status_code == 204
