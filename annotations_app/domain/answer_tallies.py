"""How often each answer of a schema was given to a reply, and what annotators agree on."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.schema import Answers, Schema, describe_stored, is_asked
from datasets_app.domain.labels.values import Stored, Value, decode_value


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


def choose_answers(schema: Schema, given: Iterable[Answers], *, unanimous: bool) -> tuple[Answers, list[str]]:
    """The answer that most annotators gave to each criterion, or that all of them gave; and the criteria that
    have none. Texts can't be compared."""
    chosen, open_criteria = Answers({}, {}), []
    tallies = {one.criterion.key: one for one in tally_answers(schema, given)}
    for question in schema.questions:
        tally = tallies.get(question.criterion.key)
        if tally is None or not tally.votes or not is_asked(question, chosen):
            continue
        (stored, most), others = tally.votes[0], [count for _, count in tally.votes[1:]]
        if others and (unanimous or others[0] == most):
            open_criteria.append(question.criterion.key)
        elif not isinstance(stored, str):
            chosen.codes[question.criterion.key] = stored
    return chosen, open_criteria


def _count_answers(criterion: Criterion, given: list[Answers]) -> list[tuple[Stored, int]]:
    answers = (one.get(criterion.key) for one in given)
    return Counter(stored for stored in answers if stored is not None).most_common()
