"""The admin's pages over a large dataset, against the same pages over a small one.

    python -m benchmarks.bench_admin [--turns 1000000] [--small 10000] [--rounds 15]

A page that is read by keyset costs the same however long the table is: the ratio of the medians,
large over small, should be 2 at most. Requests go through the whole of Django by its test client.

A filter of sessions that matches often reads the next ones in order; one that matches rarely reads its hits
from an index, or, of a persona, all sessions without their turns.

A word that stands in every fifth turn is looked for in the first ten thousand of many turns, where it has a
thousand hits: the index would read all of its hits first.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import temporary_servers, write_turns

MAX_RATIO = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with temporary_servers() as folder:
        from django.conf import settings

        settings.ALLOWED_HOSTS = ["testserver"]
        small = measure_pages(import_turns(folder, given.small), given.rounds)
        large = measure_pages(import_turns(folder, given.turns), given.rounds)
    width = max(map(len, small))
    print(f"admin: medians of {given.rounds} requests in ms")
    print(f"{'page':<{width}}  {given.small:>11,}  {given.turns:>11,}  ratio")
    for page, before in small.items():
        print(f"{page:<{width}}  {before:>11.1f}  {large[page]:>11.1f}  {large[page] / before:>5.2f}")
    worst = max(large[page] / small[page] for page in small)
    print(f"admin: ratio {worst:.2f} (wanted: at most {MAX_RATIO})")


def import_turns(folder: Path, turns: int) -> Any:
    """Another dataset beside those there are; imported as any file is."""
    from django.db import connection

    from datasets_app.importing.import_dataset import ImportSource, import_dataset
    from datasets_app.models import Dataset

    path = folder / f"bench_{turns}.jsonl"
    write_turns(path, turns)
    import_dataset([ImportSource(path, path.name)], name=path.stem)
    path.unlink()
    with connection.cursor() as cursor:
        # As autovacuum would have done a minute later: both sizes are measured at rest.
        cursor.execute("VACUUM ANALYZE datasets_app_session")
        cursor.execute("VACUUM ANALYZE datasets_app_turn")
    return Dataset.objects.get(name=path.stem)


def measure_pages(dataset: Any, rounds: int) -> dict[str, float]:
    client = admin_client()
    results = {}
    for page, addresses in page_urls(dataset).items():
        times = []
        for _ in range(rounds + 2):
            address = next(addresses)
            start = time.perf_counter()
            response = client.get(address)
            times.append(1000 * (time.perf_counter() - start))
            assert response.status_code == 200, (address, response.status_code)
        results[page] = median(times[2:])  # the first ones load templates and warm the caches
    return results


def page_urls(dataset: Any) -> dict[str, Iterator[str]]:
    """Each page's addresses: another place every time, so that no cache answers for the table."""
    from django.urls import reverse

    from datasets_app.browsing.columns import COLUMNS

    def admin_url(name: str, *arguments: Any) -> str:
        return reverse(f"admin:datasets_app_{name}", args=arguments)

    ids = list(dataset.sessions.order_by("id").values_list("pk", flat=True))
    sessions = admin_url("dataset_sessions", dataset.pk)
    facets = admin_url("dataset_session_facets", dataset.pk)
    columns = "&".join(f"col={name}" for name in COLUMNS)
    turns = f"{admin_url('turn_changelist')}?dataset={dataset.pk}"
    everywhere = admin_url("turn_changelist")

    def places(address: Callable[[int], str]) -> Iterator[str]:
        for number in count():
            yield address(ids[(len(ids) * 3 // 5 + number * 97) % len(ids)])

    def numbers(address: Callable[[int], str]) -> Iterator[str]:
        for number in count(1):
            yield address(number * 7919 % dataset.turn_count)

    return {
        "dataset list": places(lambda _: admin_url("dataset_changelist")),
        "dataset page": places(lambda _: admin_url("dataset_change", dataset.pk)),
        "sessions, deep": places(lambda pk: f"{admin_url('dataset_sessions', dataset.pk)}?after={pk}"),
        "sessions, longest first": places(lambda _: f"{sessions}?sort=-turns"),
        "sessions, all columns": places(lambda pk: f"{sessions}?after={pk}&{columns}"),
        "sessions, a common tag": places(lambda pk: f"{sessions}?after={pk}&tag=scenario:the"),
        "sessions, no such tag": numbers(lambda number: f"{sessions}?tag=nowhere{number}"),
        "sessions, a common word": places(lambda pk: f"{sessions}?after={pk}&q=refun"),
        "sessions, one hit": numbers(lambda number: f"{sessions}?q={number}"),
        "sessions, a day": places(lambda _: f"{sessions}?since=2025-11-07&until=2025-11-07"),
        "sessions, a persona that none has": numbers(lambda number: f"{sessions}?persona=nobody{number}"),
        "facets": numbers(lambda _: facets),
        "facets, a common tag": numbers(lambda _: f"{facets}?tag=scenario:the"),
        "facets, a common word": numbers(lambda _: f"{facets}?q=refun"),
        "session page": places(lambda pk: admin_url("session_change", pk)),
        "turns, first page": places(lambda _: turns),
        "turns, deep page": places(lambda pk: f"{turns}&after={pk}.3"),
        "turns, last page": places(lambda _: f"{turns}&last=1"),
        "turns of all datasets, deep": places(lambda pk: f"{everywhere}?after={pk}.3"),
        "search, one hit": numbers(lambda number: f"{everywhere}?q={number}"),
        "search, no hit": numbers(lambda number: f"{everywhere}?q=nowhere{number}"),
        "search, a common word": numbers(lambda _: f"{turns}&q=refund"),
    }


def admin_client() -> Any:
    from django.contrib.auth.models import User
    from django.test import Client

    user, _ = User.objects.get_or_create(username="bench", is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(user)
    return client


if __name__ == "__main__":
    main()
