import json
import re
from argparse import ArgumentParser
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.catalog.sharing_requirements import load_requirements
from datasets_app.command_line.options import add_options, option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.intervals import count_needed
from datasets_app.domain.pii.canary.measure import KindSurvival, Survival
from datasets_app.domain.pii.canary.survival_text import (
    DEFAULT_LIMIT,
    DEFAULT_SEED,
    DEFAULT_VALUES,
    describe_survival,
    format_percent,
)
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.file_scrubbing import load_persona_terms
from datasets_app.management.files import open_conversations
from datasets_app.management.policy_options import DETECTION_OPTIONS, build_policy
from datasets_app.management.terminal import command_error
from datasets_app.scrubbing.canary_dataset import canary_file
from datasets_app.scrubbing.parameters import CanaryParameters
from datasets_app.scrubbing.tasks import canary_dataset

MAX_FORMS_SHOWN = 3
_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?(%?)")


class Command(BaseCommand):
    help = """Measure how much a scrub leaves, with planted values.

Plants made-up values of all types in copies of turns of the dataset, as people there write
them and in the language of each conversation, scrubs the copies with the settings of the
dataset's last scrub, and counts what is left: in all, by type, and by language if there are
several. Nothing is stored in the dataset; the numbers stand in its verdict and reports until
its text changes. A file is scrubbed with the options below, and needs no database.

examples:
  manage.py canary_dataset support
  manage.py canary_dataset support --n 6000 --upper 0.5% --seed 7
  manage.py canary_dataset --input logs.jsonl --upper 2% --format json

exit codes:
  0  with 95 % confidence at most the limit survives
  1  it may be more
  2  could not run: no such dataset or file, no text in it, wrong arguments"""

    arguments = (
        option("name NAME", "the dataset", nargs="?"),
        option("--input FILE", "use this file instead; - for standard input"),
        option(
            "--n N",
            f"number of values, evenly of all types (default: {DEFAULT_VALUES})",
            default=DEFAULT_VALUES,
            dest="count",
        ),
        option(
            "--upper SHARE",
            "the most that may survive, as 1%% or 0.01: the limit of the upper bound (default: what "
            "sharing the dataset requires, else 1%%)",
        ),
        option("--seed N", "the same seed plants the same values", default=DEFAULT_SEED),
        option("--format", "default: text", choices=["text", "json"], default="text"),
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        files = parser.add_argument_group("for files", "A dataset has its own settings.")
        add_options(files, DETECTION_OPTIONS)

    def handle(self, **options: Any) -> None:
        if (options["name"] is None) == (options["input"] is None):
            raise command_error("Name either a dataset or a file with --input FILE.")
        limit = _find_limit(options)
        survival = _measure_dataset(options, limit) if options["name"] else _measure_file(options, limit)
        if options["format"] == "json":
            source = {"dataset": options["name"]} if options["name"] else {"input": options["input"]}
            stated = {**source, **survival.as_json(), "limit": limit, "passed": survival.passed}
            self.stdout.write(json.dumps(stated, indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_format_table(survival)))
            self.stdout.write(describe_survival(survival.as_json()))
            verdict = "Passed" if survival.passed else "Failed"
            self.stdout.write(f"{verdict}: the limit is {format_percent(limit)}.")
            fewest = count_needed(limit)
            if fewest > survival.planted:
                planted = format_count(survival.planted, "value")
                self.stdout.write(f"{planted} can't show that: with --n {fewest} it passes if none is left.")
        if not survival.passed:
            raise SystemExit(EXIT_FINDINGS)


def _find_limit(options: dict[str, Any]) -> float:
    if options["upper"]:
        return _parse_share(options["upper"])
    name = options["name"]
    return load_requirements(get_dataset(name)).canary_limit if name else DEFAULT_LIMIT


def _parse_share(text: str) -> float:
    match = _SHARE.fullmatch(text.strip())
    share = float(match[1]) / (100 if match[2] else 1) if match else -1
    if not 0 < share < 1:
        raise command_error("--upper is a share between 0 and 1, such as 1% or 0.01.")
    return share


def _measure_dataset(options: dict[str, Any], limit: float) -> Survival:
    for name in ("scrub_patterns", "pattern", "allow", "persona", "names"):
        if options[name]:
            raise command_error(
                f"--{name.replace('_', '-')} is for files. A dataset is measured with the settings of its "
                "last scrub; leave it out."
            )
    return run_job(
        "canary_dataset",
        canary_dataset,
        progress=Progress("Scrubbing planted values", "values"),
        dataset_name=get_dataset(options["name"]).name,
        parameters=CanaryParameters.from_options(options, limit=limit),
    )


def _measure_file(options: dict[str, Any], limit: float) -> Survival:
    policy, terms = build_policy(options), tuple(load_persona_terms(options["persona"]))
    with open_conversations(options["input"]) as file, Progress("Scrubbing planted values") as progress:
        survival = canary_file(
            file, policy, terms, count=options["count"], seed=options["seed"], report_progress=progress
        )
    return survival._replace(limit=limit)


def _format_table(survival: Survival) -> list[str]:
    rows = [("type", "planted", "left", "at most", "")]
    rows += [(name, *_format_kind(kind)) for name, kind in sorted(survival.by_kind.items())]
    rows.append(("all", *map(str, (survival.planted, survival.survived)), format_percent(survival.upper), ""))
    width = max(len(name) for name, *_ in rows)
    return [
        f"{name:<{width}}  {planted:>7}  {left:>5}  {upper:>8}  {forms}".rstrip()
        for name, planted, left, upper, forms in rows
    ]


def _format_kind(kind: KindSurvival) -> tuple[str, str, str, str]:
    shown = [f"{form}: {count}" for form, count in list(kind.forms.items())[:MAX_FORMS_SHOWN]]
    more = len(kind.forms) - len(shown)
    forms = "; ".join([*shown, f"and {more} more forms"] if more else shown)
    return str(kind.planted), str(kind.survived), format_percent(kind.upper), forms
