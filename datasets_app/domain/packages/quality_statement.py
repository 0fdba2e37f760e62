"""What a release or package states of its judges and of the assistant's quality: how far to trust whom."""

from collections.abc import Iterator
from typing import Any

import msgspec

from datasets_app.domain.wording import format_count

# In ``.meta.yaml``, as of the day of the release.
METADATA_KEY = "quality"


class StatedRate(msgspec.Struct, frozen=True):
    """``bound`` is below the true rate with a probability of 95 %."""

    rate: float | None
    bound: float | None
    replies: int


class StatedAlternative(msgspec.Struct, frozen=True):
    """May the judge replace a person? ``advantage`` is how likely it is as good as one taken by chance or
    better; ``winning_rate`` the share of people than whom it isn't worse by ``epsilon``. ``passes`` is None
    if too few people labeled enough."""

    epsilon: float
    annotators: int
    left_out: int
    advantage: float | None
    winning_rate: float | None
    passes: bool | None


class StatedCertificate(msgspec.Struct, frozen=True):
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
        return {**msgspec.json.decode(msgspec.json.encode(self)), "holds": self.holds}


class StatedEstimate(msgspec.Struct, frozen=True):
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


class QualityStatement(msgspec.Struct, frozen=True):
    """``left_out`` counts older certificates and campaigns that aren't listed."""

    certificates: tuple[StatedCertificate, ...] = ()
    estimates: tuple[StatedEstimate, ...] = ()
    left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.certificates or self.estimates or self.left_out)

    def as_json(self) -> dict[str, Any]:
        stated: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return stated | {"certificates": [one.as_json() for one in self.certificates]}


def read_statement(value: Any) -> QualityStatement:
    """What :meth:`QualityStatement.as_json` wrote, in a file from anywhere. Raises ValueError."""
    try:
        return msgspec.convert(value, QualityStatement)
    except msgspec.ValidationError as error:
        raise ValueError("not a statement of quality") from error


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
