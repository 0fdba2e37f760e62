"""Disagreement under a campaign's schema: which replies, on which criteria, and whom a decision overrules.

Replies are compared criterion by criterion; texts, which can't be compared, are left out.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from annotations_app.criteria.disputes import measure_disputes
from annotations_app.models import Campaign, Judgment
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.schema import Answers, Schema, describe_stored
from datasets_app.domain.labels.values import Stored, Value, decode_value

DISPUTED_SQL = f"""
SELECT turn_id, labels, NULL::bigint AS on_brand, dispute, settled FROM (
    SELECT *, EXISTS (SELECT FROM annotations_app_judgment d
                      WHERE d.turn_id = replies.turn_id AND d.persona_id = %(persona)s
                        AND d.schema_id = %(schema)s AND d.kind = 'adjudicated') AS settled
    FROM ({measure_disputes("j.campaign_id = %(campaign)s")}) replies
    WHERE dispute > 0
) disputed
WHERE (NOT settled OR %(settled)s)
"""  # constants of this module # nosec B608


class Tally(NamedTuple):
    """How often each answer to a criterion was given by ``annotators``, the most frequent first."""

    criterion: Criterion
    annotators: int
    votes: list[tuple[Stored, int]]

    @property
    def majority(self) -> Stored | None:
        """What more than half of the annotators said."""
        return self.votes[0][0] if self.votes and 2 * self.votes[0][1] > self.annotators else None

    @property
    def total(self) -> int:
        return sum(count for _, count in self.votes)

    @property
    def is_disputed(self) -> bool:
        return len(self.votes) > 1

    @property
    def described(self) -> list[tuple[str, int]]:
        return [(describe_stored(self.criterion, stored), count) for stored, count in self.votes]


def tally_answers(schema: Schema, given: Iterable[Answers]) -> list[Tally]:
    """In the order of the schema."""
    answers = list(given)
    return [
        Tally(criterion, len(answers), _count_answers(criterion, answers))
        for criterion in schema.criteria
        if criterion.kind != Kind.TEXT
    ]


def measure_dispute(tallies: Iterable[Tally]) -> int:
    """As the database does: the place of a reply in the queue."""
    return max(
        (
            min(1_000_000, 2_000_000 * (one.total - one.votes[0][1]) // one.total)
            for one in tallies
            if one.votes
        ),
        default=0,
    )


def agreed_answers(tallies: Iterable[Tally]) -> dict[str, Value]:
    """What all annotators said, as files have it: an adjudication begins with it."""
    return {
        one.criterion.key: decode_value(one.criterion, one.votes[0][0])
        for one in tallies
        if one.votes and one.votes[0][1] == one.annotators
    }


def find_overruled(turn: Any, campaign: Campaign, decided: Answers) -> list[str]:
    """The questions that most annotators of a campaign answer otherwise."""
    schema = campaign.schema_content
    assert schema is not None  # callers look first  # nosec B101
    rows = Judgment.objects.filter(turn=turn, campaign=campaign, kind=Judgment.Kind.LABEL)
    tallies = tally_answers(schema, (row.answers for row in rows))
    return [
        one.criterion.question
        for one in tallies
        if one.majority is not None and decided.get(one.criterion.key) != one.majority
    ]


def _count_answers(criterion: Criterion, given: list[Answers]) -> list[tuple[Stored, int]]:
    answers = (one.get(criterion.key) for one in given)
    return Counter(stored for stored in answers if stored is not None).most_common()
