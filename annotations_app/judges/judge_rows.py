"""SQL for what judges and people say of the replies of a campaign. The server packs it into a few strings."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count

from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.label_table import match_items
from annotations_app.labels.label_counts import concatenate, unpack_numbers
from annotations_app.labels.random_sample import list_random_turns
from annotations_app.labels.versions import list_schemas_asking
from annotations_app.models import Campaign, JudgeRun
from datasets_app.core.queries import fetch_all, fetch_column
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.schema import Schema

MAX_TAGS = 20
SPLITS = ("none", "train", "validation", "test")
_VERDICTS_SQL = """
SELECT string_agg(int8send(turn_id) || int8send((codes->>%(key)s)::bigint), ''::bytea)
FROM annotations_app_verdict
WHERE run_id = %(run)s AND (%(repeats)s OR repeat = 0) AND NOT swapped AND failure = '' AND codes ? %(key)s
GROUP BY turn_id >> 16
"""
_REPEATS_SQL = """
SELECT string_agg(int8send(f.turn_id) || int8send((f.codes->>%(key)s)::bigint)
    || int8send((r.codes->>%(key)s)::bigint), ''::bytea)
FROM annotations_app_verdict f
JOIN annotations_app_verdict r ON r.run_id = f.run_id AND r.turn_id = f.turn_id
AND CASE WHEN %(swapped)s THEN r.swapped ELSE r.repeat > 0 END
WHERE f.run_id = %(run)s AND f.repeat = 0 AND NOT f.swapped AND f.failure = '' AND r.failure = ''
AND f.codes ? %(key)s AND r.codes ? %(key)s GROUP BY f.turn_id >> 16
"""
# Of decisions d: not those that a reply was queued again after and has been decided on since.
NOT_SUPERSEDED = """NOT EXISTS (
    SELECT FROM annotations_app_decision q
    JOIN annotations_app_decision n ON n.assignment_id = q.assignment_id AND n.id > q.id
    WHERE q.assignment_id = d.assignment_id AND q.kind = 'requeue' AND q.id > d.id
    AND n.kind = 'label' AND n.counted)"""
# What was said before a verdict was shown, where one was.
_COMMITTED = f"""
LEFT JOIN (
    SELECT DISTINCT ON (d.assignment_id) d.assignment_id, d.label, d.codes FROM annotations_app_decision d
    JOIN annotations_app_assignment a ON a.id = d.assignment_id
    WHERE a.campaign_id = %(campaign)s AND d.kind = 'label' AND d.counted AND d.revealed IS NOT NULL
    AND {NOT_SUPERSEDED} ORDER BY d.assignment_id, d.id
) first
"""  # constants of this module # nosec B608
# Of the built-in criterion, and of one of a schema: what settles a reply, and what each label says.
_ON_BRAND_SQL = {
    "settled": """
    SELECT a.turn_id, a.label::bigint AS code FROM annotations_app_annotation a
    JOIN annotations_app_campaignitem i ON i.turn_id = a.turn_id AND i.campaign_id = %(campaign)s
    WHERE a.dataset_id = %(dataset)s AND a.persona_id = %(persona)s AND a.kind = 'adjudicated'
    """,
    "labels": f"""
    SELECT l.turn_id, l.annotator AS rater, COALESCE(first.label, l.label)::bigint AS code
    FROM annotations_app_annotation l
    LEFT JOIN annotations_app_assignment s ON s.annotation_id = l.id
    {_COMMITTED} ON first.assignment_id = s.id
    WHERE l.campaign_id = %(campaign)s AND l.kind = 'label'
    AND NOT (%(first_only)s AND COALESCE(s.extra, false))
    """,  # constants of this module # nosec B608
}
# Labels of a version in which the criterion is another one say nothing of it.
_ANSWERS_SQL = {
    "settled": """
    SELECT DISTINCT ON (j.turn_id) j.turn_id, (j.codes->>%(key)s)::bigint AS code
    FROM annotations_app_judgment j
    JOIN annotations_app_campaignitem i ON i.turn_id = j.turn_id AND i.campaign_id = %(campaign)s
    WHERE j.dataset_id = %(dataset)s AND j.persona_id = %(persona)s AND j.kind = 'adjudicated'
    AND j.schema_id = ANY(%(schemas)s) AND j.codes ? %(key)s ORDER BY j.turn_id, j.id DESC
    """,
    "labels": f"""
    SELECT j.turn_id, CASE WHEN r.kind = 'person' THEN r.name END AS rater,
           (COALESCE(first.codes, j.codes)->>%(key)s)::bigint AS code
    FROM annotations_app_judgment j
    LEFT JOIN annotations_app_rater r ON r.id = j.rater_id
    LEFT JOIN annotations_app_assignment s ON s.id = j.assignment_id
    {_COMMITTED} ON first.assignment_id = j.assignment_id
    WHERE j.campaign_id = %(campaign)s AND j.kind = 'label' AND j.schema_id = ANY(%(schemas)s)
    AND COALESCE(first.codes, j.codes) ? %(key)s AND NOT (%(first_only)s AND COALESCE(s.extra, false))
    """,  # constants of this module # nosec B608
}
_PEOPLE_SQL = """
WITH settled AS MATERIALIZED ({settled})
SELECT string_agg(int8send(turn_id) || int8send(code), ''::bytea) FROM (
    SELECT turn_id, code FROM settled
    UNION ALL
    SELECT turn_id, code FROM ({labels}) label
    WHERE NOT EXISTS (SELECT FROM settled WHERE settled.turn_id = label.turn_id)
) said GROUP BY turn_id >> 16
"""
# Of each person, without what was adjudicated.
_RATERS_SQL = """
SELECT rater, string_agg(int8send(turn_id) || int8send(code), ''::bytea) FROM ({labels}) said
WHERE rater IS NOT NULL GROUP BY 1 ORDER BY 1
"""
_SESSIONS_SQL = """
SELECT string_agg(int8send(i.turn_id) || int8send(i.session_id) || int8send(
    COALESCE(array_position(%(splits)s::text[], s.split::text), 1) - 1), ''::bytea)
FROM annotations_app_campaignitem i
JOIN datasets_app_session s ON s.dataset_id = %(dataset)s AND s.id = i.session_id
WHERE i.campaign_id = %(campaign)s GROUP BY i.turn_id >> 16
"""
_TAGS_SQL = """
SELECT tag, string_agg(int8send(t.id), ''::bytea) FROM annotations_app_campaignitem i
JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.id = i.turn_id
CROSS JOIN LATERAL unnest(t.tags) AS tag
WHERE i.campaign_id = %(campaign)s GROUP BY tag ORDER BY count(*) DESC, tag LIMIT %(limit)s
"""
_LENGTHS_SQL = """
SELECT string_agg(int8send(t.id) || int8send(char_length(t.text)::bigint), ''::bytea)
FROM annotations_app_campaignitem i
JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.id = i.turn_id
WHERE i.campaign_id = %(campaign)s GROUP BY i.turn_id >> 16
"""
# How much longer the reply shown as A is.
_PAIR_LENGTHS_SQL = """
SELECT string_agg(int8send(i.turn_id) || int8send(
    (char_length(r.text) - char_length(o.text))::bigint * CASE WHEN p.swapped THEN -1 ELSE 1 END), ''::bytea)
FROM annotations_app_campaignitem i
JOIN annotations_app_pairedreply p ON p.item_id = i.id
JOIN datasets_app_turn r ON r.dataset_id = %(dataset)s AND r.id = i.turn_id
JOIN datasets_app_turn o ON o.dataset_id = %(other)s AND o.id = p.turn_id
WHERE i.campaign_id = %(campaign)s GROUP BY i.turn_id >> 16
"""


class Sessions(NamedTuple):
    """Replies of a campaign, ascending by turn, with their session and the number of their split."""

    turn: IntArray
    session: IntArray
    split: IntArray

    def session_of(self, turns: IntArray) -> IntArray:
        return self.session[np.searchsorted(self.turn, turns)]

    def split_of(self, turns: IntArray) -> IntArray:
        return self.split[np.searchsorted(self.turn, turns)]


def read_verdicts(run: JudgeRun, criterion: Criterion, *, repeats: bool = False) -> tuple[IntArray, IntArray]:
    """(turn, stored answer) of each first judgment, or of repeated ones too, without those that failed.

    Of pairs judged both ways round only those of which the answer is the same. None if the criterion was
    another one when it was judged.
    """
    if criterion.kind == Kind.PREFERENCE and run.swap:
        turn, answer, other = read_repeats(run, criterion, swapped=True)
        return turn[answer == other], answer[answer == other]
    return read_packed(_VERDICTS_SQL, 2, run=run.pk, key=_key_in(run, criterion), repeats=repeats)  # type: ignore[return-value]


def read_repeats(
    run: JudgeRun, criterion: Criterion, *, swapped: bool = False
) -> tuple[IntArray, IntArray, IntArray]:
    """(turn, first answer, another one, or that to the pair the other way round)."""
    return read_packed(_REPEATS_SQL, 3, run=run.pk, key=_key_in(run, criterion), swapped=swapped)  # type: ignore[return-value]


def _key_in(run: JudgeRun, criterion: Criterion) -> str:
    """The key of a criterion in verdicts; empty, which is no key, if another version of it was asked."""
    return criterion.key if run.asks(criterion) else ""


def list_outdated(run: JudgeRun) -> list[str]:
    """Keys of criteria that have changed since they were judged: verdicts say nothing of them."""
    if run.schema is None:
        return []
    was_asked = run.schema.content.find
    return [one.key for one in run.campaign.asked_schema.criteria if was_asked(one.key) and not run.asks(one)]


def count_changed(run: JudgeRun, schema: Schema) -> int:
    """Pairs of which an answer to which reply is better changed with the sides."""
    changed = [np.zeros(0, np.int64)]
    for criterion in schema.criteria:
        if criterion.kind == Kind.PREFERENCE and run.swap:
            turn, answer, other = read_repeats(run, criterion, swapped=True)
            changed.append(turn[answer != other])
    return len(np.unique(np.concatenate(changed)))


def read_people(
    campaign: Campaign, criterion: Criterion, *, first_only: bool = False
) -> tuple[IntArray, IntArray]:
    """(turn, stored answer) of each label, as it was before a verdict was shown; an adjudicated one replaces
    those of annotators. ``first_only`` leaves out those of annotators who were asked because others
    differed."""
    sql, values = _choose_labels(campaign, criterion, first_only)
    return read_packed(_PEOPLE_SQL.format(**sql), 2, **values)  # type: ignore[return-value]


def read_raters(campaign: Campaign, criterion: Criterion) -> dict[str, tuple[IntArray, IntArray]]:
    """By name: (turn, stored answer) of each label of the random sample of replies and annotators, as it was
    before a verdict was shown."""
    sql, values = _choose_labels(campaign, criterion, True)
    chosen = list_random_turns(campaign)
    found = {}
    for name, packed in fetch_all(_RATERS_SQL.format(**sql), values):
        turn, value = unpack_numbers(packed).reshape(-1, 2).T
        found[name] = _keep(chosen, turn, value)
    return found


def _choose_labels(
    campaign: Campaign, criterion: Criterion, first_only: bool
) -> tuple[dict[str, str], dict[str, Any]]:
    values = {
        "campaign": campaign.pk,
        "dataset": campaign.dataset_id,
        "persona": campaign.persona.persona_id,
        "key": criterion.key,
        "first_only": first_only,
    }
    if campaign.schema_id is None:
        assert criterion.key == ON_BRAND.key  # nothing else is asked  # nosec B101
        return _ON_BRAND_SQL, values
    return _ANSWERS_SQL, values | {"schemas": list_schemas_asking(campaign, criterion.digest)}


def read_people_at_random(campaign: Campaign, criterion: Criterion) -> tuple[IntArray, IntArray]:
    """Of those the ones that are a random sample of the campaign's replies: what a judge is measured with."""
    return _keep(list_random_turns(campaign), *read_people(campaign, criterion))


def _keep(chosen: Iterable[int] | None, turn: IntArray, value: IntArray) -> tuple[IntArray, IntArray]:
    kept = np.ones(len(turn), bool) if chosen is None else np.isin(turn, list(chosen))
    return turn[kept], value[kept]


def read_characters(campaign: Campaign) -> tuple[IntArray, IntArray]:
    """(turn, characters) of each reply."""
    return read_packed(_LENGTHS_SQL, 2, campaign=campaign.pk, dataset=campaign.dataset_id)  # type: ignore[return-value]


def read_length_differences(campaign: Campaign) -> tuple[IntArray, IntArray]:
    """(turn, by how many characters the reply shown as A is longer) of each pair."""
    values = {"campaign": campaign.pk, "dataset": campaign.dataset_id, "other": campaign.other_dataset_id}
    return read_packed(_PAIR_LENGTHS_SQL, 2, **values)  # type: ignore[return-value]


def read_sessions(campaign: Campaign) -> Sessions:
    values = {"campaign": campaign.pk, "dataset": campaign.dataset_id, "splits": list(SPLITS)}
    turn, session, split = read_packed(_SESSIONS_SQL, 3, **values)
    order = np.argsort(turn)
    return Sessions(turn[order], session[order], split[order])


def read_tags(campaign: Campaign) -> dict[str, IntArray]:
    """The turns of each of the most frequent tags."""
    values = {"campaign": campaign.pk, "dataset": campaign.dataset_id, "limit": MAX_TAGS}
    return {tag: unpack_numbers(packed) for tag, packed in fetch_all(_TAGS_SQL, values)}


def read_lengths(campaign: Campaign) -> dict[str, IntArray]:
    """The turns of each third of the replies by their characters; fewer parts if many are equally long."""
    turn, length = read_characters(campaign)
    if not len(turn):
        return {}
    first, second = np.quantile(length, [1 / 3, 2 / 3], method="lower").astype(int)
    middle = f"{first + 1:,} to {second:,}" if first + 1 < second else f"{second:,}"
    parts = {
        f"up to {first:,} characters": turn[length <= first],
        f"{middle} characters": turn[(length > first) & (length <= second)],
        f"more than {second:,} characters": turn[length > second],
    }
    return {name: turns for name, turns in parts.items() if len(turns)}


def count_not_judged(run: JudgeRun) -> tuple[int, dict[str, int]]:
    """(judgments, those that failed by their reason)."""
    by_reason = run.verdicts.order_by().values_list("failure").annotate(count=Count("pk"))
    counts = dict(by_reason.order_by("-count"))
    return counts.pop("", 0), counts


def look_up(turns: IntArray, known: IntArray, values: IntArray) -> FloatArray:
    """What ``values`` of the ``known`` turns say of each of ``turns``; NaN where they say nothing."""
    found = np.full(len(turns), np.nan)
    place, there = match_items(turns, known)
    found[place] = values[there]
    return found


def read_packed(sql: str, columns: int, **values: object) -> tuple[IntArray, ...]:
    numbers = concatenate([unpack_numbers(packed) for packed in fetch_column(sql, values)])
    return tuple(numbers.reshape(-1, columns).T)
