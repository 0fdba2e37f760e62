"""Sessions that a table holds twice, so that their turns come twice as well."""

from collections import Counter
from collections.abc import Sequence

from datasets_app.domain.conversations.records import TurnRecord

MIN_TURNS = 4


def is_repeated(turns: Sequence[TurnRecord]) -> bool:
    """Whether a turn comes again with its time and all that is known of it, all was said an even number of
    times, or two turns of a time and text come again: rows were exported twice, or two exports overlap."""
    whole = Counter(
        (turn.role, turn.text, turn.timestamp, repr(turn.metadata)) for turn in turns if turn.metadata
    )
    if any(count > 1 and timestamp for (_, _, timestamp, _), count in whole.items()):
        return True
    if len(turns) < MIN_TURNS:
        return False
    said = Counter((turn.role, turn.text) for turn in turns)
    if all(count % 2 == 0 for count in said.values()):
        return True
    dated = Counter((turn.role, turn.text, turn.timestamp) for turn in turns if turn.timestamp)
    return sum(count - 1 for count in dated.values()) >= 2
