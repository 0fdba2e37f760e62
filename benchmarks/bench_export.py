"""Export of a dataset to JSONL, against a server-side COPY (SELECT …) TO STDOUT of the same rows.

The baseline lets the server make a JSON object of every row (row_to_json) and writes to a file what
comes. For the curious, the same without JSON is printed too: the columns in COPY's own text form.
"""

import argparse
import json
import time
from pathlib import Path

from benchmarks.harness import print_comparison, run_measured, temporary_servers, write_turns

ROWS_SQL = """
SELECT s.session_id, t.turn_index, t.role, t.text, t.tags, s.persona_id, t.timestamp, t.metadata, t.extra
FROM datasets_app_session s JOIN datasets_app_turn t ON t.dataset_id = s.dataset_id AND t.session_id = s.id
ORDER BY t.session_id, t.turn_index
"""
BASELINE_QUERIES = {
    "baseline": f"COPY (SELECT row_to_json(x) FROM ({ROWS_SQL}) x) TO STDOUT "
    r"(FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')",
    "columns": f"COPY ({ROWS_SQL}) TO STDOUT",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--child", choices=[*BASELINE_QUERIES, "turns", "openai", "csv"], help=argparse.SUPPRESS
    )
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return run_child(given.child, given.out)
    with temporary_servers() as folder:
        write_turns(folder / "bench.jsonl", given.turns)
        import_turns(folder / "bench.jsonl")
        # Before anything of a dataset leaves, its texts are searched for personal data, once.
        first = run_child_process("turns", folder)["seconds"]
        print(f"export: the first one took {first:.1f} s, with the search for personal data")
        baseline: list[float] = []
        ours: list[float] = []
        memory: list[float] = []
        for _ in range(given.rounds):
            baseline.append(run_child_process("baseline", folder)["seconds"])
            result = run_child_process("turns", folder)
            ours.append(result["seconds"])
            memory.append(result["rss_mb"])
        print_comparison("export", given.turns, baseline, ours, 0.7)
        print(f"export: peak RSS {max(memory):.0f} MB")
        for other in ("columns", "openai", "csv"):
            result = run_child_process(other, folder)
            print(
                f"export, {other}: {given.turns / result['seconds']:,.0f} rows/s, {result['rss_mb']:.0f} MB"
            )
    return None


def run_child_process(variant: str, folder: Path) -> dict[str, float]:
    return run_measured("benchmarks.bench_export", "--child", variant, "--out", folder / "out")


def import_turns(path: Path) -> None:
    from datasets_app.importing.import_dataset import ImportSource, import_dataset

    import_dataset([ImportSource(path, path.name)], name="bench")


def run_child(variant: str, out: Path) -> None:
    import django

    django.setup()
    from django.db import connection

    from datasets_app.exporting.export_dataset import export_dataset
    from datasets_app.models import Dataset

    dataset = Dataset.objects.get()
    start = time.perf_counter()
    with out.open("wb") as file:
        if variant in BASELINE_QUERIES:
            with connection.cursor() as cursor, cursor.copy(BASELINE_QUERIES[variant]) as copy:
                for row in copy:
                    file.write(row)
        else:
            # In so many random words something may look like personal data.
            export_dataset(dataset, file, format=variant, override="The words are random.")
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
