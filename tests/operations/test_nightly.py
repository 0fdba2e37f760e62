"""Once a night, however many schedulers ask; what will go is told in time, once."""

import socketserver
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from alignmenter_site import env, mail
from datasets_app.models import AuditEvent, Dataset, JobRun, RetentionPolicy
from datasets_app.nightly.run_nightly import is_night_due, night_start, run_nightly, start_if_due
from datasets_app.retention import holds
from datasets_app.retention.warnings import mail_warnings
from tests.factories import make_dataset, make_sessions

pytestmark = pytest.mark.django_db(transaction=True)


class _Mailbox(socketserver.StreamRequestHandler):
    """As much of SMTP as a client needs to leave a message."""

    def handle(self) -> None:
        self._say("220 here")
        while line := self.rfile.readline():
            word = line[:4].upper().strip()
            if word == b"DATA":
                self._say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.received.append(b"".join(lines).decode())  # type: ignore[attr-defined]
            self._say("221 bye" if word == b"QUIT" else "250 well")
            if word == b"QUIT":
                return

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@pytest.fixture
def mailbox(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a real server on this machine receives, set up as an installation is: by the environment."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Mailbox) as server:
        server.received = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("ALIGNMENTER_SMTP_URL", f"smtp://127.0.0.1:{server.server_address[1]}")
        monkeypatch.setenv("ALIGNMENTER_MAIL_TO", "privacy@example.org, owner@example.org")
        monkeypatch.setenv("ALIGNMENTER_MAIL_FROM", "datasets@example.org")
        for name, value in mail.email_settings().items():
            setattr(settings, name, value)
        yield server.received  # type: ignore[attr-defined]
        server.shutdown()


def aged(stored: Dataset, days: int) -> Dataset:
    Dataset.objects.filter(pk=stored.pk).update(created_at=timezone.now() - timedelta(days=days))
    return stored


def rule(kept: str) -> None:
    RetentionPolicy.objects.update_or_create(
        position=1, defaults={"pattern": "*", "retention": kept, "active": True}
    )


def test_each_is_told_once_for_each_day(tmp_path: Path, mailbox: list[str]) -> None:
    aged(make_dataset(tmp_path, make_sessions(2), "soon"), 20)
    aged(make_dataset(tmp_path, make_sessions(1), "later"), 5)
    held = aged(make_dataset(tmp_path, make_sessions(1), "held"), 20)
    holds.change_hold(held, "A claim.", held=True, actor=None)
    rule("30 days")
    assert mail_warnings() == {"mailed": 1}
    (message,) = mailbox
    assert "To: privacy@example.org, owner@example.org" in message
    assert "soon (4 turns): policy 1, *, 30 days" in message
    assert "later" not in message
    assert mail_warnings() == {"mailed": 0}
    rule("31 days")
    assert mail_warnings() == {"mailed": 1}


def test_what_could_not_be_mailed_is_tried_again(tmp_path: Path, mailbox: list[str], settings: Any) -> None:
    aged(make_dataset(tmp_path, make_sessions(1)), 29)
    rule("30 days")
    right, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert "could not be sent" in mail_warnings()["mail_error"]
    settings.EMAIL_PORT = right
    assert mail_warnings() == {"mailed": 1}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://me:a%40b@mail:587?tls=on", ("mail", 587, "me", "a@b", True, False)),
        ("smtps://mail", ("mail", 465, "", "", False, True)),
        ("smtp://mail", ("mail", 25, "", "", False, False)),
    ],
)
def test_a_server_for_mail_is_one_address(
    url: str, expected: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALIGNMENTER_SMTP_URL", url)
    monkeypatch.setenv("ALIGNMENTER_MAIL_TO", "a@example.org")
    monkeypatch.setenv("ALIGNMENTER_MAIL_FROM", "b@example.org")
    read = mail.email_settings()
    names = ("HOST", "PORT", "HOST_USER", "HOST_PASSWORD", "USE_TLS", "USE_SSL")
    assert tuple(read[f"EMAIL_{name}"] for name in names) == expected


@pytest.mark.parametrize("url", ["http://me:hunter2@mail", "smtp://", "smtp://mail:x", "smtp://mail?tsl=on"])
def test_one_that_can_not_be_stops_the_start_without_being_shown(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALIGNMENTER_SMTP_URL", url)
    with pytest.raises(env.EnvironmentVariableError, match="needs ALIGNMENTER_MAIL_TO"):
        mail.email_settings()
    monkeypatch.setenv("ALIGNMENTER_MAIL_TO", "a@example.org")
    monkeypatch.setenv("ALIGNMENTER_MAIL_FROM", "b@example.org")
    with pytest.raises(env.EnvironmentVariableError, match="must be like") as stopped:
        mail.email_settings()
    assert "hunter2" not in str(stopped.value)


def test_a_night_begins_at_its_hour_where_the_installation_is(settings: Any) -> None:
    settings.NIGHT_HOUR = 3
    with timezone.override("America/New_York"):
        assert night_start(datetime(2026, 7, 2, 6, 59, tzinfo=UTC)).date() == date(2026, 7, 1)
        assert night_start(datetime(2026, 7, 2, 7, 1, tzinfo=UTC)).date() == date(2026, 7, 2)


def test_a_night_is_started_once_and_after_all_were_away(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    assert not is_night_due(timezone.now())
    aged(stored, 40)
    assert is_night_due(timezone.now())
    started: list[JobRun | None] = []
    threads = [threading.Thread(target=lambda: started.append(_start())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(job is not None for job in started) == 1
    assert JobRun.objects.filter(operation="nightly").count() == 1
    assert is_night_due(timezone.now() + timedelta(days=3))


def _start() -> JobRun | None:
    from django.db import connection

    try:
        return start_if_due()
    finally:
        connection.close()


def test_the_night_deletes_and_then_tells_of_what_is_left(
    tmp_path: Path, mailbox: list[str], settings: Any
) -> None:
    settings.VAR_DIR = tmp_path  # heads of audit trails of other tests are none of this one
    aged(make_dataset(tmp_path, make_sessions(1), "gone"), 40)
    aged(make_dataset(tmp_path, make_sessions(1), "soon"), 20)
    rule("30 days")
    done = run_nightly()
    assert (done["retention"]["datasets"], done["warnings"]) == (1, {"mailed": 1})
    assert AuditEvent.objects.filter(action="retention").count() == 1
