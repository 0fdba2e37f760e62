"""The replies that people differ on most, for the page of agreement."""

from typing import Any

from annotations_app.agreement.adjudicate import list_disputed
from annotations_app.agreement.dispute_pages import DisputeQueue
from datasets_app.catalog import raw_access
from datasets_app.models import Turn

MAX_DISPUTES = 10
MAX_TEXT_CHARACTERS = 200


def list_most_disputed(disputes: DisputeQueue, user: Any) -> list[dict[str, Any]]:
    """The first of them, settled ones included, with the start of the text and where each is settled; for
    who may do that and read them."""
    if not (user.has_perm("annotations_app.adjudicate") and user.has_perm("datasets_app.view_turn")):
        return []
    found = list_disputed(
        disputes.dataset,
        disputes.persona_id,
        campaign=disputes.campaign,
        include_adjudicated=True,
        limit=MAX_DISPUTES,
    )
    turns = Turn.objects.filter(pk__in=[one.turn for one in found]).select_related("session")
    by_key = {turn.pk: turn for turn in turns.with_text_start(MAX_TEXT_CHARACTERS)}
    if by_key:
        raw_access.record_access(disputes.dataset, user, place="agreement", turns=len(by_key))
    return [
        {
            "turn": by_key[one.turn],
            "on_brand": one.on_brand,
            "off_brand": one.labels - one.on_brand,
            "settled": one.settled,
            "address": disputes.address(turn=str(one.turn)),
        }
        for one in found
        if one.turn in by_key
    ]
