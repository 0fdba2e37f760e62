"""The parameters of exports and samples; see ``jobs/parameters.py``."""

from typing import ClassVar

from datasets_app.domain.conversations.reading import FORMAT_LABELS
from datasets_app.jobs.parameters import OverridableParameters
from datasets_app.models import Session


class SampleParameters(OverridableParameters, frozen=True):
    """``name`` is the dataset to create; without it the sample is a file. A command stores ``of``."""

    of: str | None = None
    name: str | None = None
    size: int | None = None
    by: str | None = None
    seed: int | None = None


class ExportParameters(OverridableParameters, frozen=True):
    format: str | None = None
    package: bool = False
    # In a package.
    labels: bool = True
    version: str | None = None
    split: str | None = None
    persona: str | None = None
    tag: str | None = None
    gzip: bool = False
    # The primary key of a SessionSelection.
    selection: int | None = None

    HIDDEN: ClassVar = frozenset({"selection"})
    LABELS: ClassVar = {
        "labels": "With the labels",
        "split": "Only this split",
        "persona": "Only this persona",
        "tag": "Only this tag",
        "gzip": "Compress with gzip",
        "override": "Reason for exporting it unscrubbed",
    }
    CHOICES: ClassVar = {
        "format": {
            **FORMAT_LABELS,
            "sessions": "JSONL for calibrate analyze-scenarios, one session a line",
            "padded": "JSONL for alignmenter run, with scores as before the scrub",
            "csv": "CSV for spreadsheets",
            "parquet": "Parquet, one turn per row",
        },
        "split": dict(Session.Split.choices),
    }
