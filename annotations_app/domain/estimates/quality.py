"""What an estimate of quality holds, and how it is said."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from annotations_app.domain.estimates.planning import Plan
from annotations_app.domain.estimates.rates import Estimate
from annotations_app.domain.to_json import to_json
from datasets_app.domain.wording import format_count

UNCOUNTED_ORDER = (
    "no interval: replies are labeled in the order “most disputed first”, so those labeled so far are no "
    "random sample. Label all of them, or measure a campaign in random order"
)


class RateEstimate(NamedTuple):
    """How many replies have one answer to a criterion.

    ``people`` and ``people_any_time`` are from labels alone, for one look and for any number of them;
    ``judges`` and ``judges_any_time`` with judges' help, None where there are none.
    """

    criterion: str
    question: str
    answer: str
    people: Estimate
    people_any_time: Estimate
    judges: Estimate | None = None
    judges_any_time: Estimate | None = None
    plan: Plan | None = None
    # How often one of two replies is better, a tie being half.
    of_pairs: bool = False

    @property
    def best(self) -> Estimate:
        return self.judges or self.people

    @property
    def best_any_time(self) -> Estimate:
        return self.judges_any_time or self.people_any_time

    def as_json(self) -> dict[str, Any]:
        return {
            "criterion": self.criterion,
            "answer": self.answer,
            "people": to_json(self.people),
            "people_any_time": to_json(self.people_any_time),
            "judges": to_json(self.judges),
            "judges_any_time": to_json(self.judges_any_time),
            "plan": to_json(self.plan),
        }


class QualityReport(NamedTuple):
    """Rates of a campaign. ``replies`` are all it asks about, gold replies apart; ``notes`` say what was left
    out. ``planned`` is the number of labeled replies at which an interval for any number of looks is
    shortest."""

    campaign: str
    replies: int
    planned: int
    judges: tuple[str, ...]
    rates: tuple[RateEstimate, ...]
    notes: tuple[str, ...]


def explain_rate(rate: RateEstimate) -> str:
    """One sentence: how many replies have this answer, and how sure that is."""
    best = rate.best
    if best.value is None:
        return f"{best.note[0].upper()}{best.note[1:]}."
    said = f"{_percent(best.value)} of {'pairs, ties counting half' if rate.of_pairs else 'replies'}"
    if best.low is None or best.high is None:
        return f"{said} of {format_count(best.labels, 'label')}; {best.note}."
    said += f", between {_percent(best.low)} and {_percent(best.high)} in 19 of 20 such samples"
    if rate.judges is None:
        return f"{said}, from {format_count(best.labels, 'labeled reply', 'labeled replies')}."
    people = format_count(best.labels, "reply labeled by people", "replies labeled by people")
    gain = f"are worth {format_count(best.gain, 'more label')}" if best.gain else "add nothing"
    return f"{said}, from {people}; {best.note or f'the judges {gain}'}."


def format_quality(report: QualityReport) -> str:
    """The report as text, a paragraph for each criterion."""
    return "\n".join(_say_lines(report)) + "\n"


def _say_lines(report: QualityReport) -> Iterator[str]:
    yield f"Campaign {report.campaign}: {format_count(report.replies, 'reply', 'replies')}"
    yield from report.notes
    question = ""
    for rate in report.rates:
        if rate.question != question:
            question = rate.question
            yield f"\n{question}"
        yield f"  {rate.answer}: {explain_rate(rate)}"
        if rate.judges is not None and rate.people.low is not None and rate.people.high is not None:
            yield (
                f"    from people alone {_percent(rate.people.value)}, {_percent(rate.people.low)} to "
                f"{_percent(rate.people.high)}"
            )
        any_time = rate.best_any_time
        if any_time.low is not None and any_time.high is not None:
            yield (
                f"    looked at after every label: {_percent(any_time.low)} to {_percent(any_time.high)} "
                f"(shortest at {report.planned:,} labeled replies)"
            )
        if rate.plan is not None:
            yield f"    {say_plan(rate.plan)}"


def say_plan(plan: Plan) -> str:
    width = f"an interval of {100 * plan.width:g} points"
    if plan.labels is None:
        return f"{width}: {plan.note}"
    if not plan.more:
        return f"{width}: reached"
    return f"{width}: about {format_count(plan.more, 'more labeled reply', 'more labeled replies')}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"
