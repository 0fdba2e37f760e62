"""Share a scrub between two machines with workers, cut one of them off in the middle, and count what was
lost.

    python -m scripts.several_machines [--turns 200000] [--keep]

Four machines, each a network namespace with its own folder (Linux, as root): services (PostgreSQL, Valkey
and an S3-compatible server, over TCP with passwords), web with scheduler, and two with two workers each.
They share no folder: files are in the bucket. Halfway through the scrub the second machine's network is
cut; its processes go on. It is connected again after the scrub has ended without it, and imports and
exports follow."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from scripts.trials import invariants
from scripts.trials.installation import set_up_django, wait_until
from scripts.trials.machines import SERVICES, Machine, Network, Services
from scripts.trials.pipelines import TURNS_PER_SESSION, Pipeline, run_step

WEB, FIRST, SECOND = "alignmenter-web", "alignmenter-one", "alignmenter-two"
WORKERS_PER_MACHINE = 2
STEP_SECONDS = 3600.0


def main() -> None:
    options = _parse_arguments()
    if options.inside:
        run_inside(Path(options.inside), options)
        return
    if os.geteuid() != 0 or subprocess.run(["ip", "netns", "add", SERVICES]).returncode != 0:
        sys.exit("This takes root and network namespaces (ip netns, of iproute2). Nothing was tried.")
    folder = Path(tempfile.mkdtemp(prefix="alignmenter-machines-"))
    folder.chmod(0o711)
    try:
        with Network([WEB, FIRST, SECOND]):
            again = [sys.executable, "-m", "scripts.several_machines", *sys.argv[1:], "--inside", str(folder)]
            code = subprocess.run(["ip", "netns", "exec", SERVICES, *again]).returncode
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(code)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=200_000)
    parser.add_argument("--keep", action="store_true", help="keep the folder, with logs and data")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    return parser.parse_args()


def run_inside(folder: Path, options: Any) -> None:
    """In the namespace of the services, whose database this process asks."""
    services, machines = Services(folder), list[Machine]()
    try:
        settings = services.start()
        os.environ.update(settings, DJANGO_SETTINGS_MODULE="alignmenter_site.settings")
        os.environ["ALIGNMENTER_VAR_DIR"] = str(folder / "var")
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], check=True)
        application = {key: value for key, value in settings.items() if "OWNER" not in key}
        machines += [Machine(name, folder, application) for name in (WEB, FIRST, SECOND)]
        start_programs(machines)
        set_up_django()
        checks = share_scrub(options)
    finally:
        for machine in machines:
            machine.stop()
        services.stop()
    print(f"\n{invariants.format_table(checks)}\n")
    for check in checks:
        for what in check.lost:
            print(f"LOST ({check.name}): {what}")
    sys.exit(any(check.lost for check in checks))


def start_programs(machines: list[Machine]) -> None:
    web, *others = machines
    every_address = "0.0.0.0:8000"  # of the namespace # nosec B104
    server = ["-m", "gunicorn", "alignmenter_site.wsgi", "--bind", every_address, "--workers", "2"]
    web.start(*server, "--threads", "4", "--preload", "--no-control-socket")
    web.start("manage.py", "scheduler")
    for machine in others:
        for _ in range(WORKERS_PER_MACHINE):
            machine.start("manage.py", "worker")


def share_scrub(options: Any) -> list[invariants.Check]:
    from datasets_app.jobs import queue

    network = Network([WEB, FIRST, SECOND])
    actor = make_actor()
    wait_until(lambda: queue.worker_count() == 2 * WORKERS_PER_MACHINE, 120, "all workers are there")
    pipeline = Pipeline("shared", options.turns // TURNS_PER_SESSION, imported=True, deleted=False)
    say(f"importing {pipeline.turns:,} turns from the bucket")
    assert run_step(pipeline, "import_dataset", actor, "") == "done"
    scrub = start_scrub(pipeline, actor)
    wait_for_share(scrub, 0.3)
    before = list_busy_machines()
    say(f"30 % scrubbed, by {format_machines(before)}; cutting {SECOND} off")
    network.cut_off(SECOND)
    began = time.monotonic()
    wait_until(lambda: has_ended(scrub), STEP_SECONDS, "the scrub ends on one machine")
    say(f"the scrub has ended {time.monotonic() - began:.0f} s later; connecting {SECOND} again")
    network.reconnect(SECOND)
    wait_until(lambda: queue.worker_count() == 2 * WORKERS_PER_MACHINE, 300, "all workers are there again")
    for step in ("check_dataset", "split_dataset", "release_dataset", "export_dataset", "verify_releases"):
        say(f"{step}: {run_step(pipeline, step, actor, '')}")
    return check_everything(pipeline, before)


def make_actor() -> Any:
    from django.contrib.auth.models import User

    return User.objects.create_superuser("admin", password="a passphrase of the trial")


def start_scrub(pipeline: Pipeline, actor: Any) -> int:
    from datasets_app.jobs import runs
    from datasets_app.models import Dataset
    from datasets_app.scrubbing.parameters import ScrubParameters

    dataset = Dataset.objects.get(name=pipeline.name)
    return int(runs.start_job("scrub_dataset", actor=actor, dataset=dataset, parameters=ScrubParameters()).pk)


def wait_for_share(job: int, share: float) -> None:
    from datasets_app.models import ScrubChunk

    def has_share() -> bool:
        chunks = ScrubChunk.objects.filter(scrub__job_run=job)
        return chunks.filter(done=True).count() > share * max(1, chunks.count())

    wait_until(has_share, STEP_SECONDS, "part of the scrub is done")


def list_busy_machines() -> Counter[str]:
    """Names of machines, and how many jobs of the scrub each runs."""
    from datasets_app.models import JobRun

    workers = JobRun.objects.filter(state="running", operation__startswith="scrub")
    return Counter(name.partition(":")[0] for name in workers.values_list("worker", flat=True))


def format_machines(machines: Counter[str]) -> str:
    return ", ".join(f"{name} ({count} jobs)" for name, count in sorted(machines.items()))


def has_ended(job: int) -> bool:
    from datasets_app.models import JobRun

    return JobRun.objects.get(pk=job).is_finished and not JobRun.objects.active().exists()


def check_everything(pipeline: Pipeline, before: Counter[str]) -> list[invariants.Check]:
    from datasets_app.models import ScrubChunk

    chunks = ScrubChunk.objects.all()
    lost = [f"{chunk} is not done" for chunk in chunks.filter(done=False)]
    shared = [] if before[FIRST] and before[SECOND] else ["only one machine took part before the cut"]
    return [
        invariants.Check("machines that shared the scrub", 2, shared),
        invariants.Check("chunks of the scrub", chunks.count(), lost),
        check_findings(pipeline),
        invariants.check_datasets([pipeline]),
        invariants.check_jobs(),
        invariants.check_partitions(),
        invariants.check_files(),
        invariants.check_releases(),
        invariants.check_audit_log(),
        invariants.check_workers(2 * WORKERS_PER_MACHINE),
    ]


def check_findings(pipeline: Pipeline) -> invariants.Check:
    """Each planted address was found, and replaced once."""
    from datasets_app.models import ScrubChunk

    found = sum(chunk.totals.get("EMAIL", 0) for chunk in ScrubChunk.objects.all())
    lost = [] if found == pipeline.sessions else [f"{found} addresses were replaced"]
    return invariants.Check("planted addresses replaced", pipeline.sessions, lost)


def say(message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
