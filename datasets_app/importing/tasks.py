"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.importing.parameters import ImportParameters
from datasets_app.jobs import files, runs
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(ImportParameters)
def import_dataset(job: RunningJob[ImportParameters]) -> dict[str, Any]:
    from datasets_app.importing.import_dataset import ImportSource, import_dataset
    from datasets_app.importing.stated_origins import PreparedUpload

    upload = job.row.files.get(kind="upload")
    if not upload.file:
        raise UserError("The uploaded file has been deleted; upload it again.")
    parameters = job.parameters
    with files.work_folder(job.row) as folder:
        quarantine_dir = folder / "quarantine"
        quarantine_dir.mkdir()
        result = import_dataset(
            [ImportSource(files.get_local_path(upload, folder), upload.name)],
            name=job.row.dataset_name,
            origin=parameters.origin or None,
            options=parameters.options,
            quarantine_dir=quarantine_dir,
            upload=PreparedUpload(parameters.uploaded_by or "", parameters.prepared_origin),
            override=job.override,
            actor=job.actor,
            report_progress=job.report_progress,
        )
        files.store_files(job.row, "quarantine", sorted(quarantine_dir.iterdir()))
    # The dataset holds what was imported; the upload is one more copy of private text.
    files.discard_file(upload)
    runs.request_text_scan_of(result["dataset"], actor=job.actor)
    return result
