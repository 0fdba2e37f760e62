"""Offline generation: sessions a second and memory, and how varied the texts are beside those of others.

    python -m benchmarks.bench_generate [--sessions 1000 10000 100000] [--data FOLDER]

Each run is the command in a process of its own; its memory is its highest, its time is without the start-up
(that of a run of one session). The baseline is the smallest run: the larger ones should not be slower.

Variety is measured on assistant replies: how many repeat an earlier one, how many of all pairs of
neighbouring words are different pairs (distinct-2, of samples of the same number of words, as it falls with
length), and how long they are. FOLDER may hold other conversations to compare with, as JSONL with a role and
a text.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path

from benchmarks.harness import PROJECT

DEMO_FILE = PROJECT / "datasets_app" / "demo" / "demo_conversations.jsonl"
MIN_RATE_RATIO, MAX_MEMORY_RATIO = 0.8, 1.15
MAX_REPEAT_SHARE = 1 / 200
SAMPLE_WORD_COUNTS = (800, 20_000)
MAX_LINES = 50_000
WORD_PATTERN = re.compile(r"[\w']+")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument(
        "--data",
        type=Path,
        default=PROJECT.parent / "shared" / "data",
        help="folder of conversations to compare the texts with (default: ../shared/data)",
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-generate-") as folder:
        measure_speed(given.sessions, Path(folder))
        measure_variety(given.data, Path(folder))


def measure_speed(sizes: list[int], folder: Path) -> None:
    measured = []
    for size in sizes:
        seconds, megabytes = generate_sessions(folder / f"{size}.jsonl", size)
        measured.append((size / seconds, megabytes))
        print(
            f"generate, offline, {size:,} sessions: {size / seconds:,.0f} sessions/s, peak {megabytes:.0f} MB"
        )
        (folder / f"{size}.jsonl").unlink()
    (first_rate, first_memory), (last_rate, last_memory) = measured[0], measured[-1]
    ratio = last_rate / first_rate
    print(f"generate: rate of the largest to the smallest {ratio:.2f} (wanted: at least {MIN_RATE_RATIO})")
    print(
        f"generate: memory of the largest to the smallest {last_memory / first_memory:.2f} "
        f"(wanted: at most {MAX_MEMORY_RATIO})"
    )


def generate_sessions(out: Path, sessions: int) -> tuple[float, float]:
    """Seconds, and megabytes at the highest."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "bootstrap_dataset", "--out", out, "--sessions", str(sessions)],
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit("bootstrap_dataset failed")
    kilobytes = usage.ru_maxrss if sys.platform != "darwin" else usage.ru_maxrss / 1024
    return time.perf_counter() - started, kilobytes / 1024


def measure_variety(data: Path, folder: Path) -> None:
    few, many = SAMPLE_WORD_COUNTS
    print(f"{'':34}replies  repeats  distinct-2 of {few:,} / {many:,} words  length: 10 %, 50 %, 90 %")
    for size in (200, 2_000):
        out = folder / f"varied-{size}.jsonl"
        generate_sessions(out, size)
        counted = print_variety(f"generated, {size:,} sessions", list(read_replies(out)))
        verdict = "as wanted" if counted <= MAX_REPEAT_SHARE else "MORE THAN WANTED"
        print(f"{'':34}repeats {counted:.4f} of all (wanted: at most {MAX_REPEAT_SHARE:g}): {verdict}")
    print_variety("demonstration data", list(read_replies(DEMO_FILE)))
    if not data.is_dir():
        print("Other conversations: left out, there is no folder of them; name one with --data FOLDER.")
        return
    for path in sorted([*data.glob("*.jsonl"), *data.glob("*.jsonl.gz")]):
        found = list(islice(read_replies(path), MAX_LINES))
        if found:
            print_variety(path.name, found)
        else:
            print(f"{path.name}: left out, it has no assistant replies.")


def read_replies(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            turn = json.loads(line)
            if turn.get("role") == "assistant":
                yield turn["text"]


def print_variety(name: str, texts: list[str]) -> float:
    repeats = len(texts) - len(set(texts))
    lengths = sorted(len(WORD_PATTERN.findall(text)) for text in texts)
    low, middle, high = (lengths[int(share * (len(lengths) - 1))] for share in (0.1, 0.5, 0.9))
    first, second = (distinct_pair_share(texts, words) for words in SAMPLE_WORD_COUNTS)
    counts = f"{len(texts):>7,}  {repeats:>7,}"
    print(f"{name:34}{counts}  {first:>14} / {second:<22}  {low:>6}, {middle:>4}, {high:>4}")
    return repeats / len(texts)


def distinct_pair_share(texts: Iterable[str], word_count: int) -> str:
    """Different pairs by all pairs in the first ``wanted`` words, or a dash for fewer words."""
    pairs: Counter[tuple[str, str]] = Counter()
    words = 0
    for text in texts:
        found = WORD_PATTERN.findall(text.lower())
        pairs.update(pairwise(found))
        words += len(found)
        if words >= word_count:
            return f"{len(pairs) / pairs.total():.2f}"
    return "–"


if __name__ == "__main__":
    main()
