"""Import into the indexed tables, against a bare COPY of the same rows into the same tables.

The baseline is given its rows ready in COPY's own text form, so that it does nothing but send
them; ours reads the JSONL, checks every line, and sends. Each round empties the tables first.
"""

import argparse
import json
import time
from pathlib import Path

from benchmarks.harness import (
    create_partitions,
    drop_partitions,
    print_comparison,
    run_measured,
    temporary_servers,
    write_turns,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000)
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
    return None


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
    """Import once, and keep the rows as COPY writes them."""
    from django.db import connection

    import_file(path)
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
