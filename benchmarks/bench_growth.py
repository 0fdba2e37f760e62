"""What daily work costs in an installation that grows to 20,000,000 turns in 2,000 datasets.

    python -m benchmarks.bench_growth [--turns 200000 2000000 20000000] [--datasets 20 200 2000] [--rounds 7]

One installation grows in steps. At each size the same things are done with a new dataset of 10,000
turns: imported from a file, looked at, labeled, scrubbed, released, deleted. What is stored beside it are
datasets of equal size, filled by SQL. Medians of several rounds; jobs run once, or where they are short, as
often. The ratio is the last size over the first.
"""

import argparse
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import temporary_servers, time_call, write_turns

MAX_RATIO = 2.0
SHOWN_TURNS = 10_000
MAX_JOB_ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, nargs="+", default=[200_000, 2_000_000, 20_000_000])
    parser.add_argument("--datasets", type=int, nargs="+", default=[20, 200, 2_000])
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    if len(given.turns) != len(given.datasets):
        parser.error("--turns and --datasets need as many numbers each")
    with temporary_servers() as folder:
        from django.conf import settings

        from benchmarks.bench_next_item import create_annotators

        settings.ALLOWED_HOSTS = ["testserver"]
        create_annotators()
        write_turns(folder / "turns.jsonl", SHOWN_TURNS, turns_per_session=5)
        columns = []
        for turns, datasets in zip(given.turns, given.datasets, strict=True):
            took = time_call(lambda turns=turns, datasets=datasets: _grow_to(turns, datasets))
            print(f"growth: {turns:,} turns in {datasets:,} datasets, filled in {took:.0f} s", flush=True)
            columns.append(_measure(folder, f"at-{turns}", given.rounds))
            _print_sizes()
    _print_table(given.turns, columns)


def _grow_to(turns: int, datasets: int) -> None:
    from benchmarks.bench_partitions import _fill
    from datasets_app.models import Dataset

    there = Dataset.objects.filter(name__startswith="beside-").count()
    for number in range(there, datasets):
        _fill(f"beside-{number}", turns // datasets)


def _measure(folder: Path, name: str, rounds: int) -> dict[str, float]:
    """Seconds of each kind of work, at the present size."""
    jobs = [_measure_jobs(folder, f"{name}-{number}") for number in range(min(rounds, MAX_JOB_ROUNDS))]
    shown = _import(folder, name)
    return {
        **{f"page: {page}": value for page, value in _measure_pages(shown, rounds).items()},
        "next reply": _measure_next_reply(name, rounds),
        **{job: median(each[job] for each in jobs) for job in jobs[0]},
    }


def _import(folder: Path, name: str) -> Any:
    from datasets_app.importing.import_dataset import ImportSource, import_dataset
    from datasets_app.models import Dataset

    path = folder / "turns.jsonl"
    import_dataset([ImportSource(path, path.name)], name=name)
    return Dataset.objects.get(name=name)


def _measure_jobs(folder: Path, name: str) -> dict[str, float]:
    """One dataset's life, from its file to its end."""
    from datasets_app.models import Dataset
    from datasets_app.retention.apply import apply_retention
    from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset

    seconds = {"import": time_call(lambda: _import(folder, name))}
    dataset = Dataset.objects.get(name=name)
    seconds["scrub"] = time_call(lambda: scrub_dataset(dataset, parse_policy(None)))
    seconds["release"] = time_call(lambda: _release(dataset, folder / name))
    seconds["delete"] = time_call(
        lambda: apply_retention(dataset=Dataset.objects.get(name=name), reason="A benchmark.")
    )
    return seconds


def _release(dataset: Any, folder: Path) -> None:
    from django.db import transaction

    from datasets_app.releasing.release_dataset import release_dataset

    folder.mkdir()
    dataset.refresh_from_db()
    with transaction.atomic():
        release_dataset(dataset, folder=folder, override="A benchmark.", actor=_superuser())


def _measure_pages(dataset: Any, rounds: int) -> dict[str, float]:
    from benchmarks.bench_admin import measure_pages

    return {page: milliseconds / 1000 for page, milliseconds in measure_pages(dataset, rounds).items()}


def _measure_next_reply(name: str, rounds: int) -> float:
    from annotations_app.campaigns.create import create_campaign
    from annotations_app.models import Campaign
    from benchmarks.bench_next_item import ANNOTATOR_NAMES, Annotator
    from datasets_app.models import Dataset, Persona

    persona, _ = Persona.objects.get_or_create(persona_id="default_v1", defaults={"yaml": "id: default_v1\n"})
    campaign = create_campaign(
        Campaign(name=f"campaign-{name}", dataset=Dataset.objects.get(name=name), persona=persona),
        ANNOTATOR_NAMES,
        override="A benchmark.",
        actor=_superuser(),
    )
    annotator = Annotator(campaign, ANNOTATOR_NAMES[0])
    times = [annotator.press() for _ in range(20 + 10 * rounds)]
    # The first ones find nothing in any cache.
    return median(times[20:])


def _superuser() -> Any:
    from django.contrib.auth.models import User

    return User.objects.get_or_create(username="super", is_staff=True, is_superuser=True)[0]


def _print_sizes() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database()), count(*) FROM pg_class")
        size, relations = cursor.fetchone()
    print(f"growth: the database takes {size / 1e9:.1f} GB in {relations:,} tables and indexes", flush=True)


def _print_table(sizes: list[int], columns: list[dict[str, float]]) -> None:
    width = max(map(len, columns[0]))
    print(f"\n{'milliseconds':<{width}}", *(f"{size:>12,}" for size in sizes), " ratio")
    ratios = {}
    for what, first in columns[0].items():
        ratios[what] = columns[-1][what] / first
        cells = (f"{1000 * column[what]:>12,.1f}" for column in columns)
        print(f"{what:<{width}}", *cells, f"{ratios[what]:>6.2f}")
    worst = max(ratios, key=lambda what: ratios[what])
    print(f"growth: ratio {ratios[worst]:.2f}, of {worst} (wanted: at most {MAX_RATIO})")


if __name__ == "__main__":
    main()
