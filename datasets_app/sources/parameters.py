"""The parameters of what is done with a source; see ``jobs/parameters.py``."""

from datetime import datetime
from typing import ClassVar

from datasets_app.jobs.parameters import JobParameters


class StoreParameters(JobParameters, frozen=True):
    """``source`` is the primary key."""

    source: int = 0

    HIDDEN: ClassVar = frozenset({"source"})


class PullParameters(JobParameters, frozen=True):
    """``source`` is the primary key; without ``since`` the pull continues where the last one ended.

    ``scrub`` is off for pulls that are repeated through the day: a scrub is of the whole dataset.
    """

    source: int = 0
    since: datetime | None = None
    dry_run: bool = False
    scrub: bool = True

    HIDDEN: ClassVar = frozenset({"source", "scrub"})
