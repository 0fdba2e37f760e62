"""What a worker does for the operations of this package; see ``datasets_app/jobs/registry.py``."""

from typing import Any

from annotations_app.labels.parameters import LabelExportParameters, LabelImportParameters
from annotations_app.models import Campaign
from datasets_app.jobs import files
from datasets_app.jobs.registry import Operation, operations, task
from datasets_app.jobs.running import RunningJob

# Only a command imports labels; its parameters are shown on the job's page.
operations["import_annotations"] = Operation(LabelImportParameters)


@task(LabelExportParameters)
def export_annotations(job: RunningJob[LabelExportParameters]) -> dict[str, Any]:
    from annotations_app.campaigns.members import get_campaign
    from annotations_app.domain.answer_files.formats import DEFAULT_FORMAT
    from annotations_app.labels.export_annotations import DEFAULT_SELECTION, export_annotations
    from annotations_app.labels.gated_export import find_format

    options, dataset = job.parameters, job.dataset
    campaign = get_campaign(options.campaign) if options.campaign else None
    labels, format = options.labels or DEFAULT_SELECTION, options.format or DEFAULT_FORMAT
    if campaign and campaign.schema:
        return _export_judgments(job, campaign)
    with files.work_folder(job.row) as folder:
        path = folder / f"{campaign.name if campaign else dataset.name}.{labels}.{find_format(format).ending}"
        with path.open("wb") as out:
            exported = export_annotations(
                dataset,
                persona=options.persona or "",
                out=out,
                labels=labels,
                campaign=campaign,
                format=format,
                override=job.override,
                actor=job.actor,
                report_progress=job.report_progress,
            )
        files.store_files(job.row, "export", [path])
    return {
        "labels": exported.labels,
        "on_brand": exported.on_brand,
        "notes": exported.omissions,
        "warnings": exported.warnings,
    }


def _export_judgments(job: RunningJob[LabelExportParameters], campaign: Campaign) -> dict[str, Any]:
    from annotations_app.domain.answer_files.formats import DEFAULT_FORMAT
    from annotations_app.labels.export_judgments import JudgmentScope, export_judgments
    from annotations_app.labels.gated_export import find_format

    assert campaign.schema is not None  # the caller looks first  # nosec B101
    with files.work_folder(job.row) as folder:
        labels = job.parameters.labels or "all"
        format = job.parameters.format or DEFAULT_FORMAT
        chosen = "answers" if labels == "all" else labels
        path = folder / f"{campaign.name}.{chosen}.{find_format(format).ending}"
        with path.open("wb") as out:
            exported = export_judgments(
                JudgmentScope(campaign.dataset, campaign.schema, campaign),
                out=out,
                labels=labels,
                format=format,
                override=job.override,
                actor=job.actor,
                report_progress=job.report_progress,
            )
        files.store_files(job.row, "export", [path])
    return {"labels": exported.decisions, "notes": exported.omissions}
