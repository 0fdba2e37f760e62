"""Exports labels to a file: of one persona, with warnings about balance, or the decisions under a schema."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from django.db.models import QuerySet

from annotations_app.domain.answer_files.decisions import FiledDecision
from annotations_app.domain.answer_files.formats import DEFAULT_FORMAT
from annotations_app.labels.decisions import BATCH_SIZE, LabelDecision, file_decision, tally_decision
from annotations_app.labels.gated_export import describe_notes, export_through_gates, find_format
from annotations_app.labels.label_counts import LabelScope
from annotations_app.labels.selection import (
    ANSWER_SELECTIONS,
    LABEL_SELECTORS,
    LabelSelection,
    describe_omissions,
    select_decisions,
)
from annotations_app.models import Annotation, Campaign, LabelSchema
from datasets_app.catalog import policies, text_gates
from datasets_app.catalog.text_scans import list_exemptions
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.pii.masking import mask_values
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.models import Dataset

LABEL_SELECTIONS = tuple(LABEL_SELECTORS)
DEFAULT_SELECTION = "majority"
MIN_CALIBRATION_LABELS = 50
BALANCED_RANGE = (0.4, 0.6)


class ExportedLabels(NamedTuple):
    """Counts of exported labels, of those on-brand or, under a schema, of ``answers``; and sentences on
    labels left out, and on those that a tool doesn't show as labels."""

    labels: int
    on_brand: int
    omissions: Sequence[str] = ()
    answers: int | None = None

    @property
    def share(self) -> float:
        return self.on_brand / self.labels

    @property
    def warnings(self) -> list[str]:
        found: list[str] = []
        if self.answers is not None:
            return found
        if self.labels < MIN_CALIBRATION_LABELS:
            found.append(f"fewer than {MIN_CALIBRATION_LABELS} labels: a calibration from them is unreliable")
        if not BALANCED_RANGE[0] <= self.share <= BALANCED_RANGE[1]:
            found.append("unbalanced: 40 to 60 % on-brand is what a calibration needs")
        return found

    def facts(self) -> dict[str, Any]:
        """For the row of a job."""
        facts = {"labels": self.labels, "notes": list(self.omissions)}
        balance = {"on_brand": self.on_brand, "warnings": self.warnings}
        return facts if self.answers is not None else facts | balance


def default_selection(schema: LabelSchema | None) -> str:
    return "all" if schema else DEFAULT_SELECTION


class _Chosen(NamedTuple):
    """Labels of a persona, or decisions under a schema; of a campaign only its own."""

    dataset: Dataset
    persona: str
    schema: LabelSchema | None
    campaign: Campaign | None
    labels: str
    split: str


def export_annotations(
    dataset: Dataset,
    *,
    out: IO[bytes],
    persona: str = "",
    schema: LabelSchema | None = None,
    campaign: Campaign | None = None,
    labels: str = "",
    split: str = "",
    format: str = DEFAULT_FORMAT,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> ExportedLabels:
    """Write labels of ``persona``, or decisions under ``schema``, to ``out``: one per reply, or all; ordered
    by turn, through the gates of :func:`export_through_gates`. Raises UserError.

    Labels of the test split are left out; ``override`` may be a reason for on-brand ones. ``split`` chooses
    on-brand labels of another split.
    """
    persona = persona or (campaign.persona.persona_id if campaign else "")
    chosen = _Chosen(dataset, persona, schema, campaign, labels or default_selection(schema), split)
    _validate(chosen)
    encode = find_format(format).encode

    def write(lines: IO[bytes], tally: TextTally) -> ExportedLabels:
        counts, left_out, notes = Counter[str](), Counter[str](), Counter[str]()
        decisions = _select(chosen, left_out, override=override, actor=actor)
        for piece in encode(_file_decisions(decisions, tally, counts, report_progress), notes):
            lines.write(piece)
        report_progress(counts["labels"], counts["labels"])
        omissions = describe_omissions(left_out) + describe_notes(notes)
        answers = counts["answers"] if schema else None
        return ExportedLabels(counts["labels"], counts["on_brand"], omissions, answers)

    def finish(exported: ExportedLabels) -> None:
        if not exported.labels:
            raise UserError(_no_labels_message(chosen, exported))
        _record(chosen, exported, format, actor)

    return export_through_gates(dataset, out, write, finish, override=override, actor=actor)


def count_personal_data(dataset: Dataset, labels: QuerySet[Annotation]) -> dict[str, int]:
    """Values by class in notes and other fields of ``labels``."""
    tally = TextTally(list_exemptions(dataset))
    said = labels.order_by("pk").values_list("label", "persona_id", "notes", "extra")
    for label, persona, notes, extra in said:
        tally_decision(tally, LabelDecision(LabelRecord("", label, persona, notes=notes, extra=extra)))
    return dict(tally.found)


def _validate(chosen: _Chosen) -> None:
    dataset, persona, schema, campaign, labels, _ = chosen
    known = ANSWER_SELECTIONS if schema else LABEL_SELECTIONS
    if labels not in known:
        under = "Under a schema labels" if schema else "labels"
        raise UserError(f"{under} must be one of {', '.join(known)}, not {labels!r}.")
    if campaign is None:
        return
    if campaign.dataset_id != dataset.pk:
        raise UserError(f"The campaign {campaign.name} is of another dataset than {dataset.name}.")
    if campaign.persona.persona_id != persona:
        raise UserError(f"The campaign {campaign.name} is for the persona {campaign.persona.persona_id}.")


def _select(chosen: _Chosen, left_out: Counter[str], *, override: str, actor: Any) -> Iterator[LabelDecision]:
    dataset, persona, schema, campaign, labels, split = chosen
    if schema:
        return select_decisions(dataset, schema, campaign, labels, left_out, persona=persona, actor=actor)
    scope = LabelScope(dataset.pk, persona, campaign.pk if campaign else None)
    unlocked = _unlock_test_split(scope, dataset, override=override, actor=actor)
    return map(LabelDecision, LABEL_SELECTORS[labels](LabelSelection(scope, unlocked, left_out, split)))


def _record(chosen: _Chosen, exported: ExportedLabels, format: str, actor: Any) -> None:
    dataset, persona, schema, campaign, labels, split = chosen
    audit.record(
        "export_annotations",
        actor=actor,
        dataset_name=dataset.name,
        **({"schema": schema.full_name} if schema else {}),
        **({"persona_id": mask_values(persona)} if persona else {}),
        **({} if schema and labels == "all" else {"choice": labels}),
        **({} if format == DEFAULT_FORMAT else {"format": format}),
        **({"campaign": campaign.name} if campaign else {}),
        **({"split": split} if split else {}),
        labels=exported.labels,
        **({} if schema else {"on_brand": exported.on_brand}),
    )


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


def _file_decisions(
    decisions: Iterable[LabelDecision],
    tally: TextTally,
    counts: Counter[str],
    report_progress: ProgressCallback,
) -> Iterator[FiledDecision]:
    for decision in decisions:
        tally_decision(tally, decision)
        filed = file_decision(decision)
        counts.update(labels=1, answers=len(filed.lines), on_brand=decision.record.label or 0)
        if counts["labels"] % BATCH_SIZE == 0:
            report_progress(counts["labels"], None)
        yield filed


def _no_labels_message(chosen: _Chosen, exported: ExportedLabels) -> str:
    dataset, persona, schema, campaign, *_ = chosen
    if exported.omissions:
        return f"No label is left to export: {'; '.join(exported.omissions)}."
    if schema:
        under = f"The dataset {dataset.name}, under {schema.full_name},"
        return f"{f'The campaign {campaign.name}' if campaign else under} has no labels to export."
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
