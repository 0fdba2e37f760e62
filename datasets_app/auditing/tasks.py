"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import Any

from datasets_app.auditing.parameters import AuditExportParameters
from datasets_app.core.errors import UserError
from datasets_app.jobs import files
from datasets_app.jobs.parameters import NoParameters
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(AuditExportParameters, permission="datasets_app.view_auditevent")
def export_audit(job: RunningJob[AuditExportParameters]) -> dict[str, Any]:
    from datasets_app.auditing.export_audit import export_audit

    options = job.parameters
    with files.work_folder(job.row) as folder:
        path = folder / f"audit-trail.{options.format}"
        with path.open("wb") as out:
            result = export_audit(out, options, actor=job.actor, report_progress=job.report_progress)
        files.store_files(job.row, "export", [path])
    return result._asdict()


@task(permission="datasets_app.view_auditevent")
def verify_audit(job: RunningJob[NoParameters]) -> dict[str, Any]:
    """Fails, with the faults listed, if the audit log was tampered with."""
    from datasets_app.auditing.heads import verify_and_append_head

    verified = verify_and_append_head(report_progress=job.report_progress)
    if verified.fault_count:
        problems = [{"message": fault.message, "line": None, "code": ""} for fault in verified.faults]
        raise UserError(
            "The audit log was changed outside this application. See the problems below.",
            {"problems": problems, "problem_total": verified.fault_count},
        )
    return {"events": verified.events, "position": verified.head.position, "head": verified.head.digest}
