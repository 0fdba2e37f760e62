"""Stateless rules for an annotator's next reply: an item, a gold item or a hidden repeat."""

import hashlib
from enum import Enum

# The minimum number of decisions between a label and its hidden repeat.
MIN_REPEAT_DISTANCE = 10
# Replies leased at once: the current one and those prefetched.
PREFETCH_COUNT = 2


class NextKind(Enum):
    ITEM = "item"
    GOLD = "gold"
    REPEAT = "repeat"


def choose_next_kind(
    seed: int, user: str, ordinal: int, *, gold_share: float, repeat_share: float
) -> NextKind:
    """The kind of a user's ``ordinal``-th assignment; the shares are of all assignments.

    Deterministic, so that a campaign can be retraced, but not predictable from earlier assignments.
    """
    drawn = seeded_draw(seed, user, ordinal, "kind")
    if drawn < gold_share:
        return NextKind.GOLD
    return NextKind.REPEAT if drawn < gold_share + repeat_share else NextKind.ITEM


def seeded_draw(seed: int, user: str, ordinal: int, purpose: str) -> float:
    """A number in [0, 1) that depends only on these arguments."""
    digest = hashlib.sha256(f"{seed}:{user}:{ordinal}:{purpose}".encode()).digest()
    # A float holds 53 bits exactly; with more, the quotient could round up to 1.
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def gold_item_target(replies: int, known: int, gold_share: float) -> int:
    """The number of gold items among the ``known`` replies (with known labels), out of all ``replies``.

    An annotator who labels all ordinary items has then met all gold items. The other known replies are
    labeled as ordinary items.
    """
    return min(known, max(1, round(gold_share * replies))) if gold_share > 0 else 0
