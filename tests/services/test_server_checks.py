"""`check --deploy` asks for TLS and passwords wherever a connection leaves the machine's own sockets."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from alignmenter_site import server_checks
from alignmenter_site.server_checks import check_database_connections, check_queue_connection
from alignmenter_site.settings import _database_settings
from tests import preloaded
from tests.conftest import as_owner

SOCKET = "postgresql://app@/support?host=/run/postgresql"
OTHER_SOCKET = SOCKET.replace("app@", "owner@")
SAFE = "postgresql://app:secret-1@db.example.org/support?sslmode=verify-full"
OWNER = SAFE.replace("app:secret-1", "owner:secret-2")


def ids(messages: Any) -> list[str]:
    assert "secret" not in str(messages)
    return [str(message.id).removeprefix("alignmenter.") for message in messages]


@pytest.mark.parametrize(
    ("url", "owner", "found"),
    [
        (SOCKET, OTHER_SOCKET, []),
        (SAFE, OWNER, []),
        (SAFE, "", []),  # the tests' role does not own the audit log
        (SAFE.replace("verify-full", "require"), OWNER, ["W001"]),
        (SAFE.replace("?sslmode=verify-full", ""), OWNER, ["E001"]),
        (SAFE.replace("verify-full", "prefer"), OWNER, ["E001"]),
        (SAFE.replace(":secret-1", ""), OWNER, ["E002"]),
        (SAFE.replace(":secret-1", "") + "&sslcert=/c.pem&sslkey=/k.pem", OWNER, []),
        ("postgresql://app@127.0.0.1/support", OTHER_SOCKET, ["E001", "E002"]),
        (SAFE, "postgresql://owner@db.example.org/support", ["E001", "E002"]),
    ],
)
def test_connections_to_the_database(
    db: None, url: str, owner: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGSSLMODE", "PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.setenv("ALIGNMENTER_OWNER_DATABASE_URL", owner)
    monkeypatch.setattr(
        server_checks, "settings", SimpleNamespace(DATABASES={"default": _database_settings()})
    )
    assert ids(check_database_connections(None)) == found


def test_the_authorities_of_the_machine_are_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library that psycopg brings looks for them in a folder that no machine has."""
    monkeypatch.setenv("DATABASE_URL", f"{SAFE}&sslrootcert=system")
    monkeypatch.setenv("ALIGNMENTER_OWNER_DATABASE_URL", "")
    monkeypatch.setenv("SSL_CERT_FILE", "/chosen.pem")
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    assert _database_settings()["OPTIONS"]["sslrootcert"] == "system"  # and that file is read
    monkeypatch.delenv("SSL_CERT_FILE")
    found = _database_settings()["OPTIONS"]["sslrootcert"]
    assert "BEGIN CERTIFICATE" in Path(found).read_text(errors="replace")


def test_one_role_for_everything(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", SAFE)
    monkeypatch.setattr(
        server_checks, "settings", SimpleNamespace(DATABASES={"default": _database_settings()})
    )
    with as_owner():
        assert ids(check_database_connections(None)) == ["W002"]


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("unix:///run/valkey.sock", []),
        ("rediss://:secret@cache.example.org:6380/0?socket_connect_timeout=3", []),
        ("rediss://cache.example.org:6380/0?password=secret", []),
        ("rediss://:secret@cache.example.org:6380/0?ssl_cert_reqs=none", ["E003"]),
        ("rediss://cache.example.org:6380/0", ["E004"]),
        ("redis://:secret@cache.example.org:6379/0", ["E003"]),
        ("redis://127.0.0.1:6379/0", ["E003", "E004"]),
    ],
)
def test_connections_to_the_queue(url: str, found: list[str], settings: Any) -> None:
    settings.RQ_QUEUES = {"default": {"URL": url}}
    assert ids(check_queue_connection(None)) == found


def test_check_deploy_says_what_to_write() -> None:
    environment = {
        "DATABASE_URL": "postgresql://app@db.example.org/support",
        "REDIS_URL": "redis://cache.example.org:6379/0",
        "ALIGNMENTER_OWNER_DATABASE_URL": "",
        "ALIGNMENTER_HTTPS": "on",
    }
    done = preloaded.run("check", "--deploy", env=os.environ | environment, text=True)
    assert done.returncode == 1
    for number in ("E001", "E002", "E003", "E004", "W002"):
        assert f"(alignmenter.{number})" in done.stderr
    assert "postgresql://user:password@host:5432/name?sslmode=verify-full" in done.stderr
    assert "rediss://:password@host:6380/0" in done.stderr


def test_the_owner_is_another_role_of_the_same_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", SAFE)
    for owner in (SAFE, OWNER.replace("/support", "/other")):
        monkeypatch.setenv("ALIGNMENTER_OWNER_DATABASE_URL", owner)
        with pytest.raises(SystemExit, match="the same database as DATABASE_URL and another role"):
            _database_settings()
