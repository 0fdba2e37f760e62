"""Loaded before the settings are: every process of a run has PostgreSQL and Valkey of its own, then gone.

What one test deletes from a server's disk, or from the folder of files, is then never another's.

With DATABASE_URL set, the tests use that server, and databases of their own there. A REDIS_URL is left
alone; ALIGNMENTER_TEST_REDIS_URL names a Redis for tests, whose ``rq:*`` keys are deleted.
"""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

# Nothing that is imported or collected is garbage, but all of it would be searched again and again.
gc.disable()

from alignmenter_site import embedded  # noqa: E402

# What tests start shares the folder of the process that starts it; the processes of a run don't.
VAR_DIR_NAME = f"ALIGNMENTER_TEST_VAR_DIR_{os.environ.get('PYTEST_XDIST_WORKER', '')}"

# Free memory from which on the servers of a run, three or four, keep their files there.
MEMORY_BYTES = 12 << 30


def _get_var_dir() -> Path:
    if given := os.environ.get(VAR_DIR_NAME):
        return Path(given)
    made = Path(tempfile.mkdtemp(prefix="alignmenter-tests-", dir=_memory()))
    made.chmod(0o711)  # so that, as root, the server's own account can pass
    os.environ[VAR_DIR_NAME] = str(made)
    owner = os.getpid()
    atexit.register(lambda: _remove_var_dir(made) if os.getpid() == owner else None)
    return made


def _memory() -> str | None:
    """A folder in memory if there is plenty: the servers wait for the disk at every commit."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > MEMORY_BYTES
    return str(memory) if roomy and not os.environ.get("TMPDIR") else None


def _remove_var_dir(var_dir: Path) -> None:
    """The servers stop when the last process that uses them has ended, which is this one."""
    from alignmenter_site.embedded import client

    for lock in client._users_locks.values():
        os.close(lock)
    deadline = time.monotonic() + 20
    while any((var_dir / "run").glob("*/.s.PGSQL.*")) and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(0.5)
    shutil.rmtree(var_dir, ignore_errors=True)


VAR_DIR = _get_var_dir()
# That of the process that started this one to run tests, or its own.
RUN_DIR = Path(os.environ.get("ALIGNMENTER_TEST_VAR_DIR_", VAR_DIR))
os.environ["ALIGNMENTER_VAR_DIR"] = str(VAR_DIR)
# A run in the background of a shell ignores Ctrl-C, and so would the commands that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["ALIGNMENTER_HTTPS"] = "off"
# A server of the tests' own has two roles; on another one, they use the role of DATABASE_URL for everything.
os.environ.pop("ALIGNMENTER_OWNER_DATABASE_URL", None)
os.environ.setdefault("LOG_LEVEL", "WARNING")
# How full the disk of the machine is must not decide tests.
os.environ["ALIGNMENTER_MIN_FREE_BYTES"] = "0"
# As manage.py sets it. A second thread waits for a processor that another test has, thirty times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tests start over a hundred processes: each would compile the application anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
_redis_database = 8 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
# The queue's keys are deleted between tests: never those of a server that is in use (REDIS_URL).
if given := os.environ.get("ALIGNMENTER_TEST_REDIS_URL"):
    os.environ["REDIS_URL"] = given
else:
    os.environ["REDIS_URL"] = f"{embedded.valkey_url(VAR_DIR)}?db={_redis_database}"
