"""How far the scores that a run of Alignmenter gives to replies agree with what people say of them."""

from typing import Any

import numpy as np

from annotations_app.domain.agreement.comparisons import compare_two
from annotations_app.domain.scales import NOMINAL
from annotations_app.judges.disagreements import find_consensus
from datasets_app.core.queries import fetch_all
from datasets_app.domain.labels.on_brand import ON_BRAND

# As Alignmenter's `calibrate validate` reads a score.
ON_BRAND_FROM = 0.5
NOTHING_COMPARED = "no reply has both a score and a label of most people"
# Labels for the persona of the conversation; an adjudicated one replaces those of annotators.
_LABELED = """
SELECT t.id, t.session_id, x.score, a.label FROM datasets_app_evaluationrun r
CROSS JOIN unnest(r.session_keys, r.turn_indexes, r.reply_scores) AS x (session, turn_index, score)
JOIN datasets_app_session s ON s.dataset_id = %(dataset)s AND s.id = x.session
JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.session_id = s.id AND t.turn_index = x.turn_index
JOIN annotations_app_annotation a ON a.turn_id = t.id AND a.persona_id = s.persona_id
WHERE r.id = %(run)s AND (a.kind = 'adjudicated' OR a.kind = 'label' AND NOT EXISTS (
    SELECT FROM annotations_app_annotation b
    WHERE b.turn_id = t.id AND b.persona_id = a.persona_id AND b.kind = 'adjudicated'))
"""


def score_panel(run: Any, user: Any) -> dict[str, Any] | None:
    """None for who may not see labels, and without any."""
    if not user.has_perm("annotations_app.view_annotation"):
        return None
    rows = fetch_all(_LABELED, {"run": run.pk, "dataset": run.release.dataset_id})
    if not rows:
        return None
    turn, session, score, label = map(np.array, zip(*rows, strict=True))
    turns, people, ties = find_consensus(turn, label, 2)
    _, first = np.unique(turn, return_index=True)
    there = np.isin(turn[first], turns)
    sessions, scores = session[first][there], score[first][there]
    order = np.argsort(sessions, kind="stable")
    said = (scores >= ON_BRAND_FROM).astype(np.int64)
    comparison = compare_two(
        said[order], people[order], sessions[order], NOMINAL.weights(2), NOTHING_COMPARED
    )
    means = [
        (level.name, int((people == code).sum()), _mean(scores[people == code]))
        for code, level in enumerate(ON_BRAND.levels)
    ]
    return {
        "title": "Scores and people",
        "template": "annotations_app/score_panel.html",
        "context": {"comparison": comparison, "ties": ties, "means": means, "threshold": ON_BRAND_FROM},
    }


def _mean(scores: Any) -> float | None:
    return float(scores.mean()) if len(scores) else None
