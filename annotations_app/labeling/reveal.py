"""A judge's verdict, for an annotator who has decided: never before, so that it can't lead them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from annotations_app.models import Assignment, Campaign, Decision, Verdict
from datasets_app.domain.labels.on_brand import ON_BRAND
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
    schema = campaign.schema_content
    criteria = [ON_BRAND] if schema is None else schema.criteria
    said = [(one, codes[one.key]) for one in criteria if one.key in codes]
    if len(said) == 1:
        return describe_stored(*said[0])
    return "; ".join(f"{one.key}: {describe_stored(one, value)}" for one, value in said)


def _verdicts(campaign: Campaign, turns: Iterable[int]) -> dict[int, Verdict]:
    """Of the judge's latest run that has one."""
    if campaign.revealed_judge_id is None:
        return {}
    rows = Verdict.objects.filter(
        run__campaign=campaign,
        run__judge=campaign.revealed_judge_id,
        dataset=campaign.dataset_id,
        turn__in=list(turns),
        repeat=0,
        failure="",
    )
    return {verdict.turn_id: verdict for verdict in rows.order_by("run_id")}
