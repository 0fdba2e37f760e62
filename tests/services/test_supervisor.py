"""Real processes and real signals, with small children in the place of the application's."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from alignmenter_site.embedded.places import PROJECT_DIR
from alignmenter_site.supervisor import Address, SupervisorError, build_children
from tests.waiting import wait_for

# Writes down its process id and that of a child of its own; STUBBORN ones do not heed SIGTERM, and
# their child has a process group of its own, as a worker's job has.
CHILD = """
import os, signal, subprocess, sys, time
from pathlib import Path
stubborn = sys.argv[2] == "stubborn"
if stubborn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
below = subprocess.Popen(["sleep", "60"], process_group=0 if stubborn else None)
with open(sys.argv[1], "a") as stream:
    stream.write(f"{os.getpid()} {below.pid}\\n")
os.write(1, b"output of the child\\n")  # in one piece: another child writes beside it
time.sleep(60)
"""
SUPERVISOR = """
import sys
from alignmenter_site import supervisor
from alignmenter_site.supervisor import Child
supervisor.GRACE_SECONDS = 1.0
supervisor.MIN_RESTART_DELAY_SECONDS = 0.1
sys.exit(supervisor.supervise(eval(sys.stdin.readline())))
"""


def toy(path: Path, kind: str = "polite") -> list[str]:
    return [sys.executable, "-c", CHILD, str(path), kind]


def supervise(*children: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR],
        cwd=PROJECT_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(f"[{', '.join(children)}]\n")
    process.stdin.flush()
    return process


def pids(*paths: Path) -> set[int]:
    return {int(word) for path in paths if path.exists() for word in path.read_text().split()}


def ended(pid: int) -> bool:
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return shown.stdout.strip()[:1] in {"", "Z"}


def all_gone(found: set[int]) -> bool:
    return wait_for(lambda: all(map(ended, found)))


@pytest.fixture
def paths(tmp_path: Path) -> Iterator[list[Path]]:
    paths = [tmp_path / "first", tmp_path / "second"]
    yield paths
    for pid in pids(*paths):
        if not ended(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything(paths: list[Path], number: int) -> None:
    running = supervise(f"Child('a', {toy(paths[0])})", f"Child('b', {toy(paths[1], 'stubborn')})")
    assert wait_for(lambda: len(pids(*paths)) == 4)
    running.send_signal(number)
    output, errors = running.communicate(timeout=8)
    assert running.returncode == 0
    assert errors == "Stopped.\n"
    assert output == "output of the child\n" * 2
    assert all(map(ended, pids(*paths)))


def test_killing_the_supervisor_leaves_nothing(paths: list[Path]) -> None:
    running = supervise(f"Child('a', {toy(paths[0])})", f"Child('b', {toy(paths[1], 'stubborn')})")
    assert wait_for(lambda: len(pids(*paths)) == 4)
    running.kill()
    running.communicate(timeout=8)
    assert all_gone(pids(*paths))


def children_of(parent: int) -> set[int]:
    shown = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True).stdout
    return {pid for pid, above in (map(int, line.split()) for line in shown.splitlines()) if above == parent}


def test_a_watchdog_that_dies_is_started_again(paths: list[Path]) -> None:
    running = supervise(f"Child('a', {toy(paths[0])})", f"Child('b', {toy(paths[1], 'stubborn')})")
    assert wait_for(lambda: len(pids(*paths)) == 4)
    first, _ = map(int, paths[0].read_text().split())

    def watchdogs() -> set[int]:
        return {pid for pid in children_of(running.pid) - pids(*paths) if not ended(pid)}

    [watchdog] = watchdogs()
    os.kill(watchdog, signal.SIGKILL)
    os.kill(first, signal.SIGKILL)
    assert wait_for(lambda: len(pids(*paths)) == 6)
    assert wait_for(lambda: len(watchdogs() - {watchdog}) == 1)
    running.kill()
    errors = running.communicate(timeout=8)[1]
    assert "The watchdog was killed by SIGKILL; starting another one.\n" in errors
    assert all_gone(pids(*paths))


def test_a_child_that_dies_is_started_again(paths: list[Path]) -> None:
    running = supervise(f"Child('worker', {toy(paths[0])})")
    assert wait_for(lambda: len(pids(paths[0])) == 2)
    first, below = map(int, paths[0].read_text().split())
    os.kill(first, signal.SIGKILL)
    assert wait_for(lambda: len(pids(paths[0])) == 4)
    assert ended(below)
    running.send_signal(signal.SIGINT)
    errors = running.communicate(timeout=8)[1]
    assert errors.startswith("The worker was killed by SIGKILL; it is started again in 0.2 s.\n")
    assert all_gone(pids(paths[0]))


def test_a_web_server_that_cannot_start_ends_everything(paths: list[Path]) -> None:
    broken = [sys.executable, "-c", "import sys; sys.exit('no such module')"]
    running = supervise(
        f"Child('web server', {broken}, ready=lambda: False)", f"Child('worker', {toy(paths[0])})"
    )
    errors = running.communicate(timeout=15)[1]
    assert running.returncode == 1
    assert errors.count("no such module") == 3
    assert "The web server ended with exit code 1, 3 times in a row" in errors
    assert all_gone(pids(paths[0]))


def test_the_address_is_printed_once_the_web_server_answers(tmp_path: Path) -> None:
    port = free_port()
    server = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "-d", str(tmp_path), str(port)]
    answers = f"supervisor.Address('127.0.0.1', {port}).answers"
    running = supervise(f"Child('web server', {server}, ready={answers}, greeting='It is there')")
    assert running.stderr is not None
    lines = iter(running.stderr.readline, "")
    assert next(line for line in lines if "there" in line) == "It is there\n"
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=8)
    assert running.returncode == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_taken_port_is_a_message_with_the_remedy() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        # This process holds it, and is none of the application's.
        with pytest.raises(
            SupervisorError, match=rf"Port {port} is taken by process {os.getpid()} \(.*PORT=\d+ make run"
        ):
            Address("127.0.0.1", port).check_free()
    Address("127.0.0.1", port).check_free()


def test_a_port_held_by_an_earlier_run_names_the_process_to_stop(tmp_path: Path) -> None:
    """Killing `make` leaves it running; killing its web server would only have another one started."""
    run = tmp_path / "manage.py"
    run.write_text(
        "import socket, subprocess\n"
        "listening = socket.create_server(('127.0.0.1', 0))\n"
        "server = subprocess.Popen(['sleep', '60'], pass_fds=[listening.fileno()])\n"
        "print(listening.getsockname()[1], flush=True)\n"
        "listening.close()\n"
        "server.wait()\n"
    )
    running = subprocess.Popen(
        [sys.executable, str(run), "run"], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert running.stdout
        port = int(running.stdout.readline())
        with pytest.raises(SupervisorError) as refusal:
            Address("127.0.0.1", port).check_free()
        assert f"by this application, which still runs as process {running.pid} (" in str(refusal.value)
        assert f"Stop it: kill {running.pid}. Or use another port: PORT=" in str(refusal.value)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()


def test_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALIGNMENTER_HOST", raising=False)
    monkeypatch.setenv("HOST", "x86_64-conda-linux-gnu")  # not ours
    monkeypatch.delenv("PORT", raising=False)
    assert Address.from_environment() == Address("127.0.0.1", 8000)
    monkeypatch.setenv("ALIGNMENTER_HOST", "::")
    monkeypatch.setenv("PORT", "8001")
    assert str(Address.from_environment()) == "[::]:8001"
    assert str(Address.from_environment().reachable) == "[::1]:8001"
    monkeypatch.setenv("PORT", "http")
    with pytest.raises(SupervisorError, match="PORT must be a number"):
        Address.from_environment()


def test_the_application_is_a_web_server_two_workers_and_a_scheduler(tmp_path: Path) -> None:
    children = build_children(tmp_path, Address("127.0.0.1", 8001), tmp_path / "web")
    assert [child.name for child in children] == ["web server", "workers"]
    assert list(children[1].command)[2:] == ["worker", "--processes", "2", "--scheduler"]
    assert "--no-control-socket" in children[0].command


FORKS = """
import os, sys, time
from pathlib import Path
from alignmenter_site import supervisor
supervisor.MIN_RESTART_DELAY_SECONDS = 0.05
from datasets_app.management import forks
forks.MIN_RESTART_DELAY_SECONDS = 0.05
def work(name):
    with open(sys.argv[1], "a") as stream:
        stream.write(f"{os.getpid()}\\n")
    if name == "second":
        time.sleep(0.2)
        sys.exit(3)
    time.sleep(60)
forks.run_forks({name: lambda name=name: work(name) for name in ("first", "second")})
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_forks_are_started_again_and_end_with_their_parent(paths: list[Path], number: int) -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", FORKS, str(paths[0])], cwd=PROJECT_DIR, stderr=subprocess.PIPE, text=True
    )
    assert wait_for(lambda: len(pids(paths[0])) >= 4)
    running.send_signal(number)
    errors = running.communicate(timeout=8)[1]
    assert running.returncode in (0, -signal.SIGKILL)
    assert "The second ended with exit code 3; it is started again in 0.1 s." in errors
    assert all_gone(pids(paths[0]))


def test_a_web_server_that_is_killed_again_and_again_is_started_again(paths: list[Path]) -> None:
    dying = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
    running = supervise(
        f"Child('web server', {dying}, ready=lambda: False)", f"Child('worker', {toy(paths[0])})"
    )
    assert running.stderr is not None
    told = [line for line, _ in zip(filter(None, iter(running.stderr.readline, "")), range(4), strict=False)]
    pauses = [float(line.rpartition(" in ")[2].removesuffix(" s.\n")) for line in told]
    assert [later / earlier for earlier, later in zip(pauses, pauses[1:], strict=False)] == [2, 2, 2]
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=15)
