"""The parameters of jobs on selected sessions; see ``jobs/parameters.py``."""

from typing import ClassVar

from datasets_app.jobs.parameters import JobParameters


class TagParameters(JobParameters, frozen=True):
    """``selection`` is the primary key of a SessionSelection."""

    selection: int = 0
    tag: str = ""
    remove: bool = False

    HIDDEN: ClassVar = frozenset({"selection"})


class ExcludeParameters(JobParameters, frozen=True):
    """With ``include``, sessions that were excluded count again."""

    selection: int = 0
    include: bool = False

    HIDDEN: ClassVar = frozenset({"selection"})
