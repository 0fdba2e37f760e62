"""Disagreement under a campaign's schema: which replies, on which criteria, and whom a decision overrules.

Replies are compared criterion by criterion; texts, which can't be compared, are left out.
"""

from typing import Any

from annotations_app.criteria.disputes import IS_ASKED, list_asked, measure_disputes
from annotations_app.domain.answer_tallies import tally_answers
from annotations_app.models import Campaign, Judgment
from datasets_app.domain.labels.schema import Answers

DISPUTED_SQL = f"""
SELECT turn_id, labels, NULL::bigint AS on_brand, dispute, settled FROM (
    SELECT *, EXISTS (SELECT FROM annotations_app_judgment d
                      WHERE d.turn_id = replies.turn_id AND d.persona_id = %(persona)s
                        AND d.schema_id = %(schema)s AND d.kind = 'adjudicated') AS settled
    FROM ({measure_disputes(f"j.campaign_id = %(campaign)s AND {IS_ASKED}")}) replies
    WHERE dispute > 0
) disputed
WHERE (NOT settled OR %(settled)s)
"""  # constants of this module # nosec B608


def find_overruled(turn: Any, campaign: Campaign, decided: Answers) -> list[str]:
    """The questions that most annotators of a campaign answer otherwise."""
    rows = Judgment.objects.filter(turn=turn, campaign=campaign, kind=Judgment.Kind.LABEL)
    asked = set(list_asked(campaign))
    said = (
        row.answers._replace(
            codes={key: code for key, code in row.codes.items() if f"{row.schema_id} {key}" in asked}
        )
        for row in rows
    )
    tallies = tally_answers(campaign.asked_schema, said)
    return [
        one.criterion.question
        for one in tallies
        if one.majority is not None and decided.get(one.criterion.key) != one.majority
    ]
