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
    from annotations_app.labels.export_annotations import DEFAULT_SELECTION, export_annotations

    options, dataset = job.parameters, job.dataset
    campaign = get_campaign(options.campaign) if options.campaign else None
    labels = options.labels or DEFAULT_SELECTION
    if campaign and campaign.schema:
        return _export_judgments(job, campaign)
    with files.work_folder(job.row) as folder:
        path = folder / f"{campaign.name if campaign else dataset.name}.{labels}.jsonl"
        with path.open("wb") as out:
            exported = export_annotations(
                dataset,
                persona=options.persona or "",
                out=out,
                labels=labels,
                campaign=campaign,
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
    from annotations_app.labels.export_judgments import JudgmentScope, export_judgments

    assert campaign.schema is not None  # the caller looks first  # nosec B101
    with files.work_folder(job.row) as folder:
        labels = job.parameters.labels or "all"
        path = folder / f"{campaign.name}.{'answers' if labels == 'all' else labels}.jsonl"
        with path.open("wb") as out:
            exported = export_judgments(
                JudgmentScope(campaign.dataset, campaign.schema, campaign),
                out=out,
                labels=labels,
                override=job.override,
                actor=job.actor,
                report_progress=job.report_progress,
            )
        files.store_files(job.row, "export", [path])
    return {"labels": exported.decisions, "notes": exported.omissions}
