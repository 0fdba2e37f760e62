"""Finding personal data, and scrubbing, against presidio text by text with the same detectors.

    python -m benchmarks.bench_scrub_speed [--data ../shared/data/sgd_dev.jsonl.gz] [--rounds 3]

Both paths read all turns in the same run, block by block in turns, on one core, measured in CPU time:
plain is ``AnalyzerEngine.analyze`` for each text, with our recognizers and our name model registered;
ours is what the scrubber calls, batch by batch, which looks at texts that repeat once. For the sake of
honesty the ratio is also given over distinct texts alone. What both find must be identical.

Then whole sessions through the scrubber, by one process and by two, by the clock.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.dialogues import made_up, turns_of
from benchmarks.harness import PROJECT
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.batches import SCRUB, Setup, batches, begin
from datasets_app.domain.pii.detection import Asked, Detection
from datasets_app.domain.pii.detector import Match, union
from datasets_app.domain.pii.policy import Policy

DATA = PROJECT.parent / "shared" / "data" / "sgd_dev.jsonl.gz"
WANTED, WANTED_OF_TWO = 5.0, 1.7
BLOCK = 1000  # texts of one path, then the same of the other
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
KEY = b"a key for measurements only"


class Seconds(NamedTuple):
    """CPU time of a round, for all texts and for the first of each that repeats."""

    plain: float
    plain_distinct: float
    ours: float
    ours_distinct: float


class Scrubbed(NamedTuple):
    """``seconds`` by the clock, ``cpu_seconds`` of the process that took the most."""

    turns: int
    seconds: float
    cpu_seconds: float
    rss_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="conversation JSONL, gzip or not")
    parser.add_argument("--turns", type=int, help="the first so many only")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    # One core is one core: numpy, which is not loaded yet, reads these, and child processes inherit them.
    os.environ.update(dict.fromkeys(THREADS, "1"))
    if not given.data.exists():
        print(f"{given.data.name} is not there: made-up conversations instead, which no figure is wanted of")
    turns = read(given.data, given.turns)
    texts = [turn.text for turn in turns]
    print(
        f"{len(texts):,} turns, {len(set(texts)):,} distinct texts, {characters(texts):.0f} characters each"
    )
    differing = tell_detection(texts, given.rounds)
    tell_scrubbing(given.data, given.turns, given.rounds)
    if differing:
        sys.exit(f"the two paths differ in {differing:,} texts")


def read(path: Path, limit: int | None) -> list[TurnRecord]:
    return turns_of(path, limit) if path.exists() else made_up(limit or 20_000)


def characters(texts: Sequence[str]) -> float:
    return sum(map(len, texts)) / len(texts)


# --- finding -----------------------------------------------------------------------------------


def tell_detection(texts: Sequence[str], rounds: int) -> int:
    """Print both ratios; how many texts the paths differ in."""
    results = [compared(texts) for _ in range(rounds)]
    took = Seconds(*(median(values) for values in zip(*(taken for taken, _ in results), strict=True)))
    for name, count, plain, ours in (
        ("whole file", len(texts), took.plain, took.ours),
        ("distinct texts", len(set(texts)), took.plain_distinct, took.ours_distinct),
    ):
        print(
            f"finding, {name}: presidio {count / plain:,.0f} texts/s, ours {count / ours:,.0f} texts/s, "
            f"ratio {plain / ours:.1f}" + (f" (wanted: at least {WANTED})" if count == len(texts) else "")
        )
    differing = max(count for _, count in results)
    print("finding: identical findings" if not differing else f"finding: {differing:,} texts DIFFER")
    return differing


def compared(texts: Sequence[str]) -> tuple[Seconds, int]:
    """One round, and how many texts differ. Nothing is remembered from the round before but words."""
    from datasets_app.domain.pii.presidio import LANGUAGE, analyzer_engine, found_by

    analyze = partial(analyzer_engine().analyze, language=LANGUAGE)
    whole, once = Detection(Policy(), KEY), Detection(Policy(), KEY)
    expected: dict[str, list[Match]] = {}
    taken = []
    differing = 0
    for start in range(0, len(texts), BLOCK):
        block = texts[start : start + BLOCK]
        new = [text for text in dict.fromkeys(block) if text not in expected]
        again = list(block)
        for text in new:
            again.remove(text)
        found, ours = timed(whole.find_many, [Asked(text) for text in block])
        first, plain_new = timed(lambda given: list(map(analyze, given)), new)
        _, plain_again = timed(lambda given: list(map(analyze, given)), again)
        _, ours_new = timed(once.find_many, [Asked(text) for text in new])
        taken.append((plain_new + plain_again, plain_new, ours, ours_new))
        expected.update(zip(new, map(found_by, first), strict=True))
        pairs = zip(block, found, strict=True)
        differing += sum(places(union(matches)) != places(expected[text]) for text, matches in pairs)
    return Seconds(*map(sum, zip(*taken, strict=True))), differing


def timed(function: Callable[[Any], Any], argument: Any) -> tuple[Any, float]:
    start = time.process_time()
    result = function(argument)
    return result, time.process_time() - start


def places(matches: Sequence[Match]) -> list[tuple[str, int, int]]:
    return [(match.kind, match.start, match.end) for match in matches]


# --- scrubbing ---------------------------------------------------------------------------------


def tell_scrubbing(path: Path, limit: int | None, rounds: int) -> None:
    one, two = [], []
    for _ in range(rounds):
        one.append(scrubbing(path, limit, 1))
        two.append(scrubbing(path, limit, 2))
    rates = [median(result.turns / result.seconds for result in results) for results in (one, two)]
    print(f"scrubbing whole sessions: {rates[0]:,.0f} turns/s, two processes {rates[1]:,.0f} turns/s")
    print(f"scrubbing: two processes {rates[1] / rates[0]:.2f} × one (wanted: at least {WANTED_OF_TWO})")
    alone, shared = (median(result.cpu_seconds for result in results) for results in (one, two))
    print(f"scrubbing: by CPU time {alone / shared:.2f} ×")
    print(f"scrubbing: load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, ours included")
    print(f"scrubbing: peak RSS {max(result.rss_mb for result in one):.0f} MB a process")


def scrubbing(path: Path, limit: int | None, processes: int) -> Scrubbed:
    """All sessions but a first batch, which loads models and words, through so many processes."""
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(processes), context.Queue()
    children = [
        context.Process(target=scrub_share, args=(path, limit, number, processes, ready, results))
        for number in range(processes)
    ]
    for child in children:
        child.start()
    told = [results.get() for _ in children]
    for child in children:
        child.join()
    turns, started, ended, cpu, memory = zip(*told, strict=True)
    return Scrubbed(sum(turns), max(ended) - min(started), max(cpu), max(memory))


def scrub_share(path: Path, limit: int | None, number: int, processes: int, ready: Any, results: Any) -> None:
    work = begin(Setup(Policy(), KEY))
    first, *others = batches(read(path, limit))
    share = others[number::processes]
    work((SCRUB, first))
    ready.wait()
    start, cpu = time.monotonic(), time.process_time()
    for batch in share:
        work((SCRUB, batch))
    end, cpu = time.monotonic(), time.process_time() - cpu
    results.put((sum(map(len, share)), start, end, cpu, peak_rss()))


def peak_rss() -> float:
    """In megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 2**20


if __name__ == "__main__":
    main()
