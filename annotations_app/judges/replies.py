"""The replies or pairs of a campaign that a judge has still to judge, and labeled ones to show it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from annotations_app.domain.arrays import IntArray
from annotations_app.domain.judging.judge_prompt import MAX_CONTEXT_TURNS, Example, JudgedReply
from annotations_app.judges.judge_rows import read_packed
from annotations_app.models import Campaign, JudgeRun
from datasets_app.core.queries import fetch_all, fetch_column, fetch_one
from datasets_app.domain.labels.schema import Answers, decode_answers

EXAMPLE_SPLIT = "train"
# With the turns before each, so many are in memory at a time.
_PAGE_SIZE = 200

# The other reply of a pair, and its session; of a campaign without pairs nothing.
_PAIR = """
annotations_app_pairedreply p ON p.item_id = i.id
LEFT JOIN datasets_app_turn o ON o.dataset_id = %(other)s AND o.id = p.turn_id
LEFT JOIN datasets_app_session os ON os.dataset_id = %(other)s AND os.id = o.session_id
"""
_ITEMS = f"""
    SELECT i.turn_id, s.session_id, s.excluded OR coalesce(os.excluded, false) AS excluded
    FROM annotations_app_campaignitem i
    JOIN datasets_app_session s ON s.dataset_id = %(dataset)s AND s.id = i.session_id
    LEFT JOIN {_PAIR} WHERE i.campaign_id = %(campaign)s
"""  # constants of this module # nosec B608
_COUNT_SQL = f"""
SELECT count(*) FILTER (WHERE NOT excluded), count(*) FILTER (WHERE excluded) FROM ({_ITEMS}) item
WHERE turn_id <> ALL(%(examples)s::bigint[])
AND (%(only)s::bigint[] IS NULL OR turn_id = ANY(%(only)s))
"""  # constants of this module # nosec B608
_EXCLUDED_SQL = f"SELECT turn_id FROM ({_ITEMS}) item WHERE excluded"  # constants # nosec B608
# A conversation is in the same fold in each dataset that has it.
_FOLDS_SQL = f"""
SELECT string_agg(int8send(turn_id)
    || int8send(('x' || substr(md5(session_id), 1, 8))::bit(32)::bigint %% %(folds)s), ''::bytea)
FROM ({_ITEMS}) item WHERE NOT excluded GROUP BY turn_id >> 16
"""  # constants of this module # nosec B608
# Both ways round of a pair are next to each other, so that a budget ends with whole pairs.
_MISSING_SQL = f"""
SELECT 2 * i.position + side, i.turn_id, side = 1 FROM annotations_app_campaignitem i
JOIN datasets_app_session s ON s.dataset_id = %(dataset)s AND s.id = i.session_id AND NOT s.excluded
LEFT JOIN {_PAIR}
CROSS JOIN generate_series(0, %(swap)s) AS side
WHERE i.campaign_id = %(campaign)s AND i.position >= %(after)s / 2 AND 2 * i.position + side > %(after)s
AND NOT coalesce(os.excluded, false) AND i.turn_id <> ALL(%(examples)s::bigint[])
AND (%(only)s::bigint[] IS NULL OR i.turn_id = ANY(%(only)s)) AND NOT EXISTS (
    SELECT FROM annotations_app_verdict v WHERE v.run_id = %(run)s AND v.turn_id = i.turn_id
    AND v.repeat = %(repeat)s AND v.swapped = (side = 1) AND v.failure = ''
)
ORDER BY i.position, side LIMIT %(size)s
"""  # constants of this module # nosec B608
_TURNS_SQL = """
SELECT r.id, t.role, t.text FROM datasets_app_turn r
JOIN datasets_app_turn t ON t.dataset_id = r.dataset_id AND t.session_id = r.session_id
AND t.turn_index BETWEEN r.turn_index - %(before)s AND r.turn_index
WHERE r.dataset_id = %(dataset)s AND r.id = ANY(%(turns)s::bigint[]) ORDER BY r.id, t.turn_index
"""
# As annotators see them: the turns that both conversations have, and the reply on side A first.
_PAIRS_SQL = f"""
SELECT i.turn_id, CASE WHEN p.swapped THEN o.text ELSE r.text END,
       CASE WHEN p.swapped THEN r.text ELSE o.text END, (
    SELECT jsonb_agg(jsonb_build_array(t.role, t.text) ORDER BY t.turn_index) FROM datasets_app_turn t
    JOIN datasets_app_turn c ON c.dataset_id = %(other)s AND c.session_id = o.session_id
    AND c.turn_index = t.turn_index AND c.role = t.role AND c.text = t.text
    WHERE t.dataset_id = %(dataset)s AND t.session_id = r.session_id
    AND t.turn_index BETWEEN r.turn_index - %(before)s AND r.turn_index - 1)
FROM annotations_app_campaignitem i JOIN {_PAIR}
JOIN datasets_app_turn r ON r.dataset_id = %(dataset)s AND r.id = i.turn_id
WHERE i.campaign_id = %(campaign)s AND i.turn_id = ANY(%(turns)s::bigint[]) AND NOT os.excluded
"""  # constants of this module # nosec B608
# Replies of the training split on which everybody agrees, in an order that hangs on nothing else. Of any
# campaign, as that of a test has none.
_LABELED_SQL = """
SELECT a.turn_id, jsonb_build_object('on_brand', min(a.label)) FROM annotations_app_annotation a
JOIN datasets_app_turn t ON t.dataset_id = a.dataset_id AND t.id = a.turn_id
JOIN datasets_app_session s ON s.dataset_id = t.dataset_id AND s.id = t.session_id
WHERE a.dataset_id = %(dataset)s AND a.persona_id = %(persona)s AND a.campaign_id IS NOT NULL
AND a.kind = 'label' AND s.split = %(split)s AND NOT s.excluded
GROUP BY a.turn_id HAVING min(a.label) = max(a.label)
"""
_ANSWERED_SQL = """
SELECT j.turn_id, (array_agg(j.codes))[1] FROM annotations_app_judgment j
JOIN datasets_app_turn t ON t.dataset_id = j.dataset_id AND t.id = j.turn_id
JOIN datasets_app_session s ON s.dataset_id = t.dataset_id AND s.id = t.session_id
WHERE j.dataset_id = %(dataset)s AND j.persona_id = %(persona)s AND j.schema_id = %(schema)s
AND CASE WHEN %(other)s::bigint IS NULL THEN j.campaign_id IS NOT NULL ELSE j.campaign_id = %(campaign)s END
AND j.kind = 'label' AND s.split = %(split)s AND NOT s.excluded
GROUP BY j.turn_id HAVING count(DISTINCT j.codes) = 1
"""
# One of each answer before a second of any; those first of which a version of the judge said something else.
_EXAMPLES_SQL = """
SELECT turn_id, codes FROM (
    SELECT turn_id, codes, row_number() OVER (
        PARTITION BY codes ORDER BY turn_id <> ALL(%(wrong)s::bigint[]), md5(turn_id::text)) AS place
    FROM ({labeled}) l (turn_id, codes)
) ranked ORDER BY place, codes LIMIT %(number)s
"""


class ReplyToJudge(NamedTuple):
    """``swapped`` is a pair the other way round than people see it."""

    turn: int
    repeat: int
    reply: JudgedReply
    swapped: bool = False


def count_replies(
    campaign: Campaign, examples: Sequence[int], only: Sequence[int] | None = None
) -> tuple[int, int]:
    """(replies to judge, those of excluded sessions), without ``examples``; of ``only`` these turns."""
    values = {**_describe(campaign), "examples": list(examples), "only": only}
    found: tuple[int, int] = fetch_one(_COUNT_SQL, values)
    return found


def list_excluded(campaign: Campaign) -> list[int]:
    """Turns of excluded sessions, which no judge is sent; of pairs either session."""
    return list(fetch_column(_EXCLUDED_SQL, _describe(campaign)))


def read_folds(campaign: Campaign, folds: int) -> tuple[IntArray, IntArray]:
    """(turn, fold of its session) of replies that may be judged, ascending by turn."""
    turn, fold = read_packed(_FOLDS_SQL, 2, **_describe(campaign), folds=folds)
    order = turn.argsort()
    return turn[order], fold[order]


def read_missing(run: JudgeRun, repeats: int, only: list[int] | None) -> Iterator[ReplyToJudge]:
    """In the order of the campaign: those without a judgment, also those that failed in an earlier run."""
    for repeat in range(repeats):
        after = -1
        while True:
            values = {
                **_describe(run.campaign),
                "run": run.pk,
                "swap": int(run.swap and repeat == 0),
                "examples": run.examples,
                "only": only,
                "repeat": repeat,
                "after": after,
                "size": _PAGE_SIZE,
            }
            page = fetch_all(_MISSING_SQL, values)
            if not page:
                break
            after = page[-1][0]
            texts = read_replies(run.campaign, [turn for _, turn, _ in page])
            for _, turn, swapped in page:
                if turn in texts:
                    reply = texts[turn].swap() if swapped else texts[turn]
                    yield ReplyToJudge(turn, repeat, reply, swapped)


def _describe(campaign: Campaign) -> dict[str, Any]:
    return {"campaign": campaign.pk, "dataset": campaign.dataset_id, "other": campaign.other_dataset_id}


def read_replies(campaign: Campaign, turns: Sequence[int]) -> dict[int, JudgedReply]:
    """By turn, as a judge gets them; of a pair as people see it."""
    values = {**_describe(campaign), "turns": list(turns), "before": MAX_CONTEXT_TURNS}
    if campaign.other_dataset_id is not None:
        return {
            turn: JudgedReply([(role, text) for role, text in json.loads(before or "[]")], (a, b))
            for turn, a, b, before in fetch_all(_PAIRS_SQL, values)
        }
    said: dict[int, list[tuple[str, str]]] = {}
    for turn, role, text in fetch_all(_TURNS_SQL, values):
        said.setdefault(turn, []).append((role, text))
    return {turn: JudgedReply(turns) for turn, turns in said.items()}


def choose_examples(campaign: Campaign, number: int, wrong: Sequence[int] = ()) -> list[tuple[int, Example]]:
    """(turn, example): labeled replies of the training split, as many of each answer as there are, those that
    were judged ``wrong`` first."""
    if not number:
        return []
    labeled = _ANSWERED_SQL if campaign.schema_id else _LABELED_SQL
    found = fetch_all(
        _EXAMPLES_SQL.format(labeled=labeled),
        {
            **_describe(campaign),
            "persona": campaign.persona.persona_id,
            "schema": campaign.schema_id,
            "split": EXAMPLE_SPLIT,
            "number": number,
            "wrong": list(wrong),
        },
    )
    replies = read_replies(campaign, [turn for turn, _ in found])
    # A raw cursor gives JSON as text.
    return [
        (turn, Example(replies[turn], decode_answers(campaign.asked_schema, Answers(json.loads(codes), {}))))
        for turn, codes in found
        if turn in replies
    ]
