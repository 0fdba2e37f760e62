"""Agreement on each criterion of a campaign's schema.

A criterion with levels is measured on its own scale; of several tags each one is, as chosen or not; numbers
as an interval scale. Texts can't be compared: they are counted.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from django.db import connection

from annotations_app.domain.agreement.agreement import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    build_agreement_report,
)
from annotations_app.domain.agreement.agreement_report import AgreementReport
from annotations_app.domain.label_table import IntArray, LabelTable, build_label_table
from annotations_app.domain.scales import NOMINAL, Measurement, Scale
from annotations_app.labels.label_counts import order_turns_by_session
from annotations_app.models import Campaign, Rater
from datasets_app.domain.labels.criterion import MAX_LEVELS, Criterion, Kind

_ORDINAL = Scale(Measurement.ORDINAL)
# One string for turns that are near each other, instead of a row for each label.
_PACKED_SQL = """
SELECT string_agg(int8send(j.turn_id) || int8send(j.rater_id) || {value}, ''::bytea)
FROM annotations_app_judgment j
WHERE j.campaign_id = %(campaign)s AND j.kind = 'label' AND j.codes ? %(key)s GROUP BY j.turn_id >> 16
"""
_WHOLE, _FRACTION = "int8send((j.codes->>%(key)s)::bigint)", "float8send((j.codes->>%(key)s)::float8)"
_COUNT_TEXTS_SQL = """
SELECT count(*) FROM annotations_app_judgment
WHERE campaign_id = %s AND kind = 'label' AND texts ? %s
"""


class MeasuredAnswers(NamedTuple):
    """How often each answer was given, by its name, and how far annotators agree on them. Without a report
    there is nothing to compare, and ``note`` says why. ``tag`` is the value of one of several."""

    criterion: Criterion
    counts: list[tuple[str, int]]
    report: AgreementReport | None
    note: str = ""
    tag: str = ""

    @property
    def title(self) -> str:
        tag = f" {self.tag}" if self.tag else ""
        return f"{self.criterion.question}{tag}" + (f" ({self.scale})" if self.scale else "")

    @property
    def scale(self) -> str:
        kind = self.criterion.kind
        return {Kind.ORDINAL: "ordinal", Kind.NUMBER: "interval", Kind.TEXT: ""}.get(kind, "nominal")

    @property
    def confusion(self) -> list[tuple[str, list[int]]]:
        """How often two annotators gave which answers to one reply: symmetric, by name."""
        if self.report is None:
            return []
        size = len(self.counts)
        total = np.zeros((size, size), np.int64)
        for pair in self.report.pairs:
            total += np.array(pair.comparison.table, np.int64)[:size, :size]
        names = [name for name, _ in self.counts]
        return list(zip(names, (total + total.T).tolist(), strict=True))

    def as_json(self) -> dict[str, Any]:
        report = self.report
        return {
            "criterion": self.criterion.key,
            "kind": str(self.criterion.kind),
            "tag": self.tag or None,
            "scale": self.scale or None,
            "answers": dict(self.counts),
            "note": self.note or None,
            **(report.headline.as_json() if report else {}),
            "pairs": [pair.as_json() for pair in report.pairs] if report else [],
        }


class _Answers(NamedTuple):
    """Of one criterion: the turn, the rater and the stored answer of each label."""

    turn: IntArray
    rater: IntArray
    value: Any


def measure_criteria(
    campaign: Campaign, *, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> list[MeasuredAnswers]:
    """In the order of the schema; of tags one for each."""
    schema = campaign.schema_content
    assert schema is not None  # callers look first  # nosec B101
    names = dict(Rater.objects.filter(dataset=campaign.dataset_id).values_list("pk", "name"))
    measured: list[MeasuredAnswers] = []
    for criterion in schema.criteria:
        if criterion.kind == Kind.TEXT:
            measured.append(_count_texts(campaign, criterion))
            continue
        answers = read_answers(campaign, criterion)
        for tag, counts, codes, scale in _split_answers(criterion, answers.value):
            if codes is None:
                note = f"undefined: more than {MAX_LEVELS} different numbers"
                measured.append(MeasuredAnswers(criterion, counts, None, note))
                continue
            table = _build_table(campaign.dataset_id, answers, codes, len(counts), scale, names)
            report = build_agreement_report(table, resamples=resamples, seed=seed, consensus=False)
            measured.append(MeasuredAnswers(criterion, counts, report, tag=tag))
    return measured


def criteria_as_json(campaign: Campaign, measured: list[MeasuredAnswers]) -> dict[str, Any]:
    assert campaign.schema is not None  # as above  # nosec B101
    return {
        "campaign": campaign.name,
        "schema": campaign.schema.full_name,
        "criteria": [one.as_json() for one in measured],
    }


def _count_texts(campaign: Campaign, criterion: Criterion) -> MeasuredAnswers:
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_TEXTS_SQL, [campaign.pk, criterion.key])
        [count] = cursor.fetchone()
    return MeasuredAnswers(criterion, [("texts", count)], None, "texts can't be compared")


def read_answers(campaign: Campaign, criterion: Criterion) -> _Answers:
    is_number = criterion.kind == Kind.NUMBER
    sql = _PACKED_SQL.format(value=_FRACTION if is_number else _WHOLE)
    row = np.dtype([("turn", ">i8"), ("rater", ">i8"), ("value", ">f8" if is_number else ">i8")])
    with connection.cursor() as cursor:
        cursor.execute(sql, {"campaign": campaign.pk, "key": criterion.key})
        parts = [np.frombuffer(packed, row) for (packed,) in cursor.fetchall()]
    rows = np.concatenate(parts) if parts else np.zeros(0, row)
    value = rows["value"].astype(np.float64 if is_number else np.int64)
    return _Answers(rows["turn"].astype(np.int64), rows["rater"].astype(np.int64), value)


def _split_answers(
    criterion: Criterion, value: Any
) -> Iterator[tuple[str, list[tuple[str, int]], Any, Scale]]:
    """(tag, how often each answer was given, the code of each label, their scale)."""
    if criterion.kind == Kind.TAGS:
        for code, level in enumerate(criterion.levels):
            chosen = (value >> code) & 1
            yield level.name, _count_names(("no", "yes"), chosen), chosen, NOMINAL
    elif criterion.kind == Kind.NUMBER:
        numbers, codes = np.unique(value, return_inverse=True)
        counts = _count_names([f"{number:g}" for number in numbers.tolist()], codes)
        too_many = len(numbers) > MAX_LEVELS
        # A scale has two levels at least.
        positions = numbers.tolist() if len(numbers) > 1 else ()
        scale = Scale(Measurement.INTERVAL, tuple(positions))
        yield "", [] if too_many else counts, None if too_many else codes, scale
    else:
        names = [level.name for level in criterion.levels]
        yield "", _count_names(names, value), value, _ORDINAL if criterion.kind == Kind.ORDINAL else NOMINAL


def _count_names(names: Any, codes: IntArray) -> list[tuple[str, int]]:
    return list(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))


def _build_table(
    dataset: int, answers: _Answers, codes: IntArray, categories: int, scale: Scale, names: dict[int, Any]
) -> LabelTable:
    items, item = np.unique(answers.turn, return_inverse=True)
    order, session = order_turns_by_session(dataset, items)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    raters, annotator = np.unique(answers.rater, return_inverse=True)
    return build_label_table(
        [names[rater] or "(no name)" for rater in raters.tolist()],
        place[item],
        annotator,
        codes.astype(np.int8),
        session,
        turn=items[order],
        categories=max(categories, 2),
        scale=scale,
    )
