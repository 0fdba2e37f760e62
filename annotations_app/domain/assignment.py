"""What an annotator is given next: an item, a gold item or a hidden repeat. Rules without a state."""

import hashlib
from enum import Enum

# So many decisions lie between a label and its hidden repeat, at least.
MIN_REPEAT_DISTANCE = 10
# Leased at once: the reply that is looked at, and those that are fetched ahead.
PREFETCH_COUNT = 2


class NextKind(Enum):
    ITEM = "item"
    GOLD = "gold"
    REPEAT = "repeat"


def choose_next_kind(
    seed: int, user: str, ordinal: int, *, gold_share: float, repeat_share: float
) -> NextKind:
    """What the ``ordinal``-th thing given to a user (by name) is to be; the shares are of all that is given.

    The same arguments give the same answer, so that a campaign can be followed up, and nothing of what
    was given or decided tells which comes next.
    """
    drawn = seeded_draw(seed, user, ordinal, "kind")
    if drawn < gold_share:
        return NextKind.GOLD
    return NextKind.REPEAT if drawn < gold_share + repeat_share else NextKind.ITEM


def seeded_draw(seed: int, user: str, ordinal: int, purpose: str) -> float:
    """A number from 0 up to, not including, 1; by these arguments alone."""
    digest = hashlib.sha256(f"{seed}:{user}:{ordinal}:{purpose}".encode()).digest()
    # 53 bits are what a float holds exactly; with more the quotient could be rounded up to 1.
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def gold_item_target(replies: int, known: int, gold_share: float) -> int:
    """How many of the ``known`` replies (their label is known) are to be gold items, out of all ``replies``.

    An annotator who labels all ordinary items has then met all gold items. The other known replies are
    labeled as ordinary items.
    """
    return min(known, max(1, round(gold_share * replies))) if gold_share > 0 else 0
