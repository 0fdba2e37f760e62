"""A dataset's labels for one persona → an annotation file, with what to know of its balance."""

import tempfile
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from django.db import transaction

from annotations_app.models import Annotation
from datasets_app import audit
from datasets_app.domain.annotation_lines import encode_label
from datasets_app.domain.records import LabelRecord
from datasets_app.models import Dataset
from datasets_app.operations import gates
from datasets_app.operations.progress import ProgressCallback, ignore
from datasets_app.operations.refused import Refused

LABEL_CHOICES = ("all",)
FEWEST_FOR_CALIBRATION = 50
BALANCED = (0.4, 0.6)
ROWS_AT_ONCE = 2000

_FIELDS = (
    "turn__text",
    "label",
    "persona_id",
    "turn__session__session_id",
    "turn__turn_index",
    "annotator",
    "notes",
    "timestamp",
    "confidence",
    "extra",
)


class ExportedLabels(NamedTuple):
    """How many labels went out, and how many of them say on-brand."""

    labels: int
    on_brand: int

    @property
    def share(self) -> float:
        return self.on_brand / self.labels

    @property
    def warnings(self) -> list[str]:
        found = []
        if self.labels < FEWEST_FOR_CALIBRATION:
            found.append(f"fewer than {FEWEST_FOR_CALIBRATION} labels: a calibration from them is unsteady")
        if not BALANCED[0] <= self.share <= BALANCED[1]:
            found.append("unbalanced: 40 to 60 % on-brand is what a calibration needs")
        return found


def export_annotations(
    dataset: Dataset,
    *,
    persona: str,
    out: IO[bytes],
    labels: str = "all",
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore,
) -> ExportedLabels:
    """Write every label of ``persona``, ordered by turn, to ``out``.

    Nothing reaches ``out`` before all lines are made and the trail knows of them. Each line holds a text:
    production data must have been scrubbed, or ``override`` be a reason why not. Raises Refused.
    """
    if labels not in LABEL_CHOICES:
        raise Refused(f"labels must be one of {', '.join(LABEL_CHOICES)}, got {labels!r}.")
    with tempfile.TemporaryFile() as spool:
        with transaction.atomic():
            gates.require_scrubbed(dataset, "export", actor=actor, override=override)
            exported = _write(_records(dataset, persona), spool, report_progress)
            if not exported.labels:
                raise Refused(_nothing_to_export(dataset, persona))
            audit.record(
                "export_annotations",
                actor=actor,
                dataset_name=dataset.name,
                persona_id=persona,
                labels=exported.labels,
                on_brand=exported.on_brand,
            )
        spool.seek(0)
        while block := spool.read(1 << 20):
            out.write(block)
    return exported


def _records(dataset: Dataset, persona: str) -> Iterator[LabelRecord]:
    rows = (
        Annotation.objects.filter(dataset=dataset, persona_id=persona)
        .order_by("turn__session_id", "turn__turn_index", "id")
        .values_list(*_FIELDS)
    )
    for row in rows.iterator(chunk_size=ROWS_AT_ONCE):
        yield LabelRecord(*row)


def _write(
    records: Iterator[LabelRecord], out: IO[bytes], report_progress: ProgressCallback
) -> ExportedLabels:
    count = on_brand = 0
    for record in records:
        out.write(encode_label(record))
        count += 1
        on_brand += record.label
        if count % ROWS_AT_ONCE == 0:
            report_progress(count, None)
    report_progress(count, count)
    return ExportedLabels(count, on_brand)


def _nothing_to_export(dataset: Dataset, persona: str) -> str:
    others = list(
        Annotation.objects.filter(dataset=dataset)
        .order_by("persona_id")
        .values_list("persona_id", flat=True)
        .distinct()[:10]
    )
    there = f"There are labels for: {', '.join(others)}." if others else "It has no labels at all."
    return f"The dataset {dataset.name} has no labels for the persona {persona}. {there}"
