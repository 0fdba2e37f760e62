"""A new campaign: its row and its annotators first, then its items by one statement."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from annotations_app.campaigns import rows
from annotations_app.campaigns.announce import announce_assignment
from annotations_app.campaigns.members import lock_campaign, lock_members
from annotations_app.campaigns.settings import validate_campaign
from annotations_app.domain.assignment import gold_item_target
from annotations_app.models import Campaign, CampaignMember
from datasets_app.catalog import gates, policies, raw_access, text_gates
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.models import Dataset

_AUDITED_FIELDS = (
    "overlap",
    "gold_share",
    "repeat_share",
    "order",
    "split",
    "max_replies",
    "lease_minutes",
    "seed",
)


def create_campaign(
    campaign: Campaign,
    annotators: Sequence[str],
    *,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> Campaign:
    """Create a campaign with its items and open it; see :func:`prepare_campaign`."""
    with transaction.atomic():
        prepare_campaign(campaign, annotators, override=override, actor=actor)
        return fill_campaign(campaign, override=override, actor=actor, report_progress=report_progress)


def prepare_campaign(
    campaign: Campaign, annotators: Sequence[str], *, override: str = "", actor: Any = None
) -> Campaign:
    """Save a new campaign and its ``annotators`` (user names), without items; see :func:`fill_campaign`.

    ``override`` is the reason for labeling raw text or the test split. A person waits for this: so it refuses
    only what is known to be closed. :func:`fill_campaign` searches the text and records the override. Raises
    UserError.
    """
    users = validate_campaign(campaign, annotators)
    campaign.created_by = actor
    with transaction.atomic():
        asked = [
            _ask_gates(dataset, campaign.split, override=override, actor=actor)
            for dataset in campaign.datasets
        ]
        campaign.overridden = any(asked)
        # Whether there are any would tell which tags there are.
        changed = {} if raw_access.may_read(actor, campaign.dataset) else {"tag": ""}
        _require_replies(campaign, *rows.replies_exist(campaign, **changed))
        campaign.save()
        _add_members(campaign, users, actor)
    return campaign


def fill_campaign(
    campaign: Campaign,
    *,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> Campaign:
    """Create the items of a prepared campaign and open it, with the ``override`` that it was prepared with.

    Does nothing if that was done before. Raises UserError.
    """
    with transaction.atomic():
        campaign = lock_campaign(campaign)
        if campaign.status != Campaign.Status.PREPARING:
            return campaign
        checked = [
            check_gates(dataset, campaign.split, override=override, actor=actor)
            for dataset in campaign.datasets
        ]
        campaign.overridden = any(checked)
        replies, known = rows.count_replies(campaign)
        _require_replies(campaign, replies > 0, known > 0)
        replies = min(replies, campaign.max_replies or replies)
        report_progress(0, replies)
        campaign.gold_count = gold_item_target(replies, known, campaign.gold_share)
        if campaign.gold_count >= replies:
            raise UserError("All replies would be gold items; lower the gold share or select more replies.")
        campaign.item_count = rows.create_items(campaign)
        _count_unpaired(campaign)
        rows.mark_sessions(campaign)
        users = [member.user for member in lock_members(campaign) if member.active]
        rows.start_calibration(campaign, people=len(users))
        campaign.status = Campaign.Status.OPEN
        campaign.save(update_fields=["item_count", "gold_count", "status", "overridden", "unpaired"])
        announce_assignment(campaign, users)
        report_progress(campaign.item_count, campaign.item_count)
    return campaign


def _count_unpaired(campaign: Campaign) -> None:
    """Refuses a campaign that compares nothing. Raises UserError."""
    if campaign.other_dataset is None:
        return
    campaign.unpaired = rows.count_unpaired(campaign)
    if not campaign.item_count:
        left_out = " ".join(rows.describe_unpaired(campaign.unpaired))
        raise UserError(
            f"No reply of {campaign.dataset.name} can be compared with one of {campaign.other_dataset.name}. "
            f"{left_out}"
        )


def check_gates(dataset: Dataset, split: str, *, override: str, actor: Any) -> bool:
    """Whether labeling raw text took an override. Raises UserError."""
    reason = text_gates.check_gate(policies.ANNOTATE, dataset, actor=actor, override=override)
    if split == policies.LOCKED_SPLIT:
        text_gates.check_gate(policies.ANNOTATE_TEST_SPLIT, dataset, actor=actor, override=override)
    return bool(reason)


def _ask_gates(dataset: Dataset, split: str, *, override: str, actor: Any) -> bool:
    """The same by what is known, without searching or recording anything."""
    gates.check_can_copy(dataset)
    closed = [policies.ANNOTATE] if gates.load_facts(dataset).is_known_raw else []
    closed += [policies.ANNOTATE_TEST_SPLIT] if split == policies.LOCKED_SPLIT else []
    for gate in closed:
        gates.check(gates.ask_gate(gate, dataset, actor=actor, override=override))
    return policies.ANNOTATE in closed


def _require_replies(campaign: Campaign, replies: bool, known: bool) -> None:
    dataset = campaign.dataset
    selection = " with that tag or split" if campaign.tag or campaign.split else ""
    if not replies:
        locked = not campaign.split and dataset.sessions.filter(split=policies.LOCKED_SPLIT).exists()
        outside = " outside the locked test split" if locked else ""
        raise UserError(
            f"{dataset.name} has no assistant's reply with text{selection}{outside}, so there is nothing to "
            "label."
        )
    if campaign.gold_share and not known:
        raise UserError(
            f"No reply{selection} of {dataset.name} has an adjudicated label for "
            f"{campaign.persona.persona_id}, so there are no gold items. Adjudicate some replies, import "
            "adjudicated labels, or set the gold share to 0."
        )


def _add_members(campaign: Campaign, users: Sequence[Any], actor: Any) -> None:
    CampaignMember.objects.bulk_create(CampaignMember(campaign=campaign, user=user) for user in users)
    audit.record(
        "create_campaign",
        actor=actor,
        dataset_name=campaign.dataset.name,
        campaign=campaign.name,
        persona_id=campaign.persona.persona_id,
        annotators=[user.get_username() for user in users],
        overridden=campaign.overridden,
        # Not the tag itself: a scrub could not remove what it finds in it from here.
        only_a_tag=bool(campaign.tag),
        **({"schema": campaign.schema.full_name} if campaign.schema else {}),
        **({"compared_with": campaign.other_dataset.name} if campaign.other_dataset else {}),
        **({"max_overlap": campaign.max_overlap} if campaign.max_overlap else {}),
        **({"calibration_replies": campaign.calibration_replies} if campaign.calibration_replies else {}),
        **{field: getattr(campaign, field) for field in _AUDITED_FIELDS},
    )
