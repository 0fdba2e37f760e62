"""The most disputed replies, for the agreement page."""

from typing import Any

from annotations_app.agreement.adjudicate import list_disputed
from annotations_app.agreement.dispute_pages import DisputeQueue
from datasets_app.catalog import raw_access
from datasets_app.models import Turn
from datasets_app.templatetags.datasets_display import turn_url

MAX_DISPUTES = 10
MAX_TEXT_CHARACTERS = 200


def list_most_disputed(disputes: DisputeQueue, user: Any) -> list[dict[str, Any]]:
    """The most disputed replies, adjudicated or not, with the start of their text, and where one adjudicates
    or reads them; empty for users who may not read turns."""
    if not (user.has_perm("datasets_app.view_turn") and user.has_perm("datasets_app.view_session")):
        return []
    may_adjudicate = user.has_perm("annotations_app.adjudicate")
    disputed = list_disputed(
        disputes.dataset,
        disputes.persona_id,
        campaign=disputes.campaign,
        include_adjudicated=True,
        limit=MAX_DISPUTES,
    )
    keys = [reply.turn for reply in disputed]
    turns = Turn.objects.filter(dataset=disputes.dataset, pk__in=keys).select_related("session")
    by_key = {turn.pk: turn for turn in turns.with_text_start(MAX_TEXT_CHARACTERS)}
    if not raw_access.may_read(user, disputes.dataset):
        for turn in by_key.values():
            raw_access.withhold_turn(turn)
            raw_access.withhold_session(turn.session)
    elif by_key:
        raw_access.record_access(disputes.dataset, user, place="agreement", turns=len(by_key))
    return [
        {
            "turn": by_key[reply.turn],
            "on_brand": reply.on_brand,
            "off_brand": reply.labels - (reply.on_brand or 0),
            "settled": reply.settled,
            "address": disputes.address(turn=str(reply.turn))
            if may_adjudicate
            else turn_url(by_key[reply.turn].session_id, by_key[reply.turn].turn_index),
        }
        for reply in disputed
        if reply.turn in by_key
    ]
