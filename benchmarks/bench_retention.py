"""Deleting a dataset of 100,000 and of 1,000,000 turns, against a bare DELETE of the same rows in SQL.

The baseline deletes the turns and sessions by five statements, as an administrator would; ours counts them,
deletes labels, empties the dataset's partitions, writes the certificate, and has the old versions leave the
disk, which is measured apart (it rewrites what is left, which here is nothing).
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import run_measured, temporary_servers, write_turns

BARE_STATEMENTS = (
    "DELETE FROM datasets_app_turn WHERE dataset_id = %s",
    "DELETE FROM datasets_app_session WHERE dataset_id = %s",
    "DELETE FROM datasets_app_sourcefile WHERE dataset_id = %s",
    "DELETE FROM datasets_app_outgoingevent WHERE dataset_id = %s",
    "DELETE FROM datasets_app_datasetpartition WHERE dataset_id = %s",
    "DELETE FROM datasets_app_dataset WHERE id = %s",
)
MAX_GROWTH = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--child", choices=["bare", "ours"], help=argparse.SUPPRESS)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return run_child(given.child, given.name)
    sizes = (given.turns // 10, given.turns)
    seconds: dict[int, float] = {}
    with temporary_servers() as folder:
        for turns in sizes:
            write_turns(folder / "bench.jsonl", turns)
            with_ours, with_bare = (
                _measure_deletion(folder / "bench.jsonl", what) for what in ("ours", "bare")
            )
            seconds[turns] = with_ours["deleting"]
            print(
                f"retention of {turns:,} turns: bare DELETE {with_bare['seconds']:.1f} s, ours "
                f"{with_ours['deleting']:.1f} s ({1e6 * with_ours['deleting'] / turns:.1f} s per million), "
                f"traces {with_ours['traces']:.1f} s, peak RSS {with_ours['rss_mb']:.0f} MB"
            )
    growth = seconds[sizes[1]] / seconds[sizes[0]]
    print(f"retention: ten times the turns take {growth:.1f} times as long (wanted: at most {MAX_GROWTH})")
    return None


def _measure_deletion(path: Path, variant: str) -> dict[str, float]:
    name = f"{variant}-{path.stat().st_size}"
    _import_turns(path, name)
    return run_measured("benchmarks.bench_retention", "--child", variant, "--name", name)


def _import_turns(path: Path, name: str) -> None:
    from datasets_app.importing.import_dataset import ImportSource, import_dataset

    import_dataset([ImportSource(path, path.name)], name=name)


def run_child(variant: str, name: str) -> None:
    import django

    django.setup()
    from datasets_app.models import Dataset

    dataset = Dataset.objects.get(name=name)
    start = time.perf_counter()
    facts = _delete_with_sql(dataset) if variant == "bare" else _delete_with_operation(dataset)
    print(json.dumps({"seconds": time.perf_counter() - start, **facts}))


def _delete_with_sql(dataset: Any) -> dict[str, float]:
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        for statement in BARE_STATEMENTS:
            cursor.execute(statement, [dataset.pk])
    return {}


def _delete_with_operation(dataset: Any) -> dict[str, float]:
    from datasets_app.retention import apply

    spent = 0.0
    real = apply.remove_traces

    def timed(*arguments: Any, **more: Any) -> list[str]:
        nonlocal spent
        start = time.perf_counter()
        left = real(*arguments, **more)
        spent = time.perf_counter() - start
        return left

    apply.remove_traces = timed
    start = time.perf_counter()
    apply.apply_retention(dataset=dataset, reason="a benchmark")
    return {"deleting": time.perf_counter() - start - spent, "traces": spent}


if __name__ == "__main__":
    main()
