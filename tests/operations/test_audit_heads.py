"""Heads of the audit log outside the database: recorded in time, tried again, and compared."""

import json
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from alignmenter_site.head_places import head_places
from datasets_app.auditing.heads import (
    read_heads,
    record_due_heads,
    verify_and_append_head,
    verify_with_heads,
)
from datasets_app.core import audit
from datasets_app.models import AuditEvent, AuditHeadPlace, AuditSeal
from tests.conftest import as_owner
from tests.operations.test_verify_audit import EVENTS, SEALS, seal, sql, tampered

pytestmark = pytest.mark.django_db
TOKEN = "token-4411"


class Receiver(HTTPServer):
    """Keeps the bodies it is sent, and answers ``status``."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.bodies = 200, list[str]()


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.server.status == 200:
            self.server.bodies.append(body)
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def syslog(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(tmp_path / "log"))
        server.settimeout(5)
        yield server


def use_places(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *words: str) -> None:
    monkeypatch.setenv("ALIGNMENTER_AUDIT_HEADS", ",".join(words))
    settings.VAR_DIR, settings.AUDIT_HEAD_PLACES = tmp_path, head_places()


def record(action: str = "probe", times: int = 1) -> None:
    for number in range(times):
        audit.record(action, actor=None, number=number)
    seal()


def file_positions(path: Path) -> list[int]:
    return [json.loads(line)["position"] for line in path.read_text().splitlines()]


def test_a_head_is_recorded_everywhere_as_soon_as_it_is_due(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, receiver: Receiver, syslog: socket.socket
) -> None:
    address = f"http://127.0.0.1:{receiver.server_port}/hook?key={TOKEN}"
    further = tmp_path / "elsewhere" / "heads.jsonl"
    use_places(settings, monkeypatch, tmp_path, str(further), f"syslog:{tmp_path}/log", address)
    seal()
    start = AuditSeal.objects.count()
    steps = [("probe", 1, True), ("probe", 3, False), ("release", 1, True), ("probe", 99, False)]
    expected = []
    for action, times, due in [
        *steps,
        ("probe", 1, True),
        ("export_audit", 1, True),
        ("erase_session", 1, True),
    ]:
        record(action, times)
        assert record_due_heads() == (4 if due else 0), (action, times)
        assert record_due_heads() == 0
        expected += [AuditSeal.objects.count()] if due else []
    record()
    AuditHeadPlace.objects.update(recorded_at=timezone.now() - timedelta(minutes=10))
    assert record_due_heads() == 4
    expected.append(start + 108)
    assert file_positions(tmp_path / "audit_heads") == file_positions(further) == expected
    assert [json.loads(body)["position"] for body in receiver.bodies] == expected
    lines = [syslog.recv(10_000).decode() for _ in expected]
    assert all(line.startswith("<109>alignmenter[") for line in lines)
    # What each of them received proves the log, as a copy of the file does.
    copies = {"hooks": receiver.bodies, "syslog": lines, "copy": further.read_text().splitlines()}
    for name, copied in copies.items():
        (tmp_path / name).write_text("\n".join(copied) + "\n")
        call_command("verify_audit", heads=[str(tmp_path / name)])


@pytest.mark.parametrize("status", [503, 302])
def test_a_place_that_fails_is_tried_again_and_told(
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    receiver: Receiver,
    admin_client: Any,
    caplog: pytest.LogCaptureFixture,
    status: int,
) -> None:
    address = f"http://127.0.0.1:{receiver.server_port}/hook?key={TOKEN}"
    use_places(settings, monkeypatch, tmp_path, address, f"syslog:{tmp_path}/nobody")
    receiver.status = status
    record("release")
    events = AuditEvent.objects.count()
    assert record_due_heads() == 1  # the file
    assert f"the server answered {status}" in caplog.text
    record("release")
    assert record_due_heads() == 1  # the others have a minute's rest
    page = admin_client.get(reverse("admin:datasets_app_auditevent_changelist"))
    html = page.content.decode()
    assert f"http://127.0.0.1:{receiver.server_port} since" in html
    assert f"the server answered {status}." in html
    assert "No such file or directory." in html
    assert TOKEN not in html + caplog.text
    seal()
    receiver.status = 200
    AuditHeadPlace.objects.update(tried_at=timezone.now() - timedelta(minutes=1))
    record_due_heads()
    assert AuditEvent.objects.count() > events
    assert [json.loads(body)["position"] for body in receiver.bodies] == [AuditSeal.objects.count()]
    row = AuditHeadPlace.objects.get(label__startswith="http")
    assert (row.failure, row.failing_since, row.position) == ("", None, AuditSeal.objects.count())


def test_an_end_that_was_cut_off_is_found_and_not_covered_up(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As an administrator of the database can do it: triggers off, delete, and all as it was before."""
    use_places(settings, monkeypatch, tmp_path)
    record("release", 5)
    assert verify_and_append_head().fault_count == 0
    (head,), _ = read_heads()
    last = AuditEvent.objects.order_by("-pk")[3].pk
    tampered(
        f"DELETE FROM {SEALS} WHERE event_id > {last - 1}", f"DELETE FROM {EVENTS} WHERE id > {last - 1}"
    )
    gone = head.position - AuditSeal.objects.count()
    assert gone == 4
    (fault,) = verify_with_heads().faults
    assert fault.message == (
        f"The chain ends at position {head.position - gone}, but had reached {head.position} at {head.at}. "
        f"Missing at its end: 4 events (ids after {last - 1} up to {head.event})."
    )
    with pytest.raises(CommandError, match="1 fault in"):
        call_command("verify_audit")
    # The scheduler notices at once, and records nothing that would hide it; nor do later events.
    for _ in range(2):
        assert record_due_heads() == 0
        assert "the log no longer contains the head recorded before" in caplog.text
        AuditHeadPlace.objects.update(tried_at=timezone.now() - timedelta(minutes=1))
        caplog.clear()
        record("release", 7)
    assert file_positions(tmp_path / "audit_heads") == [head.position]
    (fault,) = verify_with_heads().faults
    assert fault.message == (
        f"The digest at position {head.position} is not the one recorded at {head.at}: seals or events from "
        f"position 1 to {head.position} were replaced."
    )


def test_replaced_seals_are_found_between_the_heads_around_them(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_places(settings, monkeypatch, tmp_path)
    positions = []
    for _ in range(3):
        record("release", 2)
        verify_and_append_head()
        positions.append(AuditSeal.objects.count())
    rebuilt = [*AuditSeal.objects.filter(position__gt=positions[0]).values_list("event_id", flat=True)]
    tampered(
        f"UPDATE {EVENTS} SET actor = 'nobody' WHERE id = {rebuilt[-1]}",
        f"DELETE FROM {SEALS} WHERE position > {positions[0]}",
        *(f"SELECT datasets_app_seal_audit_event({event})" for event in rebuilt),
    )
    (fault,) = verify_with_heads().faults
    assert f"events from position {positions[1] + 1} to {positions[2]} were replaced." in fault.message


@pytest.mark.skipif("OWNER" not in connection.settings_dict, reason="this server has one role")
def test_rights_that_the_application_should_not_have_are_found() -> None:
    record()
    with as_owner() as cursor:
        cursor.execute(f"GRANT DELETE, TRIGGER ON {EVENTS} TO alignmenter")
    (fault,) = verify_with_heads().faults
    assert f"The application's role alignmenter has the rights DELETE, TRIGGER on {EVENTS}" in fault.message


def test_ids_that_were_set_back_are_found() -> None:
    record(times=3)
    last = AuditEvent.objects.latest("pk").pk
    with as_owner():
        sql(f"SELECT setval('datasets_app_auditevent_id_seq', {last - 1})")
    (fault,) = verify_with_heads().faults
    assert (
        fault.message == f"The sequence of event ids was set back to {last - 1}: there was an event {last}."
    )
    with as_owner():
        sql(f"SELECT setval('datasets_app_auditevent_id_seq', {last})")


def test_a_copy_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "altered").write_text(json.dumps({"position": 1, "digest": "0" * 64}))
    for name, sentence in (("none", "can't be read"), ("empty", "no heads"), ("altered", "was not signed")):
        with pytest.raises(CommandError, match=sentence):
            call_command("verify_audit", heads=[str(tmp_path / name)])


@pytest.mark.parametrize(
    "word",
    ["heads.jsonl", "ftp://x.example.org/", "https://u:token-4411@x.example.org/", "syslog:log", "https://"],
)
def test_a_place_that_is_none_stops_the_start(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("ALIGNMENTER_AUDIT_HEADS", f"syslog,{word}")
    with pytest.raises(SystemExit, match="place 2 must be the path of a file") as stopped:
        head_places()
    assert TOKEN not in str(stopped.value)
