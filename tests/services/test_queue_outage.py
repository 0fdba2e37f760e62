"""Workers while Redis is away: one line, no traceback, and back again when it is."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis

from alignmenter_site.embedded.valkey import find_server_binary
from tests import preloaded


class OwnValkey:
    """A server that forgets everything when it is killed."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "own.sock"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = ["--port", "0", "--unixsocket", str(self.socket), "--save", ""]
        command = [str(find_server_binary()), *options]
        self.process = subprocess.Popen(command, cwd=self.socket.parent, stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.socket.unlink(missing_ok=True)

    def count_workers(self) -> int:
        with suppress(redis.ConnectionError):
            return redis.Redis(unix_socket_path=str(self.socket)).scard("rq:workers")  # type: ignore[return-value]
        return 0


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[OwnValkey]:
    server = OwnValkey(tmp_path)
    server.start()
    yield server
    server.kill()


def test_a_worker_waits_for_redis_and_is_counted_again(
    valkey: OwnValkey, tmp_path: Path, wait_until: Any, subprocess_environment: dict[str, str]
) -> None:
    log = tmp_path / "log"
    environment = {**subprocess_environment, "REDIS_URL": f"unix://{valkey.socket}"}
    wait_until(valkey.socket.exists)
    with log.open("wb") as errors:
        worker = preloaded.Popen("worker", env=environment, stderr=errors)
    try:
        wait_until(lambda: valkey.count_workers() == 1)
        valkey.kill()
        wait_until(lambda: "Redis can't be reached" in log.read_text())
        valkey.start()
        wait_until(lambda: valkey.count_workers() == 1)
        assert "Redis can be reached again." in log.read_text()
        valkey.kill()
        wait_until(lambda: log.read_text().count("Redis can't be reached") == 2)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=20) == 0
    finally:
        worker.kill()
    lines = log.read_text().splitlines()
    assert len(lines) == 3, lines
