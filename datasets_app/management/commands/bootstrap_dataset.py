from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from datasets_app.domain.generation.plan import DEFAULT_EDGE_CASE_SHARE
from datasets_app.management import generation
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Write conversations for a persona: into a file, or into a dataset.

Some are ordinary (product inquiry, support, onboarding, billing, debugging), some are
safety traps that are refused, some brand traps that are answered half in and half out of
the persona's voice, some use technical words that sound like harm. How many of each is
exact. The offline writer needs no network, and the same command writes the same bytes.
Files need no database.

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
  1  a model has left sessions unwritten (they are named); what there is is kept, and the
     same command with --resume goes on
  2  could not run: wrong arguments, a persona that can't be written for
  130  stopped by Ctrl-C: no file is there; of a dataset, or beside the file in the journal
     of a model, what was finished is kept

What is written and how it is made: docs/generation.md"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        _add_output_options(parser)
        _add_plan_options(parser)
        _add_writer_options(parser)

    def handle(self, **options: Any) -> None:
        if (options["out"] is None) == (options["dataset"] is None):
            raise command_error("Name a file with --out FILE, or a dataset with --dataset NAME (not both).")
        generation.run(options, self.stdout, self.stderr)


def _add_output_options(parser: ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", help="write this file (.gz: gzipped; -: standard output)")
    parser.add_argument("--dataset", metavar="NAME", help="add to this dataset; it is made if need be")
    parser.add_argument(
        "--labels", metavar="FILE", help="with --out: also write the intended labels, as many on-brand as off"
    )
    parser.add_argument(
        "--license", default="Apache-2.0", metavar="SPDX", help="of what is written (default: Apache-2.0)"
    )


def _add_plan_options(parser: ArgumentParser) -> None:
    parser.add_argument("--sessions", type=int, required=True, metavar="N", help="how many conversations")
    parser.add_argument(
        "--turns-per-session",
        type=parse_turn_range,
        default=(6, 6),
        metavar="N",
        help="exactly so many turns, or a range such as 4-8 (default: 6)",
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
        help=f"look-alikes, as a share of what is no trap (default: {DEFAULT_EDGE_CASE_SHARE:g})",
    )
    parser.add_argument(
        "--persona",
        metavar="FILE|ID",
        help="persona YAML, or the id of an imported one (default: default_v1)",
    )
    parser.add_argument("--persona-id", metavar="ID", help="stands in the turns instead of the persona's own")
    parser.add_argument(
        "--seed", type=int, default=42, metavar="N", help="another seed, other texts (default: 42)"
    )
    parser.add_argument(
        "--source",
        metavar="FILE",
        help="take scenarios, tags, numbers of turns and lengths of replies from this file, none of its text",
    )


def _add_writer_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model", default="offline", metavar="offline|openai:NAME", help="who writes (default: offline)"
    )
    parser.add_argument("--base-url", metavar="URL", help="of the model's endpoint")
    parser.add_argument("--temperature", type=float, metavar="T", help="for a model")
    parser.add_argument(
        "--concurrency", type=int, default=8, metavar="N", help="calls of a model at once (8)"
    )
    parser.add_argument("--max-tokens-total", type=int, metavar="N", help="a model's run ends at so many")
    parser.add_argument("--resume", action="store_true", help="go on with a model's run that was cut short")


def parse_turn_range(text: str) -> tuple[int, int]:
    """ "6" or "4-8"."""
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise ArgumentTypeError(f"a number such as 6, or a range such as 4-8, not {text!r}") from None
