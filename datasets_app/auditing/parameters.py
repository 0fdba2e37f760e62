"""Which events of the audit log are shown or exported; see ``jobs/parameters.py``."""

from datetime import date

from datasets_app.jobs.parameters import JobParameters

FILTERS = ("action", "dataset", "actor", "since", "until")


class AuditExportParameters(JobParameters, frozen=True):
    """Exact values, empty for any. The days are in the installation's time zone, both included."""

    format: str = "jsonl"
    action: str = ""
    dataset: str = ""
    actor: str = ""
    since: date | None = None
    until: date | None = None

    def list_filters(self) -> dict[str, str]:
        """The filters that are set."""
        return {name: str(value) for name in FILTERS if (value := getattr(self, name))}
