"""Sessions that a table holds twice, so that their turns come twice as well."""

from collections import Counter
from collections.abc import Sequence

from datasets_app.domain.conversations.records import TurnRecord

MIN_TURNS = 4


def find_repetition(turns: Sequence[TurnRecord]) -> int:
    """The line in which a turn comes again with its time and all that is known of it; or the first of those
    that come again if all was said an even number of times, or two turns of a time and text come again: rows
    were exported twice, or two exports overlap. 0 if nothing is repeated."""
    whole = [(turn.role, turn.text, turn.timestamp, repr(turn.metadata)) for turn in turns]
    if found := _find_again(turns, [key if key[2] and key[3] != "None" else None for key in whole]):
        return found[0]
    if len(turns) < MIN_TURNS:
        return 0
    said = [(turn.role, turn.text) for turn in turns]
    if all(count % 2 == 0 for count in Counter(said).values()):
        return min(_find_again(turns, said))
    again = _find_again(turns, [key[:3] if key[2] else None for key in whole])
    return min(again) if len(again) >= 2 else 0


def _find_again(turns: Sequence[TurnRecord], keys: Sequence[object]) -> list[int]:
    """The lines of turns whose key an earlier line has; None isn't a key."""
    seen: set[object] = set()
    found = []
    ranked = sorted(zip(turns, keys, strict=True), key=lambda pair: pair[0].line)
    for line, key in ((turn.line, key) for turn, key in ranked if key is not None):
        if key in seen:
            found.append(line)
        seen.add(key)
    return found
