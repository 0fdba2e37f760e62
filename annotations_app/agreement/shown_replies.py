"""Replies as pages of leads show them beside answers and notes: of a pair both, as annotators saw them."""

from collections.abc import Iterable
from typing import NamedTuple

from annotations_app.models import Campaign, PairedReply
from datasets_app.models import Turn


class ShownReply(NamedTuple):
    """``side`` is A or B; empty where there is only one."""

    side: str
    text: str


def list_shown_replies(
    campaign: Campaign, turns: Iterable[Turn], max_characters: int
) -> dict[int, list[ShownReply]]:
    """Their beginnings, by the key of the campaign's own turn."""
    own = {turn.pk: turn.text for turn in turns}
    if not campaign.other_dataset_id:
        return {turn: [ShownReply("", _shorten(text, max_characters))] for turn, text in own.items()}
    pairs = PairedReply.objects.filter(
        item__campaign=campaign, item__turn__in=own, turn__dataset=campaign.other_dataset_id
    )
    return {
        turn: [
            ShownReply(side, _shorten(text, max_characters))
            for side, text in zip("AB", (other, own[turn]) if swapped else (own[turn], other), strict=True)
        ]
        for turn, other, swapped in pairs.values_list("item__turn", "turn__text", "swapped")
    }


def _shorten(text: str, characters: int) -> str:
    return text[:characters] + ("…" if len(text) > characters else "")
