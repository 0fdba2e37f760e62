"""A split of files, near-duplicates and all: seconds a million sessions, growth, memory; and of a dataset.

    python -m benchmarks.bench_split [--sessions 100000] [--rounds 3]

The sessions are those of the offline writer, six turns each: templates, which is the hard case, as many of
them look alike and few are. The baseline, in the same run, is reading the file, parsing its lines and taking
the SHA-256 of its texts: what anybody must do who looks at every word once. Files are timed in seconds of the
processors, all processes together, which other work on the machine changes little. Wanted: ten times the
sessions in at most twelve times the time. A dataset is timed by the clock; wanted with two processors: at
most 120 s a million sessions.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.harness import PROJECT, run_measured, temporary_servers, time_call

MAX_GROWTH, MAX_SECONDS_A_MILLION = 12, 120
NO_DATABASE_ENVIRONMENT = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}


def generate_file(path: Path, sessions: int) -> None:
    command = [sys.executable, "manage.py", "bootstrap_dataset", "--out", path, "--seed", "7"]
    arguments = ["--sessions", str(sessions), "--persona-id", "default_v1"]
    subprocess.run(
        [*command, *arguments],
        cwd=PROJECT,
        env=os.environ | NO_DATABASE_ENVIRONMENT,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def time_baseline(path: Path) -> float:
    """Its seconds."""
    started = time.process_time()
    digest = hashlib.sha256()
    with path.open() as file:
        for line in file:
            digest.update(json.loads(line)["text"].encode())
    return time.process_time() - started


def measure_file_split(path: Path, sessions: int) -> dict[str, float]:
    """In a process of its own, so that its memory is its own."""
    return run_measured("benchmarks.bench_split", "--split", path, "--sessions", sessions)


def run_child(path: Path) -> None:
    """What the child process does; it prints its seconds as JSON."""
    import django

    django.setup()
    from datasets_app.domain.conversations.reading import ConversationFile
    from datasets_app.splitting.split_file import split_file

    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        started = sum(os.times()[:4])
        done = split_file(ConversationFile(path), Path(folder))
        took = sum(os.times()[:4]) - started
    pairs = done.decision.report["near_duplicate_pairs"]
    print(json.dumps({"seconds": took, "pairs": pairs, "leaks": done.decision.report["leaking_pairs"]}))


def time_dataset_split(path: Path) -> float:
    """Into a dataset and split there: seconds of the split alone."""
    from datasets_app.importing.import_dataset import ImportSource, import_dataset
    from datasets_app.models import Dataset
    from datasets_app.splitting.split_dataset import split_dataset

    import_dataset([ImportSource(path, path.name)], name="bench", origin="synthetic")
    return time_call(lambda: split_dataset(Dataset.objects.get(name="bench")))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--split", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.split:
        run_child(given.split)
        return
    with temporary_servers() as folder:
        medians = {}
        for sessions in (given.sessions // 10, given.sessions):
            path = folder / f"{sessions}.jsonl"
            generate_file(path, sessions)
            plain, ours = [], []
            for _ in range(given.rounds):
                plain.append(time_baseline(path))
                ours.append(measure_file_split(path, sessions))
            medians[sessions] = median(run["seconds"] for run in ours)
            print(
                f"split_file, {sessions:,} sessions: {medians[sessions]:.1f} s, "
                f"{medians[sessions] / sessions * 1e6:,.0f} s a million, "
                f"{medians[sessions] / median(plain):.1f} times the baseline, "
                f"{max(run['rss_mb'] for run in ours):.0f} MB; {ours[0]['pairs']:,} near-duplicate pairs, "
                f"{ours[0]['leaks']} leaks"
            )
        growth = medians[given.sessions] / medians[given.sessions // 10]
        print(f"ten times the sessions: {growth:.1f} times the time (wanted: at most {MAX_GROWTH})")
        seconds = time_dataset_split(path)
        print(
            f"split_dataset, {given.sessions:,} sessions: {seconds:.1f} s, "
            f"{seconds / given.sessions * 1e6:,.0f} s a million (wanted: at most {MAX_SECONDS_A_MILLION})"
        )


if __name__ == "__main__":
    main()
