"""How far annotators agree: in annotation files, a dataset or a campaign."""

import json
from argparse import RawDescriptionHelpFormatter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from datasets_app.management.terminal import (
    EXIT_COULD_NOT_RUN,
    Progress,
    command_error,
    print_problems,
    provide_local_file,
    report_errors,
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
        from annotations_app.domain.agreement.agreement_text import format_report

        self._check_arguments(options)
        by = tuple(kind.strip() for kind in options["by"].split(",") if kind.strip())
        given = {"by": by, "resamples": options["resamples"], "seed": options["seed"]}
        with report_errors(self):
            report = (
                self._measure_files(options, given) if options["files"] else _measure_database(options, given)
            )
            if not report.headline.labels:
                raise command_error(_no_labels_message(options))
            if options["format"] == "json":
                self.stdout.write(json.dumps(report.as_json(), ensure_ascii=True, indent=2, allow_nan=False))
            else:
                self.stdout.write(format_report(report))
            self.stdout.flush()

    def _check_arguments(self, options: dict[str, Any]) -> None:
        ways = [bool(options["files"]), options["dataset"] is not None, options["campaign"] is not None]
        if sum(ways) != 1:
            raise command_error(
                "name files to measure, or --dataset NAME, or --campaign NAME: one of the three"
            )
        if options["campaign"] is not None and options["persona"] is not None:
            raise command_error("a campaign is for one persona; leave --persona out")
        if options["files"].count("-") > 1:
            raise command_error("standard input can be read only once")
        if options["seed"] < 0:
            raise command_error("--seed must be 0 or more")

    def _measure_files(self, options: dict[str, Any], measure_options: dict[str, Any]) -> "AgreementReport":
        from annotations_app.agreement.measure import measure_files
        from datasets_app.core.errors import UserError
        from datasets_app.domain.conversations.lines import Limits

        limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
        progress = Progress("Reading")
        with ExitStack() as stack:
            paths = {stack.enter_context(provide_local_file(name)): name for name in options["files"]}
            try:
                return measure_files(
                    list(paths),
                    names=[_display_name(name) for name in paths.values()],
                    persona_id=options["persona"],
                    limits=limits,
                    report_progress=progress,
                    **measure_options,
                )
            except UserError as refusal:
                progress.clear()
                print_problems(self.stderr, refusal.details or {})
                raise CommandError(refusal.message, returncode=EXIT_COULD_NOT_RUN) from None
            finally:
                progress.clear()


def _display_name(name: str) -> str:
    return "<stdin>" if name == "-" else name


def _measure_database(options: dict[str, Any], measure_options: dict[str, Any]) -> "AgreementReport":
    from annotations_app.agreement.measure import measure_agreement
    from annotations_app.models import Campaign
    from datasets_app.catalog.facts import get_dataset

    if options["dataset"] is not None:
        return measure_agreement(
            dataset=get_dataset(options["dataset"]), persona_id=options["persona"], **measure_options
        )
    campaign = Campaign.objects.select_related("persona").filter(name=options["campaign"]).first()
    if campaign is None:
        raise command_error(f"There is no campaign {options['campaign']!r}.")
    return measure_agreement(campaign=campaign, **measure_options)


def _no_labels_message(options: dict[str, Any]) -> str:
    where = options["dataset"] or options["campaign"] or " ".join(map(_display_name, options["files"]))
    whose = f" for the persona {options['persona']}" if options["persona"] else ""
    return f"There are no labels{whose} in {where}."
