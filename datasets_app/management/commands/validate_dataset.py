import sys
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings

from datasets_app.catalog import raw_access
from datasets_app.catalog.facts import get_dataset
from datasets_app.catalog.rows.attach_sessions import attach_sessions
from datasets_app.catalog.searching import estimate_turns, open_searching
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.command_line import validate
from datasets_app.command_line.options import option
from datasets_app.command_line.outputs import OUTPUTS, Output
from datasets_app.command_line.streams import CommandFailure, Progress
from datasets_app.core.limits import configured_limits
from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.quality.files import ANNOTATION
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand

FINDING_BATCH_SIZE = 500

EPILOG = validate.EPILOG.format(
    program="manage.py validate_dataset", more="\n  manage.py validate_dataset --dataset support-2025"
)


class Command(BaseCommand):
    help = f"Check conversation or annotation files, or a dataset, and list what is wrong.\n{EPILOG}"

    arguments = (
        *validate.OPTIONS,
        option("--dataset NAME", "check this dataset instead of files"),
    )

    def handle(self, **options: Any) -> None:
        _check_options(options)
        validate.escape_undecodable_names(sys.stdout)
        write_error = partial(self.stderr.write, style_func=str)
        output = OUTPUTS[options["format"]](self.stdout.write, write_error, options["limit"])
        models = () if options["no_names"] else validate.load_name_models(settings.NAME_MODELS)
        if options["dataset"] is not None:
            _check_dataset(options["dataset"], models, output)
        turns = estimate_turns([Path(name) for name in options["files"]])
        with open_searching(turns) as search_batches:
            validate.check_files(options, output, models, configured_limits(), search_batches)
        output.close()
        self.stdout.flush()
        if code := validate.get_exit_code(output, options["strict"]):
            raise SystemExit(code)


def _check_options(options: dict[str, Any]) -> None:
    files, dataset = options["files"], options["dataset"]
    if bool(files) == (dataset is not None):
        raise CommandFailure("Name either files or a dataset with --dataset NAME.")
    if dataset is not None and options["pii_only"]:
        raise CommandFailure("--pii-only is for files; leave it out to check a dataset.")
    if dataset is not None and options["kind"] == ANNOTATION:
        raise CommandFailure("--dataset checks conversations; to check labels, export them to a file.")
    validate.check_options(options)


def _check_dataset(name: str, models: tuple[str, ...], output: Output) -> None:
    dataset = get_dataset(name)
    report = run_job(
        "check_dataset",
        lambda job: check_dataset(
            dataset, actor=None, name_models=models, report_progress=job.report_progress
        ),
        progress=Progress(f"Checking {name}"),
        dataset_name=dataset.name,
    )
    if found := report.findings.count():
        raw_access.record_access(dataset, None, place="checks", findings=found)
    output.start_source(name, None, is_file=False)
    for some in batched(report.findings.order_by("id").iterator(), FINDING_BATCH_SIZE):
        attach_sessions(report.dataset_id, some)
        for row in some:
            session_id = row.session.session_id if row.session else None
            output.add(Finding(row.code, row.message, 0, session_id, row.turn_index, row.field or None))
    output.set_totals(report.totals)
