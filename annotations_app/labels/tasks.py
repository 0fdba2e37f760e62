"""What a worker does for the operations of this package; see ``datasets_app/jobs/registry.py``."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from annotations_app.labels.parameters import LabelExportParameters, LabelImportParameters
from annotations_app.models import Campaign, LabelSchema
from datasets_app.jobs import files
from datasets_app.jobs.registry import Operation, operations, task
from datasets_app.jobs.running import RunningJob
from datasets_app.models import Dataset

if TYPE_CHECKING:
    from annotations_app.labels.export_annotations import ExportedLabels
    from annotations_app.labels.export_judgments import ExportedAnswers

# Only a command imports labels; its parameters are shown on the job's page.
operations["import_annotations"] = Operation(LabelImportParameters)


@task(LabelExportParameters, permission="annotations_app.export_annotation")
def export_annotations(job: RunningJob[LabelExportParameters]) -> "ExportedLabels | ExportedAnswers":
    from annotations_app.campaigns.members import get_campaign
    from annotations_app.domain.answer_files.formats import DEFAULT_FORMAT
    from annotations_app.labels.export_annotations import DEFAULT_SELECTION
    from annotations_app.labels.gated_export import find_format

    options, format = job.parameters, job.parameters.format or DEFAULT_FORMAT
    campaign = get_campaign(options.campaign) if options.campaign else None
    schema = campaign.schema if campaign else None
    labels = options.labels or ("all" if schema else DEFAULT_SELECTION)
    chosen = "answers" if schema and labels == "all" else labels
    export = choose_export(job.dataset, campaign, schema, options.persona or "")
    with files.work_folder(job.row) as folder:
        path = folder / f"{(campaign or job.dataset).name}.{chosen}.{find_format(format).ending}"
        with path.open("wb") as out:
            exported = export(
                out=out,
                labels=labels,
                format=format,
                override=job.override,
                actor=job.actor,
                report_progress=job.report_progress,
            )
        files.store_files(job.row, "export", [path])
    return exported


def choose_export(
    dataset: Dataset, campaign: Campaign | None, schema: LabelSchema | None, persona: str
) -> Callable[..., "ExportedLabels | ExportedAnswers"]:
    """What writes answers under a schema, or on-brand labels for a persona."""
    from annotations_app.labels.export_annotations import export_annotations
    from annotations_app.labels.export_judgments import JudgmentScope, export_judgments

    if schema:
        return partial(export_judgments, JudgmentScope(dataset, schema, campaign))
    return partial(export_annotations, dataset, persona=persona, campaign=campaign)
