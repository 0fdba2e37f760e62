"""What the benchmarks share: servers of their own, data, and the measuring of a child process."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from alignmenter_site import embedded
from alignmenter_site.embedded import locks
from alignmenter_site.embedded.places import ServicePaths

PROJECT = Path(__file__).resolve().parent.parent
# None of them announces the number behind it, which would be personal data.
VOCABULARY = """
the a of and to in is it you that for on with as are be at this have from or had by word but not
what all were we when your can said there use an each which she do how their if will up other about
out many then them these so some her would make like him into time has look two more write go see
no way could people my than first water been who oil its now find long down day did get
come made part delivery refund invoice reset service update
payment shipping support
"""
WORDS = VOCABULARY.split()
# The variable of the environment with the folder of a migrated database to copy.
MIGRATED = "BENCHMARKS_MIGRATED_DATABASE"
STOP_TIMEOUT_SECONDS = 60.0


@contextmanager
def temporary_servers() -> Iterator[Path]:
    """A folder with PostgreSQL and Valkey of this run, migrated; all gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="alignmenter-bench-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)
        var_dir = Path(folder, "var")
        if migrated := os.environ.get(MIGRATED):
            var_dir.mkdir(mode=0o711)
            # Unlike shutil.copytree it keeps the owner, who is not root.
            subprocess.run(["cp", "-a", migrated, var_dir], check=True)
        _migrate(var_dir)
        yield Path(folder)


@contextmanager
def migrated_once() -> Iterator[None]:
    """The :func:`temporary_servers` of processes started within copy a database that is migrated here."""
    with tempfile.TemporaryDirectory(prefix="alignmenter-bench-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)
        var_dir = Path(folder, "var")
        subprocess.run([sys.executable, "-m", "benchmarks.harness", var_dir], cwd=PROJECT, check=True)
        # The server stops after the process that used it.
        stopped = locks.acquire_within(var_dir / "run" / "keeper.lock", STOP_TIMEOUT_SECONDS)
        if stopped is None:
            sys.exit("The server with the migrated database has not stopped.")
        os.close(stopped)
        os.environ[MIGRATED] = str(ServicePaths.from_var_dir(var_dir).postgres)
        yield


def _migrate(var_dir: Path) -> None:
    os.environ["ALIGNMENTER_VAR_DIR"] = str(var_dir)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alignmenter_site.settings")
    os.environ.update(ALIGNMENTER_HTTPS="off", LOG_LEVEL="WARNING")
    for given in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(given, None)
    import django
    from django.core.management import call_command

    # As the owner, because benchmarks empty and change tables.
    embedded.ensure_postgres(var_dir)
    os.environ["DATABASE_URL"] = embedded.postgres_url(var_dir, embedded.OWNER_ROLE)
    django.setup()
    call_command("migrate", verbosity=0)


def create_partitions(cursor: Any) -> None:
    """For every dataset without them, with all indexes."""
    cursor.execute(
        "SELECT datasets_app_create_partition(id), datasets_app_attach_partition(id) "
        "FROM datasets_app_dataset d "
        "WHERE NOT EXISTS (SELECT FROM datasets_app_datasetpartition p WHERE p.dataset_id = d.id)"
    )


def drop_partitions() -> None:
    """Of all datasets, with what is in them."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid "
            "WHERE inhparent IN ('datasets_app_session'::regclass, 'datasets_app_turn'::regclass) "
            "AND c.relkind = 'r'"
        )
        for (name,) in sorted(cursor.fetchall(), reverse=True):
            cursor.execute(f"DROP TABLE {name}")


def write_turns(path: Path, count: int, *, turns_per_session: int = 6) -> None:
    """A conversation file of about 330 bytes a line, with tags, timestamps and metadata."""
    chance = random.Random(42)
    with path.open("w") as file:
        for number in range(count):
            session, index = divmod(number, turns_per_session)
            line = {
                "session_id": f"session-{session:08d}",
                "turn_index": index + 1,
                "role": "assistant" if index % 2 else "user",
                # Beyond the numbers that could be a year of birth.
                "text": " ".join(chance.choices(WORDS, k=chance.randint(5, 45))) + f" {10_000 + number}.",
                "tags": [f"scenario:{WORDS[session % 7]}"],
                "persona_id": "default_v1",
                "timestamp": f"2025-11-{session % 28 + 1:02d}T14:{index:02d}:00Z",
                "metadata": {"model": "recorded", "temperature": 0.2},
            }
            file.write(json.dumps(line) + "\n")


def run_measured(module: str, *arguments: Any) -> dict[str, float]:
    """Run ``python -m module arguments`` and give what it prints as JSON, with its peak RSS in MB."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)], stdout=subprocess.PIPE, cwd=PROJECT
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{module} {' '.join(map(str, arguments))} failed")
    kilobytes = usage.ru_maxrss if sys.platform != "darwin" else usage.ru_maxrss / 1024
    result: dict[str, float] = json.loads(printed.splitlines()[-1])
    return result | {"rss_mb": kilobytes / 1024}


def time_call(function: Any) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def print_comparison(
    name: str, rows: int, baseline: list[float], measured: list[float], target: float
) -> None:
    """Print both rates and the ratio of the medians."""
    ratio = median(baseline) / median(measured)
    print(
        f"{name}: baseline {rows / median(baseline):,.0f} rows/s, ours {rows / median(measured):,.0f} rows/s"
    )
    print(f"{name}: ratio {ratio:.2f} (wanted: at least {target})")


if __name__ == "__main__":
    _migrate(Path(sys.argv[1]))
