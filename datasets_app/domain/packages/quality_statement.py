"""What a release or package states of its judges and of the assistant's quality: how far to trust whom."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Self

from datasets_app.domain.wording import format_count

# In ``.meta.yaml``, as of the day of the release.
METADATA_KEY = "quality"
MAX_STATED = 1_000


class StatedRate(NamedTuple):
    """``bound`` is below the true rate with a probability of 95 %."""

    rate: float | None
    bound: float | None
    replies: int


class StatedAlternative(NamedTuple):
    """May the judge replace a person? ``advantage`` is how likely it is as good as one taken by chance or
    better; ``winning_rate`` the share of people than whom it isn't worse by ``epsilon``. ``passes`` is None
    if too few people labeled enough."""

    epsilon: float
    annotators: int
    left_out: int
    advantage: float | None
    winning_rate: float | None
    passes: bool | None


class StatedCertificate(NamedTuple):
    """The test of a judge for one criterion. ``changed`` names what has changed since ``day``, so that it
    holds no longer."""

    judge: str
    criterion: str
    campaign: str
    day: str
    certified: bool
    threshold: float
    true_positive: StatedRate
    true_negative: StatedRate
    replies: int
    not_judged: int
    reasons: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    alternative: StatedAlternative | None = None

    @property
    def holds(self) -> bool:
        return self.certified and not self.changed

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "true_positive": self.true_positive._asdict(),
            "true_negative": self.true_negative._asdict(),
            "reasons": list(self.reasons),
            "changed": list(self.changed),
            "alternative": self.alternative and self.alternative._asdict(),
            "holds": self.holds,
        }


class StatedEstimate(NamedTuple):
    """How many replies of a campaign have an answer, with a 95 % interval for one look; ``labels`` are
    replies that people labeled, ``judges`` those that helped."""

    campaign: str
    criterion: str
    answer: str
    rate: float | None
    low: float | None
    high: float | None
    labels: int
    replies: int
    judges: tuple[str, ...] = ()
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "judges": list(self.judges)}


class QualityStatement(NamedTuple):
    """``left_out`` counts older certificates and campaigns that aren't listed."""

    certificates: tuple[StatedCertificate, ...] = ()
    estimates: tuple[StatedEstimate, ...] = ()
    left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.certificates or self.estimates or self.left_out)

    def as_json(self) -> dict[str, Any]:
        return {
            "certificates": [one.as_json() for one in self.certificates],
            "estimates": [one.as_json() for one in self.estimates],
            "left_out": self.left_out,
        }

    @classmethod
    def read(cls, value: Any) -> Self:
        """What :meth:`as_json` wrote, in a file from anywhere. Raises ValueError."""
        try:
            certificates = tuple(_read_certificate(one) for one in value["certificates"][:MAX_STATED])
            estimates = tuple(_read_estimate(one) for one in value["estimates"][:MAX_STATED])
            return cls(certificates, estimates, int(value["left_out"]))
        except (TypeError, KeyError, AttributeError, OverflowError) as error:
            raise ValueError("not a statement of quality") from error


def _read_certificate(value: dict[str, Any]) -> StatedCertificate:
    rates = {name: StatedRate(**value[name]) for name in ("true_positive", "true_negative")}
    lists = {name: tuple(map(str, value[name])) for name in ("reasons", "changed")}
    known = {name: value[name] for name in StatedCertificate._fields}
    alternative = StatedAlternative(**known["alternative"]) if known["alternative"] else None
    read = StatedCertificate(**known | rates | lists | {"alternative": alternative})
    rates_read = (read.true_positive, read.true_negative)
    counts = [read.threshold, read.replies, read.not_judged, *(one.replies for one in rates_read)]
    counts += alternative[:3] if alternative else []
    shares = [share for one in rates_read for share in one[:2]]
    shares += alternative[3:5] if alternative else []
    _check_kinds(counts, shares, (read.judge, read.criterion, read.campaign, read.day))
    if type(read.certified) is not bool or (alternative and alternative.passes not in (True, False, None)):
        raise ValueError("certified is true or false")
    return read


def _read_estimate(value: dict[str, Any]) -> StatedEstimate:
    known = {name: value[name] for name in StatedEstimate._fields}
    read = StatedEstimate(**known | {"judges": tuple(map(str, value["judges"]))})
    shares = (read.rate, read.low, read.high)
    _check_kinds((read.labels, read.replies), shares, (read.campaign, read.criterion, read.answer, read.note))
    return read


def _check_kinds(numbers: Iterable[Any], shares: Iterable[Any], texts: Iterable[Any]) -> None:
    """Shares are numbers, or None where there is no figure."""
    for number in (*numbers, *(share for share in shares if share is not None)):
        if type(number) not in (int, float) or not math.isfinite(number):
            raise ValueError("expected a number")
    if not all(type(text) is str for text in texts):
        raise ValueError("expected a text")


def find_contradictions(statement: QualityStatement) -> Iterator[str]:
    """Sentences about figures that can't be true together."""
    for one in statement.certificates:
        name = f"the certificate of {one.judge} for {one.criterion}"
        for rate in (one.true_positive, one.true_negative):
            if not _are_ordered(0, rate.bound, rate.rate, 1):
                yield f"{name}: a bound is above its rate"
            if one.certified and (rate.bound is None or rate.bound < one.threshold):
                yield f"{name}: certified, although a bound is below {_percent(one.threshold)}"
        if not 0 <= one.not_judged <= one.replies:
            yield f"{name}: more replies not judged than there are"
    for estimate in statement.estimates:
        if not _are_ordered(0, estimate.low, estimate.rate, estimate.high, 1):
            yield f"the rate of {estimate.criterion} in {estimate.campaign}: outside its interval"
        if not 0 <= estimate.labels <= estimate.replies:
            yield f"the rate of {estimate.criterion} in {estimate.campaign}: more labels than replies"


def _are_ordered(*numbers: float | None) -> bool:
    known = [number for number in numbers if number is not None]
    return known == sorted(known)


def describe_certificate(one: StatedCertificate) -> list[str]:
    """The verdict, both rates, why not, and what has changed since: a sentence each."""
    verdict = "certified" if one.certified else "not certified"
    sentences = [f"{one.judge} is {verdict} for {one.criterion}."]
    for name, rate in (("True-positive", one.true_positive), ("True-negative", one.true_negative)):
        if rate.rate is not None and rate.bound is not None:
            replies = format_count(rate.replies, "reply", "replies")
            sentences.append(
                f"{name} rate {_percent(rate.rate)}, at least {_percent(rate.bound)}, of {replies}."
            )
    sentences += [f"{reason[0].upper()}{reason[1:]}." for reason in one.reasons if reason]
    sentences.append(f"{one.not_judged:,} of {one.replies:,} replies not judged.")
    if one.alternative is not None:
        sentences.append(describe_alternative(one.alternative))
    if one.changed:
        # One that never held can't end.
        begin = "It holds no longer: " if one.certified else "Since then "
        sentences.append(f"{begin}{' and '.join(one.changed)} changed{' since' * one.certified}.")
    return sentences


def describe_alternative(one: StatedAlternative) -> str:
    """One sentence of the alternative annotator test."""
    if one.passes is None or one.advantage is None or one.winning_rate is None:
        who = format_count(one.annotators, "annotator")
        return (
            f"May it replace an annotator? Unknown: {who} labeled enough together with others, of 3 needed."
        )
    return (
        f"It {'may' if one.passes else 'may not'} replace an annotator: as good as one or better on "
        f"{_percent(one.advantage)} of replies, not worse by {100 * one.epsilon:g} points than "
        f"{round(one.winning_rate * one.annotators)} of {one.annotators} annotators."
    )


def describe_estimate(one: StatedEstimate) -> str:
    """One sentence, which says whether people, or people and judges, stand behind the figure."""
    said = f"{one.criterion}, {one.answer}: "
    if one.rate is None:
        return f"{said}{one.note}."
    said += f"{_percent(one.rate)} of replies"
    if one.low is not None and one.high is not None:
        said += f", between {_percent(one.low)} and {_percent(one.high)} in 19 of 20 such samples"
    said += f", from {format_count(one.labels, 'labeled reply', 'labeled replies')} of {one.replies:,}"
    if one.judges:
        said += f", helped by {', '.join(one.judges)}"
    return f"{said}{'; ' + one.note if one.note else ''}."


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
