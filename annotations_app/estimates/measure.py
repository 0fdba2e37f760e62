"""Estimates the rates of a campaign: how many replies have each answer."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from annotations_app.agreement.criteria import read_swapped
from annotations_app.domain.agreement.preference import score_side_a
from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.estimates.planning import plan_labels
from annotations_app.domain.estimates.quality import UNCOUNTED_ORDER, QualityReport, RateEstimate
from annotations_app.domain.estimates.rates import (
    Estimate,
    Replies,
    estimate_from_people,
    estimate_with_judges,
)
from annotations_app.estimates.replies import (
    Items,
    average_by_reply,
    count_given_up,
    match_answer,
    read_items,
)
from annotations_app.judges.improve_judge import is_draft
from annotations_app.judges.judge_rows import (
    count_changed,
    count_not_judged,
    list_outdated,
    read_people,
    read_verdicts,
)
from annotations_app.models import Campaign, JudgeRun
from annotations_app.models.querysets import split_version
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.criterion import Criterion, Kind, Level
from datasets_app.domain.wording import format_count

MIN_WIDTH, MAX_WIDTH = 0.001, 1.0
Score = Callable[[IntArray, IntArray], FloatArray]


def estimate_quality(
    campaign: Campaign, *, judges: Sequence[str] = (), width: float | None = None
) -> QualityReport:
    """How many replies of ``campaign`` have each answer to each criterion that has answers to choose from.

    ``judges`` are names, or NAME@VERSION, of judges that have judged it; without any all that have help. With
    ``width`` (a share, 0.001 to 1) it also says how many more labels bring each interval to that width.
    Raises UserError.
    """
    if width is not None and not MIN_WIDTH <= width <= MAX_WIDTH:
        raise UserError("The width of an interval must be from 0.1 to 100 points.")
    items, runs = read_items(campaign), find_runs(campaign, judges)
    rates = tuple(
        rate
        for question in campaign.asked_schema.questions
        if question.criterion.levels
        for rate in _estimate(campaign, items, question.criterion, [] if question.condition else runs, width)
    )
    notes = [
        *_note_chances(campaign, items),
        *_note_first(campaign),
        *_note_given_up(campaign),
        *(note for run in runs for note in _note_failures(run)),
    ]
    names = tuple(run.judge.full_name for run in runs)
    return QualityReport(campaign.name, len(items.turn), len(items.turn), names, rates, tuple(notes))


def find_runs(campaign: Campaign, judges: Sequence[str]) -> list[JudgeRun]:
    """The latest run of each judge, under the prompt as it was last. Drafts of better prompts, which judge
    few replies, only if they are named."""
    runs = list(
        campaign.judge_runs.select_related("judge").order_by("judge__name", "-pk").distinct("judge__name")
    )
    if not judges:
        return [run for run in runs if not is_draft(run.judge)]
    latest = {run.judge.name: run for run in runs}
    chosen = []
    for name in judges:
        own_name, version = split_version(name)
        run = latest.get(own_name)
        if version is not None:
            named = campaign.judge_runs.filter(judge__name=own_name, judge__version=version)
            run = named.select_related("judge").first()
        if run is None:
            raise UserError(f"The judge {name[:120]!r} has judged no reply of {campaign.name}.")
        chosen.append(run)
    return chosen


def _note_chances(campaign: Campaign, items: Items) -> Iterator[str]:
    if campaign.order != Campaign.Order.USEFUL:
        return
    drawn = items.chance[items.drawn]
    low, high = (100 * drawn.min(initial=1.0), 100 * drawn.max(initial=0.0))
    yield (
        "The most useful replies come first: each label counts by the recorded chance that its reply had to "
        f"be asked about, {low:.3g} % to {high:.3g} %."
    )
    if items.beyond:
        replies = format_count(items.beyond, "reply was", "replies were")
        yield f"{replies} labeled before an earlier one was: not in the rates until that is."


def _note_first(campaign: Campaign) -> Iterator[str]:
    if campaign.max_overlap is not None:
        yield (
            f"Only labels of the first {campaign.overlap} annotators of a reply count; more are asked where "
            "those differ or are unsure."
        )


def _note_given_up(campaign: Campaign) -> Iterator[str]:
    if given_up := count_given_up(campaign):
        verb = "was" if given_up == 1 else "were"
        replies = format_count(given_up, "reply", "replies")
        yield f"{replies} {verb} skipped or flagged by everybody who saw them: not in the rates."


def _note_failures(run: JudgeRun) -> Iterator[str]:
    judged, failures = count_not_judged(run)
    if failures:
        failed = sum(failures.values())
        yield (
            f"{run.judge.full_name}: {format_count(failed, 'reply', 'replies')} "
            f"({100 * failed / (judged + failed):.1f} %) not judged; they count as neither answer."
        )
    if outdated := list_outdated(run):
        yield f"{run.judge.full_name} judged by another version of {', '.join(outdated)}: run it again."
    if changed := count_changed(run, run.campaign.asked_schema):
        yield (
            f"{run.judge.full_name}: {format_count(changed, 'pair')} of which the answer changed with the "
            "sides; they count as not judged."
        )


def _estimate(
    campaign: Campaign,
    items: Items,
    criterion: Criterion,
    runs: Sequence[JudgeRun],
    width: float | None,
) -> Iterator[RateEstimate]:
    turn, value = read_people(campaign, criterion, first_only=True)
    said = [read_verdicts(run, criterion) for run in runs]
    for name, score in _list_scores(campaign, criterion):
        label = np.where(items.drawn, average_by_reply(items, turn, score(turn, value)), np.nan)
        verdicts = [average_by_reply(items, one, score(one, two)) for one, two in said]
        replies = Replies(
            items.session, label, items.chance, np.array(verdicts).reshape(len(verdicts), len(label))
        )
        planned = max(1, len(label))
        people = _with_order(campaign, label, estimate_from_people(replies))
        helped = _with_order(campaign, label, estimate_with_judges(replies)) if said else None
        yield RateEstimate(
            criterion.key,
            criterion.question,
            name,
            people,
            _with_order(campaign, label, estimate_from_people(replies, planned=planned)),
            helped,
            _with_order(campaign, label, estimate_with_judges(replies, planned=planned)) if said else None,
            plan_labels(people, helped or people, len(label), width) if width is not None else None,
            criterion.kind == Kind.PREFERENCE,
        )


def _list_scores(campaign: Campaign, criterion: Criterion) -> Iterator[tuple[str, Score]]:
    """What is rated, and how much each answer (turn, stored answer) counts."""
    if criterion.kind == Kind.PREFERENCE:
        swapped = read_swapped(campaign)
        yield (
            f"The reply of {campaign.dataset.name} wins",
            lambda turn, value: abs(score_side_a(value) - np.isin(turn, swapped)),
        )
    for code, level in list_rated_levels(criterion):
        yield level.name, lambda _, value, code=code: match_answer(criterion, code, value)


def list_rated_levels(criterion: Criterion) -> list[tuple[int, Level]]:
    """Of yes and no only yes: the other is the rest. How often A is better tells nothing of the replies, but
    how often the one of the campaign's dataset is."""
    if criterion.kind == Kind.PREFERENCE:
        return []
    if criterion.kind == Kind.YES_NO:
        return [(criterion.top, criterion.levels[criterion.top])]
    return list(enumerate(criterion.levels))


def _with_order(campaign: Campaign, label: FloatArray, estimate: Estimate) -> Estimate:
    """Without its interval, where the labels at hand are those of the most disputed replies."""
    if campaign.order != Campaign.Order.DISPUTED or not np.isnan(label).any() or estimate.low is None:
        return estimate
    return estimate._replace(low=None, high=None, standard_error=None, note=UNCOUNTED_ORDER)
