"""A judge at a local endpoint: time against the ideal for its concurrency, and the highest memory.

python -m benchmarks.bench_judge --replies 10000
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.harness import temporary_servers

PROJECT = Path(__file__).resolve().parent.parent
LATENCY_SECONDS, CONCURRENCY = 0.25, 32
MAX_RATIO, MAX_GROWTH_MB = 1.2, 50
TEXT = "You find all of that on the page with your settings, below the first picture."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=10_000)
    given = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.llm_server", "--latency", str(LATENCY_SECONDS), "--judge"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    try:
        assert server.stdout is not None
        measure(server.stdout.readline().strip(), given.replies)
    finally:
        server.terminate()


def measure(base_url: str, replies: int) -> None:
    with temporary_servers():
        taken, before, after = judge(base_url, replies)
    ideal = replies * LATENCY_SECONDS / CONCURRENCY
    ratio = taken / ideal
    print(f"{replies:,} replies: {taken:.1f} s, {ratio:.2f} of the ideal {ideal:.1f} s")
    print(f"{1000 * time.process_time() / replies:.1f} ms of processor time for each, with the set-up")
    print(f"Peak RSS: {before:.0f} MB for 200 replies, {after:.0f} MB for all")
    if ratio > MAX_RATIO:
        sys.exit(f"more than {MAX_RATIO} of the ideal")
    if after - before > MAX_GROWTH_MB:
        sys.exit(f"memory grows with replies: by more than {MAX_GROWTH_MB} MB")


def judge(base_url: str, replies: int) -> tuple[float, float, float]:
    """(seconds, peak RSS of judging 200 replies and all, in MB: not that of making them)."""
    from tempfile import TemporaryDirectory

    from annotations_app.judges.judges import import_judge
    from annotations_app.judges.parameters import JudgeOptions
    from annotations_app.judges.run_judge import run_judge
    from annotations_app.models import Campaign
    from datasets_app.catalog.edit import edit_dataset
    from tests.campaigns import make_campaign, make_replies

    with TemporaryDirectory() as folder:
        small = make_campaign(make_replies(Path(folder), 200, name="small", text=TEXT), "ana", name="small")
        dataset = make_replies(Path(folder), replies // 5, turns=10, name="large", text=TEXT)
        large = make_campaign(dataset, "ana", name="large")
    for campaign in (small, large):
        edit_dataset(campaign.dataset_id, {"judge_endpoints": [base_url]}, actor=None)
    model = import_judge(f'{{judge: bench, model: "openai:local", endpoint: "{base_url}"}}').judge
    options = JudgeOptions(concurrency=CONCURRENCY)
    reset_peak()
    run_judge(Campaign.objects.get(pk=small.pk), model, options)
    before = read_peak()
    reset_peak()
    began = time.monotonic()
    outcome = run_judge(Campaign.objects.get(pk=large.pk), model, options)
    taken = time.monotonic() - began
    if not outcome.is_complete or outcome.judged != replies:
        sys.exit(f"not all are judged: {outcome}")
    return taken, before, read_peak()


def reset_peak() -> None:
    """Of this process; Linux alone can do that."""
    Path("/proc/self/clear_refs").write_text("5")


def read_peak() -> float:
    """In MB."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


if __name__ == "__main__":
    main()
