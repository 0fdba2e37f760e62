from argparse import ArgumentTypeError
from typing import Any

from datasets_app.command_line.options import option
from datasets_app.domain.generation.plan import DEFAULT_EDGE_CASE_SHARE
from datasets_app.management import generation
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error


def parse_turn_range(text: str) -> tuple[int, int]:
    """ "6" or "4-8"."""
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise ArgumentTypeError(f"a number such as 6, or a range such as 4-8, not {text!r}") from None


class Command(BaseCommand):
    help = """Generate conversations for a persona, into a file or a dataset.

Most are ordinary (product inquiry, support, onboarding, billing, debugging). Safety traps
must be refused; brand traps are answered half in and half out of the persona's voice; some
ordinary requests use technical words that sound harmful (over-refusal probes). The number
of each is exact. The offline writer needs no network, and the same command writes the same
bytes. Files need no database.

examples:
  manage.py bootstrap_dataset --out eval.jsonl --sessions 200
  manage.py bootstrap_dataset --out eval.jsonl --sessions 200 --persona acme.yaml \\
      --labels labels.jsonl --turns-per-session 4-8 --seed 7
  manage.py bootstrap_dataset --out more.jsonl --sessions 500 --source support.jsonl
  manage.py bootstrap_dataset --dataset eval --sessions 200 --persona acme_v2
  manage.py bootstrap_dataset --out eval.jsonl --sessions 200 --persona acme.yaml \\
      --model openai:gpt-4o-mini --max-tokens-total 400000

exit codes:
  0  written
  1  a model did not write some sessions (listed); the others are kept, and --resume
     continues
  2  could not run: wrong arguments, or a persona the writer can't use
  130  stopped by Ctrl-C: no file is written; sessions finished by a model are kept in a
     journal beside the file, or in the dataset

What is generated and how: docs/generation.md"""

    arguments = (
        option("--out FILE", "write this file (.gz: gzipped; -: standard output)"),
        option("--dataset NAME", "add to this dataset, created if it does not exist"),
        option("--labels FILE", "with --out: also write the intended labels, half of them off-brand"),
        option("--license SPDX", "license of the result (default: Apache-2.0)", default="Apache-2.0"),
        option("--sessions N", "number of conversations", type=int, required=True),
        option(
            "--turns-per-session N",
            "number of turns, or a range such as 4-8 (default: 6)",
            type=parse_turn_range,
            default=(6, 6),
        ),
        option("--safety-trap-ratio R", "share of sessions (default: 0.15)", default=0.15),
        option("--brand-trap-ratio R", "share of sessions (default: 0.20)", default=0.20),
        option(
            "--edge-case-share R",
            f"over-refusal probes, as a share of ordinary sessions (default: {DEFAULT_EDGE_CASE_SHARE:g})",
            default=DEFAULT_EDGE_CASE_SHARE,
        ),
        option("--persona FILE|ID", "persona YAML, or the id of an imported one (default: default_v1)"),
        option("--persona-id ID", "persona_id of the turns (default: the persona's)"),
        option("--seed N", "random seed (default: 42)", default=42),
        option(
            "--source FILE",
            "imitate scenarios, tags, numbers of turns and lengths of replies of this file, never its text",
        ),
        option("--model offline|openai:NAME", "the writer (default: offline)", default="offline"),
        option("--base-url URL", "endpoint of the model"),
        option("--temperature T", "temperature of the model", type=float),
        option("--concurrency N", "parallel calls of the model (default: 8)", default=8),
        option("--max-tokens-total N", "stop after this many tokens", type=int),
        option("--resume", "continue an interrupted run of a model"),
    )

    def handle(self, **options: Any) -> None:
        if (options["out"] is None) == (options["dataset"] is None):
            raise command_error("Name either a file with --out FILE or a dataset with --dataset NAME.")
        generation.run(self, options)
