"""Webhooks against a real receiver: signatures, retries, private addresses, and the rights of the owner."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db.models.functions import Now
from django.utils import timezone
from standardwebhooks import WebhookVerificationError

from annotations_app.campaigns.edit import edit_campaign
from annotations_app.hooks.panels import announce_campaigns
from datasets_app.access import limit_access
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.core.errors import UserError
from datasets_app.dispatch.dispatch_events import delete_old_events, dispatch_events
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.webhook_retries import MAX_ATTEMPTS
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.importing.parameters import ImportParameters
from datasets_app.jobs import recovery, runs
from datasets_app.jobs.perform import perform
from datasets_app.models import (
    AuditEvent,
    Dataset,
    JobRun,
    OutgoingEvent,
    RetentionPolicy,
    WebhookDelivery,
    WebhookEndpoint,
)
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.retention.warnings import announce_deletions
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from datasets_app.webhooks import endpoints, send
from datasets_app.webhooks.access import PERMISSIONS
from datasets_app.webhooks.deliver import deliver_due
from datasets_app.webhooks.send import DeliveryFailed, check_url, post
from tests.campaigns import label_all_replies, make_campaign
from tests.factories import import_file, make_dataset, make_sessions, make_turn, write_jsonl
from tests.webhook_receiver import Message, Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_queue")]


@pytest.fixture(scope="module")
def running() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def receiver(running: Receiver, settings: Any) -> Receiver:
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]
    running.messages, running.answers, running.location = [], [], ""
    return running


def make_user(name: str, *roles: str) -> User:
    user = User.objects.create_user(name, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=roles))
    return user


@pytest.fixture
def owner(db: None) -> User:
    return make_user("cora", "curator")


def add(receiver: Receiver, owner: User, **fields: Any) -> tuple[WebhookEndpoint, str]:
    options = {"url": receiver.url, "kinds": list(PERMISSIONS)} | fields
    endpoint = WebhookEndpoint(**options)
    return endpoint, endpoints.add_endpoint(endpoint, actor=owner)


def deliver() -> None:
    dispatch_events()
    deliver_due()


def make_all_due() -> None:
    WebhookDelivery.objects.filter(state="waiting").update(next_attempt_at=Now())


def delivery_of(endpoint: WebhookEndpoint) -> WebhookDelivery:
    return endpoint.deliveries.get()


def import_sessions(path: Path, count: int = 2, name: str = "support", **options: Any) -> None:
    import_file(write_jsonl(path / "file.jsonl", make_sessions(count)), name, append=True, **options)


def test_each_event_arrives_once_signed_and_without_text(
    receiver: Receiver, owner: User, tmp_path: Path, settings: Any
) -> None:
    """From the real operations, in their order."""
    _, secret = add(receiver, owner)
    lines = [make_turn(f"kestrel{n}", i, text=f"wexkeyquill {n} {i}") for n in range(3) for i in (1, 2)]
    dataset = make_dataset(tmp_path, lines, actor=owner)
    scrub_dataset(dataset, Policy(), actor=owner)
    check_dataset(dataset, actor=owner, name_models=[])
    campaign = make_campaign(dataset, "adalind", "benedetta", overlap=2, actor=owner)
    label_all_replies(campaign, "adalind", 1)
    label_all_replies(campaign, "benedetta", 0)
    announce_campaigns()
    announce_campaigns()
    edit_campaign(campaign, changes={"status": "closed"}, actor=owner)
    (tmp_path / "release").mkdir()
    release_dataset(dataset, folder=tmp_path / "release", override="", actor=owner)
    job = runs.create_job(
        "import_dataset", actor=owner, dataset_name="support", parameters=ImportParameters(origin="external")
    )
    JobRun.objects.filter(pk=job.pk).update(state="queued")
    perform(job.pk)
    RetentionPolicy.objects.create(position=1, pattern="*", retention="10 days", reason="-", active=True)
    announce_deletions()
    announce_deletions()
    settings.FOUR_EYES = True
    runs.start_job(
        "export_dataset",
        actor=owner,
        dataset=dataset,
        parameters=ExportParameters(format="turns", override="w"),
    )
    deliver()
    contents = [message.verify(secret) for message in receiver.messages]
    assert [content["type"] for content in contents] == [
        "import.finished", "scrub.finished", "check.finished", "campaign.assigned", "campaign.finished",
        "disputes.waiting", "release.created", "job.failed", "deletion.ahead", "approval.requested",
    ]  # fmt: skip
    assert {content["data"]["dataset"] for content in contents} == {"support"}
    by_type = {content["type"]: content["data"] for content in contents}
    assert by_type["import.finished"] | {"sessions": 3, "turns": 6} == by_type["import.finished"]
    assert by_type["campaign.finished"]["complete"] is True
    assert by_type["disputes.waiting"]["replies"] == 3
    assert by_type["job.failed"] == {"dataset": "support", "job": job.pk, "operation": "import_dataset"}
    everything = str([(message.headers, message.body) for message in receiver.messages])
    for private in ("wexkeyquill", "kestrel", "jsonl", "cora", "adalind", "benedetta"):
        assert private not in everything
    deliver()
    assert len(receiver.messages) == len(contents)
    with pytest.raises(WebhookVerificationError):
        receiver.messages[0].verify("whsec_" + "A" * 44)


def test_what_is_rolled_back_is_no_event(tmp_path: Path, owner: User) -> None:
    with pytest.raises(UserError):
        import_file(write_jsonl(tmp_path / "a.jsonl", [make_turn("a", 3)]), actor=owner)
    assert not OutgoingEvent.objects.exists()


def test_errors_stalls_and_hang_ups_are_tried_again_with_the_same_message(
    receiver: Receiver, owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "TOTAL_SECONDS", 0.6)
    endpoint, secret = add(receiver, owner)
    receiver.answers = [500, "stall", "drip", "cut", 302, 404]
    import_sessions(tmp_path)
    dispatch_events()
    for _ in range(7):
        deliver_due()
        deliver_due()  # Not before its time.
        make_all_due()
    assert len(receiver.messages) == 7
    assert len({(message.id, message.body) for message in receiver.messages}) == 1
    assert all(message.verify(secret) for message in receiver.messages)
    delivery = delivery_of(endpoint)
    assert delivery.state == "delivered"
    answers = [entry.get("status") or entry["error"] for entry in delivery.log]
    assert answers[:3] == [500, "timeout", "timeout"]
    assert answers[3] in ("no_answer", "unreachable")
    assert answers[4:] == [302, 404, 204]
    assert all(set(entry) <= {"at", "seconds", "status", "error"} for entry in delivery.log)


def test_a_message_is_given_up_and_sent_again_by_hand(
    receiver: Receiver, owner: User, tmp_path: Path
) -> None:
    endpoint, _ = add(receiver, owner)
    receiver.answers = [500] * MAX_ATTEMPTS
    import_sessions(tmp_path)
    dispatch_events()
    for _ in range(MAX_ATTEMPTS + 2):
        deliver_due()
        make_all_due()
    assert (delivery_of(endpoint).state, len(receiver.messages)) == ("dead", MAX_ATTEMPTS)
    assert endpoints.replay(endpoint, actor=owner) == 1
    assert endpoints.replay(endpoint, actor=owner) == 0
    deliver_due()
    delivery = delivery_of(endpoint)
    assert (delivery.state, delivery.attempts) == ("delivered", MAX_ATTEMPTS + 1)
    assert endpoints.replay(endpoint, delivery=delivery.pk, actor=owner) == 1
    deliver_due()
    assert len({message.id for message in receiver.messages}) == 1
    assert len(receiver.messages) == MAX_ATTEMPTS + 2


def test_an_address_that_fails_holds_up_no_other(receiver: Receiver, owner: User, tmp_path: Path) -> None:
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    broken, _ = add(receiver, owner, url=f"http://127.0.0.1:{port}/")
    good, _ = add(receiver, owner)
    for name in ("one", "two"):
        import_sessions(tmp_path, name=name)
    deliver()
    assert len(receiver.messages) == 2
    # The second message waits for the first to be tried again.
    assert sorted(broken.deliveries.values_list("attempts", flat=True)) == [0, 1]
    assert not broken.deliveries.filter(next_attempt_at__lte=timezone.now()).exists()


@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_loses_nothing_and_repeats_the_same_message_at_most(
    receiver: Receiver, owner: User, tmp_path: Path, processes: Any, wait_until: Any
) -> None:
    processes.environment = processes.environment | {"ALIGNMENTER_WEBHOOK_NETWORKS": "127.0.0.0/8"}
    endpoint, secret = add(receiver, owner)
    receiver.answers = ["stall"]
    for name in ("one", "two"):
        import_sessions(tmp_path, name=name)
    dispatch_events()
    worker = processes.start("worker")
    wait_until(lambda: receiver.messages)
    processes.kill(worker)
    assert sorted(endpoint.deliveries.values_list("state", "attempts")) == [("waiting", 0), ("waiting", 1)]
    JobRun.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    recovery.recover_jobs()
    make_all_due()
    processes.start("worker")
    wait_until(lambda: not endpoint.deliveries.exclude(state="delivered").exists())
    first, *later = [message.id for message in receiver.messages]
    assert sorted(later) == sorted({first, *later})
    assert len(later) == 2
    assert all(message.verify(secret) for message in receiver.messages)


def test_410_switches_a_webhook_off(receiver: Receiver, owner: User, tmp_path: Path) -> None:
    endpoint, _ = add(receiver, owner)
    receiver.answers = [410]
    import_sessions(tmp_path)
    deliver()
    make_all_due()
    deliver()
    endpoint.refresh_from_db()
    assert (endpoint.active, len(receiver.messages), delivery_of(endpoint).state) == (False, 1, "dropped")
    assert AuditEvent.objects.filter(action="edit_webhook", details__active=False).exists()


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "192.0.2.1", "2130706433", "0x7f.1", "[::1]", "[::]", "[::ffff:127.0.0.1]",
        "[::127.0.0.1]", "[fe80::1]", "[fc00::1]", "[fec0::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
        "[::ffff:0:7f00:1]", "[ff02::1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[2a00:1450::5efe:a00:1]",
        "[2a00:1450::200:5efe:c0a8:101]", "[::ffff:168.63.129.16]", "168.63.129.16", "161.26.0.10",
    ],
)  # fmt: skip
def test_private_and_reserved_addresses_are_refused(host: str, settings: Any) -> None:
    settings.WEBHOOK_NETWORKS = []
    with pytest.raises(UserError, match="private network|not found"):
        check_url(f"https://{host}/hook")
    with pytest.raises(DeliveryFailed, match="not_allowed|not_found"):
        post(f"https://{host}/hook", {}, "{}")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/", "https://", "https://user:pw@example.org/", "https://example.org/#part", "hook",
        "https://example.org:99999/", "https://exa mple.org/", "https://example.org/\r\nX: y", "https://münchen.de/",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UserError, match="Enter an address like"):
        check_url(url)


def test_plain_http_is_for_listed_networks_only(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_url(receiver.url) == receiver.url
    answer_lookups(monkeypatch, ["93.184.215.14"])
    assert check_url("https://hooks.example/") == "https://hooks.example/"
    with pytest.raises(UserError, match="Enter an https address"):
        check_url("http://hooks.example/")


def answer_lookups(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """What a host resolves to, one time after the other; returns the list of what was asked."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: str, port: int, *rest: Any, **options: Any) -> Any:
        if not host.endswith(".example"):
            return real(host, port, *rest, **options)
        asked.append(host)
        addresses = answers[min(len(asked), len(answers)) - 1]
        return [item for address in addresses for item in real(address, port, *rest, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_the_connection_goes_to_the_address_that_was_checked(
    receiver: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that resolves to another address the second time (DNS rebinding)."""
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.2")]
    allowed = Receiver("127.0.0.2", receiver.port)
    try:
        asked = answer_lookups(monkeypatch, ["127.0.0.2"], ["127.0.0.1"])
        assert post(f"http://hooks.example:{receiver.port}/a?b=c", {}, "{}") == 204
        assert [(message.path, message.headers["host"]) for message in allowed.messages] == [
            ("/a?b=c", f"hooks.example:{receiver.port}")
        ]
        assert (asked, receiver.messages) == (["hooks.example"], [])
        # The next message finds the other address, and isn't sent.
        with pytest.raises(DeliveryFailed, match="not_allowed"):
            post(f"http://hooks.example:{receiver.port}/", {}, "{}")
        answer_lookups(monkeypatch, ["127.0.0.2", "127.0.0.1"])
        with pytest.raises(DeliveryFailed, match="not_allowed"):
            post(f"http://hooks.example:{receiver.port}/", {}, "{}")
        assert receiver.messages == []
    finally:
        allowed.stop()


def test_redirects_are_not_followed(receiver: Receiver, owner: User, tmp_path: Path, settings: Any) -> None:
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.2")]
    redirecting = Receiver("127.0.0.2")
    redirecting.answers, redirecting.location = [307], receiver.url
    try:
        endpoint, _ = add(redirecting, owner)
        import_sessions(tmp_path)
        deliver()
        assert (len(redirecting.messages), receiver.messages) == (1, [])
        assert delivery_of(endpoint).log[0]["status"] == 307
    finally:
        redirecting.stop()


def test_a_host_that_becomes_private_gets_nothing(
    receiver: Receiver, owner: User, tmp_path: Path, settings: Any
) -> None:
    endpoint, _ = add(receiver, owner)
    settings.WEBHOOK_NETWORKS = []
    import_sessions(tmp_path)
    deliver()
    assert (receiver.messages, delivery_of(endpoint).log[0]["error"]) == ([], "not_allowed")


def received(receiver: Receiver, secret: str) -> list[tuple[str, str]]:
    contents: list[Any] = [
        message.verify(secret) for message in receiver.messages if verifies(message, secret)
    ]
    return [(content["type"], content["data"].get("dataset", "")) for content in contents]


def verifies(message: Message, secret: str) -> bool:
    try:
        return bool(message.verify(secret))
    except WebhookVerificationError:
        return False


def test_a_webhook_gets_what_its_owner_may_see(receiver: Receiver, owner: User, tmp_path: Path) -> None:
    officer, viewer = make_user("ola", "privacy officer"), make_user("vera", "viewer")
    _, of_owner = add(receiver, owner)
    _, of_officer = add(receiver, officer)
    _, of_viewer = add(receiver, viewer)
    import_sessions(tmp_path, name="open")
    import_sessions(tmp_path, name="closed")
    secret_dataset = Dataset.objects.get(name="closed")
    limit_access.restrict_dataset(secret_dataset, actor=None)
    OutgoingEvent.objects.create(kind="job.failed", data={"job": 1, "operation": "nightly"})
    deliver()
    assert received(receiver, of_owner) == [("import.finished", "open")]
    assert received(receiver, of_officer) == [
        ("import.finished", "open"), ("import.finished", "closed"), ("job.failed", "")
    ]  # fmt: skip
    # Without the permission for webhooks, there are none.
    assert received(receiver, of_viewer) == []
    limit_access.grant_access(secret_dataset, owner, actor=None)
    import_sessions(tmp_path, 3, name="closed")
    deliver()
    assert received(receiver, of_owner)[1:] == [("import.finished", "closed")]


@pytest.mark.parametrize("loss", ["deactivated", "no access", "no role", "switched off", "deleted"])
def test_nothing_is_sent_once_the_owner_may_not_see_it(
    receiver: Receiver, owner: User, tmp_path: Path, loss: str
) -> None:
    """Also what was waiting by then."""
    endpoint, _ = add(receiver, owner)
    import_sessions(tmp_path)
    dispatch_events()
    if loss == "deactivated":
        User.objects.update(is_active=False)
    elif loss == "no access":
        limit_access.restrict_dataset(Dataset.objects.get(), actor=None)
    elif loss == "no role":
        owner.groups.clear()
    elif loss == "switched off":
        WebhookEndpoint.objects.update(active=False)
    else:
        owner.delete()
    deliver_due()
    import_sessions(tmp_path, 3)
    deliver()
    assert receiver.messages == []
    assert set(endpoint.deliveries.values_list("state", flat=True)) <= {"dropped"}


def test_a_webhook_of_one_dataset_gets_no_other_and_no_other_kind(
    receiver: Receiver, owner: User, tmp_path: Path
) -> None:
    import_sessions(tmp_path, name="one")
    dispatch_events()
    _, secret = add(receiver, owner, dataset=Dataset.objects.get(), kinds=["check.finished"])
    import_sessions(tmp_path, name="two")
    for dataset in Dataset.objects.order_by("name"):
        check_dataset(dataset, actor=owner, name_models=[])
    deliver()
    assert received(receiver, secret) == [("check.finished", "one")]


def test_for_a_day_after_a_rotation_messages_carry_both_signatures(receiver: Receiver, owner: User) -> None:
    endpoint, before = add(receiver, owner)
    now = endpoints.rotate_secret(endpoint, actor=owner)
    endpoints.send_test(endpoint, actor=owner)
    deliver()
    WebhookEndpoint.objects.update(previous_until=timezone.now() - timedelta(seconds=1))
    endpoints.send_test(endpoint, actor=owner)
    deliver()
    first, second = receiver.messages
    assert first.verify(before) == first.verify(now)
    assert second.verify(now)["type"] == "test"
    assert not verifies(second, before)
    stored = WebhookEndpoint.objects.values_list("secret", "previous_secret").get()
    assert not any(secret[6:] in value for secret in (before, now) for value in stored)
    assert before not in str(list(AuditEvent.objects.values()))


def test_old_events_are_deleted_with_their_deliveries(
    receiver: Receiver, owner: User, tmp_path: Path
) -> None:
    add(receiver, owner)
    import_sessions(tmp_path)
    deliver()
    assert delete_old_events() == 0
    OutgoingEvent.objects.update(at=timezone.now() - timedelta(days=91))
    assert delete_old_events() == 1
    assert not WebhookDelivery.objects.exists()
