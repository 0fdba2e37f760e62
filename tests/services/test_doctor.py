"""The doctor finds nothing in a healthy installation, and names each of many faults and no other."""

import json
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import django_rq
import pytest
from django.conf import settings as live_settings
from django.utils import timezone
from rq.utils import utcformat

from alignmenter_site.monitoring import doctor
from datasets_app.jobs import queue
from tests.conftest import RunManage, as_owner
from tests.web.test_database_away import database_away

__all__ = ["database_away"]


@pytest.fixture
def installation(db: None, empty_queue: None, settings: Any, tmp_path: Path) -> Iterator[Any]:
    """A healthy one, with a folder of its own."""
    settings.VAR_DIR = tmp_path / "var"
    settings.VAR_DIR.mkdir(mode=0o700)
    server = django_rq.get_connection("default")
    server.sadd("rq:workers:default", "rq:worker:one")
    server.hset("rq:worker:one", "last_heartbeat", utcformat(timezone.now()))
    queue.record_scheduler_heartbeat()
    yield settings
    server.delete("alignmenter:scheduler")


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def forget_a_migration(_: Any, __: pytest.MonkeyPatch) -> None:
    with as_owner() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE name = '0001_squashed_0037'")


def stop_redis(_: Any, patch: pytest.MonkeyPatch) -> None:
    patch.setitem(live_settings.RQ_QUEUES["default"], "URL", "unix://:hunter2@/nowhere/redis.sock")


def lose(key: str) -> Callable[[Any, pytest.MonkeyPatch], None]:
    return lambda _, __: django_rq.get_connection("default").delete(key) and None


def put_clock_forward(_: Any, patch: pytest.MonkeyPatch) -> None:
    now = timezone.now
    patch.setattr(doctor.timezone, "now", lambda: now() + timedelta(seconds=20))
    # Heartbeats are as old by that clock.
    patch.setattr(queue, "HEARTBEAT_TIMEOUT", timedelta(minutes=1))


def show_key(settings: Any, _: pytest.MonkeyPatch) -> None:
    (settings.VAR_DIR / "hash_key").write_text("k" * 64)
    (settings.VAR_DIR / "hash_key").chmod(0o644)


def shorten_key(settings: Any, _: pytest.MonkeyPatch) -> None:
    (settings.VAR_DIR / "release_key").write_text("short")
    (settings.VAR_DIR / "release_key").chmod(0o600)


def break_storage(settings: Any, _: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = settings.VAR_DIR / "file"
    settings.MEDIA_ROOT.write_text("not a folder")


def stop_mail(settings: Any, _: pytest.MonkeyPatch) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", closed_port()


def stop_provider(settings: Any, _: pytest.MonkeyPatch) -> None:
    settings.COMPANY_SIGN_IN = "company account"
    address = {"settings": {"server_url": f"http://127.0.0.1:{closed_port()}"}}
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [address]}}


def setting(name: str, value: Any) -> Callable[[Any, pytest.MonkeyPatch], None]:
    return lambda settings, _: setattr(settings, name, value)


SABOTAGES: list[tuple[str, str, Callable[[Any, pytest.MonkeyPatch], None]]] = [
    ("settings", "Remove ALIGNMENTER_DEBUG", setting("DEBUG", True)),
    (
        "migrations",
        "The database lacks 1 migration, from datasets_app.0001",
        forget_a_migration,
    ),
    ("clock", "differ by 20 s", put_clock_forward),
    ("queue", "correct REDIS_URL", stop_redis),
    ("workers", "Start `manage.py worker`", lose("rq:worker:one")),
    ("scheduler", "Start `manage.py scheduler`", lose("alignmenter:scheduler")),
    ("var", "Run: chmod 700", lambda settings, _: settings.VAR_DIR.chmod(0o755)),
    ("keys", "chmod 600", show_key),
    ("keys", "must have at least 32 characters, got 5", shorten_key),
    ("disk", "Free disk space", setting("MIN_FREE_BYTES", 1 << 60)),
    ("storage", "ALIGNMENTER_MEDIA_ROOT", break_storage),
    ("backup", "set ALIGNMENTER_BACKUP_RECIPIENTS", setting("BACKUP_TO", "/backups")),
    ("name model", "ALIGNMENTER_NAME_MODELS", setting("NAME_MODELS", ["spacy:nowhere"])),
    ("mail", "ALIGNMENTER_SMTP_URL", stop_mail),
    ("company sign-in", "ALIGNMENTER_OIDC_URL", stop_provider),
]


@pytest.mark.parametrize(("name", "remedy", "sabotage"), SABOTAGES)
def test_each_fault_is_named_and_no_other(
    installation: Any, monkeypatch: pytest.MonkeyPatch, name: str, remedy: str, sabotage: Any
) -> None:
    sabotage(installation, monkeypatch)
    faults = {finding.name: finding.text for finding in doctor.examine() if not finding.ok}
    assert list(faults) == [name], faults
    assert remedy in faults[name]
    assert "hunter2" not in faults[name]


def test_a_healthy_installation_is_ok_on_every_line(installation: Any, manage: RunManage) -> None:
    done = manage("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line[:2] for line in lines] == ["ok"] * len(doctor.CHECKS), done.stdout
    assert list((installation.MEDIA_ROOT / "doctor").iterdir()) == []


def test_scripts_read_the_findings_and_the_exit_code(installation: Any, manage: RunManage) -> None:
    installation.DEBUG = True
    done = manage("doctor", "--json")
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [f["name"] for f in findings if not f["ok"]] == ["settings"], done.stdout


def test_without_a_database_only_that_is_named(
    database_away: None, settings: Any, tmp_path: Path, empty_queue: None
) -> None:
    settings.VAR_DIR = tmp_path / "var"
    settings.VAR_DIR.mkdir(mode=0o700)
    found = {finding.name: finding.ok for finding in doctor.examine()}
    assert (found["database"], found["keys"], found["storage"]) == (False, True, True)
    assert not found.keys() & {"migrations", "clock"}
