"""Fixtures for all tests. No fakes of our own: the database, the queue and the workers are real."""

import gc
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import django_rq
import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection, transaction
from django.test import TransactionTestCase
from django.test import client as test_client
from django.test.client import store_rendered_templates
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django.plugin import blocking_manager_key

from alignmenter_site import embedded
from alignmenter_site.cache import SharedCache
from alignmenter_site.middleware import session_limits
from datasets_app.core import purge
from datasets_app.jobs import running
from tests import cluster, preloaded
from tests.environment import VAR_DIR
from tests.strategies import EXAMPLES_FACTOR
from tests.terminal import decode_output, run_in_process
from tests.waiting import wait_for

PROJECT = Path(__file__).resolve().parent.parent
MEDIA_ROOT = VAR_DIR / "media-of-tests"
_default_teardown = TransactionTestCase._fixture_teardown
# What migrations leave in the database. A flush makes these rows anew, one by one.
_KEPT = ("django_content_type", "auth_permission", "auth_group", "auth_group_permissions")
_APPEND_ONLY = {
    "datasets_app_auditevent": "audit_event_append_only",
    "datasets_app_auditseal": "audit_seal_append_only",
}
# All tables that refer to one of these, directly or not, and they themselves: PostgreSQL empties all or none.
_REFERRING = """
WITH RECURSIVE referring AS (
    SELECT unnest(%s::regclass[]) AS one
    UNION SELECT conrelid::regclass FROM pg_constraint JOIN referring ON confrelid = one AND contype = 'f'
)
SELECT one::text FROM referring
"""
# To delete the rows of a small table takes a tenth of the time of making its files anew. One that holds what
# many tests have deleted is large.
MAX_SMALL_BYTES = 1 << 18
_SIZES = """
WITH sized AS (
    SELECT name, coalesce((SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree(name::regclass)),
                          pg_relation_size(name::regclass)) size
    FROM unnest(%s::text[]) name
)
SELECT name, size FROM sized WHERE size > 0
"""
_PARTITIONS = """
SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
WHERE inhparent IN ('datasets_app_session'::regclass, 'datasets_app_turn'::regclass)
"""
_kept_rows: list[str] = []
_DONE = pytest.StashKey[int]()
# Each dataset of a test leaves dead rows there, which are read again for the partitions of the next one.
_CATALOGS = "pg_constraint, pg_class, pg_attribute, pg_depend, pg_trigger, pg_index, pg_inherits"
TESTS_PER_VACUUM = 100


def _clean_up(self: TransactionTestCase) -> None:
    """Tests that commit are cleaned up after, the append-only audit log included.

    Only tables with files are emptied, unless the test changed what migrations left: flushing all of them
    takes longer than most tests.
    """
    if not _kept_rows or _read_kept_rows() != _kept_rows[0]:
        _drop_partitions()
        _flush_with_audit_log(self)
        _kept_rows[:] = [_read_kept_rows()]
        return
    _drop_partitions()
    names = [name for name in connection.introspection.django_table_names() if name not in _KEPT]
    with transaction.atomic(), as_owner() as cursor:
        cursor.execute(_SIZES, [names])
        sizes = dict(cursor.fetchall())
        can_delete = "OWNER" in connection.settings_dict
        small = [name for name, size in sizes.items() if can_delete and size <= MAX_SMALL_BYTES]
        if small:
            _delete_rows(cursor, small)
        if large := list(sizes.keys() - small):
            _truncate(cursor, large)


def _delete_rows(cursor: Any, names: list[str]) -> None:
    """What other transactions are about to insert is waited for."""
    audit_log = ", ".join(_APPEND_ONLY)
    cursor.execute(
        f"GRANT DELETE ON {audit_log} TO CURRENT_USER; LOCK TABLE {', '.join(names)};"
        + "SET LOCAL session_replication_role = replica;"
        + "".join(f"DELETE FROM {name};" for name in names)
        + "SET LOCAL session_replication_role = origin;"
        + f"REVOKE DELETE ON {audit_log} FROM CURRENT_USER"
    )


def _truncate(cursor: Any, names: list[str]) -> None:
    cursor.execute(_REFERRING, [names])
    referring = ", ".join(name for (name,) in cursor.fetchall())
    with _audit_log_writable(cursor):
        cursor.execute(f"TRUNCATE {referring}")


def _drop_partitions() -> None:
    """Emptying them takes longer, and the next test would have to plan for them."""
    with as_owner() as cursor:
        cursor.execute(_PARTITIONS)
        if partitions := [name for (name,) in cursor.fetchall()]:
            cursor.execute(f"DROP TABLE {', '.join(partitions)}")


def _read_kept_rows() -> str:
    rows = " || ".join(
        f"(SELECT coalesce(string_agg(md5(t::text), '' ORDER BY id), '') FROM {name} t)" for name in _KEPT
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {rows}")
        return str(cursor.fetchone()[0])


def _flush_with_audit_log(self: TransactionTestCase) -> None:
    with connection.cursor() as cursor, _audit_log_writable(cursor):
        _default_teardown(self)


@contextmanager
def _audit_log_writable(cursor: Any) -> Iterator[None]:
    """Only the tables' owner can, by changing the tables themselves: what the application never does."""
    with as_owner():
        for table, trigger in _APPEND_ONLY.items():
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
            cursor.execute(f"GRANT TRUNCATE ON {table} TO CURRENT_USER")
        try:
            yield
        finally:
            for table, trigger in _APPEND_ONLY.items():
                cursor.execute(f"REVOKE TRUNCATE ON {table} FROM CURRENT_USER")
                cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER {trigger}")


TransactionTestCase._fixture_teardown = _clean_up  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> bool:
    """Whether the test database exists and is migrated, on a server of this process's own."""
    if "OWNER" not in connection.settings_dict:
        return False
    # No other process has a database on this server: all of them have the name of the one that is copied.
    connection.settings_dict["TEST"]["NAME"] = None
    copied = cluster.copy_template()
    cluster.prepare_server()
    return copied


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb: bool, django_db_modify_db_settings: bool) -> bool:
    return django_db_keepdb or django_db_modify_db_settings


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_modify_db_settings: None) -> Iterator[None]:
    """Tests work as the application's role, so that a right that it lacks is missing in them, too. Those that
    do what only the owner can use :func:`as_owner`."""
    database = connection.settings_dict
    if "OWNER" in database:
        database.update(database["OWNER"], OPTIONS={"assume_role": embedded.ROLE})
        connection.close()
    yield
    database["OPTIONS"].pop("assume_role", None)
    connection.close()


@contextmanager
def as_owner() -> Iterator[Any]:
    """A cursor of the owner of the database's tables, within a transaction or not."""
    role = connection.settings_dict["OPTIONS"].get("assume_role")
    with connection.cursor() as cursor:
        if role:
            cursor.execute("SET ROLE NONE")
        yield cursor
        if role:
            cursor.execute(f"SET ROLE {role}")


def pytest_configure() -> None:
    """Passwords of test accounts are hashed once and not a million times: a third of a second each. Static
    files are looked up when requested: each test client would list them all at its first request."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True
    test_client.store_rendered_templates = _store_page
    # How long an example takes depends on what else the machine does.
    hypothesis_settings.register_profile(
        "tests",
        max_examples=100 * EXAMPLES_FACTOR,
        deadline=None,
        # The same examples in each run, so that a change is judged by what it changed; new ones when asked
        # for more of them.
        derandomize=EXAMPLES_FACTOR == 1,
        suppress_health_check=[HealthCheck.too_slow],
    )
    hypothesis_settings.load_profile("tests")


def _store_page(
    store: dict[str, Any], signal: Any, sender: Any, template: Any, context: Any, **_: Any
) -> None:
    """A test client keeps what pages were made of, but not the hundreds of parts that each includes."""
    if context.template is template:
        store_rendered_templates(store, signal, sender, template, context)


def pytest_sessionstart(session: pytest.Session) -> None:
    cluster.start_making_template(session.config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that wait most are spread over the first half, so that others fill the gaps. Those with a browser
    come last: Playwright keeps an event loop in the thread of a process, and no other can be run there
    afterwards. Of these the longest come first, so that no process ends long after the others."""
    browser, slow, quick = [], [], []
    for item in items:
        group = browser if "browser" in item.path.parts else slow if "slow" in item.keywords else quick
        group.append(item)
    step = len(quick) // (2 * len(slow) or 1) + 1
    for number, item in enumerate(slow):
        quick.insert(number * step, item)
    browser.sort(key=lambda item: "slow" not in item.keywords)
    items[:] = [*quick, *browser]


def pytest_collection_finish() -> None:
    """From now on. What is imported stays: to look for garbage in it takes a tenth of the time of a test."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Once in a while, in a process whose tests have a database."""
    if "OWNER" not in connection.settings_dict or connection.connection is None:
        return
    done = item.session.stash[_DONE] = item.session.stash.get(_DONE, 0) + 1
    if done % TESTS_PER_VACUUM == 0 and not connection.in_atomic_block:
        with item.config.stash[blocking_manager_key].unblock(), as_owner() as cursor:
            cursor.execute(f"VACUUM {_CATALOGS}")


@pytest.fixture(autouse=True)
def apart(request: pytest.FixtureRequest) -> None:
    """Nothing of another test. Rules keep nothing, and their tests are too many to prepare something for; nor
    do readers of traces, unless what they read is imported."""
    folder = request.path.parent
    is_rule = folder in (PROJECT / "tests", PROJECT / "tests" / "domain")
    if not (is_rule or folder.name == "traces" and request.node.get_closest_marker("django_db") is None):
        for name in (
            "media_root",
            "own_cache",
            "erasures_file",
            "steady_session",
            "kept_tables",
            "steady_heartbeat",
        ):
            request.getfixturevalue(name)


@pytest.fixture
def steady_heartbeat(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No heartbeat from a test in one transaction: it would not see the job's row, and take it for lost on a
    machine so busy that the job runs for a second."""
    marker = request.node.get_closest_marker("django_db")
    if marker is None or not marker.kwargs.get("transaction"):
        monkeypatch.setattr(running, "HEARTBEAT_SECONDS", 600)


@pytest.fixture
def media_root(settings: Any) -> Path:
    """No files of another test's jobs are left, and no heads of its audit log. The folder is that of all
    tests, whose processes start in the same environment."""
    (VAR_DIR / "audit_heads").unlink(missing_ok=True)
    settings.MEDIA_ROOT = MEDIA_ROOT
    shutil.rmtree(MEDIA_ROOT, ignore_errors=True)
    return MEDIA_ROOT


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failed sign-ins are counted in this process, for this test."""
    monkeypatch.setattr(SharedCache, "away_until", math.inf)
    cache.clear()


@pytest.fixture
def erasures_file() -> Iterator[Path]:
    """Erasures outlive the database; those of a test don't outlive the test."""
    path = VAR_DIR / "erasures"
    yield path
    path.unlink(missing_ok=True)


@pytest.fixture
def steady_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions are not extended after a minute, which would be further queries on a slow machine."""
    monkeypatch.setattr(session_limits, "MIN_EXTENSION", timedelta(minutes=10))


@pytest.fixture
def kept_tables(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewriting each table after a scrub takes a second: only in tests with the mark "traces". What leaves
    the disk is looked at in test_scrub_canaries and test_deleted_canaries, with processes."""
    if request.node.get_closest_marker("traces") is None:
        monkeypatch.setattr(purge, "_rewrite_tables", lambda *_: [])
        monkeypatch.setattr(purge, "_remove_old_logs", list)


@pytest.fixture(scope="module")
def rows_of_module(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """What fixtures of a module that ask for this make is there for each of its tests, which changes it in a
    savepoint. Mark the module ``xdist_group``, so that one process runs it; its tests can't commit."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), transaction.atomic():
        patch.setattr(SharedCache, "away_until", math.inf)
        yield
        transaction.set_rollback(True)


@pytest.fixture
def empty_queue() -> Iterator[None]:
    """The real queue, empty."""
    if not os.environ.get("ALIGNMENTER_TEST_REDIS_URL"):
        embedded.ensure_valkey(VAR_DIR)
    server = django_rq.get_connection("default")
    for key in server.scan_iter("rq:*"):
        server.delete(key)
    yield
    for key in server.scan_iter("rq:*"):
        server.delete(key)


@pytest.fixture
def subprocess_environment(media_root: Path, shared_environment: None) -> dict[str, str]:
    """The environment in which another process works on this test's database, queue and files."""
    return _make_environment(media_root)


@pytest.fixture(scope="session")
def shared_environment(django_db_setup: None) -> None:
    preloaded.share_environment(_make_environment(MEDIA_ROOT))


def _make_environment(media_root: Path) -> dict[str, str]:
    changing = {"PYTEST_CURRENT_TEST"}  # which no process reads
    return {
        **{name: value for name, value in os.environ.items() if name not in changing},
        "DATABASE_URL": _database_url(connection.settings_dict),
        "ALIGNMENTER_MEDIA_ROOT": str(media_root),
        "PYTHONPATH": str(PROJECT),
        "PYTHONUNBUFFERED": "1",
    }


def _database_url(database: dict[str, Any]) -> str:
    from urllib.parse import quote, urlencode

    role = database["OPTIONS"].get("assume_role", database["USER"])
    user = quote(role) + (f":{quote(database['PASSWORD'])}" if database["PASSWORD"] else "")
    options = {key: database[key.upper()] for key in ("host", "port") if database[key.upper()]}
    return f"postgresql://{user}@/{database['NAME']}?{urlencode(options)}"


RunManage = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def manage(tmp_path: Path) -> RunManage:
    """Run a command as a person would, in this process; gives its exit code and output."""

    def run(*arguments: Any, input: bytes | None = None) -> subprocess.CompletedProcess[str]:
        return decode_output(run_in_process(*arguments, cwd=tmp_path, input=input))

    return run


@pytest.fixture
def manage_subprocess(subprocess_environment: dict[str, str], tmp_path: Path) -> RunManage:
    """As ``manage``, in a process of its own: for its environment, pipes and exit code. With ``new``, Python
    is started for it."""

    def run(
        *arguments: Any, input: bytes = b"", env: dict[str, str] | None = None, new: bool = False
    ) -> subprocess.CompletedProcess[str]:
        options: Any = {"input": input, "env": subprocess_environment | (env or {}), "cwd": tmp_path}
        if new:
            command = [sys.executable, str(PROJECT / "manage.py"), *map(str, arguments)]
            return decode_output(subprocess.run(command, capture_output=True, timeout=120, **options))
        return decode_output(preloaded.run(*arguments, **options))

    return run


class Processes:
    """Real processes of the application: workers and the scheduler."""

    def __init__(self, subprocess_environment: dict[str, str], log_path: Path) -> None:
        self.environment, self.log = subprocess_environment, log_path
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, command: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            process = preloaded.Popen(
                command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        self.running.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """As the kernel does when memory runs out: the worker and what it has forked, at once."""
        for pid in (*_descendants(process.pid), process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        self.running.remove(process)

    def stop(self) -> None:
        for process in list(self.running):
            self.kill(process)


def _descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    found = [int(child) for child in children.read_text().split()] if children.exists() else []
    return [*found, *(further for child in found for further in _descendants(child))]


@pytest.fixture
def processes(
    transactional_db: None, empty_queue: None, subprocess_environment: dict[str, str], tmp_path: Path
) -> Iterator[Processes]:
    processes = Processes(subprocess_environment, tmp_path / "processes.log")
    yield processes
    processes.stop()


@pytest.fixture
def wait_until() -> Callable[..., Any]:
    """Ask again and again until the answer is true; fails after some seconds."""

    def wait(question: Callable[[], Any], seconds: float = 30.0) -> Any:
        if answer := wait_for(question, seconds):
            return answer
        raise AssertionError(f"not within {seconds} seconds")

    return wait
