"""What an annotator reads: the reply to be judged, and the turns around it.

A session may have hundreds of thousands of turns, and a turn megabytes of text: what is read here is a
window of the one and the beginning of the other. The rest comes when it is asked for.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Left, Length

from annotations_app.domain.highlighting import AVOID, PREFERRED, Piece, highlighted, words_found
from annotations_app.labeling.views.persona_card import document_of
from annotations_app.models import Assignment, Campaign, CampaignMember
from datasets_app.catalog import raw_access
from datasets_app.models import Turn

TURNS_BEFORE, TURNS_AFTER, MORE_TURNS = 12, 2, 40
# Of the reply, of a turn beside it, and of one that was asked for as a whole.
REPLY_CHARACTERS, TURN_CHARACTERS, WHOLE_CHARACTERS = 20_000, 3_000, 2_000_000


@dataclass
class Reply:
    """The reply of an assignment, with the turns around it as far as they are shown."""

    assignment: Assignment
    turn: Any
    before: list[Any]
    after: list[Any]
    turn_count: int
    pieces: list[Piece]
    preferred: list[str]
    avoid: list[str]

    @property
    def earlier(self) -> int:
        """The turn before which there are more; 0 if there are none."""
        first = (self.before or [self.turn])[0].turn_index
        return first if first > 1 else 0

    @property
    def later(self) -> int:
        last = (self.after or [self.turn])[-1].turn_index
        return last if last < self.turn_count else 0


def reply_of(assignment: Assignment, campaign: Campaign) -> Reply:
    place, session = assignment.item.turn.turn_index, assignment.item.turn.session
    window = beginnings(session.pk).filter(
        turn_index__gte=place - TURNS_BEFORE, turn_index__lte=place + TURNS_AFTER
    )
    turns = list(window.order_by("turn_index"))
    turn = next(turn for turn in turns if turn.turn_index == place)
    turn.start = assignment.item.turn.text[:REPLY_CHARACTERS]
    pieces = in_pieces(turn.start, campaign)
    return Reply(
        assignment,
        turn,
        before=[turn for turn in turns if turn.turn_index < place],
        after=[turn for turn in turns if turn.turn_index > place],
        turn_count=session.turn_count,
        pieces=pieces,
        preferred=words_found(pieces, PREFERRED),
        avoid=words_found(pieces, AVOID),
    )


def read_raw(member: CampaignMember, **counts: int) -> None:
    """What an annotator is about to be shown, if it is raw text of production, is written down."""
    campaign = member.campaign
    raw_access.read(campaign.dataset, member.user, place="annotation queue", campaign=campaign.pk, **counts)


def beginnings(session_pk: int) -> QuerySet[Turn, dict[str, Any] | Any]:
    """Turns of a session with the ``start`` of their text and how many ``characters`` it has."""
    turns = Turn.objects.filter(session_id=session_pk).only("turn_index", "role")
    return turns.annotate(start=Left("text", TURN_CHARACTERS), characters=Length(F("text")))


def in_pieces(text: str, campaign: Campaign) -> list[Piece]:
    document = document_of(campaign.persona.yaml)
    return highlighted(text, document.preferred, document.avoid) if document else [Piece(text)]
