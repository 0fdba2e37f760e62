"""Import into the indexed tables, against a bare COPY of the same rows into the same tables.

    python -m benchmarks.bench_import [--turns 1000000] [--typed 400000] [--data FILE]

The baseline is given its rows ready in COPY's own text form, so that it does nothing but send
them; ours reads the JSONL, checks every line, and sends. Each round empties the tables first.

Then as people have it: ``manage.py import_dataset`` from start to end on real dialogues (the file's over and
over), which searches the text for personal data as well; and again while a worker runs, which then does that.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from benchmarks.dialogues import read_turns
from benchmarks.harness import (
    PROJECT,
    create_partitions,
    drop_partitions,
    print_comparison,
    run_measured,
    temporary_servers,
    write_turns,
)
from datasets_app.domain.conversations.jsonl import encode_turn

MAX_START_SECONDS = 60
DIALOGUES = PROJECT.parent / "shared" / "data" / "sgd_dev.jsonl.gz"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--typed", type=int, default=400_000, help="turns for the whole command")
    parser.add_argument("--data", type=Path, default=DIALOGUES, help="their conversations, gzip or not")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return import_file(given.child)
    with temporary_servers() as folder:
        small, large = folder / "small.jsonl", folder / "large.jsonl"
        write_turns(small, given.turns // 10)
        write_turns(large, given.turns)
        baseline: list[float] = []
        ours: list[float] = []
        memory: list[float] = []
        export_rows(large, folder)
        for _ in range(given.rounds):
            truncate_tables()
            baseline.append(time_bare_copy(folder))
            truncate_tables()
            result = run_measured("benchmarks.bench_import", "--child", large)
            ours.append(result["seconds"])
            memory.append(result["rss_mb"])
        truncate_tables()
        little = run_measured("benchmarks.bench_import", "--child", small)["rss_mb"]
        print_comparison("import", given.turns, baseline, ours, 0.75)
        print(
            f"import: peak RSS {max(memory):.0f} MB for {given.turns:,} turns, {little:.0f} MB for a tenth "
            "(wanted: under 300, flat)"
        )
        if given.data.exists():
            for has_worker in (False, True):
                report_command(given.data, given.typed, given.rounds, folder, has_worker)
        else:
            print(f"import as typed: not measured, {given.data.name} is not there")
    return None


def report_command(data: Path, turns: int, rounds: int, folder: Path, has_worker: bool) -> None:
    dialogues = folder / "dialogues.jsonl"
    written = write_dialogues(dialogues, data, turns)
    baseline, ours = [], []
    for _ in range(rounds):
        truncate_tables()
        with run_worker() if has_worker else nullcontext():
            ours.append(time_command(dialogues))
        save_rows(folder)
        truncate_tables()
        baseline.append(time_bare_copy(folder))
    name = "import as typed, a worker searches" if has_worker else "import as typed"
    print_comparison(name, written, baseline, ours, 0.5)


@contextmanager
def run_worker() -> Iterator[None]:
    from datasets_app.jobs.queue import worker_count

    command = [sys.executable, "manage.py", "worker"]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL) as worker:
        try:
            deadline = time.monotonic() + MAX_START_SECONDS
            while not worker_count():
                if worker.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit("the worker didn't start; run manage.py worker to see why")
                time.sleep(0.1)
            yield
        finally:
            worker.kill()  # as it searches now, which would slow the baseline


def write_dialogues(path: Path, data: Path, turns: int) -> int:
    """At least so many turns of real conversations; how many."""
    real = read_turns(data)
    copies = -(-turns // len(real))
    with path.open("wb") as file:
        for copy in range(copies):
            file.writelines(
                encode_turn(turn._replace(session_id=f"{copy}-{turn.session_id}")) for turn in real
            )
    return copies * len(real)


def time_command(path: Path) -> float:
    command = [sys.executable, "manage.py", "import_dataset", path, "--name", "bench", "--origin", "external"]
    start = time.perf_counter()
    subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def import_file(path: Path) -> None:
    import django

    django.setup()
    from datasets_app.importing.import_dataset import ImportSource, import_dataset

    start = time.perf_counter()
    import_dataset([ImportSource(path, path.name)], name="bench")
    print(json.dumps({"seconds": time.perf_counter() - start}))


def truncate_tables() -> None:
    from django.db import connection

    drop_partitions()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE datasets_app_dataset CASCADE")
        cursor.execute("CHECKPOINT") if _can_checkpoint(cursor) else None


def _can_checkpoint(cursor: object) -> bool:
    cursor.execute("SELECT pg_has_role(current_user, 'pg_checkpoint', 'MEMBER')")  # type: ignore[attr-defined]
    return bool(cursor.fetchone()[0])  # type: ignore[attr-defined]


def export_rows(path: Path, folder: Path) -> None:
    """Import once, and keep the rows."""
    import_file(path)
    save_rows(folder)


def save_rows(folder: Path) -> None:
    """Keep the rows of the tables as COPY writes them."""
    from django.db import connection

    for table in ("dataset", "session", "turn"):
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY (SELECT * FROM datasets_app_{table} ORDER BY id) TO STDOUT") as copy,
            (folder / table).open("wb") as file,
        ):
            for row in copy:
                file.write(row)


def time_bare_copy(folder: Path) -> float:
    from django.db import connection, transaction

    start = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        for table in ("dataset", "session", "turn"):
            if table == "session":
                create_partitions(cursor)
            with (
                cursor.copy(f"COPY datasets_app_{table} FROM STDIN") as copy,
                (folder / table).open("rb") as file,
            ):
                while block := file.read(1 << 16):
                    copy.write(block)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
