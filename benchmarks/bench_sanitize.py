"""Scrubbing of a long file by the command: lines a second with one process and with two, and memory.

    python -m benchmarks.bench_sanitize [--lines 1000000] [--rounds 1]

Memory is that of all its processes together at its highest, at a tenth of the lines and at all of them:
the two should be alike. One process and two are compared in the same run, in turns.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.bench_validate import generate_lines
from benchmarks.harness import PROJECT

SAMPLE_INTERVAL_SECONDS = 0.1
MIN_RATIO = 1.7
PERSONAL_TEMPLATES = (
    "My name is {first} {last}, ",
    "Reach me at {first}.{last}@example.org. ",
    "Call 415-555-{number:04d}, ",
    "I logged in from 83.12.{octet}.7 and ",
)
FIRST_NAMES = ("Maria", "John", "Wei", "Fatima", "Olga", "Carlos", "Aisha", "Peter", "Priya", "Kwame")
LAST_NAMES = ("Garcia", "Smith", "Chen", "Hassan", "Ivanova", "Lopez", "Okafor", "Miller", "Sharma", "Mensah")


class Measurement(NamedTuple):
    seconds: float
    memory: int


def write_lines(path: Path, count: int) -> None:
    """Turns as teams log them, one in ten with personal data."""
    choose = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for line in generate_lines(count):
            if choose.random() < 0.1:
                said = choose.choice(PERSONAL_TEMPLATES).format(
                    first=choose.choice(FIRST_NAMES),
                    last=choose.choice(LAST_NAMES),
                    number=choose.randrange(10_000),
                    octet=choose.randrange(256),
                )
                line = line.replace('"text": "', f'"text": "{said}', 1)
            file.write(line + "\n")


def sanitize(source: Path, processes: int) -> Measurement:
    out = source.with_name("out.jsonl")
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "sanitize_dataset", "--input", source, "--out", out]
        + ["--hash-session-ids", "--fuzz-timestamps", "86400", "--processes", str(processes)],
        cwd=PROJECT,
        env=os.environ | {"ALIGNMENTER_HASH_KEY": "k" * 32, "DATABASE_URL": "postgresql://nobody@/none"},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    memory = 0
    while process.poll() is None:
        memory = max(memory, session_memory(process.pid))
        time.sleep(SAMPLE_INTERVAL_SECONDS)
    if process.returncode:
        sys.exit(f"sanitize_dataset ended with {process.returncode}")
    return Measurement(time.perf_counter() - started, memory)


def session_memory(session: int) -> int:
    """Resident bytes of all processes of a session; pages they share are counted for each."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return total


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-sanitize-") as folder:
        tenth, whole = Path(folder, "tenth.jsonl"), Path(folder, "whole.jsonl")
        write_lines(tenth, given.lines // 10)
        write_lines(whole, given.lines)
        small = sanitize(tenth, 2)
        rounds = [(sanitize(tenth, 1), sanitize(tenth, 2)) for _ in range(given.rounds)]
        large = sanitize(whole, 2)
    print_rate("one process", [one.seconds for one, _ in rounds], given.lines // 10)
    print_rate("two processes", [two.seconds for _, two in rounds], given.lines // 10)
    print_rate(f"two processes, {given.lines:,} lines", [large.seconds], given.lines)
    ratio = median(one.seconds for one, _ in rounds) / median(two.seconds for _, two in rounds)
    print(f"sanitize: two processes {ratio:.2f} × one (wanted: at least {MIN_RATIO})")
    print(
        f"sanitize: peak memory {small.memory / 2**20:.0f} MiB at {given.lines // 10:,} lines, "
        f"{large.memory / 2**20:.0f} MiB at {given.lines:,}"
    )


def print_rate(title: str, seconds: list[float], count: int) -> None:
    print(f"sanitize, {title}: {count / median(seconds):,.0f} lines/s")


if __name__ == "__main__":
    main()
