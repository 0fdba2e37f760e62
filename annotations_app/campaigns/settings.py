"""The limits of the settings of a campaign."""

import re
from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model

from annotations_app.models import Campaign
from annotations_app.models.campaign import (
    MAX_CALIBRATION_REPLIES,
    MAX_GUIDELINES_LENGTH,
    MAX_LEASE_MINUTES,
    MAX_OVERLAP,
    MAX_REPLIES,
    MAX_SHARE,
    MAX_SPLIT_LENGTH,
    MAX_TAG_LENGTH,
)
from datasets_app.core.errors import UserError
from datasets_app.models.dataset import NAME_PATTERN

SEED_LIMIT = 2**63
# Gold items and repeats must leave at least this share for new replies.
MIN_NEW_SHARE = 0.1


class InvalidSetting(UserError):
    """A setting that can't be used; ``field`` is its name, so that a form can show the message there."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def validate_campaign(campaign: Campaign, annotators: Sequence[str]) -> list[Any]:
    """The users of these names, who will label a new campaign. Raises InvalidSetting."""
    _validate_name(campaign.name)
    validate_guidelines(campaign.guidelines)
    validate_overlap(campaign.overlap)
    _validate_max_overlap(campaign)
    _validate_shares(campaign.gold_share, campaign.repeat_share)
    validate_lease_minutes(campaign.lease_minutes)
    _validate_selection(campaign)
    _validate_comparison(campaign)
    _validate_calibration(campaign)
    users = get_annotators(annotators)
    require_enough_annotators(campaign.max_overlap or campaign.overlap, len(users))
    if campaign.calibration_replies and len(users) < 2:
        raise InvalidSetting(
            "calibration_replies", "A calibration round compares annotators; assign at least two."
        )
    return users


def validate_guidelines(guidelines: str) -> None:
    if len(guidelines) > MAX_GUIDELINES_LENGTH:
        raise InvalidSetting(
            "guidelines",
            f"The guidelines are longer than {MAX_GUIDELINES_LENGTH:,} characters; shorten them.",
        )
    if "\0" in guidelines:
        raise InvalidSetting("guidelines", "The guidelines contain a NUL character; remove it.")


def validate_overlap(overlap: int) -> None:
    if not 1 <= overlap <= MAX_OVERLAP:
        raise InvalidSetting(
            "overlap", f"The overlap must be from 1 to {MAX_OVERLAP} annotators per reply, not {overlap}."
        )


def _validate_max_overlap(campaign: Campaign) -> None:
    most = campaign.max_overlap
    if most is not None and not 2 <= campaign.overlap < most <= MAX_OVERLAP:
        raise InvalidSetting(
            "max_overlap",
            f"Where annotators differ, more are asked than the first two or more: from "
            f"{campaign.overlap + 1} to {MAX_OVERLAP}.",
        )
    if most is not None and campaign.other_dataset is not None:
        raise InvalidSetting("max_overlap", "Of pairs of replies, all are asked of as many annotators.")


def validate_lease_minutes(minutes: int) -> None:
    if not 1 <= minutes <= MAX_LEASE_MINUTES:
        raise InvalidSetting(
            "lease_minutes", f"The lock timeout must be from 1 to {MAX_LEASE_MINUTES} minutes, not {minutes}."
        )


def require_enough_annotators(overlap: int, count: int) -> None:
    if overlap > count:
        chosen = "is assigned" if count == 1 else "are assigned"
        raise InvalidSetting(
            "overlap",
            f"Each reply needs {overlap} annotators, but only {count} {chosen}. "
            "Add annotators or lower the overlap.",
        )


def get_annotators(names: Sequence[str]) -> list[Any]:
    """The users of these names, all of whom may label. Raises InvalidSetting."""
    names = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not names:
        raise InvalidSetting("annotators", "Name at least one annotator.")
    rows = get_user_model().objects.filter(username__in=names[:10_000])
    users = {user.get_username(): user for user in rows}
    if missing := [name for name in names if name not in users]:
        raise InvalidSetting(
            "annotators", f"There is no user {_first_ten(missing)}; create the account first."
        )
    if inactive := [name for name in names if not users[name].is_active]:
        raise InvalidSetting(
            "annotators",
            f"The account of {_first_ten(inactive)} is deactivated; activate it or leave it out.",
        )
    if barred := [name for name in names if not users[name].has_perm("annotations_app.annotate")]:
        raise InvalidSetting(
            "annotators", f"{_first_ten(barred)} may not label; assign the role “annotator” first."
        )
    return [users[name] for name in names]


def _first_ten(names: Sequence[str]) -> str:
    return ", ".join(names[:10])


def _validate_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise InvalidSetting(
            "name",
            f"{name!r} can't be the name of a campaign: use at most 100 letters, digits, dots, dashes and "
            "underscores, and start with a letter or digit.",
        )
    if Campaign.objects.filter(name=name).exists():
        raise InvalidSetting("name", f"A campaign named {name} already exists; choose another name.")


def _validate_shares(gold_share: float, repeat_share: float) -> None:
    for name, share in (("gold", gold_share), ("repeat", repeat_share)):
        # Not "share < 0 or share > MAX_SHARE": NaN must fail as well.
        if not 0 <= share <= MAX_SHARE:
            raise InvalidSetting(
                f"{name}_share", f"The {name} share must be from 0 to {MAX_SHARE}, not {share}."
            )
    if gold_share + repeat_share > 1 - MIN_NEW_SHARE:
        raise InvalidSetting(
            "repeat_share", "Gold items and repeats leave too few new replies; lower their shares."
        )


def _validate_comparison(campaign: Campaign) -> None:
    compares = campaign.schema is not None and campaign.schema.content.compares_replies
    if campaign.other_dataset == campaign.dataset:
        raise InvalidSetting("other_dataset", "A dataset can't be compared with itself; choose another one.")
    if compares and campaign.other_dataset is None:
        raise InvalidSetting(
            "other_dataset",
            "This schema asks which of two replies is better; choose a dataset to compare with.",
        )
    if campaign.other_dataset is not None and not compares:
        raise InvalidSetting(
            "schema", "To compare replies, choose a schema with a criterion of the kind preference."
        )
    # Adjudicated answers and earlier labels are of other pairs.
    if compares and campaign.gold_share:
        raise InvalidSetting("gold_share", "Pairs of replies have no gold answers; set the gold share to 0.")
    if compares and campaign.order == Campaign.Order.DISPUTED:
        raise InvalidSetting("order", "Pairs of replies have no earlier labels; choose another order.")


def _validate_calibration(campaign: Campaign) -> None:
    replies, alpha = campaign.calibration_replies, campaign.calibration_alpha
    if replies is not None and not 1 <= replies <= MAX_CALIBRATION_REPLIES:
        raise InvalidSetting(
            "calibration_replies", f"A calibration round has 1 to {MAX_CALIBRATION_REPLIES} replies."
        )
    if alpha is not None and (replies is None or not 0 < alpha <= 1):
        raise InvalidSetting(
            "calibration_alpha",
            "The alpha that ends a calibration round is above 0 and at most 1; it needs such a round.",
        )


def _validate_selection(campaign: Campaign) -> None:
    if campaign.order == Campaign.Order.USEFUL:
        raise InvalidSetting(
            "order",
            "A new campaign is in random order; ask the most useful replies once a judge has judged it.",
        )
    if campaign.order not in Campaign.Order.values:
        raise InvalidSetting(
            "order", f"The order must be one of {', '.join(Campaign.Order.values)}, not {campaign.order!r}."
        )
    for field, limit in (("tag", MAX_TAG_LENGTH), ("split", MAX_SPLIT_LENGTH)):
        value = getattr(campaign, field)
        if len(value) > limit or "\0" in value:
            raise InvalidSetting(field, f"A {field} has at most {limit} characters, and no NUL among them.")
    if campaign.max_replies is not None and not 1 <= campaign.max_replies <= MAX_REPLIES:
        raise InvalidSetting("max_replies", "The number of replies must be 1 or more; leave it out for all.")
    if not -SEED_LIMIT <= campaign.seed < SEED_LIMIT:
        raise InvalidSetting("seed", "The seed must be a 64-bit integer.")
