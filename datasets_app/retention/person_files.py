"""Stored files of jobs in which a person is named: uploads, quarantined lines, exports."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import QuerySet

from datasets_app.core.limits import configured_limits
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.raw_search import count_lines
from datasets_app.domain.wording import format_count
from datasets_app.jobs import files as job_files
from datasets_app.models import JobFile, JobRun

# With more, a search takes longer than a request may: the command has no limit.
MAX_BYTES_SEARCHED = 500 << 20


class FileMatch(NamedTuple):
    """A file that names the person in so many lines, or in its own name. ``dataset`` is empty if its job has
    none."""

    key: int
    job: int
    dataset: str
    kind: str
    lines: int

    def describe(self) -> str:
        place = f"{self.dataset}: " if self.dataset else ""
        lines = format_count(self.lines, "line")
        return f"{place}{self.kind} of job {self.job} ({lines}), erased as a whole"


class FileSearch(NamedTuple):
    """``unsearched``: how many files can't be read, or may not."""

    matches: list[FileMatch]
    unsearched: int


def search_files(files: QuerySet[JobFile], names_person: Callable[[Any], bool]) -> FileSearch:
    """Search stored files as they stand."""
    matches, unsearched = [], 0
    with tempfile.TemporaryDirectory() as work:
        for row in files.select_related("job_run__dataset").order_by("pk"):
            try:
                path = job_files.get_local_path(row, Path(work))
                lines = count_lines(path, names_person, configured_limits())
            except FileNotFoundError:
                continue  # deleted meanwhile, as files of jobs are
            except (UnreadableFile, OSError):
                unsearched += 1
                continue
            if lines or names_person(row.name):
                kind = JobFile.Kind(row.kind).label.lower()
                matches.append(FileMatch(row.pk, row.job_run_id, name_dataset(row.job_run), kind, lines))
    return FileSearch(matches, unsearched)


def name_dataset(job: JobRun) -> str:
    """Of the dataset that a job is about, also before it exists; empty if there is none."""
    return job.dataset.name if job.dataset else job.dataset_name
