"""The parameters of test cases; see ``datasets_app/jobs/parameters.py``."""

from typing import ClassVar

from datasets_app.jobs.parameters import JobParameters


class CaseParameters(JobParameters, frozen=True):
    """``annotators`` are user names, separated by commas. Texts of the case are in its dataset only."""

    case: str = ""
    annotators: str = ""

    LABELS: ClassVar = {"case": "Test case"}
