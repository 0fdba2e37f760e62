"""The parameters of an export of the audit log; see ``jobs/parameters.py``."""

from datetime import date

from datasets_app.jobs.parameters import JobParameters


class AuditExportParameters(JobParameters, frozen=True):
    format: str = "jsonl"
    action: str = ""
    dataset: str = ""
    actor: str = ""
    since: date | None = None
    until: date | None = None
