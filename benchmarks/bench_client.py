"""The client against the application's server: a push that breaks off and resumes, and a pull.

    python -m benchmarks.bench_client [--turns 100000] [--rounds 3]

The baseline of the pull is the export command, which writes the same file. Server, worker and client share
this machine. Memory is that of the client, for all turns and for a tenth.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.harness import (
    PROJECT,
    print_comparison,
    run_measured,
    temporary_servers,
    time_call,
    write_turns,
)

ADDRESS = "127.0.0.1:8127"
MIN_RATIO = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return _run_child(*given.child)
    with temporary_servers() as folder, _running_application():
        os.environ["ALIGNMENTER_TOKEN"] = _create_token()
        for name, turns in (("small", given.turns // 10), ("large", given.turns)):
            write_turns(folder / f"{name}.jsonl", turns)
            _measure_push(folder / f"{name}.jsonl", name)
        _measure_pull(folder, given.turns, given.rounds)
    return None


def _measure_push(path: Path, name: str) -> None:
    interrupted = subprocess.Popen(_child("push", path, name), cwd=PROJECT)
    with suppress(subprocess.TimeoutExpired):
        interrupted.wait(0.7)
    interrupted.kill()
    interrupted.wait()
    result = run_measured("benchmarks.bench_client", "--child", "push", path, name)
    megabytes = path.stat().st_size / 1e6
    print(
        f"client: push of {megabytes:,.0f} MB, interrupted, imported in {result['seconds']:.1f} s, "
        f"peak RSS {result['rss_mb']:.0f} MB"
    )


def _measure_pull(folder: Path, turns: int, rounds: int) -> None:
    from django.core.management import call_command

    small = run_measured("benchmarks.bench_client", "--child", "pull", folder / "small.out", "small")
    baseline, ours, memory = [], [], 0.0
    exported = folder / "exported.jsonl"
    for _ in range(rounds):
        baseline.append(
            time_call(lambda: call_command("export_dataset", "large", out=str(exported), verbosity=0))
        )
        result = run_measured("benchmarks.bench_client", "--child", "pull", folder / "large.out", "large")
        ours.append(result["seconds"])
        memory = max(memory, result["rss_mb"])
        equal = _hash(exported) == _hash(folder / "large.out")
        print(f"client: pulled file {'equals' if equal else 'DIFFERS FROM'} the exported one")
    print_comparison("client, pull", turns, baseline, ours, MIN_RATIO)
    print(f"client: pull, peak RSS {memory:.0f} MB, {small['rss_mb']:.0f} MB for a tenth (wanted: flat)")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _child(*arguments: Any) -> list[str]:
    return [sys.executable, "-m", "benchmarks.bench_client", "--child", *map(str, arguments)]


def _run_child(verb: str, path: str, name: str) -> None:
    from alignmenter_datasets import Client

    started = time.perf_counter()
    with Client(f"http://{ADDRESS}", os.environ["ALIGNMENTER_TOKEN"]) as client:
        client.push(path, name, origin="synthetic") if verb == "push" else client.pull(name, path)
    print(json.dumps({"seconds": time.perf_counter() - started}))


def _create_token() -> str:
    from django.contrib.auth.models import User

    from datasets_app.access.scopes import SCOPES
    from datasets_app.access.tokens import create_token

    user = User.objects.create(username="super", is_staff=True, is_superuser=True)
    return create_token(user, name="benchmark", scopes=list(SCOPES))[1]


@contextmanager
def _running_application() -> Iterator[None]:
    environment = os.environ | {"ALLOWED_HOSTS": "127.0.0.1"}
    commands = (
        [sys.executable, "-m", "gunicorn", "alignmenter_site.wsgi", "--bind", ADDRESS, "--threads", "4",
         "--no-control-socket"],
        [sys.executable, "manage.py", "worker"],
    )  # fmt: skip
    running = [
        subprocess.Popen(command, cwd=PROJECT, env=environment, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        _wait_for_server()
        yield
    finally:
        for process in running:
            process.terminate()
            process.wait()


def _wait_for_server() -> None:
    for _ in range(300):
        with suppress(OSError), urllib.request.urlopen(f"http://{ADDRESS}/healthz", timeout=5):
            return
        time.sleep(0.1)
    sys.exit("The server did not start.")


if __name__ == "__main__":
    main()
