"""A release of a dataset and its package, against the export that both contain.

    python -m benchmarks.bench_release [--turns 1000000]

Each runs in a process of its own, once for a tenth of the turns and once for all: seconds a million turns,
and whether the memory stays flat. The export comes first, and searches the texts for personal data. A
release reads the turns, checks them, compresses them and reads the file back; a package of it copies that
file and writes its documents.
"""

import argparse
import json
import time
from pathlib import Path

from benchmarks.harness import run_measured, temporary_servers, write_turns

MAX_GROWTH_MB = 60
REASON = "Measured by a benchmark, shared with nobody."
STEPS = ("export", "release", "package")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        return run_step(given.step, given.name, given.out)
    with temporary_servers() as folder:
        memory: dict[int, float] = {}
        for turns in (given.turns // 10, given.turns):
            import_turns(folder, turns)
            results = {step: run_child_process(step, folder, turns) for step in STEPS}
            for step, result in results.items():
                print(
                    f"release, {turns:,} turns, {step}: {result['seconds']:.1f} s, "
                    f"{1e6 * result['seconds'] / turns:.1f} s a million, "
                    f"peak RSS {result['rss_mb']:.0f} MB"
                )
            memory[turns] = max(result["rss_mb"] for result in results.values())
    small, large = memory.values()
    print(
        f"release: {large - small:.0f} MB more for ten times the turns "
        f"(wanted: at most {MAX_GROWTH_MB} MB more)"
    )
    return None


def run_child_process(step: str, folder: Path, turns: int) -> dict[str, float]:
    name = f"bench_{turns}"
    out = folder / f"{name}-{step}"
    return run_measured("benchmarks.bench_release", "--step", step, "--name", name, "--out", out)


def import_turns(folder: Path, turns: int) -> None:
    from datasets_app.importing.import_dataset import ImportSource, import_dataset

    path = folder / f"bench_{turns}.jsonl"
    write_turns(path, turns)
    import_dataset([ImportSource(path, path.name)], name=path.stem, origin="synthetic")
    path.unlink()


def run_step(step: str, name: str, out: Path) -> None:
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.db import transaction

    from datasets_app.exporting.export_dataset import export_dataset
    from datasets_app.models import Dataset
    from datasets_app.releasing.release_dataset import release_dataset
    from datasets_app.releasing.sharing.export_package import export_package

    dataset = Dataset.objects.get(name=name)
    actor, _ = User.objects.get_or_create(username="bench", is_staff=True, is_superuser=True)
    start = time.perf_counter()
    if step == "export":
        with out.open("wb") as file:
            export_dataset(dataset, file, gzipped=True, override=REASON, actor=actor)
    elif step == "release":
        out.mkdir(mode=0o700)
        with transaction.atomic():
            release_dataset(dataset, folder=out, override=REASON, actor=actor)
    else:
        version = dataset.releases.get().version
        export_package(dataset, out, version=version, override=REASON, actor=actor)
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
