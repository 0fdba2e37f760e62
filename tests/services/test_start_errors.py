"""A start that cannot succeed ends with one paragraph that says what to do, and no traceback."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import preloaded
from tests.conftest import PROJECT
from tests.services.test_embedded import AS_ROOT, NOBODY, become_ordinary

CHOSEN = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "ALIGNMENTER_UPLOAD_TEMP_DIR")


def start(command: str, var: Path, *, ordinary: bool = False, **environment: str) -> str:
    """What the command says as it fails."""
    inherited = {name: value for name, value in os.environ.items() if name not in CHOSEN}
    options: dict[str, Any] = {"env": {**inherited, "ALIGNMENTER_VAR_DIR": str(var), **environment}}
    options |= {"cwd": PROJECT, "text": True, "timeout": 60}
    if ordinary and AS_ROOT:
        options["env"]["PYTHONDONTWRITEBYTECODE"] = "1"
        program = [sys.executable, PROJECT / "manage.py", command]
        done = subprocess.run(program, capture_output=True, preexec_fn=become_ordinary, **options)
    else:
        done = preloaded.run(command, **options)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "url", ["redis://:hunter2@127.0.0.1:1", "redis://nowhere.invalid", "unix:///nowhere/redis.sock"]
)
def test_a_worker_without_a_queue(tmp_path: Path, url: str) -> None:
    said = start(
        "worker", tmp_path / "var", REDIS_URL=url, DATABASE_URL="postgresql://nobody@127.0.0.1:1/none"
    )
    assert "Cannot reach the job queue: " in said
    assert "Start that server or correct REDIS_URL" in said
    assert "hunter2" not in said


def test_a_redis_url_of_another_kind(tmp_path: Path) -> None:
    said = start("worker", tmp_path / "var", REDIS_URL="http://:hunter2@127.0.0.1")
    assert said == "REDIS_URL must begin with redis://, rediss:// or unix://\n"


def read_only(directory: Path) -> None:
    if AS_ROOT:
        os.chown(directory, NOBODY.pw_uid, NOBODY.pw_gid)
    directory.chmod(0o500)


@pytest.mark.parametrize(
    ("command", "is_there"),
    [
        ("run", ()),
        ("worker", ("tmp",)),
        ("migrate", ("tmp/uploads",)),
        ("worker", ("secret_key",)),
        ("run", ("secret_key", "tmp/uploads", "log", "run")),
    ],
)
def test_a_var_that_is_read_only(tmp_path: Path, command: str, is_there: tuple[str, ...]) -> None:
    tmp_path.chmod(0o755)
    var = tmp_path / "var"
    var.mkdir()
    for name in is_there:
        if name == "secret_key":
            (var / name).write_text("x" * 60)
        else:
            (var / name).mkdir(parents=True)
    for path in [*var.rglob("*"), var]:
        if path.is_dir():
            read_only(path)
        elif AS_ROOT:
            os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)
    said = start(command, var, ordinary=True)
    assert f"Cannot write to {var}" in said
    assert "set ALIGNMENTER_VAR_DIR to a directory that it can write to" in said


@pytest.mark.parametrize("command", ["migrate", "worker"])
def test_embedded_servers_in_a_directory_that_is_read_only(tmp_path: Path, command: str) -> None:
    """Keys and uploads have a place of their own, so that nothing but the servers needs var."""
    tmp_path.chmod(0o755)
    var = tmp_path / "var"
    for name in ("run", "log"):
        (var / name).mkdir(parents=True)
    for path in [*var.iterdir(), var]:
        read_only(path)
    elsewhere = {"SECRET_KEY": "x" * 60, "ALIGNMENTER_UPLOAD_TEMP_DIR": str(tmp_path)}
    said = start(command, var, ordinary=True, **elsewhere)
    assert f"{var} cannot be used" in said
    assert "ALIGNMENTER_VAR_DIR" in said
