"""Validating a file with every check, against bare json.loads over the same lines.

    python -m benchmarks.bench_validate [--lines 1000000] [--rounds 3]

Prints the ratio of the two rates (1.0 would be as fast as json.loads alone), taken in the same run in turns,
and how much memory the largest process needed. The command searches large files on all cores, while
json.loads has one; validation in one process is shown beside it.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from benchmarks.harness import run_measured
from datasets_app.catalog.searching import estimate_turns, open_searching
from datasets_app.core.process_pool import available_cpus
from datasets_app.domain.quality.files import FileChecker

MIN_RATIO = 0.08
TURNS_PER_SESSION = 8
OPENINGS = (
    "Hi, I need some help with {thing}, please.",
    "Thanks for waiting! I have looked into {thing} for you.",
    "It’s about {thing} again: nothing has changed since we last spoke.",
    "Of course. Let me explain how {thing} works.",
)
DETAILS = (
    "It was ordered at {hour}:{minute:02d} and cost ${price}.{minute:02d} in all.",
    "The page at https://help.example.org/articles/{number} says something else.",
    "We would suggest that you restart it, wait {minute} seconds and try once more.",
    "There are {minute} steps: first the settings, then the account; that is all.",
    "Our records show order {number}, sent on 2025-{month:02d}-{day:02d}.",
    "The update to version {month}.{day} should have been installed automatically by now.",
    "I am really sorry for the trouble, and I understand how frustrating this must be.",
    "Could you tell me a little more about what happened before the message was shown?",
)
# What makes nearly every text its own: hundreds of thousands of endings.
WORDS = (
    "account address agent answer battery button camera carrier charge color computer contract cover "
    "device display driver email error filter folder garden gift history install keyboard label letter "
    "manual member memory mirror mobile monitor network notice number office package parcel partner "
    "password payment picture plan policy printer product profile question receipt refund repair report "
    "request return router sample screen service setting shop signal sofa speaker store summer switch "
    "system table tablet teacher ticket "
)
ENDINGS = WORDS.split()
THINGS = ("my delivery", "the invoice", "the login page", "your subscription", "the mobile app", "my refund")


def generate_lines(count: int, seed: int = 42) -> Iterator[str]:
    """Turns as teams log them: texts of 40 to 250 characters, metadata on every other line."""
    choose = random.Random(seed)
    for number in range(count):
        session, turn = divmod(number, TURNS_PER_SESSION)
        parts = [choose.choice(OPENINGS), *choose.sample(DETAILS, choose.choice((0, 1, 1, 1, 2)))]
        text = " ".join(parts).format(
            thing=choose.choice(THINGS),
            hour=choose.randint(1, 23),
            minute=choose.randint(2, 59),
            price=choose.randint(1, 900),
            number=choose.randrange(10 ** choose.randint(3, 8)),
            month=choose.randint(1, 12),
            day=choose.randint(1, 28),
        )
        value = {
            "session_id": f"session-{session:07d}",
            "turn_index": turn + 1,
            "role": "assistant" if turn % 2 else "user",
            "text": f"{text} The {choose.choice(ENDINGS)} is next to the {choose.choice(ENDINGS)}, "
            f"not with the {choose.choice(ENDINGS)}.",
            "tags": ["scenario:support", choose.choice(("lang:en", "channel:chat", "channel:email"))],
            "persona_id": "default_v1",
            "timestamp": f"2025-11-03T{session % 24:02d}:{turn * 5:02d}:{session % 60:02d}Z",
        }
        if number % 2:
            latency = choose.randint(80, 4000)
            value["metadata"] = {"model": "offline-2", "temperature": 0.7, "latency_ms": latency}
        yield json.dumps(value, ensure_ascii=False)


def time_json(path: Path) -> float:
    started = time.perf_counter()
    with path.open("rb") as file:
        deque(map(json.loads, file), maxlen=0)
    return time.perf_counter() - started


def run_child(path: Path, processes: int) -> None:
    """Validate as the command does, or in this process alone."""
    started = time.perf_counter()
    with open_searching(estimate_turns([path])) if processes > 1 else nullcontext() as search_batches:
        findings = sum(1 for _ in FileChecker(path, search_batches=search_batches).findings())
    print(json.dumps({"seconds": time.perf_counter() - started, "findings": findings}))


def main() -> None:
    parser = argparse.ArgumentParser(description="Validation against bare json.loads.")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--processes", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return run_child(options.child, options.processes)
    with tempfile.TemporaryDirectory(prefix="bench-validate-") as directory:
        path = Path(directory) / "conversations.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in generate_lines(options.lines))
        print(f"{options.lines:,} lines, {path.stat().st_size / options.lines:.0f} bytes each")
        plain, ours, alone = [], [], []
        for _ in range(options.rounds):
            plain.append(time_json(path))
            ours.append(measure(path, available_cpus()))
            alone.append(measure(path, 1))
        print_ratio(f"on {available_cpus()} cores", plain, ours, f"wanted: at least {MIN_RATIO}")
        print_ratio("in one process", plain, alone, "one core")
    return None


def measure(path: Path, processes: int) -> dict[str, float]:
    return run_measured("benchmarks.bench_validate", "--child", path, "--processes", processes)


def print_ratio(name: str, plain: list[float], runs: list[dict[str, float]], wanted: str) -> None:
    seconds = statistics.median(run["seconds"] for run in runs)
    ratio = statistics.median(plain) / seconds
    memory = max(run["rss_mb"] for run in runs)
    print(
        f"validate, {name}: {runs[0]['findings']} findings in {seconds:.2f} s, ratio {ratio:.3f} ({wanted}), "
        f"peak RSS {memory:.0f} MB"
    )


if __name__ == "__main__":
    main()
