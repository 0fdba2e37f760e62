"""How far annotators agree: in annotation files, a dataset or a campaign."""

import json
from argparse import RawDescriptionHelpFormatter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from datasets_app.management.terminal import (
    COULD_NOT_RUN,
    Progress,
    could_not_run,
    local_file,
    sentences_for_errors,
    tell_problems,
)

if TYPE_CHECKING:
    from annotations_app.domain.agreement.agreement_report import AgreementReport

EPILOG = """
examples:
  agreement labels.jsonl
  agreement ada.jsonl ben.jsonl chi.jsonl.gz --by annotator --format json
  agreement --dataset demo_conversations --by tag,month
  agreement --campaign autumn

Files are annotation JSONL and need no database. A label is of the reply that session_id and
turn_index name, else of the one with its text. --by tag and --by split take "tags" and "split"
of a line, where it has them.

What each number is and how to read it: docs/agreement.md.

exit codes:
  0  measured
  2  could not run: no such file, dataset or campaign, lines that are no labels, no labels at all
"""


class Command(BaseCommand):
    help = "Measure how far annotators agree: raw agreement, alpha, AC1, kappas, pairs, consensus."
    # Files are measured without a database.
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(
            prog_name, subcommand, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **kwargs
        )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files",
            nargs="*",
            metavar="FILE",
            help="annotation JSONL, plain or gzipped; - for standard input",
        )
        parser.add_argument("--dataset", metavar="NAME", help="measure this dataset instead of files")
        parser.add_argument("--campaign", metavar="NAME", help="measure this campaign instead of files")
        parser.add_argument("--persona", metavar="ID", help="only labels for this persona (default: all)")
        parser.add_argument(
            "--by",
            metavar="KINDS",
            default="",
            help="parts: annotator, persona, tag, split, month; with commas",
        )
        parser.add_argument("--format", choices=("text", "json"), default="text", help="of the output")
        parser.add_argument("--resamples", type=int, default=1000, metavar="N", help="default: 1000")
        parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the resamples; default: 42")

    def handle(self, *args: Any, **options: Any) -> None:
        from annotations_app.domain.agreement.agreement_text import as_text

        self._check_arguments(options)
        by = tuple(kind.strip() for kind in options["by"].split(",") if kind.strip())
        given = {"by": by, "resamples": options["resamples"], "seed": options["seed"]}
        with sentences_for_errors(self.stderr):
            report = self._of_files(options, given) if options["files"] else _of_rows(options, given)
            if not report.headline.labels:
                raise could_not_run(_nothing_in(options))
            if options["format"] == "json":
                self.stdout.write(json.dumps(report.as_json(), ensure_ascii=True, indent=2, allow_nan=False))
            else:
                self.stdout.write(as_text(report))
            self.stdout.flush()

    def _check_arguments(self, options: dict[str, Any]) -> None:
        ways = [bool(options["files"]), options["dataset"] is not None, options["campaign"] is not None]
        if sum(ways) != 1:
            raise could_not_run(
                "name files to measure, or --dataset NAME, or --campaign NAME: one of the three"
            )
        if options["campaign"] is not None and options["persona"] is not None:
            raise could_not_run("a campaign is for one persona; leave --persona out")
        if options["files"].count("-") > 1:
            raise could_not_run("standard input can be read only once")
        if options["seed"] < 0:
            raise could_not_run("--seed must be 0 or more")

    def _of_files(self, options: dict[str, Any], given: dict[str, Any]) -> "AgreementReport":
        from annotations_app.agreement.measure import measure_files
        from datasets_app.core.errors import Refused
        from datasets_app.domain.conversations.lines import Limits

        limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
        progress = Progress("Reading")
        with ExitStack() as stack:
            paths = {stack.enter_context(local_file(name)): name for name in options["files"]}
            try:
                return measure_files(
                    list(paths),
                    names=[_shown(name) for name in paths.values()],
                    persona_id=options["persona"],
                    limits=limits,
                    report_progress=progress,
                    **given,
                )
            except Refused as refusal:
                progress.clear()
                tell_problems(self.stderr, refusal.details or {})
                raise CommandError(refusal.message, returncode=COULD_NOT_RUN) from None
            finally:
                progress.clear()


def _shown(name: str) -> str:
    return "<stdin>" if name == "-" else name


def _of_rows(options: dict[str, Any], given: dict[str, Any]) -> "AgreementReport":
    from annotations_app.agreement.measure import measure_agreement
    from annotations_app.models import Campaign
    from datasets_app.catalog.facts import dataset_named

    if options["dataset"] is not None:
        return measure_agreement(
            dataset=dataset_named(options["dataset"]), persona_id=options["persona"], **given
        )
    campaign = Campaign.objects.select_related("persona").filter(name=options["campaign"]).first()
    if campaign is None:
        raise could_not_run(f"There is no campaign {options['campaign']!r}.")
    return measure_agreement(campaign=campaign, **given)


def _nothing_in(options: dict[str, Any]) -> str:
    where = options["dataset"] or options["campaign"] or " ".join(map(_shown, options["files"]))
    whose = f" for the persona {options['persona']}" if options["persona"] else ""
    return f"There are no labels{whose} in {where}."
