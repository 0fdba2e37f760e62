"""Agreement on one criterion of a schema, as a page, a command and the API tell it."""

from typing import Any, NamedTuple

import numpy as np

from annotations_app.domain.agreement.agreement_report import (
    WEIGHTED_KAPPAS,
    AgreementReport,
    Statistic,
)
from annotations_app.domain.agreement.preference import Preference, describe_preference
from annotations_app.domain.arrays import IntArray
from annotations_app.domain.scales import scale_of
from annotations_app.domain.to_json import to_json
from datasets_app.domain.labels.criterion import Criterion, Kind

_WEIGHTED_NAMES = dict(
    zip(WEIGHTED_KAPPAS, ("Weighted kappa, linear", "Weighted kappa, quadratic"), strict=True)
)


class NamedStatistic(NamedTuple):
    """``key`` is its name in JSON."""

    key: str
    name: str
    statistic: Statistic


class Answer(NamedTuple):
    """How often an answer was given, and of how many replies it is the consensus; None without one."""

    name: str
    labels: int
    replies: int | None = None


class CriterionReport(NamedTuple):
    """How often each answer was given, and how far annotators agree.

    ``alphas`` are those of labels that are more than equal or not. Without ``report`` single answers can't be
    compared, and ``note`` says why. ``tag`` is the name of one of several; all together have none, and
    ``labels`` are then fewer than the tags chosen.
    """

    criterion: Criterion
    answers: list[Answer]
    report: AgreementReport | None = None
    alphas: tuple[NamedStatistic, ...] = ()
    note: str = ""
    tag: str = ""
    labels: int | None = None
    preference: Preference | None = None
    preference_by_tag: dict[str, Preference] = {}

    @property
    def title(self) -> str:
        tag = f" {self.tag}" if self.tag else ""
        details = ["whole sessions"] if self.criterion.is_of_session else []
        details += [self.scale] if self.scale else []
        return f"{self.criterion.question}{tag}" + (f" ({', '.join(details)})" if details else "")

    @property
    def scale(self) -> str:
        kind = self.criterion.kind
        if kind == Kind.TEXT or (kind == Kind.TAGS and not self.tag):
            return ""
        return scale_of(kind).measurement

    @property
    def statistics(self) -> list[NamedStatistic]:
        """In the order in which they are read: alpha first."""
        if self.report is None:
            return list(self.alphas)
        head, is_nominal = self.report.headline, self.scale == "nominal"
        names = {
            "gwet_ac1": "Gwet’s AC1" if is_nominal else "Gwet’s AC2",
            "raw_agreement": "Raw agreement" if is_nominal else "Weighted agreement",
            **({"fleiss_kappa": "Fleiss’ kappa"} if is_nominal else _WEIGHTED_NAMES),
        }
        alpha = NamedStatistic(
            "krippendorff_alpha", f"Krippendorff’s alpha, {self.scale}", head.krippendorff_alpha
        )
        others = (NamedStatistic(key, name, getattr(head, key)) for key, name in names.items())
        return [alpha, *self.alphas, *others]

    @property
    def preference_sentences(self) -> list[str]:
        return describe_preference(self.preference) if self.preference else []

    @property
    def alpha(self) -> Statistic | None:
        """What the verdict is about."""
        return self.statistics[0].statistic if self.statistics else None

    @property
    def confusion(self) -> IntArray:
        """How often two annotators gave which answers to one reply: symmetric."""
        size = len(self.answers)
        total = np.zeros((size, size), np.int64)
        for pair in self.report.pairs if self.report else ():
            total += np.array(pair.comparison.table, np.int64)[:size, :size]
        return total + total.T

    def as_json(self) -> dict[str, Any]:
        report = self.report
        return {
            "criterion": self.criterion.key,
            "kind": str(self.criterion.kind),
            "of": "session" if self.criterion.is_of_session else "reply",
            "tag": self.tag or None,
            "scale": self.scale or None,
            "answers": {answer.name: answer.labels for answer in self.answers},
            "consensus": {answer.name: answer.replies for answer in self.answers} if report else None,
            "note": self.note or None,
            **({"preference": to_json(self.preference)} if self.preference else {}),
            **({"preference_by_tag": to_json(self.preference_by_tag)} if self.preference_by_tag else {}),
            **(report.headline.as_json() if report else {}),
            **{one.key: to_json(one.statistic) for one in self.alphas},
            **({"plan": report.plan._asdict()} if report and report.plan else {}),
            "pairs": to_json(report.pairs) if report else [],
            "per_annotator": [
                {"annotator": one.annotator, "labels": one.labels, "others": to_json(one.others)}
                for one in (report.annotators if report else ())
            ],
            "dawid_skene": to_json(report.consensus) if report else None,
        }
