"""A new campaign: its row and its annotators at once, its items by one statement."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from annotations_app.campaigns import rows, validation
from annotations_app.campaigns.rows import ReplyFilter
from annotations_app.domain.assignment import gold_item_target
from annotations_app.models import Campaign, CampaignMember
from datasets_app.catalog import policies
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.models import Dataset, Persona


def create_campaign(
    name: str,
    *,
    dataset: Dataset,
    persona: Persona,
    annotators: Sequence[str],
    report_progress: ProgressCallback = ignore_progress,
    **options: Any,
) -> Campaign:
    """Make a campaign and open it, all at once; the rest of what is asked as in :func:`prepare_campaign`."""
    with transaction.atomic():
        campaign = prepare_campaign(name, dataset=dataset, persona=persona, annotators=annotators, **options)
        return fill_campaign(campaign, report_progress=report_progress)


def prepare_campaign(
    name: str,
    *,
    dataset: Dataset,
    persona: Persona,
    annotators: Sequence[str],
    guidelines: str = "",
    overlap: int = 2,
    gold_share: float = 0,
    repeat_share: float = 0,
    order: str = "random",
    tag: str = "",
    split: str = "",
    lease_minutes: int = 15,
    seed: int = 42,
    override: str = "",
    actor: Any = None,
) -> Campaign:
    """The row of a campaign and its annotators (user names), without items; see :func:`fill_campaign`.

    ``override`` is the reason why unscrubbed production data, or the test split, is labelled. Raises Refused.
    """
    validation.validate_name(name)
    validation.validate_guidelines(guidelines)
    validation.validate_numbers(
        overlap=overlap, gold_share=gold_share, repeat_share=repeat_share, lease_minutes=lease_minutes
    )
    validation.validate_filter(order, tag, split, seed)
    users = validation.get_annotators(annotators, overlap=overlap)
    with transaction.atomic():
        _require_policies(dataset, split, override=override, actor=actor)
        _require_replies(ReplyFilter(dataset.pk, persona.persona_id, tag, split, gold_share > 0), dataset)
        campaign = Campaign.objects.create(
            name=name,
            dataset=dataset,
            persona=persona,
            guidelines=guidelines,
            overlap=overlap,
            gold_share=gold_share,
            repeat_share=repeat_share,
            order=order,
            tag=tag,
            split=split,
            lease_minutes=lease_minutes,
            seed=seed,
            overridden=not policies.is_scrubbed(dataset),
            created_by=actor,
        )
        _add_members(campaign, users, actor)
    return campaign


def fill_campaign(campaign: Campaign, *, report_progress: ProgressCallback = ignore_progress) -> Campaign:
    """Make the items of a prepared campaign and open it, all or nothing. A second time changes nothing."""
    with transaction.atomic():
        campaign = (
            Campaign.objects.select_related("dataset", "persona")
            .select_for_update(of=("self",), no_key=True)
            .get(pk=campaign.pk)
        )
        if campaign.status != Campaign.Status.PREPARING:
            return campaign
        choice = _reply_filter(campaign)
        replies, known = rows.count_replies(choice)
        _refuse_empty(campaign.dataset, replies > 0, known > 0, choice)
        report_progress(0, replies)
        campaign.gold_count = gold_item_target(replies, known, campaign.gold_share)
        _refuse_all_gold(replies, campaign.gold_count)
        campaign.item_count = rows.create_items(
            choice,
            campaign=campaign.pk,
            overlap=campaign.overlap,
            order=campaign.order,
            seed=campaign.seed,
            gold_target=campaign.gold_count,
        )
        campaign.status = Campaign.Status.OPEN
        campaign.save(update_fields=["item_count", "gold_count", "status"])
        report_progress(campaign.item_count, campaign.item_count)
    return campaign


def run_fill_job(campaign_pk: int, *, report_progress: ProgressCallback = ignore_progress) -> dict[str, Any]:
    """As the job does it; what its row keeps."""
    campaign = Campaign.objects.filter(pk=campaign_pk).first()
    if campaign is None:
        raise UserError("The campaign is not there any more.")
    filled = fill_campaign(campaign, report_progress=report_progress)
    return {"campaign": filled.pk, "replies": filled.item_count, "gold": filled.gold_count}


def _reply_filter(campaign: Campaign) -> ReplyFilter:
    return ReplyFilter(
        campaign.dataset_id,
        campaign.persona.persona_id,
        campaign.tag,
        campaign.split,
        campaign.gold_share > 0,
    )


def _require_policies(dataset: Dataset, split: str, *, override: str, actor: Any) -> None:
    if dataset.status == Dataset.Status.EXPIRED:
        raise UserError(f"The dataset {dataset.name} has expired; it can't be labelled any more.")
    policies.require_scrubbed(dataset, "annotate", actor=actor, override=override)
    if split == policies.LOCKED_SPLIT:
        _require_override(dataset, override=override, actor=actor)


def _require_override(dataset: Dataset, *, override: str, actor: Any) -> None:
    """What is learnt from labels is tried on the test split; it must not have been learnt from."""
    reason = " ".join(override.split())
    if not reason:
        raise UserError(
            f"The test split of {dataset.name} is locked: labels for calibration must not come from it. "
            "Who may override this must give a reason."
        )
    refusal = "have the test split labelled"
    policies.record_override(dataset, "annotate test split", actor=actor, reason=reason, refusal=refusal)


def _require_replies(choice: ReplyFilter, dataset: Dataset) -> None:
    _refuse_empty(dataset, *rows.replies_exist(choice), choice)


def _refuse_empty(dataset: Dataset, replies: bool, known: bool, choice: ReplyFilter) -> None:
    narrowed = " of that tag or split" if choice.tag or choice.split else ""
    if not replies:
        locked = not choice.split and dataset.sessions.filter(split=policies.LOCKED_SPLIT).exists()
        but = " but of the test split, which is locked" if locked else ""
        raise UserError(
            f"{dataset.name} has no assistant's reply with text{narrowed}{but}; nothing is to be labelled."
        )
    if choice.gold and not known:
        raise UserError(
            f"Gold items are wanted, but no reply{narrowed} of {dataset.name} has an adjudicated label for "
            f"{choice.persona}. Adjudicate some, bring some in (import_annotations --adjudicated), or set "
            "the gold share to 0."
        )


def _refuse_all_gold(replies: int, gold: int) -> None:
    if gold >= replies:
        raise UserError("There would be nothing but gold items; lower the gold share or widen the choice.")


def _add_members(campaign: Campaign, users: Sequence[Any], actor: Any) -> None:
    CampaignMember.objects.bulk_create(CampaignMember(campaign=campaign, user=user) for user in users)
    facts = ("overlap", "gold_share", "repeat_share", "order", "split", "lease_minutes", "seed")
    audit.record(
        "create_campaign",
        actor=actor,
        dataset_name=campaign.dataset.name,
        campaign=campaign.name,
        persona_id=campaign.persona.persona_id,
        annotators=[user.get_username() for user in users],
        overridden=campaign.overridden,
        # Not which: what a scrub finds in tags could not be taken out here.
        only_a_tag=bool(campaign.tag),
        **{fact: getattr(campaign, fact) for fact in facts},
    )
