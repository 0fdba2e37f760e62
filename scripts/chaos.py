"""Kill every process of an installation many times while people and jobs work on it; then count what was
lost.

    python -m scripts.chaos [--kills 100] [--seed 1] [--annotators 6] [--pipelines 3] [--sessions 300]
                            [--only-storage] [--keep]

Starts an installation of its own in a temporary folder and sends SIGKILL to its web workers, web master,
workers, scheduler, jobs, supervisor, PostgreSQL, database sessions, Valkey and keeper, in an order that the
seed determines. Meanwhile annotators label through HTTP, datasets are imported, split, scrubbed, generated,
checked, released, exported and deleted, and backups are made. Then a storage becomes read-only and a disk
full, which takes the permission to mount (root); it says so where that is missing. The exit code is 1 if
anything was lost.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from scripts.trials import backups, invariants, people, pipelines, processes
from scripts.trials.annotators import Annotator, start_annotators
from scripts.trials.installation import Installation, set_up_django, wait_for_jobs, wait_until
from scripts.trials.storage_faults import (
    DISK_MEGABYTES,
    temporary_disk,
    try_full_disk,
    try_read_only_storage,
)

PAUSE_SECONDS = (1.0, 5.0)
# Jobs and their processes come and go: so long is one waited for.
FIND_SECONDS = 5.0
# Until all jobs have ended after the last kill; a job waits 15 s for its heartbeat to count as stopped.
QUIET_SECONDS = 900.0
WORKERS = 2


def main() -> None:
    options = _parse_arguments()
    if options.only_storage:
        killed, checks = Counter[str](), run_storage_faults(options)
    else:
        with temporary_folder(options) as folder:
            installation = Installation(folder, **backups.make_settings(folder))
            try:
                killed, checks = try_kills(installation, options)
            finally:
                installation.stop()
    print_result(killed, checks, options)
    failed = any(check.lost for check in checks)
    if not options.only_storage:  # in a process of its own, because settings are read once
        failed |= bool(subprocess.run([sys.executable, "-m", "scripts.chaos", "--only-storage"]).returncode)
    sys.exit(failed)


@contextmanager
def temporary_folder(options: Any) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="alignmenter-chaos-"))
    try:
        yield folder
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def run_storage_faults(options: Any) -> list[invariants.Check]:
    """An empty list, loudly, where mounts are not permitted."""
    with temporary_folder(options) as folder:
        disk, media = folder / "disk", folder / "media"
        try:
            with temporary_disk(disk, DISK_MEGABYTES), temporary_disk(media, 100):
                installation = Installation(disk, ALIGNMENTER_MEDIA_ROOT=str(media))
                try:
                    return try_storage_faults(installation, media)
                finally:
                    installation.stop()
        except PermissionError as error:
            say(f"SKIPPED: a full disk and a read-only storage were not tried. {error.strerror}")
            return []


def try_storage_faults(installation: Installation, media: Path) -> list[invariants.Check]:
    set_up_django()
    installation.start()
    from django.contrib.auth.models import User

    actor = User.objects.get(username="admin")
    say("storage becomes read-only")
    checks = [try_read_only_storage(installation, media, actor)]
    say("the disk becomes full")
    checks.append(try_full_disk(installation, actor))
    wait_for_jobs(QUIET_SECONDS)
    return [*checks, invariants.check_partitions(), invariants.check_files(), invariants.check_audit_log()]


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--annotators", type=int, default=6)
    parser.add_argument("--pipelines", type=int, default=3, help="datasets worked on at a time")
    parser.add_argument("--sessions", type=int, default=300, help="at most, in each dataset")
    parser.add_argument("--only-storage", action="store_true", help="kill nothing; full and read-only disks")
    parser.add_argument("--keep", action="store_true", help="keep the folder, with logs and data")
    return parser.parse_args()


def try_kills(installation: Installation, options: Any) -> tuple[Counter[str], list[invariants.Check]]:
    set_up_django()
    installation.start()
    say(f"running in {installation.folder}, seed {options.seed}")
    actor, persona, annotators = people.prepare(
        installation,
        count=options.annotators,
        replies=120 * options.kills,
        pause=(0.1, 0.6),
        seed=options.seed,
    )
    stop, lives = threading.Event(), list[pipelines.Pipeline]()
    source = map(partial(pipelines.make_pipeline, seed=options.seed, sessions=options.sessions), count(1))
    threads = start_annotators(annotators, stop)
    work = {"actor": actor, "persona": persona, "stop": stop, "begun": lives}
    for _ in range(options.pipelines):
        threads.append(threading.Thread(target=pipelines.run_pipelines, args=(source,), kwargs=work))
        threads[-1].start()
    threads.append(threading.Thread(target=backups.keep_backing_up, args=(stop,)))
    threads[-1].start()
    try:
        wait_until(lambda: all(person.accepted for person in annotators), QUIET_SECONDS, "all people label")
        killed = kill_at_random(installation, options)
    finally:
        stop.set()
    say("the last process was killed; waiting for what has begun")
    for thread in threads:
        thread.join(QUIET_SECONDS)
    wait_for_jobs(QUIET_SECONDS)
    return killed, [*check_everything(annotators, lives), backups.check_backups(installation.folder)]


def kill_at_random(installation: Installation, options: Any) -> Counter[str]:
    """The supervisor is started again each time, as a person or systemd would."""
    chance, killed = random.Random(options.seed), Counter[str]()
    while killed.total() < options.kills:
        time.sleep(chance.uniform(*PAUSE_SECONDS))
        role = chance.choice(processes.ROLES)
        if role == "supervisor" and killed[role] >= options.kills // 10:
            continue
        if not (found := find_processes(installation, role)):
            continue
        processes.kill(chance.choice(found))
        killed[role] += 1
        say(f"{killed.total()}: killed {role}")
        if role == "supervisor" or installation.has_ended():
            installation.start()
    return killed


def find_processes(installation: Installation, role: str) -> list[int]:
    """In order; empty if there is none for some seconds."""
    deadline = time.monotonic() + FIND_SECONDS
    while not (found := processes.find_roles(installation.var).get(role)):
        if time.monotonic() > deadline:
            return []
        time.sleep(0.1)
    return sorted(found)


def check_everything(annotators: list[Annotator], lives: list[pipelines.Pipeline]) -> list[invariants.Check]:
    wait_until(lambda: not invariants.check_workers(WORKERS).lost, 60, "killed workers are forgotten")
    return [
        invariants.check_labels(people.CAMPAIGN, annotators),
        invariants.check_jobs(),
        invariants.check_datasets(lives),
        invariants.check_partitions(),
        invariants.check_files(),
        invariants.check_releases(),
        invariants.check_audit_log(),
        invariants.check_workers(WORKERS),
        invariants.check_work_folders(),
    ]


def print_result(killed: Counter[str], checks: list[invariants.Check], options: Any) -> None:
    if killed:
        print_kills(killed, options)
    print(f"\n{invariants.format_table(checks)}\n")
    for check in checks:
        for what in check.lost:
            print(f"LOST ({check.name}): {what}")


def print_kills(killed: Counter[str], options: Any) -> None:
    print(f"\n{killed.total()} processes were killed with SIGKILL (seed {options.seed}).\n")
    print("| Killed | Times |\n| --- | ---: |")
    for role in processes.ROLES:
        print(f"| {role} | {killed[role]} |")


def say(message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
