"""How far apart two labels are: by the order or the size of their levels, or only the same or not.

Distances are those of Krippendorff (2011); weights those of Gwet (2014), chapter 3: ordinal, and quadratic
for intervals.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from annotations_app.domain.arrays import FloatArray, IntArray
from datasets_app.domain.labels.criterion import Kind


class Measurement(StrEnum):
    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


class Weighting(NamedTuple):
    """How far each two labels agree, from 0 to 1: (categories, categories) each.

    ``agreement`` is that of the scale, ``alpha`` what Krippendorff's distances leave, and ``kappas`` have
    linear and quadratic steps; a nominal scale has none.
    """

    agreement: FloatArray
    alpha: FloatArray
    kappas: tuple[FloatArray, ...] = ()


class Scale(NamedTuple):
    """``positions`` are the numbers that the levels of an interval scale stand for, ascending; without them
    the steps between levels are equal."""

    measurement: Measurement = Measurement.NOMINAL
    positions: tuple[float, ...] = ()

    def weights(self, categories: int) -> FloatArray:
        """How far each two labels agree, from 0 to 1 (categories, categories)."""
        if self.measurement == Measurement.NOMINAL:
            return np.eye(categories)
        if self.measurement == Measurement.ORDINAL:
            return ordinal_weights(categories)
        return quadratic_weights(self._positions(categories))

    def weigh(self, counts: FloatArray) -> Weighting:
        """``counts`` is how often each level was given to items with several labels: the distance of ordinal
        levels is that between the middles of their ranks."""
        agreement = self.weights(len(counts))
        if self.measurement == Measurement.NOMINAL:
            return Weighting(agreement, agreement)
        positions = self._positions(len(counts))
        kappas = linear_weights(positions), quadratic_weights(positions)
        if self.measurement == Measurement.INTERVAL:
            return Weighting(agreement, agreement, kappas)
        return Weighting(agreement, quadratic_weights(counts.cumsum() - counts / 2), kappas)

    def _positions(self, categories: int) -> FloatArray:
        return np.array(self.positions or range(categories), np.float64)


NOMINAL = Scale()
# Of the kinds whose answers have an order.
_MEASUREMENTS = {Kind.ORDINAL: Measurement.ORDINAL, Kind.NUMBER: Measurement.INTERVAL}


def scale_of(kind: Kind) -> Scale:
    return Scale(_MEASUREMENTS.get(kind, Measurement.NOMINAL))


def ordinal_weights(categories: int) -> FloatArray:
    """1 less the share of all pairs of levels that lie between the two, themselves included."""
    apart = _steps_apart(np.arange(categories, dtype=np.float64))
    pairs = apart * (apart + 1) / 2
    return 1 - pairs / max(float(pairs.max(initial=0)), 1.0)


def linear_weights(positions: FloatArray) -> FloatArray:
    return 1 - _steps_apart(positions) / _span(positions)


def quadratic_weights(positions: FloatArray) -> FloatArray:
    return 1 - (_steps_apart(positions) / _span(positions)) ** 2


def _steps_apart(positions: FloatArray) -> FloatArray:
    return np.abs(positions[:, None] - positions)


def _span(positions: FloatArray) -> float:
    """From the lowest to the highest; 1 of a single one."""
    return float(positions.max(initial=0) - positions.min(initial=positions.max(initial=0))) or 1.0


def squared_distances(positions: FloatArray) -> FloatArray:
    return _steps_apart(positions) ** 2


def ratio_distances(positions: FloatArray) -> FloatArray:
    """Of numbers from 0: a half and one are as far apart as one and two (Krippendorff 2011)."""
    sums = positions[:, None] + positions
    return np.asarray(np.divide(_steps_apart(positions), sums, where=sums > 0, out=np.zeros_like(sums)) ** 2)


def jaccard_distances(sets: IntArray) -> FloatArray:
    """Of sets, a bit for each member: 1 less the share of their members that both have."""
    return 1 - _shared_members(sets)


def masi_distances(sets: IntArray) -> FloatArray:
    """The same, nearer where one holds the other.

    Passonneau, R. (2006). Measuring agreement on set-valued items (MASI). LREC 2006, 831-836.
    """
    both = sets[:, None] & sets
    holds = (both == sets) | (both == sets[:, None])
    monotonicity = np.where(sets[:, None] == sets, 1, np.where(holds, 2 / 3, 1 / 3))
    return 1 - _shared_members(sets) * monotonicity


def _shared_members(sets: IntArray) -> FloatArray:
    """Two empty sets share all they have."""
    both, either = (np.bitwise_count(each) for each in (sets[:, None] & sets, sets[:, None] | sets))
    return np.asarray(np.divide(both, either, where=either > 0, out=np.ones(either.shape)))
