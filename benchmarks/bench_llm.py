"""How much of a model's time is used: a local endpoint that takes 50 ms for an answer, many asked at a time.

The ideal is ``sessions x latency / concurrency``: as if asking, checking and writing down took no time. The
server is another process on the same machine, and takes its share of it.

    python -m benchmarks.bench_llm
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.harness import PROJECT, time_call
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.plan import GenerationRequest, plan_sessions
from datasets_app.domain.generation.writer import format_shape
from datasets_app.domain.model_calls.endpoint import Endpoint, Model, normalize_base_url
from datasets_app.generating.journal import SessionJournal, journal_path

LATENCY_SECONDS = 0.05
# Concurrency → sessions of one run, and the share of the ideal that is wanted.
RUNS_BY_CONCURRENCY = {1: (40, 0.8), 8: (240, 0.7), 32: (640, 0.3)}


def write_sessions(base_url: str, concurrency: int, sessions: int, out: Path) -> None:
    """As the command does: every session into the journal, on the disk, before the next is waited for."""
    endpoint = Endpoint(normalize_base_url(base_url), True)
    writer = ModelWriter(Model(endpoint, "local", concurrency=concurrency))
    made_by = format_shape(writer.describe())
    plan = plan_sessions(GenerationRequest(sessions), made_by=made_by)
    journal = SessionJournal(journal_path(out), plan, made_by, resume=False)
    for written in writer.write_all(plan, lambda: journal.sync(writer.used)):
        journal.add(written, writer.used)
    if journal.finished != sessions:
        sys.exit(f"{sessions - journal.finished} sessions failed: {set(journal.failures.values())}")
    journal.close()
    journal.delete()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.llm_server", "--latency", str(LATENCY_SECONDS)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    try:
        assert server.stdout is not None
        base_url = server.stdout.readline().strip()
        with tempfile.TemporaryDirectory(prefix="alignmenter-bench-") as folder:
            out = Path(folder, "out.jsonl")
            write_sessions(base_url, 4, 8, out)  # the packages are loaded
            for concurrency, (sessions, wanted) in RUNS_BY_CONCURRENCY.items():
                taken = median(
                    time_call(
                        lambda at_a_time=concurrency, count=sessions: write_sessions(
                            base_url, at_a_time, count, out
                        )
                    )
                    for _ in range(rounds)
                )
                ideal = sessions * LATENCY_SECONDS / concurrency
                print(
                    f"llm, {concurrency} at a time: {sessions / taken:,.0f} sessions/s, "
                    f"ideal {sessions / ideal:,.0f}, ratio {ideal / taken:.2f} (wanted: at least {wanted})"
                )
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
