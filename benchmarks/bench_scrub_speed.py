"""Finding personal data, and scrubbing, against presidio text by text with the same detectors.

    python -m benchmarks.bench_scrub_speed [--data ../shared/data/sgd_dev.jsonl.gz] [--rounds 3]

Both paths read all turns in the same run, block by block in turns, on one core, measured in CPU time:
plain is ``AnalyzerEngine.analyze`` for each text, with our recognizers and our name model registered;
ours is what the scrubber calls, batch by batch, which looks at texts that repeat once. For the sake of
honesty the ratio is also given over distinct texts alone. What both find must be identical.

Beside it stands presidio with its own predefined recognizers for our classes (identity numbers of all
countries, IBANs, wallets, cards, telephone numbers …) and our name model, over the first texts. Its findings
are its own.

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

from benchmarks.dialogues import make_turns, read_turns
from benchmarks.harness import PROJECT
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.batches import SCRUB, ScrubSetup, make_batch_worker, split_batches
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import Match, merge_matches
from datasets_app.domain.pii.policy import Policy

DATA_FILE = PROJECT.parent / "shared" / "data" / "sgd_dev.jsonl.gz"
MIN_RATIO, MIN_TWO_PROCESS_RATIO = 10.0, 1.7
MIN_BATCHES = 10  # shared by two processes: of fewer, one may have a third more than the other
BLOCK_SIZE = 1000  # texts of one path, then the same of the other
PREDEFINED_TEXTS = 2000  # distinct ones, for presidio with its own recognizers
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
HASH_KEY = b"a key for measurements only"


class CpuSeconds(NamedTuple):
    """CPU time of a round, for all texts and for the first of each that repeats."""

    plain: float
    plain_distinct: float
    ours: float
    ours_distinct: float


class ScrubTiming(NamedTuple):
    """``seconds`` by the clock, ``cpu_seconds`` of the process that took the most."""

    turns: int
    seconds: float
    cpu_seconds: float
    rss_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA_FILE, help="conversation JSONL, gzip or not")
    parser.add_argument("--turns", type=int, help="the first so many only")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    # One core is one core: numpy, which is not loaded yet, reads these, and child processes inherit them.
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    if not given.data.exists():
        print(f"{given.data.name} is not there: made-up conversations instead, which no figure is wanted of")
    turns = load_turns(given.data, given.turns)
    texts = [turn.text for turn in turns]
    print(
        f"{len(texts):,} turns, {len(set(texts)):,} distinct texts, "
        f"{mean_characters(texts):.0f} characters each"
    )
    differing = report_detection(texts, given.rounds)
    report_predefined(list(dict.fromkeys(texts))[:PREDEFINED_TEXTS])
    report_scrubbing(given.data, given.turns, given.rounds)
    if differing:
        sys.exit(f"the two paths differ in {differing:,} texts")


def load_turns(path: Path, limit: int | None) -> list[TurnRecord]:
    return read_turns(path, limit) if path.exists() else make_turns(limit or 20_000)


def mean_characters(texts: Sequence[str]) -> float:
    return sum(map(len, texts)) / len(texts)


# --- finding -----------------------------------------------------------------------------------


def report_detection(texts: Sequence[str], rounds: int) -> int:
    """Print both ratios; how many texts the paths differ in."""
    results = [compare_round(texts) for _ in range(rounds)]
    took = CpuSeconds(*(median(values) for values in zip(*(taken for taken, _ in results), strict=True)))
    for name, count, plain, ours in (
        ("whole file", len(texts), took.plain, took.ours),
        ("distinct texts", len(set(texts)), took.plain_distinct, took.ours_distinct),
    ):
        print(
            f"finding, {name}: presidio {count / plain:,.0f} texts/s, ours {count / ours:,.0f} texts/s, "
            f"ratio {plain / ours:.1f}" + (f" (wanted: at least {MIN_RATIO})" if count == len(texts) else "")
        )
    differing = max(count for _, count in results)
    print("finding: identical findings" if not differing else f"finding: {differing:,} texts DIFFER")
    return differing


def compare_round(texts: Sequence[str]) -> tuple[CpuSeconds, int]:
    """One round, and how many texts differ. Nothing is remembered from the round before but words."""
    from datasets_app.domain.pii.presidio import LANGUAGE, convert_results, make_analyzer_engine

    analyze = partial(make_analyzer_engine().analyze, language=LANGUAGE)
    whole, once = Detection(Policy(), HASH_KEY), Detection(Policy(), HASH_KEY)
    expected: dict[str, list[Match]] = {}
    taken = []
    differing = 0
    for start in range(0, len(texts), BLOCK_SIZE):
        block = texts[start : start + BLOCK_SIZE]
        new = [text for text in dict.fromkeys(block) if text not in expected]
        again = list(block)
        for text in new:
            again.remove(text)
        found, ours = time_call(whole.find_many, [DetectionInput(text) for text in block])
        first, plain_new = time_call(lambda given: list(map(analyze, given)), new)
        _, plain_again = time_call(lambda given: list(map(analyze, given)), again)
        _, ours_new = time_call(once.find_many, [DetectionInput(text) for text in new])
        taken.append((plain_new + plain_again, plain_new, ours, ours_new))
        expected.update(zip(new, map(convert_results, first), strict=True))
        pairs = zip(block, found, strict=True)
        differing += sum(
            match_positions(merge_matches(matches)) != match_positions(expected[text])
            for text, matches in pairs
        )
    return CpuSeconds(*map(sum, zip(*taken, strict=True))), differing


def report_predefined(texts: Sequence[str]) -> None:
    from datasets_app.domain.pii.presidio import LANGUAGE

    engine = make_predefined_engine()
    analyze = partial(engine.analyze, language=LANGUAGE)
    inputs = [DetectionInput(text) for text in texts]
    analyze(texts[0])
    Detection(Policy(), HASH_KEY).find_many(inputs)  # words are remembered, as after the rounds before
    _, theirs = time_call(lambda given: list(map(analyze, given)), texts)
    _, taken = time_call(Detection(Policy(), HASH_KEY).find_many, inputs)
    print(
        f"finding, presidio with its {len(engine.registry.recognizers)} own recognizers: "
        f"{len(texts) / theirs:,.0f} texts/s, ours {len(texts) / taken:,.0f}, ratio {theirs / taken:.1f}"
    )


def make_predefined_engine() -> Any:
    """Presidio with every recognizer it has for our classes, whatever its language, and our name model.

    Without those of e-mail and web addresses, which fetch a list from the network.
    """
    from presidio_analyzer import (
        AnalyzerEngine,
        PatternRecognizer,
        RecognizerRegistry,
        predefined_recognizers,
    )

    from datasets_app.domain.pii.presidio import LANGUAGE, make_name_recognizer, make_nlp_engine

    left_out = ("EmailRecognizer", "UrlRecognizer", "DateRecognizer", "UuidRecognizer")
    recognizers: list[Any] = [make_name_recognizer(), predefined_recognizers.PhoneRecognizer()]
    for name in dir(predefined_recognizers):
        recognizer = getattr(predefined_recognizers, name)
        if name.endswith("Recognizer") and name not in left_out and issubclass(recognizer, PatternRecognizer):
            recognizers.append(recognizer(supported_language=LANGUAGE))
    registry = RecognizerRegistry(recognizers, supported_languages=[LANGUAGE])
    return AnalyzerEngine(registry, make_nlp_engine(), supported_languages=[LANGUAGE])


def time_call(function: Callable[[Any], Any], argument: Any) -> tuple[Any, float]:
    start = time.process_time()
    result = function(argument)
    return result, time.process_time() - start


def match_positions(matches: Sequence[Match]) -> list[tuple[str, int, int]]:
    return [(match.kind, match.start, match.end) for match in matches]


# --- scrubbing ---------------------------------------------------------------------------------


def report_scrubbing(path: Path, limit: int | None, rounds: int) -> None:
    batches = sum(1 for _ in split_batches(load_turns(path, limit))) - 1
    one = [measure_scrubbing(path, limit, 1) for _ in range(rounds)]
    rate = median(result.turns / result.seconds for result in one)
    print(f"scrubbing whole sessions: {rate:,.0f} turns/s in one process")
    if batches < MIN_BATCHES:
        print(f"scrubbing: {batches} batches are too few for two processes (at least {MIN_BATCHES})")
    else:
        two = [measure_scrubbing(path, limit, 2) for _ in range(rounds)]
        shared_rate = median(result.turns / result.seconds for result in two)
        print(
            f"scrubbing: two processes {shared_rate / rate:.2f} × one "
            f"(wanted: at least {MIN_TWO_PROCESS_RATIO}), {shared_rate:,.0f} turns/s"
        )
        alone, shared = (median(result.cpu_seconds for result in results) for results in (one, two))
        print(f"scrubbing: by CPU time {alone / shared:.2f} ×")
    print(f"scrubbing: load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, ours included")
    print(f"scrubbing: peak RSS {max(result.rss_mb for result in one):.0f} MB a process")


def measure_scrubbing(path: Path, limit: int | None, processes: int) -> ScrubTiming:
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
    return ScrubTiming(sum(turns), max(ended) - min(started), max(cpu), max(memory))


def scrub_share(path: Path, limit: int | None, number: int, processes: int, ready: Any, results: Any) -> None:
    work = make_batch_worker(ScrubSetup(Policy(), HASH_KEY))
    first, *others = split_batches(load_turns(path, limit))
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
