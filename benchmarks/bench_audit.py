"""Measures the cost of the audit log's hash chain, and what gets slow with a long log.

    python -m benchmarks.bench_audit [--events 100000] [--seconds 1] [--rounds 9] [--writers 8]
                                      [--turns 60000]

Events a second of 1 and of --writers writers, each event a transaction of its own, with the chain and with
its trigger switched off (the baseline); an import with and without; decisions of one annotator while they do
nothing but fill the audit log, with and without. Then verification, export and pages of a log of --events
events; verification is compared with hashing the same amount of text.
"""

import argparse
import hashlib
import io
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.harness import PROJECT, temporary_servers, time_call, write_turns

TRIGGER = "audit_event_seal_last"
TABLE = "datasets_app_auditevent"
DECISION_COUNT = 150


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--turns", type=int, default=60_000, help="of the import")
    given = parser.parse_args()
    with temporary_servers() as folder:
        for count in (1, given.writers):
            with run_writers(count) as counted:
                compare_with_chain(
                    f"{count} writers",
                    lambda counted=counted: measure_rate(counted, given.seconds),
                    rounds=given.rounds,
                )
        benchmark_import(folder, given.turns)
        benchmark_decisions(folder, given.writers)
        benchmark_long_log(given.events)


def compare_with_chain(name: str, measure: Any, *, rounds: int) -> None:
    """Both many times by turns, as others may be at work here; the ratio of the medians."""
    chained, bare = [], []
    for _ in range(rounds):
        chained.append(measure())
        with chain_disabled():
            bare.append(measure())
    print(
        f"{name}: {median(chained):,.0f} events/s with the chain, {median(bare):,.0f} without; "
        f"ratio {median(chained) / median(bare):.2f}"
    )


@contextmanager
def chain_disabled() -> Iterator[None]:
    set_trigger("DISABLE")
    try:
        yield
    finally:
        set_trigger("ENABLE")


def set_trigger(action: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {TABLE} {action} TRIGGER {TRIGGER}")


# --- writers in processes of their own ---


def write_events(stop: Any, counter: Any) -> None:
    import django

    django.setup()
    from datasets_app.core import audit

    count = 0
    while not stop.is_set():
        audit.record("probe", actor=None, dataset_name="support", file="a.jsonl", sha256="a" * 64, size=count)
        count += 1
        with counter.get_lock():
            counter.value += 1


@contextmanager
def run_writers(count: int) -> Iterator[Any]:
    """So many at work; gives the counter of what they have written."""
    context = multiprocessing.get_context("spawn")
    stop, counted = context.Event(), context.Value("q", 0)
    running = [context.Process(target=write_events, args=[stop, counted], daemon=True) for _ in range(count)]
    for process in running:
        process.start()
    while counted.value < 20 * count:
        time.sleep(0.05)
    try:
        yield counted
    finally:
        stop.set()
        for process in running:
            process.join()


def measure_rate(counter: Any, duration: float) -> float:
    before, start = counter.value, time.perf_counter()
    time.sleep(duration)
    return float(counter.value - before) / (time.perf_counter() - start)


# --- what else goes on ---


def benchmark_import(folder: Path, turns: int) -> None:
    from datasets_app.importing.import_dataset import ImportSource, import_dataset

    path = folder / "bench.jsonl"
    write_turns(path, turns)
    names = iter(range(100))

    def once() -> float:
        name = f"import-{next(names)}"
        return turns / time_call(lambda: import_dataset([ImportSource(path, path.name)], name=name))

    chained, bare = [], []
    for _ in range(3):
        chained.append(once())
        with chain_disabled():
            bare.append(once())
    print(
        f"import: {median(chained):,.0f} turns/s with the chain, {median(bare):,.0f} without; "
        f"ratio {median(chained) / median(bare):.2f} (wanted: at least 0.9)"
    )


def benchmark_decisions(folder: Path, writers: int) -> None:
    """Milliseconds of a decision and of serving the next reply, as a press brings both."""
    campaign, user = create_campaign_fixture(folder)
    time_decisions(campaign, user)
    with run_writers(writers):
        chained = time_decisions(campaign, user)
        with chain_disabled():
            bare = time_decisions(campaign, user)
    print(
        f"decisions beside {writers} writers: median {median(chained):.1f} ms, "
        f"95 % {percentile_95(chained):.1f} ms with the chain; "
        f"{median(bare):.1f} and {percentile_95(bare):.1f} ms without; "
        f"ratio {median(bare) / median(chained):.2f}"
    )


def percentile_95(times: list[float]) -> float:
    return quantiles(times, n=20)[-1]


def create_campaign_fixture(folder: Path) -> Any:
    from django.contrib.auth.models import Group, User

    from annotations_app.campaigns.create import create_campaign
    from annotations_app.models import Campaign
    from datasets_app.importing.import_dataset import ImportSource, import_dataset
    from datasets_app.models import Dataset, Persona

    path = folder / "replies.jsonl"
    write_turns(path, 2 * 4 * DECISION_COUNT)
    import_dataset([ImportSource(path, path.name)], name="replies")
    yaml = (PROJECT / "datasets_app" / "demo" / "default_v1.yaml").read_text()
    persona = Persona.objects.create(persona_id="default_v1", yaml=yaml)
    user = User.objects.create_user("ana")
    user.groups.add(Group.objects.get(name="annotator"))
    dataset = Dataset.objects.get(name="replies")
    return create_campaign(Campaign(name="bench", dataset=dataset, persona=persona, overlap=1), ["ana"]), user


def time_decisions(campaign: Any, user: Any) -> list[float]:
    import uuid

    from annotations_app.labeling.decide import decide
    from annotations_app.labeling.lease_next import lease_next

    times = []
    current = lease_next(campaign, user).current
    for _ in range(DECISION_COUNT):
        assert current
        start = time.perf_counter()
        decide(current.pk, user, key=uuid.uuid4(), kind="label", label=1)
        current = lease_next(campaign, user).current
        times.append(1000 * (time.perf_counter() - start))
    return times


# --- a long trail ---


def benchmark_long_log(events: int) -> None:
    from datasets_app.auditing.export_audit import export_audit
    from datasets_app.auditing.parameters import AuditExportParameters
    from datasets_app.auditing.verify_audit import verify_audit

    filled = time_call(lambda: insert_events(events))
    print(f"{events:,} events in one statement: {events / filled:,.0f} events/s")
    told: list[Any] = []
    took = time_call(lambda: told.append(verify_audit()))
    (verified,) = told
    # The events were not recorded by the application, and their dates are made up.
    expected = ("no seal", "doesn't fit those around it")
    assert all(any(part in fault.message for part in expected) for fault in verified.faults)
    bare = time_call(lambda: hash_events(verified.events))
    print(
        f"verification: {verified.events / took:,.0f} events/s, {1_000_000 / verified.events * took:.0f} s a "
        f"million; hashing alone {verified.events / bare:,.0f} events/s; ratio {bare / took:.2f}"
    )
    exported = time_call(lambda: export_audit(io.BytesIO(), AuditExportParameters(), actor=None))
    print(f"export: {verified.events / exported:,.0f} events/s")
    benchmark_pages()


def insert_events(events: int) -> None:
    """Of forty people on a hundred datasets over a year."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {TABLE} (at, actor, action, dataset_name, details) "
            "SELECT now() - interval '1 year' * (1 - n::float / %s), 'person ' || n %% 40, "
            "(ARRAY['import', 'download', 'export', 'read_raw_text', 'scrub'])[1 + n %% 5], "
            "'set ' || n %% 100, jsonb_build_object('size', n, 'sha256', repeat('a', 64)) "
            "FROM generate_series(1, %s) AS n",
            [events, events],
        )
        cursor.execute(f"ANALYZE {TABLE}")


def hash_events(events: int) -> None:
    text = ("a" * 300).encode()
    for _ in range(events):
        hashlib.sha256(text).hexdigest()


def benchmark_pages() -> None:
    from django.contrib.auth.models import User
    from django.test import Client
    from django.urls import reverse

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.create_superuser("root"))
    address = reverse("admin:datasets_app_auditevent_changelist")
    long_ago = date.today() - timedelta(days=183)
    if client.get(address).status_code != 200:
        raise SystemExit("The page can't be opened; nothing was measured.")
    asked: dict[str, dict[str, str]] = {
        "no filter": {},
        "the last page": {"last": "1"},
        "a person": {"actor": "person 7"},
        "an action and a dataset": {"action": "export", "dataset": "set 12"},
        "days half a year ago": {"since": f"{long_ago}", "until": f"{long_ago + timedelta(days=2)}"},
        "no match": {"actor": "nobody", "dataset": "set 12"},
    }
    for name, query in asked.items():
        times = [1000 * time_call(lambda query=query: client.get(address, query)) for _ in range(5)]
        print(f"page, {name}: {median(times):.0f} ms")


if __name__ == "__main__":
    main()
