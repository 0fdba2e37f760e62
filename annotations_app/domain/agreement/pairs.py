"""Every pair of annotators: their labels of the items both have labeled.

The work grows with the number of pairs of labels on one item, not with the number of possible pairs. Items
are taken in blocks of whole sessions, so that memory stays flat.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from annotations_app.domain.agreement.agreement_report import PairComparison
from annotations_app.domain.agreement.comparisons import build_comparisons, count_tables, influence_gradients
from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.label_table import LabelTable, find_starts

PAIR_BLOCK_SIZE = 1 << 19
# More could not be looked at; those with most items in common are kept.
MAX_PAIRS = 10_000


class _NamedLabels(NamedTuple):
    """Labels with a name: ``code`` is annotator * categories + label; those of item i are
    starts[i]:starts[i + 1]."""

    code: IntArray
    starts: IntArray
    session: IntArray
    code_count: int


class _PairBlock(NamedTuple):
    """Pairs of labels on one item, the first annotator before the second; ``key`` is code 1 * codes + code
    2.
    """

    key: IntArray
    session: IntArray


def compare_pairs(table: LabelTable) -> tuple[list[PairComparison], int]:
    """All pairs with items in common, by name, and how many were left out (:data:`MAX_PAIRS`)."""
    labels = _named_labels(table)
    keys, times = _count_keys(labels)
    if not len(keys):
        return [], 0
    first, second = keys // labels.code_count, keys % labels.code_count
    names, categories = len(table.names), table.categories
    pair_ids, pair = np.unique(first // categories * names + second // categories, return_inverse=True)
    cell = first % categories * categories + second % categories
    tables = count_tables(pair, cell, times.astype(np.float64), len(pair_ids), categories)
    raw, kappa = influence_gradients(tables, table.weights)
    place = pair * categories**2 + cell
    squares, sessions = _squared_influence(
        labels, keys, pair, np.stack([raw.ravel()[place], kappa.ravel()[place]])
    )
    kept = _largest_pairs(tables)
    found = [
        PairComparison(
            table.names[pair_ids[number] // names], table.names[pair_ids[number] % names], comparison
        )
        for number, comparison in zip(
            kept,
            build_comparisons(tables[kept], squares[:, kept], sessions[kept], table.weights, ""),
            strict=True,
        )
    ]
    return found, len(pair_ids) - len(kept)


def _largest_pairs(tables: FloatArray) -> IntArray:
    if len(tables) <= MAX_PAIRS:
        return np.arange(len(tables))
    by_size = np.argsort(-tables.sum(axis=(1, 2)), kind="stable")
    return np.sort(by_size[:MAX_PAIRS])


def _named_labels(table: LabelTable) -> _NamedLabels:
    code = table.annotator * table.categories + table.label
    number = np.bincount(table.item, minlength=table.items)
    if not table.has_annotator.all():
        code = code[table.has_annotator]
        number = np.bincount(table.item[table.has_annotator], minlength=table.items)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(number)])
    return _NamedLabels(code, starts, table.session, table.categories * len(table.names))


def _count_keys(labels: _NamedLabels) -> tuple[IntArray, IntArray]:
    """The keys there are, ascending, and how often each comes."""
    keys, times = np.zeros(0, np.int64), np.zeros(0, np.int64)
    dense = labels.code_count**2 <= 4 * PAIR_BLOCK_SIZE
    sums = np.zeros(labels.code_count**2 if dense else 0, np.int64)
    for block in _pair_blocks(labels):
        if dense:
            sums += np.bincount(block.key, minlength=len(sums))
            continue
        found, number = np.unique(block.key, return_counts=True)
        keys, place = np.unique(np.concatenate([keys, found]), return_inverse=True)
        times = np.bincount(place, np.concatenate([times, number]), len(keys)).astype(np.int64)
    if dense:
        keys = np.flatnonzero(sums)
        times = sums[keys]
    return keys, times


def _squared_influence(
    labels: _NamedLabels, keys: IntArray, pair: IntArray, influence: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Sum over sessions of the squared influence of each on a pair's numbers; sessions a pair has in common.

    ``pair`` and ``influence`` belong to ``keys``.
    """
    pairs = int(pair.max()) + 1
    squares, sessions = np.zeros((2, pairs)), np.zeros(pairs, np.int64)
    number_of_key = _KeyIndex(keys, labels.code_count**2)
    for block in _pair_blocks(labels):
        number = number_of_key(block.key)
        sorted_ = np.sort(((block.session - block.session.min()) * pairs + pair[number]) * len(keys) + number)
        number = sorted_ % len(keys)
        cluster = sorted_ // len(keys)
        begins = find_starts(cluster)
        of_pair = pair[number[begins]]
        sessions += np.bincount(of_pair, minlength=pairs)
        for row, values in enumerate(influence):
            sums = np.add.reduceat(values[number], begins)
            squares[row] += np.bincount(of_pair, sums * sums, pairs)
    return squares, sessions


class _KeyIndex:
    """The place of a key among the keys: by a table where that is small."""

    def __init__(self, keys: IntArray, size: int) -> None:
        self.keys = keys
        self.table: IntArray | None = None
        if size <= 4 * PAIR_BLOCK_SIZE:
            self.table = np.zeros(size, np.int64)
            self.table[keys] = np.arange(len(keys))

    def __call__(self, keys: IntArray) -> IntArray:
        return self.table[keys] if self.table is not None else np.searchsorted(self.keys, keys)


def _pair_blocks(labels: _NamedLabels) -> Iterator[_PairBlock]:
    """Pairs of labels, some whole sessions at a time."""
    number = np.diff(labels.starts)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(number * (number - 1) // 2)])
    start = 0
    while start < len(number):
        end = int(np.searchsorted(before, before[start] + PAIR_BLOCK_SIZE, side="right")) - 1
        end = int(np.searchsorted(labels.session, labels.session[max(end, start + 1) - 1], side="right"))
        if before[end] > before[start]:
            yield _build_pair_block(labels, number, start, end)
        start = end


def _build_pair_block(labels: _NamedLabels, number: IntArray, start: int, end: int) -> _PairBlock:
    keys, sessions = [], []
    for size in np.unique(number[start:end]):
        items = start + np.flatnonzero(number[start:end] == size)
        columns = [labels.code[labels.starts[items] + column] for column in range(int(size))]
        for second in range(1, int(size)):
            for first in range(second):
                keys.append(columns[first] * labels.code_count + columns[second])
        sessions += [labels.session[items]] * (int(size) * (int(size) - 1) // 2)
    return _PairBlock(np.concatenate(keys), np.concatenate(sessions))
