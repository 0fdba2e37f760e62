"""The parameters of the night's work; see ``jobs/parameters.py``."""

from datasets_app.jobs.parameters import JobParameters


class NightlyParameters(JobParameters, frozen=True):
    """``night`` is the day the night begins on, in ISO format: each is started once."""

    night: str | None = None
