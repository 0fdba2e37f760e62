"""Campaigns for rubrics: one for all cases with the same. It asks about each; they are its guidelines."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import transaction

from annotations_app.campaigns.add_replies import create_with_replies
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.criteria.rubrics import PREFIX, are_guidelines_of, ask_rubrics, write_guidelines
from annotations_app.models import Campaign
from annotations_app.rubrics.cases import RubricCase, name_campaigns, read_cases
from datasets_app.catalog.written_text import check_written
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.cases import Rubric
from datasets_app.domain.labels.schema import MAX_CRITERIA
from datasets_app.models import Dataset, Persona

MAX_CASES = 500
TOO_MANY, LOCKED, FEWER = "too many rubrics", "test split", "another number of rubrics"
PARTED = "no longer the same rubrics"
REASONS = {
    TOO_MANY: f"more than {MAX_CRITERIA} rubrics",
    LOCKED: "in the locked test split",
    FEWER: "another number of rubrics than when their campaign began: close it to have them judged anew",
    PARTED: "no longer the same rubrics as other cases of their campaign: close it to have them judged anew",
}


class RubricCampaigns(NamedTuple):
    """Campaigns made, those whose rubrics have changed, which makes their judgments stale, and those as they
    were; cases left out by the reason."""

    created: int
    changed: int
    unchanged: int
    left_out: Counter[str]


def create_rubric_campaigns(
    dataset: Dataset,
    persona: Persona,
    annotators: Sequence[str],
    *,
    overlap: int = 2,
    override: str = "",
    report_progress: ProgressCallback = ignore_progress,
) -> RubricCampaigns:
    """Or bring the campaigns of earlier runs up to the rubrics as they are now. Raises UserError, and then
    changes nothing."""
    cases = list(read_cases(dataset))
    if not cases:
        raise UserError(f"{dataset.name} has no session with metadata.rubrics and a reply.")
    if len(cases) > MAX_CASES:
        raise UserError(
            f"{dataset.name} has {len(cases):,} cases with rubrics; at most {MAX_CASES} have campaigns."
        )
    counts: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    with transaction.atomic():
        locked = set(dataset.sessions.filter(split="test").values_list("pk", flat=True))
        known = find_campaigns(dataset)
        judged: defaultdict[Campaign, list[RubricCase]] = defaultdict(list)
        others: defaultdict[str, list[RubricCase]] = defaultdict(list)
        for done, case in enumerate(cases):
            report_progress(done, len(cases))
            rubrics = write_guidelines(case.rubrics)
            # Scrubs leave guidelines as people wrote them.
            check_written(dataset, {"rubrics": rubrics})
            if len(case.rubrics) > MAX_CRITERIA:
                left_out[TOO_MANY] += 1
            elif case.reply.pk in known:
                judged[known[case.reply.pk]].append(case)
            elif case.session in locked:
                left_out[LOCKED] += 1
            else:
                others[rubrics].append(case)
        for campaign, of_campaign in judged.items():
            outcome = _update(campaign, of_campaign)
            if outcome in REASONS:
                left_out[outcome] += len(of_campaign)
            else:
                counts[outcome] += 1
        for alike in others.values():
            campaign = _make_campaign(alike[0].rubrics, dataset=dataset, persona=persona, overlap=overlap)
            create_with_replies(campaign, annotators, [case.reply for case in alike], override=override)
    return RubricCampaigns(len(others), counts["changed"], counts["unchanged"], left_out)


def find_campaigns(dataset: Dataset) -> dict[int, Campaign]:
    """The campaign of each case, by the turn of its reply, without closed ones: made here or with it."""
    campaigns = Campaign.objects.filter(dataset=dataset, schema__name__startswith=PREFIX)
    rows = campaigns.exclude(status=Campaign.Status.CLOSED).select_related("schema", "dataset", "persona")
    return {
        turn: campaign
        for campaign in rows.order_by("pk")
        for turn in campaign.items.values_list("turn_id", flat=True)
    }


def _update(campaign: Campaign, cases: Sequence[RubricCase]) -> str:
    guidelines = write_guidelines(cases[0].rubrics)
    if any(write_guidelines(case.rubrics) != guidelines for case in cases):
        return PARTED
    if campaign.schema is None or len(campaign.schema.content.questions) != len(cases[0].rubrics):
        return FEWER
    if are_guidelines_of(cases[0].rubrics, campaign.guidelines):
        return "unchanged"
    edit_campaign(campaign, changes={"guidelines": guidelines}, actor=None)
    return "changed"


def _make_campaign(rubrics: Sequence[Rubric], *, dataset: Dataset, **columns: Any) -> Campaign:
    prefix = name_campaigns(dataset)
    return Campaign(
        name=f"{prefix}{Campaign.objects.filter(name__startswith=prefix).count() + 1}",
        dataset=dataset,
        schema=ask_rubrics(len(rubrics)),
        guidelines=write_guidelines(rubrics),
        **columns,
    )
