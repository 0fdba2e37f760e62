"""Run the benchmarks one after the other, and end with one table of the figures that something is wanted of.

    make bench [QUICK=1] [ARGS="validate import"]
    python -m benchmarks [--quick] [NAME …]

All of them take about 40 minutes; one that is named runs at its full size. ``--quick`` shows that
everything runs, in minutes, and its figures mean little. One that fails doesn't stop the others: the table
names it, and the exit code is 1.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from typing import NamedTuple

from benchmarks.harness import PROJECT, migrated_once

# Of each: arguments for small sizes.
QUICK_ARGUMENTS = {
    "admin": "--turns 20000 --small 2000 --rounds 3",
    "agreement": "--labels 50000 --rounds 1",
    "audit": "--events 5000 --seconds 0.3 --rounds 3 --writers 3 --turns 6000",
    "client": "--turns 10000 --rounds 1",
    "compare": "--turns 10000 --rounds 1",
    "export": "--turns 10000 --rounds 1",
    "generate": "--sessions 100 1000",
    "growth": "--turns 2000 20000 --datasets 2 20 --rounds 1",
    "import": "--turns 20000 --typed 10000 --rounds 1",
    "keys": "--sessions 500 1000 --rounds 3",
    "llm": "--rounds 1",
    "next_item": "--replies 10000 --small 1000 --rounds 5 --before 200",
    "partitions": "--turns 50000 --deleted 20000 --datasets 50 --rounds 1",
    "pii": "--only tune",
    "queue": "--labels 200 --annotators 10",
    "receive": "--spans 3000 --rounds 1",
    "release": "--turns 6000",
    "retention": "--turns 20000",
    "sanitize": "--lines 4000",
    "scrub_scores": "--sessions 20",
    "scrub_speed": "--turns 3000 --rounds 1",
    "spans": "--spans 9000",
    "split": "--sessions 6000 --rounds 1",
    "validate": "--lines 10000 --rounds 1",
}
# Not among all of them: it takes hours, and personal data has `make bench-pii`.
ON_REQUEST = {"growth", "pii"}
# Among all of them: less data or fewer rounds than by itself, where these take most of the time.
FULL_ARGUMENTS = {
    "agreement": "--rounds 2",
    "compare": "--rounds 1",
    "export": "--turns 300000 --rounds 3",
    "import": "--rounds 1",
    "partitions": "--turns 1000000 --rounds 2",
    "queue": "--labels 2000 --annotators 25",
    "release": "--turns 100000",
    "retention": "--turns 200000",
    "sanitize": "--lines 100000",
    "scrub_speed": "--rounds 1",
    "spans": "--spans 300000",
    "split": "--rounds 1",
    "validate": "--lines 100000 --rounds 1",
}
_FIGURE = re.compile(r"\(wanted: |NOT MET|\bratio \d|peak (?:RSS|memory)")


class Run(NamedTuple):
    name: str
    seconds: float
    figures: list[str]
    exit_code: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(QUICK_ARGUMENTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    given = parser.parse_args()
    if unknown := set(given.names) - set(QUICK_ARGUMENTS):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    names = given.names or [name for name in QUICK_ARGUMENTS if name not in ON_REQUEST]
    with migrated_once():
        runs = [run(name, choose_arguments(name, given)) for name in names]
    print_table(runs, quick=given.quick)
    sys.exit(any(run.exit_code for run in runs))


def choose_arguments(name: str, given: argparse.Namespace) -> list[str]:
    if given.quick:
        return QUICK_ARGUMENTS[name].split()
    return [] if given.names else FULL_ARGUMENTS.get(name, "").split()


def run(name: str, arguments: list[str]) -> Run:
    print(f"== {name} {' '.join(arguments)}".rstrip(), flush=True)
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", f"benchmarks.bench_{name}", *arguments],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    figures = []
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
        if _FIGURE.search(line):
            figures.append(line.strip())
    if process.wait():
        figures.append(f"FAILED with exit code {process.returncode}")
    seconds = time.monotonic() - started
    print(f"== {name}: {seconds:.0f} s\n", flush=True)
    return Run(name, seconds, figures, process.returncode)


def print_table(runs: list[Run], *, quick: bool) -> None:
    minutes = sum(run.seconds for run in runs) / 60
    print(
        f"\n{len(runs)} benchmarks in {minutes:.1f} minutes, on {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f} at the end{'; small sizes' if quick else ''}\n"
    )
    for one in runs:
        print(f"{one.name:<12} {one.seconds:>5.0f} s")
        for figure in one.figures:
            print(f"    {figure}")


if __name__ == "__main__":
    main()
