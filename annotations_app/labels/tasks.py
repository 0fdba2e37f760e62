"""What a worker does for the operations of this package; see ``datasets_app/jobs/registry.py``."""

from typing import TYPE_CHECKING

from annotations_app.labels.parameters import LabelExportParameters, LabelImportParameters
from datasets_app.jobs import files
from datasets_app.jobs.registry import Operation, operations, task
from datasets_app.jobs.running import RunningJob

if TYPE_CHECKING:
    from annotations_app.labels.export_annotations import ExportedLabels

# Only a command imports labels; its parameters are shown on the job's page.
operations["import_annotations"] = Operation(LabelImportParameters)


@task(LabelExportParameters, permission="annotations_app.export_annotation")
def export_annotations(job: RunningJob[LabelExportParameters]) -> "ExportedLabels":
    from annotations_app.campaigns.members import get_campaign
    from annotations_app.domain.answer_files.formats import DEFAULT_FORMAT
    from annotations_app.labels.export_annotations import default_selection, export_annotations
    from annotations_app.labels.gated_export import find_format

    options, format = job.parameters, job.parameters.format or DEFAULT_FORMAT
    campaign = get_campaign(options.campaign) if options.campaign else None
    schema = campaign.schema if campaign else None
    labels = options.labels or default_selection(schema)
    chosen = "answers" if schema and labels == "all" else labels
    with files.work_folder(job.row) as folder:
        path = folder / f"{(campaign or job.dataset).name}.{chosen}.{find_format(format).ending}"
        with path.open("wb") as out:
            exported = export_annotations(
                job.dataset,
                out=out,
                persona=options.persona or "",
                schema=schema,
                campaign=campaign,
                labels=labels,
                format=format,
                override=job.override,
                actor=job.actor,
                report_progress=job.report_progress,
            )
        files.store_files(job.row, "export", [path])
    return exported
