"""People at work for some minutes: no error, and the time of each page.

    python -m scripts.load [--annotators 50] [--readers 10] [--pipelines 2] [--minutes 3] [--seed 1]

Starts an installation of its own on this machine (loopback only). Annotators label, readers follow links of
the admin at random, and datasets are imported, scrubbed, released and exported meanwhile. Prints requests,
median and 95th percentile of each page in milliseconds; the exit code is 1 if any request failed or
anything was lost."""

import argparse
import os
import random
import re
import shutil
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from statistics import quantiles
from typing import Any

import requests

from scripts.trials import invariants, people, pipelines
from scripts.trials.annotators import Visitor, start_annotators
from scripts.trials.installation import Installation, set_up_django, wait_for_jobs

CONVERTER = re.compile(r"<\w+:")
LINK = re.compile(r'href="(/[^"#]*)"')
# Not pages, or the end of the visit.
SKIPPED_LINKS = re.compile(r"^/(?:static|files|logout|admin/logout|annotate|password)")
LABEL_SECONDS, READ_SECONDS = (2.0, 6.0), (1.0, 4.0)
HOME = "/"
# Until what has begun has ended.
QUIET_SECONDS = 900.0
# Pages visited less often are added up.
MIN_REQUESTS = 10


@dataclass
class Reader:
    """Follows links at random, signed in; ``errors`` are statuses from 400 on, by page."""

    visitor: Visitor
    chance: random.Random
    errors: Counter[str] = field(default_factory=Counter)

    def work(self, stop: threading.Event) -> None:
        path = HOME
        while not stop.wait(self.chance.uniform(*READ_SECONDS)):
            try:
                answer = self.visitor.get(path)
            except requests.RequestException as error:
                self.errors[f"{path}: {type(error).__name__}"] += 1
                continue
            if not answer.ok:
                self.errors[f"{path}: {answer.status_code}"] += 1
            links = [link.replace("&amp;", "&") for link in LINK.findall(answer.text)]
            links = [link for link in links if not SKIPPED_LINKS.match(link)]
            path = self.chance.choice(links) if links and answer.ok else HOME


def main() -> None:
    options = _parse_arguments()
    folder = Path(tempfile.mkdtemp(prefix="alignmenter-load-"))
    installation, before = Installation(folder), os.getloadavg()[0]
    try:
        visitors, problems = put_under_load(installation, options)
        work = describe_jobs()
    finally:
        installation.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(format_times(visitors))
    print(
        f"\nMeanwhile: {work}. Load of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} at the end."
    )
    print("\n".join(problems) or "No error.")
    if problems:
        sys.exit(1)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--readers", type=int, default=10)
    parser.add_argument("--pipelines", type=int, default=2, help="datasets worked on at a time")
    parser.add_argument("--sessions", type=int, default=300, help="at most, in each dataset")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def put_under_load(installation: Installation, options: Any) -> tuple[list[Visitor], list[str]]:
    """All visitors, with their times, and a sentence for each problem."""
    set_up_django()
    name_page("GET /")  # loads all pages now, before anything is measured
    installation.start()
    replies = int(options.annotators * options.minutes * 60)
    actor, persona, annotators = people.prepare(
        installation, count=options.annotators, replies=replies, pause=LABEL_SECONDS, seed=options.seed
    )
    readers = make_readers(installation, options)
    # People come one after the other, and what is measured is their work.
    for person in (*annotators, *readers):
        person.visitor.sign_in()
    stop, lives = threading.Event(), list[pipelines.Pipeline]()
    source = map(partial(pipelines.make_pipeline, seed=options.seed, sessions=options.sessions), count(1))
    work = {"actor": actor, "persona": persona, "stop": stop, "begun": lives}
    threads = start_annotators(annotators, stop)
    threads += [threading.Thread(target=reader.work, args=(stop,)) for reader in readers]
    for _ in range(options.pipelines):
        threads.append(threading.Thread(target=pipelines.run_pipelines, args=(source,), kwargs=work))
    for thread in threads[len(annotators) :]:
        thread.start()
    stop.wait(60 * options.minutes)
    stop.set()
    for thread in threads:
        thread.join()
    wait_for_jobs(QUIET_SECONDS)
    checks = [invariants.check_labels(people.CAMPAIGN, annotators), invariants.check_jobs()]
    problems = [f"{check.name}: {what}" for check in checks for what in check.lost]
    problems += [
        f"{person.visitor.name}: {person.unanswered} requests were not answered"
        for person in annotators
        if person.unanswered
    ]
    problems += [f"{times} × {what}" for reader in readers for what, times in reader.errors.items()]
    return [person.visitor for person in (*annotators, *readers)], problems


def make_readers(installation: Installation, options: Any) -> list[Reader]:
    """Curators and leads in turn."""
    readers = []
    for number in range(1, options.readers + 1):
        user = people.make_account(f"reader-{number}", ("curator", "lead")[number % 2])
        visitor = Visitor(installation.address, user.username, people.PASSWORD)
        readers.append(Reader(visitor, random.Random(f"{options.seed}-{number}")))
    return readers


def format_times(visitors: Sequence[Visitor]) -> str:
    """A table in Markdown, with the page visited most often first."""
    times: dict[str, list[float]] = defaultdict(list)
    for visitor in visitors:
        for page, seconds in visitor.seconds.items():
            times[name_page(page)] += seconds
    for page in [page for page, seconds in times.items() if len(seconds) < MIN_REQUESTS]:
        times["other pages"] += times.pop(page)
    rows = [_format_row(page, times[page]) for page in sorted(times, key=lambda page: -len(times[page]))]
    rows.append(_format_row("all", [one for seconds in times.values() for one in seconds]))
    return "\n".join(["| Page | Requests | p50, ms | p95, ms |", "| --- | ---: | ---: | ---: |", *rows])


def describe_jobs() -> str:
    """Such as "4 import_dataset, 3 scrub_dataset"."""
    from datasets_app.models import JobRun

    counted = Counter(JobRun.objects.filter(state="done").values_list("operation", flat=True))
    return ", ".join(f"{times} {operation}" for operation, times in counted.most_common())


def name_page(request: str) -> str:
    """``GET /annotate/trial/`` as ``GET /annotate/<name>/``: without names of datasets and campaigns."""
    from django.urls import Resolver404, resolve

    method, path = request.split(" ", 1)
    try:
        route = resolve(path).route
    except Resolver404:
        return request
    return f"{method} /{CONVERTER.sub(r'<', route)}"


def _format_row(page: str, seconds: list[float]) -> str:
    parts = quantiles(seconds, n=20) if len(seconds) > 1 else seconds * 19
    return f"| {page} | {len(seconds):,} | {1000 * parts[9]:.0f} | {1000 * parts[18]:.0f} |"


if __name__ == "__main__":
    main()
