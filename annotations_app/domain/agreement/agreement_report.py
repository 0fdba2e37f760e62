"""What an agreement report holds; made by :mod:`agreement`, shown by a page and a command.

A number that can't be had is ``None`` with a note that says why: never NaN, which is not JSON.
"""

from typing import Any, NamedTuple

from annotations_app.domain.to_json import to_json

NO_LABELS_NOTE = "undefined: there are no labels"
NO_OVERLAP_NOTE = "undefined: no reply was labeled twice"
ALL_AGREE_NOTE = "undefined: all labels agree"


class Statistic(NamedTuple):
    """A number with its 95 % interval. ``note`` says why there is no number, or no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"value": self.value, "low": self.low, "high": self.high, "note": self.note or None}


# Of labels that may be nearer to each other or farther apart.
WEIGHTED_KAPPAS = ("linear_kappa", "quadratic_kappa")


class HeadlineStats(NamedTuple):
    """The numbers of all labels, or of one part of them.

    ``items`` are replies with at least one label, ``single`` those of them with only one. ``annotators``
    counts names; ``unnamed`` are labels that came without one. The kappas of :data:`WEIGHTED_KAPPAS` are None
    of nominal labels.
    """

    labels: int
    items: int
    single: int
    annotators: int
    unnamed: int
    sessions: int
    prevalence: Statistic
    raw_agreement: Statistic
    krippendorff_alpha: Statistic
    gwet_ac1: Statistic
    fleiss_kappa: Statistic
    linear_kappa: Statistic | None = None
    quadratic_kappa: Statistic | None = None

    def as_json(self) -> dict[str, Any]:
        return {key: to_json(value) for key, value in self._asdict().items() if value is not None}


class Comparison(NamedTuple):
    """Two labels of one reply, set against each other ``n`` times.

    ``table[i][j]`` counts how often the one said i where the other said j, by their codes.
    ``note`` says why ``n`` is 0.
    """

    n: int
    raw_agreement: Statistic
    cohen_kappa: Statistic
    table: tuple[tuple[int, ...], ...]

    @property
    def accuracy(self) -> Statistic:
        """What the raw agreement is called where the other label is known to be right."""
        return self.raw_agreement


class PairComparison(NamedTuple):
    """Two annotators, ``a`` before ``b`` by name; rows of the table are those of ``a``."""

    a: str
    b: str
    comparison: Comparison

    def as_json(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, **to_json(self.comparison)}


class AnnotatorReport(NamedTuple):
    """One annotator: against every other label of the same replies, gold labels, and themselves."""

    annotator: str
    labels: int
    on_brand: Statistic
    others: Comparison
    gold: Comparison
    repeats: Comparison

    def as_json(self) -> dict[str, Any]:
        return {
            "annotator": self.annotator,
            "labels": self.labels,
            "on_brand": to_json(self.on_brand),
            "others": to_json(self.others),
            "gold": {**to_json(self.gold), "accuracy": to_json(self.gold.accuracy)},
            "self": to_json(self.repeats),
        }


class DriftPoint(NamedTuple):
    """A month of all annotators (``annotator`` None) or of one: their labels made in that month."""

    month: str
    annotator: str | None
    labels: int
    on_brand: Statistic
    others: Comparison


# How likely each label is for a truth; None where no reply has it.
ConfusionRow = tuple[float | None, ...]


class ConsensusReport(NamedTuple):
    """What the Dawid-Skene model makes of the labels.

    ``confusion[annotator][t][l]``: how likely they say l of what is truly t. ``prior`` is the share of
    replies that are truly on-brand. ``majority_ties`` are replies without a majority; ``changed`` those
    where the model and the majority differ. ``(no name)`` in ``confusion`` stands for all labels without a
    name. ``replies`` counts the replies of each consensus; those between two labels are in none.
    """

    prior: float
    confusion: dict[str, tuple[ConfusionRow, ...]]
    iterations: int
    converged: bool
    log_likelihood: float
    majority_ties: int
    changed: int
    replies: tuple[int, ...]

    def as_json(self) -> dict[str, Any]:
        # The built-in criterion has one file format: its consensus is exported, not counted.
        return {key: to_json(value) for key, value in self._asdict().items() if key != "replies"}


class AgreementPlan(NamedTuple):
    """``replies`` with two labels or more, like those at hand, give the ``width``; ``more`` of them are
    missing. ``overlap`` labels of each of those at hand do as well. None where no number is enough, or
    nothing can be said; ``note`` says why."""

    width: float
    replies: int | None = None
    more: int | None = None
    overlap: int | None = None
    labels: int | None = None
    note: str = ""


class AgreementReport(NamedTuple):
    """All that was measured. ``by`` has a headline for each value of each requested part.

    ``by["annotator"]`` covers the replies that the annotator labeled, with everybody's labels of them;
    ``annotators`` compares each with the others. ``drift`` needs months. ``gold_basis`` names the labels
    used as gold.
    """

    headline: HeadlineStats
    pairs: list[PairComparison]
    annotators: list[AnnotatorReport]
    by: dict[str, dict[str, HeadlineStats]]
    drift: list[DriftPoint]
    gold: Comparison
    repeats: Comparison
    gold_basis: str
    consensus: ConsensusReport | None
    resamples: int
    seed: int
    notes: list[str]
    plan: AgreementPlan | None = None

    def as_json(self) -> dict[str, Any]:
        """One object, as it is printed: the headline's keys, then the rest."""
        return {
            **self.headline.as_json(),
            "pairs": to_json(self.pairs),
            "by": to_json(self.by),
            "per_annotator": to_json(self.annotators),
            "gold": {**to_json(self.gold), "basis": self.gold_basis},
            "self_agreement": to_json(self.repeats),
            "dawid_skene": to_json(self.consensus),
            "drift": to_json(self.drift),
            "interval": {
                "level": 0.95,
                "resampled": "sessions",
                "resamples": self.resamples,
                "seed": self.seed,
            },
            "notes": self.notes,
            **({"plan": self.plan._asdict()} if self.plan else {}),
        }
