"""A judge's verdict, for an annotator who has decided: never before, so that it can't lead them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from annotations_app.models import Assignment, Campaign, Decision, Verdict
from datasets_app.domain.labels.criterion import Kind
from datasets_app.domain.labels.schema import describe_stored

Codes = dict[str, int | float]


class RevealedVerdict(NamedTuple):
    """What a judge says, as people read it, and why."""

    judge: str
    answer: str
    rationale: str


def find_codes(campaign: Campaign, turn: int) -> Codes | None:
    """What the judge whose verdicts are shown says of a reply; None if that is nothing."""
    found = _verdicts(campaign, [turn])
    return found[turn].codes if turn in found else None


def list_revealed(campaign: Campaign, decided: Iterable[Assignment]) -> dict[int, RevealedVerdict]:
    """By assignment: verdicts on replies that their annotator has decided on knowing none."""
    turns = {assignment.pk: assignment.item.turn_id for assignment in decided}
    if campaign.revealed_judge_id is None or not turns:
        return {}
    shown = Decision.objects.filter(assignment__in=turns, revealed__isnull=False).order_by("pk")
    codes: dict[int, Any] = dict(shown.values_list("assignment", "revealed"))
    verdicts = _verdicts(campaign, [turns[pk] for pk in codes])
    revealed = {}
    for pk, said in codes.items():
        verdict = verdicts.get(turns[pk])
        # Another run may have said something else since.
        rationale = verdict.rationale if verdict and verdict.codes == said else ""
        name = str(campaign.revealed_judge)
        revealed[pk] = RevealedVerdict(name, describe_codes(campaign, said), rationale or "")
    return revealed


def describe_codes(campaign: Campaign, codes: Codes) -> str:
    """ "Off-brand", or the answers of a schema."""
    said = [(one, codes[one.key]) for one in campaign.asked_schema.criteria if one.key in codes]
    if len(said) == 1:
        return describe_stored(*said[0])
    return "; ".join(f"{one.key}: {describe_stored(one, value)}" for one, value in said)


def _verdicts(campaign: Campaign, turns: Iterable[int]) -> dict[int, Verdict]:
    """Of the judge's latest run that has one; without answers to criteria that were others then, and to
    pairs that change with the sides."""
    if campaign.revealed_judge_id is None:
        return {}
    rows = Verdict.objects.filter(
        run__campaign=campaign,
        run__judge=campaign.revealed_judge_id,
        dataset=campaign.dataset_id,
        turn__in=list(turns),
        repeat=0,
        failure="",
    ).select_related("run__schema")
    found = {verdict.turn_id: verdict for verdict in rows.filter(swapped=False).order_by("run_id")}
    other = {(one.turn_id, one.run_id): one.codes for one in rows.filter(swapped=True, run__swap=True)}
    for verdict in found.values():
        around = other.get((verdict.turn_id, verdict.run_id), {}) if verdict.run.swap else verdict.codes
        verdict.codes = {
            one.key: verdict.codes[one.key]
            for one in campaign.asked_schema.criteria
            if one.key in verdict.codes
            and verdict.run.asks(one)
            and (one.kind != Kind.PREFERENCE or around.get(one.key) == verdict.codes[one.key])
        }
    return {turn: verdict for turn, verdict in found.items() if verdict.codes}
