"""What may be asked of a campaign: the facts it is made of, each refused with a sentence."""

import re
from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model

from annotations_app.models import Campaign
from annotations_app.models.campaign import MAX_SHARE
from datasets_app.core.errors import UserError
from datasets_app.models.dataset import NAME_PATTERN

MAX_GUIDELINES_LENGTH = 50_000
MAX_OVERLAP = 50
MAX_LEASE_MINUTES = 1440
MAX_TAG_LENGTH = 500
MAX_SPLIT_LENGTH = 20
SEED_LIMIT = 2**63
# What of all that is given is new, at least.
MIN_NEW_SHARE = 0.1


def validate_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise UserError(
            f"{name!r} can't be the name of a campaign: at most 100 letters, digits, dots, dashes and "
            "underscores, beginning with a letter or digit."
        )
    if Campaign.objects.filter(name=name).exists():
        raise UserError(f"There is a campaign {name} already; choose another name.")


def validate_numbers(*, overlap: int, gold_share: float, repeat_share: float, lease_minutes: int) -> None:
    validate_overlap(overlap)
    for name, share in (("gold", gold_share), ("repeat", repeat_share)):
        if not 0 <= share <= MAX_SHARE:
            raise UserError(f"The {name} share must be from 0 to {MAX_SHARE}, not {share}.")
    if gold_share + repeat_share > 1 - MIN_NEW_SHARE:
        raise UserError("Gold items and repeats together leave too little that is new; lower their shares.")
    validate_lease_minutes(lease_minutes)


def validate_overlap(overlap: int) -> None:
    if not 1 <= overlap <= MAX_OVERLAP:
        raise UserError(f"The overlap must be from 1 to {MAX_OVERLAP} annotators a reply, not {overlap}.")


def validate_lease_minutes(minutes: int) -> None:
    if not 1 <= minutes <= MAX_LEASE_MINUTES:
        raise UserError(f"A reply is held for 1 to {MAX_LEASE_MINUTES} minutes, not {minutes}.")


def validate_filter(order: str, tag: str, split: str, seed: int) -> None:
    if order not in Campaign.Order.values:
        raise UserError(f"The order must be one of {', '.join(Campaign.Order.values)}, not {order!r}.")
    for name, value, longest in (("tag", tag, MAX_TAG_LENGTH), ("split", split, MAX_SPLIT_LENGTH)):
        if len(value) > longest or "\0" in value:
            raise UserError(f"A {name} has at most {longest} characters, and none of them is NUL.")
    if not -SEED_LIMIT <= seed < SEED_LIMIT:
        raise UserError("The seed must be a whole number of 64 bits.")


def validate_guidelines(guidelines: str) -> None:
    if len(guidelines) > MAX_GUIDELINES_LENGTH:
        raise UserError(f"The guidelines are longer than {MAX_GUIDELINES_LENGTH:,} characters.")
    if "\0" in guidelines:
        raise UserError("The guidelines hold a NUL character; they must be text.")


def get_annotators(names: Sequence[str], *, overlap: int) -> list[Any]:
    """The users of these names, who must be enough for the overlap. Raises Refused."""
    wanted = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not wanted:
        raise UserError("Say who is to label: at least one user name.")
    found = {
        user.get_username(): user for user in get_user_model().objects.filter(username__in=wanted[:10_000])
    }
    if missing := [name for name in wanted if name not in found]:
        raise UserError(f"There is no user {', '.join(missing[:10])}; make the account first.")
    if inactive := [name for name in wanted if not found[name].is_active]:
        raise UserError(f"The account of {', '.join(inactive[:10])} is switched off.")
    if barred := [name for name in wanted if not found[name].has_perm("annotations_app.annotate")]:
        raise UserError(
            f"{', '.join(barred[:10])} may not label; give them the role annotator (or another that may)."
        )
    if overlap > len(wanted):
        raise UserError(
            f"{overlap} annotators are to label each reply, but only {len(wanted)} "
            f"{'is' if len(wanted) == 1 else 'are'} named."
        )
    return [found[name] for name in wanted]
