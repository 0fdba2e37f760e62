"""How many more labels bring the interval of alpha to a width: more replies, or more labels of the same.

The variance of alpha is that of its linear approximation (see :mod:`intervals`). What sessions have in common
stays; the rest shrinks with the number of replies. What more labels of a reply are worth is told by replies
drawn from the model of Dawid and Skene, as if all annotators erred like their average.
"""

from math import ceil, inf, sqrt

import numpy as np

from annotations_app.domain.agreement.agreement_report import AgreementPlan
from annotations_app.domain.agreement.coefficients import compute_coefficients, item_sums
from annotations_app.domain.agreement.consensus import fit_consensus
from annotations_app.domain.agreement.intervals import MIN_SESSIONS, NORMAL_QUANTILE
from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.label_table import LabelTable
from annotations_app.domain.scales import Weighting

MAX_MORE_LABELS = 3
_DRAWN_REPLIES, _SEED = 20_000, 0


def plan_agreement(table: LabelTable, width: float, *, available: int | None = None) -> AgreementPlan:
    """For an interval of Krippendorff's alpha from its low to its high end of ``width``; ``available`` is how
    many replies there are to label in all."""
    counts = table.counts()
    paired = counts.sum(axis=1) >= 2
    counts, session = counts[paired], table.session[paired]
    if len(np.unique(session)) < MIN_SESSIONS:
        return AgreementPlan(width, note=f"replies of {MIN_SESSIONS} sessions need two labels first")
    weighting = table.scale.weigh(counts.sum(axis=0, dtype=np.float64))
    influence = _measure_influence(counts, weighting)
    if influence is None:
        return AgreementPlan(width, note="undefined while all labels agree")
    own = float(influence @ influence)
    shared = _measure_shared(influence, np.unique(session, return_inverse=True)[1])
    replies, wanted = len(counts), (width / (2 * NORMAL_QUANTILE)) ** 2
    needed = ceil(replies * own / (wanted - shared)) if wanted > shared else None
    plan = AgreementPlan(width, None if needed is None else max(needed, replies))
    if needed is None:
        best = 2 * NORMAL_QUANTILE * sqrt(shared)
        plan = plan._replace(note=f"what sessions have in common alone gives {best:.2f}; add sessions")
    elif available is not None and needed > available:
        best = 2 * NORMAL_QUANTILE * sqrt(own * replies / available + shared)
        note = f"not even with two labels of all {available:,} replies, which give {best:.2f}"
        plan = AgreementPlan(width, note=note)
    else:
        plan = plan._replace(more=max(0, needed - replies))
    if plan.more == 0:
        return plan
    overlap, labels = _plan_overlap(table, counts, weighting, own, wanted - shared)
    return plan._replace(overlap=overlap, labels=labels)


def _measure_influence(counts: IntArray, weighting: Weighting) -> FloatArray | None:
    """What each item moves alpha by; None where alpha is undefined."""
    sums = item_sums(counts, weighting)
    total = sums.sum(axis=0)
    steps = np.diag(np.maximum(total, 1.0) * 1e-5)
    higher, lower = (
        compute_coefficients(total + sign * steps, weighting).krippendorff_alpha for sign in (1, -1)
    )
    slope = (higher - lower) / (2 * np.diag(steps))
    if not np.isfinite(slope).all():
        return None
    influence = sums @ slope
    return np.asarray(influence - influence.mean())


def _measure_shared(influence: FloatArray, session: IntArray) -> float:
    """The part of the variance that sessions have in common, drawn to 0 as far as it may be chance."""
    by_session, squares = np.bincount(session, influence), np.bincount(session, influence**2)
    shared = float(by_session @ by_session - squares.sum())
    # Of as much variance as the products of replies of one session would have if they were unlike.
    chance = float(squares @ squares - (influence**4).sum()) / 2
    return shared * shared**2 / (shared**2 + chance) if shared > 0 else 0.0


def _plan_overlap(
    table: LabelTable, counts: IntArray, weighting: Weighting, own: float, wanted: float
) -> tuple[int | None, int | None]:
    """The least number of labels of each reply whose variance is as ``wanted``, and how many more these
    are."""
    given = counts.sum(axis=1)
    now = int(np.median(given))
    model = fit_consensus(table)
    times = np.bincount(np.maximum(table.annotator, 0), minlength=len(model.confusion))
    errors = np.average(model.confusion, axis=0, weights=times[: len(model.confusion)])
    today = _draw_variance(model.priors, errors, weighting, now)
    for overlap in range(now + 1, now + 1 + MAX_MORE_LABELS):
        if own * _draw_variance(model.priors, errors, weighting, overlap) / today <= wanted:
            return overlap, int(np.maximum(0, overlap - given).sum())
    return None, None


def _draw_variance(priors: FloatArray, errors: FloatArray, weighting: Weighting, labels: int) -> float:
    """Of alpha, for one reply with as many labels."""
    chance = np.random.Generator(np.random.PCG64(_SEED))
    truths = chance.multinomial(_DRAWN_REPLIES, priors / priors.sum())
    counts = np.concatenate(
        [
            chance.multinomial(labels, said / said.sum(), size=number)
            for number, said in zip(truths, errors, strict=True)
        ]
    )
    influence = _measure_influence(counts, weighting)
    return inf if influence is None else float(influence @ influence) * len(influence)
