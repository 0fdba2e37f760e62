"""What may be asked of a campaign: the facts it is made of, each refused with a sentence."""

import re
from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model

from annotations_app.models import Campaign
from annotations_app.models.campaign import LARGEST_SHARE
from datasets_app.core.errors import Refused
from datasets_app.models.dataset import NAME_PATTERN

LONGEST_GUIDELINES = 50_000
LARGEST_OVERLAP = 50
LONGEST_LEASE = 1440
LONGEST_TAG = 500
LONGEST_SPLIT = 20
SEEDS = 2**63
# What of all that is given is new, at least.
FEWEST_NEW = 0.1


def check_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise Refused(
            f"{name!r} can't be the name of a campaign: at most 100 letters, digits, dots, dashes and "
            "underscores, beginning with a letter or digit."
        )
    if Campaign.objects.filter(name=name).exists():
        raise Refused(f"There is a campaign {name} already; choose another name.")


def check_numbers(*, overlap: int, gold_share: float, repeat_share: float, lease_minutes: int) -> None:
    check_overlap(overlap)
    for name, share in (("gold", gold_share), ("repeat", repeat_share)):
        if not 0 <= share <= LARGEST_SHARE:
            raise Refused(f"The {name} share must be from 0 to {LARGEST_SHARE}, not {share}.")
    if gold_share + repeat_share > 1 - FEWEST_NEW:
        raise Refused("Gold items and repeats together leave too little that is new; lower their shares.")
    check_lease(lease_minutes)


def check_overlap(overlap: int) -> None:
    if not 1 <= overlap <= LARGEST_OVERLAP:
        raise Refused(f"The overlap must be from 1 to {LARGEST_OVERLAP} annotators a reply, not {overlap}.")


def check_lease(minutes: int) -> None:
    if not 1 <= minutes <= LONGEST_LEASE:
        raise Refused(f"A reply is held for 1 to {LONGEST_LEASE} minutes, not {minutes}.")


def check_filter(order: str, tag: str, split: str, seed: int) -> None:
    if order not in Campaign.Order.values:
        raise Refused(f"The order must be one of {', '.join(Campaign.Order.values)}, not {order!r}.")
    for name, value, longest in (("tag", tag, LONGEST_TAG), ("split", split, LONGEST_SPLIT)):
        if len(value) > longest or "\0" in value:
            raise Refused(f"A {name} has at most {longest} characters, and none of them is NUL.")
    if not -SEEDS <= seed < SEEDS:
        raise Refused("The seed must be a whole number of 64 bits.")


def check_guidelines(guidelines: str) -> None:
    if len(guidelines) > LONGEST_GUIDELINES:
        raise Refused(f"The guidelines are longer than {LONGEST_GUIDELINES:,} characters.")
    if "\0" in guidelines:
        raise Refused("The guidelines hold a NUL character; they must be text.")


def users_named(names: Sequence[str], *, overlap: int) -> list[Any]:
    """The users of these names, who must be enough for the overlap. Raises Refused."""
    wanted = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not wanted:
        raise Refused("Say who is to label: at least one user name.")
    found = {
        user.get_username(): user for user in get_user_model().objects.filter(username__in=wanted[:10_000])
    }
    if missing := [name for name in wanted if name not in found]:
        raise Refused(f"There is no user {', '.join(missing[:10])}; make the account first.")
    if inactive := [name for name in wanted if not found[name].is_active]:
        raise Refused(f"The account of {', '.join(inactive[:10])} is switched off.")
    if barred := [name for name in wanted if not found[name].has_perm("annotations_app.annotate")]:
        raise Refused(
            f"{', '.join(barred[:10])} may not label; give them the role annotator (or another that may)."
        )
    if overlap > len(wanted):
        raise Refused(
            f"{overlap} annotators are to label each reply, but only {len(wanted)} "
            f"{'is' if len(wanted) == 1 else 'are'} named."
        )
    return [found[name] for name in wanted]
