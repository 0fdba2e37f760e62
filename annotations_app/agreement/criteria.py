"""Agreement on each criterion of a campaign's schema.

A criterion with levels is measured on its own scale; of several tags the sets and each one, as chosen or not;
numbers as an interval and a ratio scale. Texts can't be compared: they are counted.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from psycopg import sql

from annotations_app.agreement.measure import validate_width
from annotations_app.domain.agreement.agreement import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    MAX_VALUES,
    UNNAMED_LABEL,
    build_agreement_report,
)
from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.agreement.criterion_report import (
    Answer,
    CriterionReport,
    NamedStatistic,
)
from annotations_app.domain.agreement.distance_alpha import MAX_CODES, measure_alpha
from annotations_app.domain.agreement.preference import Preference, measure_preference
from annotations_app.domain.arrays import IntArray
from annotations_app.domain.label_table import (
    LABEL_BITS,
    LABEL_MASK,
    LabelTable,
    build_label_table,
    number_keys,
)
from annotations_app.domain.scales import (
    NOMINAL,
    Measurement,
    Scale,
    jaccard_distances,
    masi_distances,
    ratio_distances,
    scale_of,
    squared_distances,
)
from annotations_app.labels.label_counts import (
    NO_VALUE,
    concatenate,
    copy_rows,
    find_tags,
    order_turns_by_session,
    unpack_numbers,
)
from annotations_app.labels.random_sample import choose_labels
from annotations_app.labels.versions import find_version, list_schemas_asking
from annotations_app.models import Campaign, LabelSchema, PairedReply, Rater
from datasets_app.domain.labels.criterion import MAX_LEVELS, Criterion, Kind

# One string for each rater instead of a row for each label.
_PACKED_SQL = sql.SQL("""
SELECT j.rater_id, string_agg({packed}, ''::bytea)
FROM annotations_app_judgment j
WHERE j.campaign_id = {campaign} AND j.schema_id = ANY({schemas}::bigint[]) AND {counted}
GROUP BY 1 ORDER BY 1
""")
# A level is in the lowest bits of its turn.
_LEVEL_BYTES = sql.SQL("int8send(j.turn_id << {bits} | (j.codes->>{key})::bigint)")
_WHOLE_BYTES = sql.SQL("int8send(j.turn_id) || int8send((j.codes->>{key})::bigint)")
_FRACTION_BYTES = sql.SQL("int8send(j.turn_id) || float8send((j.codes->>{key})::float8)")


class _Answers(NamedTuple):
    """Of one criterion: the turn, the rater (an index into ``raters``, ascending keys) and the stored answer
    of each label."""

    turn: IntArray
    raters: list[int]
    rater: IntArray
    value: Any


class MeasuredCriteria(NamedTuple):
    """``notes`` say what the figures leave out."""

    campaign: str
    schema: str
    criteria: list[CriterionReport]
    notes: list[str]


class _Labels(NamedTuple):
    """What its criteria are measured with."""

    campaign: Campaign
    raters: dict[int, str]
    resamples: int
    seed: int
    width: float | None
    by_tag: bool


def measure_criteria(
    campaign: Campaign,
    *,
    version: int = 0,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    width: float | None = None,
    by_tag: bool = False,
) -> MeasuredCriteria:
    """In the order of the schema; of tags all together, then one for each. Labels of an earlier version count
    where the criterion is the same; with a ``version`` (see ``labels/versions.py``), only those of it.
    ``width`` as in :func:`measure_agreement`. ``by_tag`` adds win rates of each tag, which is text of files.
    """
    validate_width(width)
    schema = _find_schema(campaign, version)
    only, notes = choose_labels(campaign, version)
    raters = Rater.objects.filter(dataset=campaign.dataset_id).values_list("pk", "name")
    names = {rater: name or UNNAMED_LABEL for rater, name in raters}
    labels = _Labels(campaign, names, resamples, seed, width, by_tag)
    measured: list[CriterionReport] = []
    for criterion in schema.content.criteria:
        if criterion.kind == Kind.TEXT:
            measured.append(_count_texts(campaign, criterion, only))
            continue
        answers = read_answers(campaign, criterion, only)
        if criterion.kind == Kind.TAGS:
            measured += [
                _measure_sets(labels, criterion, answers),
                *_measure_tags(labels, criterion, answers),
            ]
        elif criterion.kind == Kind.NUMBER:
            measured.append(_measure_numbers(labels, criterion, answers))
        else:
            names_ = [level.name for level in criterion.levels]
            levels = _measure_levels(labels, criterion, answers, names_, scale_of(criterion.kind))
            if criterion.kind == Kind.PREFERENCE:
                found, of_tags = _measure_preference(labels, answers)
                levels = levels._replace(preference=found, preference_by_tag=of_tags)
            measured.append(levels)
    notes += dict.fromkeys(note for one in measured if one.report for note in one.report.notes)
    return MeasuredCriteria(campaign.name, schema.full_name, measured, notes)


def _find_schema(campaign: Campaign, version: int) -> LabelSchema:
    if version:
        return LabelSchema.objects.get(pk=find_version(campaign, version).schema or 0)
    assert campaign.schema is not None  # callers look first  # nosec B101
    return campaign.schema


def _count_texts(campaign: Campaign, criterion: Criterion, only: list[int] | None) -> CriterionReport:
    schemas = list_schemas_asking(campaign, criterion.digest)
    said = campaign.judgments.filter(schema__in=schemas, texts__has_key=criterion.key)
    count = said.filter(**({"kind": "label"} if only is None else {"pk__in": only})).count()
    return CriterionReport(criterion, [Answer("texts", count)], note="texts can't be compared")


def _measure_sets(labels: _Labels, criterion: Criterion, answers: _Answers) -> CriterionReport:
    """The tags of a reply together: none of them is as good an answer as any."""
    sets, codes = np.unique(answers.value, return_inverse=True)
    counts = [
        Answer(level.name, int((answers.value >> code & 1).sum()))
        for code, level in enumerate(criterion.levels)
    ]
    counts.append(Answer("none of them", int((answers.value == 0).sum())))
    if len(sets) > MAX_CODES:
        return CriterionReport(
            criterion, counts, note=f"undefined: more than {MAX_CODES:,} different sets of tags"
        )
    table = build_answer_table(labels.campaign, answers, codes, len(sets), names=labels.raters)
    alphas = (
        NamedStatistic(
            "masi_alpha", "Krippendorff’s alpha, MASI", measure_alpha(table, masi_distances(sets))
        ),
        NamedStatistic(
            "jaccard_alpha", "Krippendorff’s alpha, Jaccard", measure_alpha(table, jaccard_distances(sets))
        ),
    )
    return CriterionReport(criterion, counts, alphas=alphas, labels=len(codes))


def _measure_tags(labels: _Labels, criterion: Criterion, answers: _Answers) -> Iterator[CriterionReport]:
    for code, level in enumerate(criterion.levels):
        chosen = answers._replace(value=(answers.value >> code) & 1)
        yield _measure_levels(labels, criterion, chosen, ["no", "yes"], NOMINAL)._replace(tag=level.name)


def _measure_numbers(labels: _Labels, criterion: Criterion, answers: _Answers) -> CriterionReport:
    """As an interval scale, and as a ratio scale where none is below zero."""
    numbers, codes = np.unique(answers.value, return_inverse=True)
    if len(numbers) > MAX_CODES:
        return CriterionReport(criterion, [], note=f"undefined: more than {MAX_CODES:,} different numbers")
    table = build_answer_table(labels.campaign, answers, codes, len(numbers), names=labels.raters)
    ratio = (
        measure_alpha(table, ratio_distances(numbers))
        if not (numbers < 0).any()
        else Statistic(None, note="undefined: a ratio scale has no numbers below 0")
    )
    alphas: tuple[NamedStatistic, ...] = (
        NamedStatistic("ratio_alpha", "Krippendorff’s alpha, ratio", ratio),
    )
    if len(numbers) > MAX_LEVELS:
        interval = measure_alpha(table, squared_distances(numbers))
        alphas = (NamedStatistic("krippendorff_alpha", "Krippendorff’s alpha, interval", interval), *alphas)
        note = f"of more than {MAX_LEVELS} different numbers there is only alpha"
        return CriterionReport(criterion, [], alphas=alphas, note=note)
    # A scale has two levels at least.
    scale = Scale(Measurement.INTERVAL, tuple(numbers.tolist()) if len(numbers) > 1 else ())
    names = [f"{number:g}" for number in numbers.tolist()]
    return _measure_levels(labels, criterion, answers._replace(value=codes), names, scale)._replace(
        alphas=alphas
    )


def _measure_levels(
    labels: _Labels, criterion: Criterion, answers: _Answers, names: list[str], scale: Scale
) -> CriterionReport:
    codes = answers.value.astype(np.int8, copy=False)
    categories = max(2, len(names))
    table = build_answer_table(labels.campaign, answers, codes, categories, scale, names=labels.raters)
    report = build_agreement_report(
        table,
        resamples=labels.resamples,
        seed=labels.seed,
        width=labels.width,
        available=labels.campaign.item_count,
    )
    counts = np.bincount(answers.value, minlength=len(names)).tolist()
    replies = report.consensus.replies if report.consensus else (0,) * len(names)
    return CriterionReport(
        criterion,
        [Answer(*answer) for answer in zip(names, counts, replies[: len(names)], strict=True)],
        report,
    )


def _measure_preference(labels: _Labels, answers: _Answers) -> tuple[Preference, dict[str, Preference]]:
    """Of all pairs, and of those with each of the most frequent tags."""
    campaign = labels.campaign
    turns, turn = number_keys(answers.turn)
    _, place, session = order_turns_by_session(campaign.dataset_id, turns)
    of_turn = session[place]
    is_swapped = np.isin(answers.turn, read_swapped(campaign))

    def measure(chosen: Any, planned: int | None) -> Preference:
        return measure_preference(
            answers.value[chosen],
            is_swapped[chosen],
            of_turn[turn[chosen]],
            resamples=labels.resamples,
            seed=labels.seed,
            planned=planned,
        )

    everything = measure(slice(None), campaign.item_count * campaign.overlap)
    if not labels.by_tag:
        return everything, {}
    tags = find_tags(campaign.dataset_id, campaign.persona.persona_id, turns)
    largest = sorted(tags.items(), key=lambda tag: (-len(tag[1]), tag[0]))[:MAX_VALUES]
    by_tag = {tag: measure(np.isin(turn, members), None) for tag, members in sorted(largest)}
    return everything, by_tag if set(tags) - {NO_VALUE} else {}


def read_swapped(campaign: Campaign) -> IntArray:
    """Turns of pairs that are shown with the reply of the other dataset as A."""
    swapped = PairedReply.objects.filter(item__campaign=campaign, swapped=True)
    return np.fromiter(swapped.values_list("item__turn", flat=True), np.int64)


def read_answers(campaign: Campaign, criterion: Criterion, only: list[int] | None = None) -> _Answers:
    """``only`` those of these labels (primary keys), whatever became of them since."""
    is_level = criterion.has_one_level
    value = np.dtype(np.float64 if criterion.kind == Kind.NUMBER else np.int64)
    packed = _LEVEL_BYTES if is_level else _FRACTION_BYTES if value.kind == "f" else _WHOLE_BYTES
    counted: sql.Composable = sql.SQL("j.kind = 'label'")
    if only is not None:
        counted = sql.SQL("j.id = ANY({}::bigint[])").format(sql.Literal(only))
    query = _PACKED_SQL.format(
        packed=packed.format(key=sql.Literal(criterion.key), bits=sql.Literal(LABEL_BITS)),
        campaign=sql.Literal(campaign.pk),
        schemas=sql.Literal(list_schemas_asking(campaign, criterion.digest)),
        counted=counted,
    )
    raters, turns, values = [], [], []
    for rater, answers in copy_rows(query, ["int8", "bytea"]):
        if answers is None:  # to other criteria
            continue
        raters.append(rater)
        if is_level:
            levels = unpack_numbers(answers)
            turns.append(levels >> LABEL_BITS)
            values.append((levels & LABEL_MASK).astype(np.int8))
        else:
            rows = np.frombuffer(answers, [("turn", ">i8"), ("value", value.newbyteorder(">"))])
            turns.append(rows["turn"].astype(np.int64))
            values.append(rows["value"].astype(value))
    place = np.repeat(np.arange(len(raters)), [len(turn) for turn in turns])
    return _Answers(concatenate(turns), raters, place, concatenate(values, value))


def build_answer_table(
    campaign: Campaign,
    answers: _Answers,
    codes: Any,
    categories: int,
    scale: Scale = NOMINAL,
    *,
    names: dict[int, str] | None = None,
) -> LabelTable:
    """Without ``names`` raters have their numbers."""
    items, item = number_keys(answers.turn)
    order, place, session = order_turns_by_session(campaign.dataset_id, items)
    return build_label_table(
        [names[rater] if names else str(rater) for rater in answers.raters],
        place[item],
        answers.rater,
        codes,
        session,
        turn=items[order],
        categories=categories,
        scale=scale,
    )
