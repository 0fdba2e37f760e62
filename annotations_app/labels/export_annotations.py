"""Exports a dataset's labels for one persona to an annotation file, with warnings about balance."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import IO, Any, NamedTuple

from django.db.models import QuerySet

from annotations_app.domain.answer_files.decisions import FiledDecision
from annotations_app.domain.answer_files.formats import DEFAULT_FORMAT
from annotations_app.labels.gated_export import describe_notes, export_through_gates, find_format
from annotations_app.labels.label_counts import LabelScope
from annotations_app.labels.label_places import split_hashed_ids
from annotations_app.labels.selection import (
    BATCH_SIZE,
    LABEL_SELECTORS,
    OMITTED_DISPUTED,
    OMITTED_EXCLUDED,
    OMITTED_LOCKED,
    OMITTED_TIES,
    OMITTED_UNPLACED,
    LabelSelection,
)
from annotations_app.models import Annotation, Campaign
from datasets_app.catalog import policies, text_gates
from datasets_app.catalog.text_scans import list_exemptions
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.annotation_lines import describe_label
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.labels.on_brand import ON_BRAND_SCHEMA
from datasets_app.domain.pii.masking import mask_values
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.models import Dataset

LABEL_SELECTIONS = tuple(LABEL_SELECTORS)
DEFAULT_SELECTION = "majority"
MIN_CALIBRATION_LABELS = 50
BALANCED_RANGE = (0.4, 0.6)

_OMISSION_REASONS = {
    OMITTED_TIES: ("reply has as many labels of either kind", "replies have as many labels of either kind"),
    OMITTED_DISPUTED: ("disputed reply is not settled", "disputed replies are not settled"),
    OMITTED_EXCLUDED: ("label is of an excluded session", "labels are of excluded sessions"),
    OMITTED_UNPLACED: ("label is of a session without a split", "labels are of sessions without a split"),
    OMITTED_LOCKED: ("label is of the locked test split", "labels are of the locked test split"),
}


class ExportedLabels(NamedTuple):
    """Counts of exported labels, of those on-brand, and of labels left out by reason."""

    labels: int
    on_brand: int
    left_out: Mapping[str, int] = MappingProxyType({})
    notes: Mapping[str, int] = MappingProxyType({})

    @property
    def share(self) -> float:
        return self.on_brand / self.labels

    @property
    def omissions(self) -> list[str]:
        """The numbers of labels left out, and why; and of those that a tool doesn't show as labels."""
        return [
            f"{number:,} {_OMISSION_REASONS[why][number != 1]}: left out"
            for why, number in sorted(self.left_out.items())
            if number
        ] + describe_notes(self.notes)

    @property
    def warnings(self) -> list[str]:
        found = []
        if self.labels < MIN_CALIBRATION_LABELS:
            found.append(f"fewer than {MIN_CALIBRATION_LABELS} labels: a calibration from them is unreliable")
        if not BALANCED_RANGE[0] <= self.share <= BALANCED_RANGE[1]:
            found.append("unbalanced: 40 to 60 % on-brand is what a calibration needs")
        return found

    def facts(self) -> dict[str, Any]:
        """For the row of a job."""
        counts = {"labels": self.labels, "on_brand": self.on_brand}
        return {**counts, "notes": self.omissions, "warnings": self.warnings}


def export_annotations(
    dataset: Dataset,
    *,
    persona: str,
    out: IO[bytes],
    labels: str = DEFAULT_SELECTION,
    campaign: Campaign | None = None,
    split: str = "",
    format: str = DEFAULT_FORMAT,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> ExportedLabels:
    """Write labels of ``persona``, ordered by turn, to ``out``: one per reply, or all, through the gates of
    :func:`export_through_gates`; of one ``split`` if it is named. Labels of the test split are left out,
    unless ``override`` is a reason for them. Raises UserError.
    """
    _validate_selection(dataset, persona, labels, campaign)
    encode = find_format(format).encode

    def write(lines: IO[bytes], tally: TextTally) -> ExportedLabels:
        scope = LabelScope(dataset.pk, persona, campaign.pk if campaign else None)
        unlocked = _unlock_test_split(scope, dataset, override=override, actor=actor)
        selection = LabelSelection(scope, unlocked, Counter(), split)
        chosen = _count_personal_data(LABEL_SELECTORS[labels](selection), tally)
        counts, notes = Counter[str](), Counter[str]()
        for piece in encode(_file_labels(chosen, counts, report_progress), notes):
            lines.write(piece)
        report_progress(counts["labels"], counts["labels"])
        return ExportedLabels(counts["labels"], counts["on_brand"], dict(selection.left_out), notes)

    def finish(exported: ExportedLabels) -> None:
        if not exported.labels:
            raise UserError(_no_labels_message(dataset, persona, campaign, exported))
        audit.record(
            "export_annotations",
            actor=actor,
            dataset_name=dataset.name,
            persona_id=mask_values(persona),
            choice=labels,
            **({} if format == DEFAULT_FORMAT else {"format": format}),
            **({"campaign": campaign.name} if campaign else {}),
            **({"split": split} if split else {}),
            labels=exported.labels,
            on_brand=exported.on_brand,
        )

    return export_through_gates(dataset, out, write, finish, override=override, actor=actor)


def count_personal_data(dataset: Dataset, labels: QuerySet[Annotation]) -> dict[str, int]:
    """Values by class in notes and other fields of ``labels``."""
    tally = TextTally(list_exemptions(dataset))
    said = labels.order_by("pk").values_list("label", "persona_id", "notes", "extra")
    records = (
        LabelRecord("", label, persona, notes=notes, extra=extra) for label, persona, notes, extra in said
    )
    deque(_count_personal_data(records, tally), maxlen=0)
    return dict(tally.found)


def _count_personal_data(records: Iterable[LabelRecord], tally: TextTally) -> Iterator[LabelRecord]:
    for record in records:
        tally.add_label(record._replace(extra=split_hashed_ids(record.extra)[1]))
        yield record


def _validate_selection(dataset: Dataset, persona: str, labels: str, campaign: Campaign | None) -> None:
    if labels not in LABEL_SELECTIONS:
        raise UserError(f"labels must be one of {', '.join(LABEL_SELECTIONS)}, got {labels!r}.")
    if campaign is None:
        return
    if campaign.dataset_id != dataset.pk:
        raise UserError(f"The campaign {campaign.name} is of another dataset than {dataset.name}.")
    if campaign.persona.persona_id != persona:
        raise UserError(f"The campaign {campaign.name} is for the persona {campaign.persona.persona_id}.")


def _unlock_test_split(scope: LabelScope, dataset: Dataset, *, override: str, actor: Any) -> bool:
    """Whether to export labels of the test split too: needs a permission and a reason, both audited."""
    locked = Annotation.objects.filter(
        dataset=dataset, persona_id=scope.persona_id, turn__session__split=policies.LOCKED_SPLIT
    )
    # The first check is cheap, and false for most datasets.
    is_split = dataset.sessions.filter(split=policies.LOCKED_SPLIT).exists
    if not override.strip() or not is_split() or not locked.exists():
        return False
    text_gates.check_gate(policies.EXPORT_TEST_SPLIT, dataset, actor=actor, override=override)
    return True


def _file_labels(
    records: Iterator[LabelRecord], counts: Counter[str], report_progress: ProgressCallback
) -> Iterator[FiledDecision]:
    for record in records:
        counts.update(labels=1, on_brand=record.label or 0)
        if counts["labels"] % BATCH_SIZE == 0:
            report_progress(counts["labels"], None)
        yield FiledDecision(ON_BRAND_SCHEMA, [describe_label(record)])


def _no_labels_message(
    dataset: Dataset, persona: str, campaign: Campaign | None, exported: ExportedLabels
) -> str:
    if exported.omissions:
        return f"No label is left to export: {'; '.join(exported.omissions)}."
    if campaign is not None:
        return f"The campaign {campaign.name} has no labels yet."
    others = list(
        Annotation.objects.filter(dataset=dataset)
        .order_by("persona_id")
        .values_list("persona_id", flat=True)
        .distinct()[:10]
    )
    there = f"There are labels for: {', '.join(others)}." if others else "It has no labels at all."
    return f"The dataset {dataset.name} has no labels for the persona {persona}. {there}"
