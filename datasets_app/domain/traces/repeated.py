"""Sessions that a table holds twice, so that their turns come twice as well."""

from collections import Counter
from collections.abc import Sequence

from datasets_app.domain.conversations.records import TurnRecord

MIN_TURNS = 4


def is_repeated(turns: Sequence[TurnRecord]) -> bool:
    """Whether all was said an even number of times, or two turns of a time and text come again: the rows were
    exported twice, or two exports overlap."""
    if len(turns) < MIN_TURNS:
        return False
    said = Counter((turn.role, turn.text) for turn in turns)
    if all(count % 2 == 0 for count in said.values()):
        return True
    dated = Counter((turn.role, turn.text, turn.timestamp) for turn in turns if turn.timestamp)
    return sum(count - 1 for count in dated.values()) >= 2
