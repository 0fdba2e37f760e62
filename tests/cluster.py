"""The migrated database of a run: the process that starts the others makes it, and each of them copies it.

To migrate takes longer than all else that a process does before its first test. Whatever fails here, a
process makes its own database.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading

import psycopg
import pytest
from django.db import connection
from pytest_django.plugin import blocking_manager_key

from alignmenter_site import embedded
from alignmenter_site.embedded import locks
from alignmenter_site.embedded.places import ServicePaths
from tests.environment import RUN_DIR, VAR_DIR

TEMPLATE = RUN_DIR / "template"
# Held while the template is being made; the kernel releases it if the process that makes it dies.
LOCK = RUN_DIR / "template.lock"
STOP_TIMEOUT_SECONDS = 60.0


def start_making_template(config: pytest.Config) -> None:
    """Make it in a thread, while the processes with the tests start and collect them."""
    if not config.getoption("numprocesses", None) or hasattr(config, "workerinput"):
        return
    if config.option.collectonly or "EMBEDDED_VAR_DIR" not in connection.settings_dict:
        return
    shutil.rmtree(TEMPLATE, ignore_errors=True)
    lock = locks.try_acquire(LOCK)
    if lock is not None:
        threading.Thread(target=_make_template, args=(config, lock)).start()


def _make_template(config: pytest.Config, lock: int) -> None:
    try:
        with config.stash[blocking_manager_key].unblock():
            prepare_server()
            connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
            connection.close()
        _stop_servers()
        ServicePaths.from_var_dir(VAR_DIR).postgres.rename(TEMPLATE)
    except Exception as error:
        print(f"No database to copy, so each process makes its own: {error}", file=sys.stderr)
    finally:
        os.close(lock)


def _stop_servers() -> None:
    """What is copied has to be complete."""
    keeper_lock = ServicePaths.from_var_dir(VAR_DIR).run / "keeper.lock"
    os.kill(int(keeper_lock.read_text().split()[0]), signal.SIGTERM)
    released = locks.acquire_within(keeper_lock, STOP_TIMEOUT_SECONDS)
    if released is None:
        raise TimeoutError("the servers have not stopped")
    os.close(released)


def copy_template() -> bool:
    """Whether this process has a copy now, to be called before its server starts; waits for the template."""
    home = ServicePaths.from_var_dir(VAR_DIR).postgres
    if VAR_DIR == RUN_DIR or home.exists():
        return False
    os.close(locks.acquire_shared(LOCK))
    if not TEMPLATE.exists():
        return False
    unfinished = home.with_name("postgres.new")
    # Unlike shutil.copytree it keeps the owner, who is not root.
    copied = subprocess.run(["cp", "-a", TEMPLATE, unfinished], capture_output=True).returncode == 0
    if copied:
        unfinished.rename(home)
    else:
        shutil.rmtree(unfinished, ignore_errors=True)
    return copied


def prepare_server() -> None:
    """The application's role can create databases, as in earlier versions; ``migrate`` separates the roles.
    Nothing is vacuumed meanwhile: what waits for the end of older transactions would wait for that."""
    embedded.ensure_postgres(VAR_DIR)
    server = embedded.postgres_url(VAR_DIR, embedded.ADMINISTRATOR)
    with psycopg.connect(server, autocommit=True) as session:
        session.execute("ALTER SYSTEM SET autovacuum = off")
        session.execute("SELECT pg_reload_conf()")
        session.execute(f"ALTER ROLE {embedded.ROLE} CREATEDB")
        session.execute(f"GRANT {embedded.ROLE} TO {embedded.OWNER_ROLE}")
        # Rows are deleted after a test without a look at references, and from the append-only audit log.
        session.execute(f"GRANT SET ON PARAMETER session_replication_role TO {embedded.OWNER_ROLE}")
