from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from datasets_app.domain.generation.plan import DEFAULT_EDGE_CASE_SHARE
from datasets_app.management import generation
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error


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

    def add_arguments(self, parser: ArgumentParser) -> None:
        _add_output_options(parser)
        _add_plan_options(parser)
        _add_writer_options(parser)

    def handle(self, **options: Any) -> None:
        if (options["out"] is None) == (options["dataset"] is None):
            raise command_error("Name either a file with --out FILE or a dataset with --dataset NAME.")
        generation.run(self, options)


def _add_output_options(parser: ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", help="write this file (.gz: gzipped; -: standard output)")
    parser.add_argument("--dataset", metavar="NAME", help="add to this dataset, created if it does not exist")
    parser.add_argument(
        "--labels", metavar="FILE", help="with --out: also write the intended labels, half of them off-brand"
    )
    parser.add_argument(
        "--license", default="Apache-2.0", metavar="SPDX", help="license of the result (default: Apache-2.0)"
    )


def _add_plan_options(parser: ArgumentParser) -> None:
    parser.add_argument("--sessions", type=int, required=True, metavar="N", help="number of conversations")
    parser.add_argument(
        "--turns-per-session",
        type=parse_turn_range,
        default=(6, 6),
        metavar="N",
        help="number of turns, or a range such as 4-8 (default: 6)",
    )
    parser.add_argument(
        "--safety-trap-ratio", type=float, default=0.15, metavar="R", help="share of sessions (default: 0.15)"
    )
    parser.add_argument(
        "--brand-trap-ratio", type=float, default=0.20, metavar="R", help="share of sessions (default: 0.20)"
    )
    parser.add_argument(
        "--edge-case-share",
        type=float,
        default=DEFAULT_EDGE_CASE_SHARE,
        metavar="R",
        help=f"over-refusal probes, as a share of ordinary sessions (default: {DEFAULT_EDGE_CASE_SHARE:g})",
    )
    parser.add_argument(
        "--persona",
        metavar="FILE|ID",
        help="persona YAML, or the id of an imported one (default: default_v1)",
    )
    parser.add_argument("--persona-id", metavar="ID", help="persona_id of the turns (default: the persona's)")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="random seed (default: 42)")
    parser.add_argument(
        "--source",
        metavar="FILE",
        help="imitate scenarios, tags, numbers of turns and lengths of replies of this file, never its text",
    )


def _add_writer_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model", default="offline", metavar="offline|openai:NAME", help="the writer (default: offline)"
    )
    parser.add_argument("--base-url", metavar="URL", help="endpoint of the model")
    parser.add_argument("--temperature", type=float, metavar="T", help="temperature of the model")
    parser.add_argument(
        "--concurrency", type=int, default=8, metavar="N", help="parallel calls of the model (default: 8)"
    )
    parser.add_argument("--max-tokens-total", type=int, metavar="N", help="stop after this many tokens")
    parser.add_argument("--resume", action="store_true", help="continue an interrupted run of a model")


def parse_turn_range(text: str) -> tuple[int, int]:
    """ "6" or "4-8"."""
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise ArgumentTypeError(f"a number such as 6, or a range such as 4-8, not {text!r}") from None
