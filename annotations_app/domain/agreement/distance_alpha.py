"""Krippendorff's alpha of labels that are any distance apart: sets of tags, numbers of any kind.

Krippendorff, K. (2011). Computing Krippendorff's Alpha-Reliability. University of Pennsylvania.
"""

import numpy as np

from annotations_app.domain.agreement.agreement_report import (
    ALL_AGREE_NOTE,
    NO_LABELS_NOTE,
    NO_OVERLAP_NOTE,
    Statistic,
)
from annotations_app.domain.agreement.intervals import jackknife_interval, sum_squared_influence
from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.label_table import LabelTable, find_starts

# Of more different labels the distances wouldn't fit into memory.
MAX_CODES = 1000
BLOCK_CELLS = 1 << 20


def measure_alpha(table: LabelTable, distances: FloatArray) -> Statistic:
    """``distances`` (codes, codes) is 0 of equal labels."""
    if not table.items:
        return Statistic(None, note=NO_LABELS_NOTE)
    number = np.bincount(table.item, minlength=table.items)
    pairable = number[table.item] >= 2
    label, session = table.label[pairable].astype(np.int64), table.session[table.item[pairable]]
    if not len(label):
        return Statistic(None, note=NO_OVERLAP_NOTE)
    apart = _distances_within(label, table.item[pairable], distances)
    labels, observed = len(label), float(apart.sum())
    from_all = distances @ np.bincount(label, minlength=len(distances))
    expected = float(from_all[label].sum())
    if not expected:
        return Statistic(None, note=ALL_AGREE_NOTE)
    ratio = (labels - 1) * observed / expected
    # How much each label moves alpha.
    influence = (
        ratio * (2 * from_all[label] / expected - apart / observed - 1 / labels) if observed else apart
    )
    squares, _ = sum_squared_influence(np.zeros_like(label), session, influence[None, :], 1)
    return jackknife_interval(1 - ratio, float(squares[0, 0]), len(find_starts(session)), -1.0)


def _distances_within(label: IntArray, item: IntArray, distances: FloatArray) -> FloatArray:
    """The mean distance of each label from the others of its item."""
    starts = find_starts(item)
    sizes = np.diff([*starts, len(item)])
    apart: FloatArray = np.empty(len(label))
    for size in np.unique(sizes).tolist():
        places = starts[sizes == size][:, None] + np.arange(size)
        step = max(1, BLOCK_CELLS // size**2)
        for begin in range(0, len(places), step):
            block = places[begin : begin + step]
            said = label[block]
            apart[block] = distances[said[:, :, None], said[:, None, :]].sum(axis=2) / (size - 1)
    return apart
