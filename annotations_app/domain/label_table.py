"""Labels as arrays, sorted by session and item as agreement needs them."""

from typing import Any, NamedTuple

import numpy as np

from annotations_app.domain.arrays import BoolArray, ByteArray, FloatArray, IntArray
from annotations_app.domain.scales import NOMINAL, Scale
from datasets_app.domain.labels.criterion import MAX_LEVELS
from datasets_app.domain.labels.on_brand import ON_BRAND

# Enough for the code of any level; packed with what a label belongs to.
LABEL_BITS = (MAX_LEVELS - 1).bit_length()
LABEL_MASK = (1 << LABEL_BITS) - 1
NO_ANNOTATOR = -1
NO_GOLD = -1
# A lookup table may have this many times more rows than keys.
MAX_SPARSENESS = 16


class Repeats(NamedTuple):
    """Labels of hidden repeats; ``first`` is the annotator's earlier label, in the same campaign and for
    the same text of the persona."""

    item: IntArray
    annotator: IntArray
    first: ByteArray
    label: ByteArray


NO_REPEATS = Repeats(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int8), np.zeros(0, np.int8))


class LabelPart(NamedTuple):
    """A breakdown of items by the values of ``kind``."""

    kind: str
    members: dict[str, IntArray]


class LabelTable(NamedTuple):
    """One row for each label that counts, sorted by item and annotator; items are sorted by session.

    ``annotator`` is an index into ``names``, or NO_ANNOTATOR: such labels count, each as a rater of its
    own, but are left out of comparisons. ``session`` and ``gold`` have a row for each item; ``month`` one
    for each label, an index into ``months``, if months were requested.
    """

    names: list[str]
    item: IntArray
    annotator: IntArray
    label: ByteArray
    session: IntArray
    gold: ByteArray
    repeats: Repeats = NO_REPEATS
    parts: tuple[LabelPart, ...] = ()
    month: IntArray | None = None
    months: tuple[str, ...] = ()
    # The key of each item's turn, where labels come from a database.
    turn: IntArray = np.zeros(0, np.int64)
    # How many codes labels may have.
    categories: int = len(ON_BRAND.levels)
    scale: Scale = NOMINAL
    # How many labels don't count, as the same annotator labeled the same item again.
    replaced: int = 0

    @property
    def items(self) -> int:
        return len(self.session)

    @property
    def has_annotator(self) -> BoolArray:
        return self.annotator >= 0

    @property
    def weights(self) -> FloatArray:
        """How far each two labels agree, from 0 to 1."""
        return self.scale.weights(self.categories)

    def counts(self, mask: Any = slice(None)) -> IntArray:
        """(items, categories): how often each item was given each label; ``mask`` selects labels."""
        cell = self.item[mask] * self.categories + self.label[mask]
        return np.bincount(cell, minlength=self.items * self.categories).reshape(-1, self.categories)


class AmbiguousOrder(Exception):
    """An annotator labeled an item more than once, and the last label is unknown."""


def build_label_table(
    names: list[str], item: IntArray, annotator: IntArray, label: ByteArray, session: IntArray, **options: Any
) -> LabelTable:
    """Sort labels. If an annotator labeled an item several times, the last label counts.

    ``session`` is that of each item, ascending; every item must have a label. With ``in_order`` False
    the labels may come in any order: raises :class:`AmbiguousOrder` if an annotator labeled an item twice.
    """
    month, in_order = options.pop("month", None), options.pop("in_order", True)
    bits = len(names).bit_length() + 1
    owner = (item << bits) | (annotator + 1)
    if month is None and label.dtype == np.int8:
        packed = np.sort((owner << LABEL_BITS) | label)
        owners = packed >> LABEL_BITS
        if _is_last_of_owner(owners, bits).all():
            said = (packed & LABEL_MASK).astype(np.int8)
            return _make_table(names, owners, bits, said, session, None, options)
    order = np.argsort(owner, kind="stable")
    last = _is_last_of_owner(owner[order], bits)
    if not in_order and not last.all():
        raise AmbiguousOrder
    order, options["replaced"] = order[last], int((~last).sum())
    month = None if month is None else month[order]
    return _make_table(names, owner[order], bits, label[order], session, month, options)


def _make_table(
    names: list[str],
    owner: IntArray,
    bits: int,
    label: ByteArray,
    session: IntArray,
    month: IntArray | None,
    options: dict[str, Any],
) -> LabelTable:
    annotator = (owner & ((1 << bits) - 1)) - 1
    gold = np.full(len(session), NO_GOLD, np.int8)
    return LabelTable(names, owner >> bits, annotator, label, session, gold, month=month, **options)


def _is_last_of_owner(owner: IntArray, bits: int) -> BoolArray:
    """Marks the last of each of the sorted owners, and all owners without a name."""
    last = np.ones(len(owner), bool)
    last[:-1] = owner[1:] != owner[:-1]
    return np.asarray(last | ((owner & ((1 << bits) - 1)) == 0))


def number_keys(keys: IntArray) -> tuple[IntArray, IntArray]:
    """The different keys, ascending, and the index of each among them."""
    if not len(keys):
        return keys, keys
    lowest, highest = int(keys.min()), int(keys.max())
    if highest - lowest > MAX_SPARSENESS * len(keys):
        items, item = np.unique(keys, return_inverse=True)
        return items, item
    there = np.zeros(highest - lowest + 1, bool)
    there[keys - lowest] = True
    places = np.cumsum(there, dtype=np.int64) - 1
    return np.flatnonzero(there) + lowest, places[keys - lowest]


def match_items(items: IntArray, keys: IntArray) -> tuple[IntArray, IntArray]:
    """The keys that are items: their indexes among the items (in any order), and among the keys."""
    if not len(items):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(items, kind="stable")
    place = np.minimum(np.searchsorted(items, keys, sorter=order), len(items) - 1)
    found = np.flatnonzero(items[order[place]] == keys)
    return order[place[found]], found


def find_starts(values: IntArray) -> IntArray:
    """Where each run of equal values begins."""
    return np.flatnonzero(np.concatenate([np.ones(1, bool), values[1:] != values[:-1]])[: len(values)])


def order_by_session(session: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Items with any session numbers → (their order, the position of each in it, sessions numbered from 0).

    Stable: items of a session keep their order.
    """
    order = np.argsort(session, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    ordered = session[order]
    steps = np.concatenate([np.zeros(1, bool), ordered[1:] != ordered[:-1]])[: len(ordered)]
    return order, place, np.cumsum(steps)
