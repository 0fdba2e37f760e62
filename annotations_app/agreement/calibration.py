"""The calibration round of a campaign: how far its annotators agree, and where they differ."""

from collections import defaultdict
from typing import Any, NamedTuple

from annotations_app.agreement.criteria import measure_criteria
from annotations_app.agreement.measure import measure_agreement
from annotations_app.campaigns.calibration import open_rest
from annotations_app.criteria.disputes import list_asked
from annotations_app.domain.agreement.agreement_report import HeadlineStats
from annotations_app.models import Assignment, Campaign, CampaignItem
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.criterion import Kind
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.schema import describe_stored


class RoundAgreement(NamedTuple):
    """Of one criterion, or one of its tags. ``agrees`` if alpha reaches that of the campaign, or all labels
    are the same; None if there is no threshold or nothing to compare."""

    title: str
    headline: HeadlineStats
    agrees: bool | None


class RoundState(NamedTuple):
    """``missing`` are labels still to come."""

    missing: int
    agreement: list[RoundAgreement]

    @property
    def is_agreed(self) -> bool:
        return not self.missing and bool(self.agreement) and all(one.agrees for one in self.agreement)


class Said(NamedTuple):
    """What one annotator answered, and the note."""

    who: str
    answers: dict[str, str]
    notes: str | None


class Difference(NamedTuple):
    """A reply of the round (the key of its turn) with its labels; ``criteria`` are the questions that were
    answered differently."""

    turn: int
    criteria: list[str]
    said: list[Said]


def measure_round(campaign: Campaign) -> RoundState:
    """Until the round has ended, there are no labels but those of its replies."""
    items = CampaignItem.objects.filter(campaign=campaign, calibration=True)
    places = sum(items.values_list("open", flat=True))
    places += Assignment.objects.filter(item__in=items, state=Assignment.State.LEASED).count()
    if campaign.schema is None:
        measured = [(ON_BRAND.question, measure_agreement(campaign=campaign, resamples=0).headline)]
    else:
        answers = measure_criteria(campaign, resamples=0).criteria
        measured = [(one.title, one.report.headline) for one in answers if one.report]
    return RoundState(
        places, [RoundAgreement(title, found, _agrees(found, campaign)) for title, found in measured]
    )


def _agrees(headline: HeadlineStats, campaign: Campaign) -> bool | None:
    if campaign.calibration_alpha is None or headline.raw_agreement.value is None:
        return None
    alpha = headline.krippendorff_alpha.value
    return headline.raw_agreement.value == 1 if alpha is None else alpha >= campaign.calibration_alpha


def open_if_agreed(campaign: Campaign) -> bool:
    """End a round that everybody has labeled if all criteria reach the alpha of the campaign."""
    if not measure_round(campaign).is_agreed:
        return False
    open_rest(campaign, reason=f"alpha of at least {campaign.calibration_alpha}", actor=None)
    return True


def end_round(campaign: Campaign, *, reason: str = "", actor: Any) -> None:
    """End a round; while annotators don't agree as far as was asked, only with a reason. Raises UserError."""
    reason = reason.strip()
    if not reason and campaign.is_calibrating and not measure_round(campaign).is_agreed:
        raise UserError("The annotators don't agree as far as was asked; say why the rest opens.")
    open_rest(campaign, reason=reason, actor=actor)


def list_differences(campaign: Campaign) -> list[Difference]:
    """In the order of the round. Texts and notes are shown, but no difference by themselves."""
    turns = list(
        CampaignItem.objects.filter(campaign=campaign, calibration=True).values_list("turn", flat=True)
    )
    said = _read_said(campaign, turns)
    found = []
    for turn in turns:
        of_turn = said.get(turn, [])
        questions = dict.fromkeys(question for _, compared in of_turn for question in compared)
        different = [
            question
            for question in questions
            if len({compared[question] for _, compared in of_turn if question in compared}) > 1
        ]
        if different:
            found.append(Difference(turn, different, [one for one, _ in of_turn]))
    return found


def _read_said(campaign: Campaign, turns: list[int]) -> dict[int, list[tuple[Said, dict[str, Any]]]]:
    """What each said, with what is compared by question. What was answered to another version of the question
    is shown, but isn't compared."""
    found: dict[int, list[tuple[Said, dict[str, Any]]]] = defaultdict(list)
    labels = campaign.own_labels.filter(kind="label", turn__in=turns)
    if campaign.schema:
        labels = labels.select_related("rater", "schema").order_by("rater__name")
    else:
        labels = labels.order_by("annotator")
    asked = set(list_asked(campaign))
    for label in labels:
        answers: dict[str, str] = {}
        compared: dict[str, str | None] = {}
        for criterion in label.asked_schema.criteria:
            stored = label.answers.get(criterion.key)
            if stored is not None:
                answers[criterion.question] = describe_stored(criterion, stored)
            is_asked = campaign.schema is None or f"{label.schema_id} {criterion.key}" in asked
            if criterion.kind != Kind.TEXT and is_asked:
                compared[criterion.question] = answers.get(criterion.question)
        found[label.turn_id].append((Said(label.annotator or "", answers, label.notes), compared))
    return found
