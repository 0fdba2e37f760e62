"""How well annotators agree: in annotation files, a dataset or a campaign."""

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from annotations_app.domain.to_json import to_json
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_COULD_NOT_RUN, Progress, provide_local_file
from datasets_app.core.limits import configured_limits
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error, print_problems

if TYPE_CHECKING:
    from annotations_app.domain.agreement.agreement_report import AgreementReport
    from annotations_app.models import Campaign


class Command(BaseCommand):
    help = """Measure inter-annotator agreement: raw agreement, alpha, AC1, kappas, pairs, consensus.

examples:
  agreement labels.jsonl
  agreement ada.jsonl ben.jsonl chi.jsonl.gz --by annotator --format json
  agreement --dataset demo_conversations --by tag,month
  agreement --campaign autumn
  agreement --campaign autumn --version 1
  agreement --campaign autumn --plan 0.1

Files are annotation JSONL and need no database. A label belongs to the reply that session_id and
turn_index name, else to the one with its text. --by tag and --by split use "tags" and "split" of
a line, where it has them.

A campaign with a schema is measured by criterion: each on its own scale, of tags each one.

What each number is and how to read it: docs/agreement.md.

exit codes:
  0  measured
  2  could not run: no such file, dataset or campaign, invalid lines, no labels"""

    arguments = (
        option("files FILE", "annotation JSONL, plain or gzipped; - for standard input", nargs="*"),
        option("--dataset NAME", "measure this dataset instead of files"),
        option("--campaign NAME", "measure this campaign instead of files"),
        option("--persona ID", "only labels for this persona (default: all)"),
        option(
            "--by KINDS",
            "also by part: annotator, persona, tag, split, month; separated by commas",
            default="",
        ),
        option(
            "--version N",
            "of a campaign: only labels made under its Nth persona, guidelines and schema; its page of "
            "agreement lists them (default: all that count)",
            dest="labels_version",
            default=0,
        ),
        option(
            "--plan WIDTH",
            "say how many more labels give alpha an interval this wide, such as 0.1",
            type=float,
        ),
        option("--format", "output format", choices=("text", "json"), default="text"),
        option("--resamples N", "default: 1000", default=1000),
        option("--seed N", "seed of the resamples; default: 42", default=42),
    )

    def handle(self, **options: Any) -> None:
        from annotations_app.domain.agreement.agreement_text import format_report

        _validate_options(options)
        by = tuple(kind.strip() for kind in options["by"].split(",") if kind.strip())
        how = {"by": by, "resamples": options["resamples"], "seed": options["seed"]}
        how["width"] = options["plan"]
        if options["campaign"] and (campaign := _find_schema_campaign(options["campaign"])):
            self._measure_criteria(campaign, by, options)
            return
        measure = self._measure_files if options["files"] else _measure_database
        report = measure(options, how)
        if not report.headline.labels:
            notes = (f"{note}." for note in report.notes)
            raise command_error(" ".join([_no_labels_message(options), *notes]))
        if options["format"] == "json":
            self.stdout.write(json.dumps(report.as_json(), ensure_ascii=True, indent=2, allow_nan=False))
        else:
            self.stdout.write(format_report(report))
        self.stdout.flush()

    def _measure_criteria(self, campaign: "Campaign", by: tuple[str, ...], options: dict[str, Any]) -> None:
        from annotations_app.agreement.criteria import measure_criteria
        from annotations_app.domain.agreement.agreement_text import format_criterion
        from datasets_app.catalog import raw_access

        if by:
            raise command_error("A campaign with a schema is measured by criterion; leave --by out.")
        if not campaign.judgments.exists():
            raise command_error(_no_labels_message(options))
        measured = measure_criteria(
            campaign,
            version=options["labels_version"],
            resamples=options["resamples"],
            seed=options["seed"],
            width=options["plan"],
            by_tag=True,
        )
        if tags := max(len(one.preference_by_tag) for one in measured.criteria):
            raw_access.record_access(campaign.dataset, None, place="agreement", tags=tags)
        if options["format"] == "json":
            self.stdout.write(json.dumps(to_json(measured), indent=2, allow_nan=False))
            return
        for one in measured.criteria:
            self.stdout.write(format_criterion(one))
        for note in measured.notes:
            self.stdout.write(f"Note: {note}")

    def _measure_files(self, options: dict[str, Any], measure_options: dict[str, Any]) -> "AgreementReport":
        from annotations_app.agreement.measure import measure_files
        from datasets_app.core.errors import UserError

        limits = configured_limits()
        with ExitStack() as stack, Progress("Reading") as progress:
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
                # Invalid lines of a measurement mean "could not run", not "findings".
                progress.clear()
                print_problems(self.stderr, refusal.details or {})
                raise CommandError(refusal.message, returncode=EXIT_COULD_NOT_RUN) from None


def _find_schema_campaign(name: str) -> "Campaign | None":
    from annotations_app.campaigns.members import get_campaign

    campaign = get_campaign(name)
    return campaign if campaign.schema else None


def _validate_options(options: dict[str, Any]) -> None:
    ways = [bool(options["files"]), options["dataset"] is not None, options["campaign"] is not None]
    if sum(ways) != 1:
        raise command_error("Name files to measure, or --dataset NAME, or --campaign NAME: one of the three.")
    if options["campaign"] is not None and options["persona"] is not None:
        raise command_error("A campaign has one persona; leave --persona out.")
    if options["labels_version"] and options["campaign"] is None:
        raise command_error("--version is of the labels of a campaign; name it with --campaign.")
    if options["files"].count("-") > 1:
        raise command_error("Standard input can be read only once.")
    if options["seed"] < 0:
        raise command_error("--seed must be 0 or more.")


def _display_name(name: str) -> str:
    return "<stdin>" if name == "-" else name


def _measure_database(options: dict[str, Any], measure_options: dict[str, Any]) -> "AgreementReport":
    from annotations_app.agreement.measure import measure_agreement
    from annotations_app.campaigns.members import get_campaign
    from datasets_app.catalog import raw_access
    from datasets_app.catalog.facts import get_dataset

    if options["dataset"] is not None:
        dataset = get_dataset(options["dataset"])
        report = measure_agreement(dataset=dataset, persona_id=options["persona"], **measure_options)
    else:
        campaign = get_campaign(options["campaign"])
        dataset = campaign.dataset
        report = measure_agreement(campaign=campaign, version=options["labels_version"], **measure_options)
    # Tags and ids of personas are from files.
    if shown := {f"{kind}s": len(report.by[kind]) for kind in ("tag", "persona") if report.by.get(kind)}:
        raw_access.record_access(dataset, None, place="agreement", **shown)
    return report


def _no_labels_message(options: dict[str, Any]) -> str:
    where = options["dataset"] or options["campaign"] or " ".join(map(_display_name, options["files"]))
    whose = f" for the persona {options['persona']}" if options["persona"] else ""
    return f"There are no labels{whose} in {where}."
