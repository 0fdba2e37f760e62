"""What a scrub, a deletion and pages of one dataset cost beside how much else is stored.

A dataset of 1,000 turns is scrubbed alone and beside the turns of others, while a second connection reads
another dataset without a pause and counts how often it waits for a lock. Then a large dataset is deleted.
Last, pages are measured beside few and many datasets. The shortest time of several counts.
"""

import argparse
import subprocess
import sys
import threading
import time
from typing import Any

from benchmarks.harness import create_partitions, temporary_servers

MAX_SCRUB_RATIO, MAX_WAIT_MS, MAX_DELETION_SECONDS, MAX_PAGE_RATIO = 1.3, 100, 2.0, 2.0
TURNS_PER_SESSION = 10
SCRUBBED_TURNS = 1_000

_FILL_SESSIONS = """
INSERT INTO datasets_app_session_{dataset} (dataset_id, session_id, turn_count)
SELECT {dataset}, 'session-' || n, {turns} FROM generate_series(1, {sessions}) n
"""
_FILL_TURNS = """
INSERT INTO datasets_app_turn_{dataset} (dataset_id, session_id, turn_index, role, text, tags)
SELECT {dataset}, s.id, n, CASE WHEN n % 2 = 1 THEN 'user' ELSE 'assistant' END,
       'Your order x' || s.id * n % 9973 || ' of ' || left(md5(s.id::text), 6) || ' is on its way. '
       || 'Write to ana' || n || '@example.org if the delivery or the refund is late.',
       ARRAY['scenario:order']
FROM datasets_app_session_{dataset} s, generate_series(1, {turns}) n ORDER BY s.id, n
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5_000_000, help="beside the scrubbed dataset")
    parser.add_argument("--deleted", type=int, default=1_000_000, help="turns of the deleted dataset")
    parser.add_argument("--datasets", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    with temporary_servers():
        from django.conf import settings

        settings.ALLOWED_HOSTS = ["testserver"]
        if given.alone:
            return _scrub_on_request()
        few = _measure_pages(20)
        _fill("deleted", given.deleted)
        for number in range(0, given.turns - given.deleted, given.deleted):
            _fill(f"large{number}", min(given.deleted, given.turns - given.deleted - number))
        _measure_scrubs(given.rounds)
        _print("deletion", _delete("deleted"), MAX_DELETION_SECONDS, f"s for {given.deleted:,} turns")
        for page, seconds in _measure_pages(given.datasets).items():
            unit = f"× {1000 * few[page]:.0f} ms"
            _print(f"{page}, 20 to {given.datasets:,} datasets", seconds / few[page], MAX_PAGE_RATIO, unit)
    return None


def _measure_scrubs(rounds: int) -> None:
    """Alternates with another process, in whose database nothing else is: so both meet the same load."""
    command = [sys.executable, "-m", "benchmarks.bench_partitions", "--alone"]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other,
        _Reader(_fill("read", 1_000)) as reader,
    ):
        assert other.stdin
        assert other.stdout
        alone, beside = [], []
        for number in range(rounds + 1):
            other.stdin.write("\n")
            other.stdin.flush()
            alone.append(float(other.stdout.readline()))
            beside.append(_scrub_new(f"beside{number}"))
        other.stdin.close()
    # The first loads the models.
    ratio = min(beside[1:]) / min(alone[1:])
    _print("scrub beside others", ratio, MAX_SCRUB_RATIO, f"× {min(alone[1:]):.2f} s alone")
    _print(f"reads that waited for a lock for {MAX_WAIT_MS} ms", reader.refused, 0, f"of {reader.count:,}")


def _scrub_on_request() -> None:
    """Scrubs a new dataset for each line of input, and prints how many seconds that took."""
    for number, _ in enumerate(sys.stdin):
        print(_scrub_new(f"alone{number}"), flush=True)


def _print(what: str, value: float, wanted: float, unit: str) -> None:
    print(f"partitions: {what}: {value:.2f} {unit} (wanted: at most {wanted})", flush=True)


def _fill(name: str, turns: int) -> Any:
    """A dataset as after an import: loaded first, indexed then."""
    from django.db import connection, transaction

    from datasets_app.catalog.rows.partitions import loading_partition

    sessions = max(1, turns // TURNS_PER_SESSION)
    with transaction.atomic(), connection.cursor() as cursor:
        dataset = _create(name, session_count=sessions, turn_count=turns)
        values = {"dataset": dataset.pk, "sessions": sessions, "turns": TURNS_PER_SESSION}
        with loading_partition(dataset.pk):
            cursor.execute(_FILL_SESSIONS.format(**values))
            cursor.execute(_FILL_TURNS.format(**values))
    with connection.cursor() as cursor:
        # At once, as autovacuum would otherwise do it while something is measured.
        cursor.execute(f"VACUUM (ANALYZE) datasets_app_session_{dataset.pk}, datasets_app_turn_{dataset.pk}")
    return dataset


def _create(name: str, **counts: int) -> Any:
    from datasets_app.models import Dataset

    return Dataset.objects.create(name=name, origin="external", **counts)


def _scrub_new(name: str) -> float:
    from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset

    dataset = _fill(name, SCRUBBED_TURNS)
    start = time.perf_counter()
    done = scrub_dataset(dataset, parse_policy(None))
    # Benchmarks work as the owner, who can't remove logs.
    assert not [trace for trace in done.get("traces", []) if "logs" not in trace], done
    return time.perf_counter() - start


def _delete(name: str) -> float:
    """Without the rewriting of other tables, which is the same for every deletion."""
    from datasets_app.models import Dataset
    from datasets_app.retention import apply

    seconds = 0.0

    def remove_traces(*arguments: Any, **options: Any) -> list[str]:
        nonlocal seconds
        start = time.perf_counter()
        left: list[str] = original(*arguments, **options)
        seconds = time.perf_counter() - start
        return left

    original, apply.remove_traces = apply.remove_traces, remove_traces
    start = time.perf_counter()
    apply.apply_retention(dataset=Dataset.objects.get(name=name), reason="A benchmark.")
    total = time.perf_counter() - start
    print(f"partitions: deletion: {seconds:.2f} of {total:.2f} s to rewrite tables", flush=True)
    return total - seconds


class _Reader(threading.Thread):
    """Reads a page of a dataset again and again; counts reads, and those that had to wait for a lock."""

    def __init__(self, dataset: Any) -> None:
        super().__init__()
        self.dataset, self.count, self.refused, self._ended = dataset, 0, 0, threading.Event()

    def __enter__(self) -> "_Reader":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        import psycopg
        from django.db import connection

        place = connection.get_connection_params()
        wanted = {key: place[key] for key in ("host", "port", "user", "dbname") if place.get(key)}
        with psycopg.connect(**wanted, autocommit=True) as session:
            query = (
                "SELECT t.text FROM datasets_app_session s JOIN datasets_app_turn t "
                "ON t.dataset_id = s.dataset_id AND t.session_id = s.id "
                f"WHERE s.dataset_id = {self.dataset.pk} ORDER BY t.session_id, t.turn_index LIMIT 50"
            )
            # The time that the machine has none for the reader does not count.
            session.execute(f"SET lock_timeout = {MAX_WAIT_MS}")
            while not self._ended.is_set():
                self.count += 1
                try:
                    session.execute(query).fetchall()
                except psycopg.errors.LockNotAvailable:
                    self.refused += 1
                time.sleep(0.002)


def _measure_pages(datasets: int) -> dict[str, float]:
    """Seconds for each page, with at least so many datasets."""
    from django.db import connection
    from django.urls import reverse

    from benchmarks.bench_admin import admin_client
    from datasets_app.models import Dataset, Session

    missing = datasets - Dataset.objects.count()
    for number in range(missing):
        _create(f"many-{datasets}-{number}", session_count=0, turn_count=0)
    with connection.cursor() as cursor:
        create_partitions(cursor)
    shown = _fill(f"shown{datasets}", 1_000)
    session = Session.objects.filter(dataset=shown).order_by("pk")[10]
    turns = reverse("admin:datasets_app_turn_changelist")
    addresses = {
        "datasets": reverse("admin:datasets_app_dataset_changelist"),
        "dataset": reverse("admin:datasets_app_dataset_change", args=[shown.pk]),
        "session": reverse("admin:datasets_app_session_change", args=[session.pk]),
        "turns of all datasets": turns,
        "turns of a dataset": f"{turns}?dataset={shown.pk}",
        "search in a dataset": f"{turns}?dataset={shown.pk}&q=refund",
        "search in all datasets": f"{turns}?q=refund",
    }
    client = admin_client()
    return {page: min(_time_page(client, address) for _ in range(7)) for page, address in addresses.items()}


def _time_page(client: Any, address: str) -> float:
    start = time.perf_counter()
    assert client.get(address).status_code == 200, address
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
