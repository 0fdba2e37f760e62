"""Coefficients of agreement, from how often each category was given to each item.

Everything is computed from sums over items (:func:`item_sums`): for a part of the items, or a bootstrap
sample, :func:`compute_coefficients` is given other sums. Below, an item has ``m`` labels,
``r_c`` of them of category c; an item with fewer than two labels is a single.

Sources:
 * Krippendorff, K. (2011). Computing Krippendorff's Alpha-Reliability. University of Pennsylvania.
 * Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement.
   British Journal of Mathematical and Statistical Psychology 61, 29-48; with missing labels as in Gwet
   (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 5.
 * Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin 76,
 378-382. * Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological
   Measurement 20, 37-46; with weights: Cohen, J. (1968). Weighted kappa. Psychological Bulletin 70, 213-220.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.arrays import FloatArray
from annotations_app.domain.scales import Weighting

CountArray = NDArray[np.integer[Any]]

# The first columns of the sums; four blocks of one column a category follow, then what a scale needs besides.
_ITEMS, _PAIRABLE, _AGREEMENT, _COINCIDENCES, _BLOCKS = range(5)


class Coefficients(NamedTuple):
    """Numbers, or arrays of them; NaN where undefined. ``prevalence`` has one more axis, the categories.

    ``linear_kappa`` and ``quadratic_kappa`` are Fleiss' kappa with these weights; None on a nominal scale.
    """

    prevalence: FloatArray
    raw_agreement: FloatArray
    krippendorff_alpha: FloatArray
    gwet_ac1: FloatArray
    fleiss_kappa: FloatArray
    linear_kappa: FloatArray | None = None
    quadratic_kappa: FloatArray | None = None


def item_sums(counts: CountArray, weighting: Weighting) -> FloatArray:
    """What an item adds to the sums: (items, categories) → (items, 4 + 4 categories), and three more columns
    unless the scale is nominal.

    Columns: 1; whether it has several labels; share of its pairs of labels that agree, by the scale's
    weights; these pairs by m - 1; then by category r_c of all items, r_c of items with several labels, r_c/m
    of all, r_c/m of items with several labels; then pairs by m - 1 with the weights of alpha, and shares of
    pairs with those of each kappa.
    """
    number, categories = counts.shape
    given = counts.sum(axis=1, dtype=np.float64)
    pairable = given >= 2
    sums = np.zeros(
        (number, _BLOCKS + 4 * categories + (1 + len(weighting.kappas) if weighting.kappas else 0))
    )
    sums[:, _ITEMS] = given >= 1
    sums[:, _PAIRABLE] = pairable
    agreeing = _count_agreeing(counts, weighting.agreement)
    np.divide(agreeing, given * (given - 1), out=sums[:, _AGREEMENT], where=pairable)
    np.divide(agreeing, given - 1, out=sums[:, _COINCIDENCES], where=pairable)
    every, paired, share, paired_share = (_category_block(sums, categories, number) for number in range(4))
    every[:] = counts
    np.multiply(counts, pairable[:, None], out=paired)
    np.divide(counts, given[:, None], out=share, where=given[:, None] >= 1)
    np.multiply(share, pairable[:, None], out=paired_share)
    if weighting.kappas:
        of_alpha, *of_kappas = range(_BLOCKS + 4 * categories, sums.shape[1])
        agreeing = _count_agreeing(counts, weighting.alpha)
        np.divide(agreeing, given - 1, out=sums[:, of_alpha], where=pairable)
        for column, weights in zip(of_kappas, weighting.kappas, strict=True):
            agreeing = _count_agreeing(counts, weights)
            np.divide(agreeing, given * (given - 1), out=sums[:, column], where=pairable)
    return sums


def compute_coefficients(sums: FloatArray, weighting: Weighting) -> Coefficients:
    """(…, columns) sums over items, with the same weights → coefficients of shape (…)."""
    weights = weighting.agreement
    categories = len(weights)
    every, paired, share, paired_share = (_category_block(sums, categories, number) for number in range(4))
    of_scale = _BLOCKS + 4 * categories
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = sums[..., _AGREEMENT] / sums[..., _PAIRABLE]
        by_gwet = share / sums[..., _ITEMS, None]
        by_fleiss = paired_share / sums[..., _PAIRABLE, None]
        by_guessing = (by_gwet * (1 - by_gwet)).sum(axis=-1) / (categories - 1) * (weights.sum() / categories)
        # Where only one category was given, chance explains all there is, rounding apart.
        is_constant = (paired > 0).sum(axis=-1) <= 1

        def kappa(observed: FloatArray, weights: FloatArray) -> FloatArray:
            by_drawing = (by_fleiss * (by_fleiss @ weights)).sum(axis=-1)
            return np.where(is_constant, np.nan, _correct_for_chance(observed, by_drawing))

        kappas = [
            kappa(sums[..., of_scale + 1 + place] / sums[..., _PAIRABLE], of_kappa)
            for place, of_kappa in enumerate(weighting.kappas)
        ]
        alpha = _krippendorff_alpha(
            sums[..., of_scale if weighting.kappas else _COINCIDENCES], paired, weighting.alpha
        )
        return Coefficients(
            every / every.sum(axis=-1, keepdims=True),
            raw,
            np.where(is_constant, np.nan, alpha),
            # With weights it is Gwet's AC2.
            _correct_for_chance(raw, by_guessing),
            kappa(raw, weights),
            *kappas,
        )


def cohen_kappa(tables: NDArray[Any], weights: FloatArray | None = None) -> FloatArray:
    """(…, categories, categories) how often two raters said what → kappa; NaN where both said only one
    thing. Of ``weights`` that say how far two labels agree, the weighted kappa.
    """
    weights = np.eye(tables.shape[-1]) if weights is None else weights
    number = tables.sum(axis=(-2, -1), dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (tables * weights).sum(axis=(-2, -1)) / number
        rows, columns = tables.sum(axis=-1, dtype=np.float64), tables.sum(axis=-2)
        by_chance = (rows @ weights * columns).sum(axis=-1) / number**2
        # Exact: a product of whole numbers by itself.
        return np.where(by_chance == 1, np.nan, _correct_for_chance(observed, by_chance))


def _category_block(sums: FloatArray, categories: int, number: int) -> FloatArray:
    return sums[..., _BLOCKS + number * categories : _BLOCKS + (number + 1) * categories]


def _count_agreeing(counts: CountArray, weights: FloatArray) -> FloatArray:
    """Ordered pairs of different labels of an item, by how far they agree."""
    return np.asarray((counts * (counts @ weights - 1)).sum(axis=1, dtype=np.float64))


def _krippendorff_alpha(coincidences: FloatArray, paired: FloatArray, weights: FloatArray) -> FloatArray:
    """1 - observed by expected disagreement."""
    number = paired.sum(axis=-1)
    observed = 1 - coincidences / number
    expected = 1 - (paired * (paired @ weights - 1)).sum(axis=-1) / (number * (number - 1))
    return np.asarray(1 - observed / expected)


def _correct_for_chance(observed: FloatArray, by_chance: FloatArray) -> FloatArray:
    return (observed - by_chance) / (1 - by_chance)
