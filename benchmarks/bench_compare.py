"""Difference of two releases, against json.loads of every line of both files.

Of the second file one session in a hundred has a changed text, every thousandth is gone and as many are new.
Both are gzipped, as releases are. Once for a tenth of the turns and once for all: how the time grows. Seconds
are of the processor, for others may use the machine meanwhile.
"""

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.harness import print_comparison, run_measured, write_turns

TURNS_PER_SESSION = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", choices=["baseline", "ours"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return run_child(given.child, given.folder)
    took = {turns: measure_comparison(turns, given.rounds) for turns in (given.turns // 10, given.turns)}
    print(
        f"compare: ten times the turns take {took[given.turns] / took[given.turns // 10]:.1f} times as long"
    )
    return None


def measure_comparison(turns: int, rounds: int) -> float:
    """Seconds, the median of some rounds."""
    with tempfile.TemporaryDirectory(prefix="alignmenter-bench-") as folder:
        write_releases(Path(folder), turns)
        baseline, ours, memory = [], [], []
        for _ in range(rounds):
            baseline.append(run_child_process("baseline", folder)["seconds"])
            result = run_child_process("ours", folder)
            ours.append(result["seconds"])
            memory.append(result["rss_mb"])
    print_comparison(f"compare, 2 x {turns:,} turns", 2 * turns, baseline, ours, 0.5)
    million = median(ours) / turns * 1e6
    print(f"compare: {million:.1f} s per million turns of each, peak RSS {max(memory):.0f} MB")
    return median(ours)


def run_child_process(variant: str, folder: str) -> dict[str, float]:
    return run_measured("benchmarks.bench_compare", "--child", variant, "--folder", folder)


def write_releases(folder: Path, turns: int) -> None:
    plain = folder / "plain.jsonl"
    write_turns(plain, turns, turns_per_session=TURNS_PER_SESSION)
    with plain.open() as lines, open_gzip(folder / "a") as one, open_gzip(folder / "b") as other:
        for number, line in enumerate(lines):
            session, index = divmod(number, TURNS_PER_SESSION)
            # As the application writes it: without spaces.
            turn = json.loads(line)
            one.write(encode_turn(turn))
            if session % 1000 == 7:
                turn["session_id"] = f"new-{session}"
            elif session % 100 == 3 and index == 1:
                turn["text"] += " Corrected."
            other.write(encode_turn(turn))


def open_gzip(path: Path) -> gzip.GzipFile:
    return gzip.GzipFile(path, "wb", compresslevel=6, mtime=0)


def encode_turn(turn: object) -> bytes:
    return json.dumps(turn, separators=(",", ":")).encode() + b"\n"


def run_child(variant: str, folder: Path) -> None:
    from datasets_app.domain.releases.comparison import compare_files

    def lines_of(name: str) -> Callable[[], Iterator[bytes]]:
        def lines() -> Iterator[bytes]:
            with gzip.open(folder / name, "rb") as file:
                yield from file

        return lines

    start = time.process_time()
    if variant == "baseline":
        for name in "ab":
            for line in lines_of(name)():
                json.loads(line)
    else:
        found = compare_files(lines_of("a"), lines_of("b"))
        assert found.sessions_changed
        assert found.sessions_added == found.sessions_removed
    print(json.dumps({"seconds": time.process_time() - start}))


if __name__ == "__main__":
    main()
