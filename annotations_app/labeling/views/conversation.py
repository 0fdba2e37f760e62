"""What an annotator reads: the reply to judge and the turns around it.

A session may have hundreds of thousands of turns and a turn megabytes of text, so only a window of the one
and the beginning of the other are loaded. The rest follows on request.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Left, Length

from annotations_app.domain.highlighting import (
    AVOID,
    PREFERRED,
    TextPiece,
    highlight_words,
    list_highlighted_words,
)
from annotations_app.labeling.views.persona_card import parse_persona_cached
from annotations_app.labeling.views.recent import shorten_text
from annotations_app.models import Assignment, Campaign, CampaignMember
from datasets_app.catalog import raw_access
from datasets_app.domain.conversations.cases import Case, describe_case, read_rubrics
from datasets_app.models import Turn

TURNS_BEFORE, TURNS_AFTER, MORE_TURNS_COUNT = 12, 2, 40
# Shown of the reply, of a turn around it, and of a whole turn on request.
MAX_REPLY_CHARACTERS, MAX_TURN_CHARACTERS, MAX_WHOLE_TURN_CHARACTERS = 20_000, 3_000, 2_000_000


@dataclass
class ReplyView:
    """The reply of an assignment, with the turns shown around it."""

    assignment: Assignment
    turn: Any
    before: list[Any]
    after: list[Any]
    turn_count: int
    snippet: str
    pieces: list[TextPiece]
    preferred: list[str]
    avoid: list[str]
    case: Case | None = None

    @property
    def earlier(self) -> int:
        """The first turn shown if there are turns before it, else 0."""
        first = (self.before or [self.turn])[0].turn_index
        return first if first > 1 else 0

    @property
    def later(self) -> int:
        """The last turn shown if there are turns after it, else 0."""
        last = (self.after or [self.turn])[-1].turn_index
        return last if last < self.turn_count else 0


def load_reply(assignment: Assignment, campaign: Campaign) -> ReplyView:
    index, session = assignment.item.turn.turn_index, assignment.item.turn.session
    window = turns_with_start(assignment.item.turn).filter(
        turn_index__range=(index - TURNS_BEFORE, index + TURNS_AFTER)
    )
    turns = list(window.annotate(rubrics=F("metadata__rubrics")).order_by("turn_index"))
    turn = next(turn for turn in turns if turn.turn_index == index)
    turn.start = assignment.item.turn.text[:MAX_REPLY_CHARACTERS]
    pieces = highlight_text(turn.start, campaign)
    return ReplyView(
        assignment,
        turn,
        before=[turn for turn in turns if turn.turn_index < index],
        after=[turn for turn in turns if turn.turn_index > index],
        turn_count=session.turn_count,
        snippet=shorten_text(turn.start),
        pieces=pieces,
        preferred=list_highlighted_words(pieces, PREFERRED),
        avoid=list_highlighted_words(pieces, AVOID),
        case=_find_case(assignment.item.turn, [turn for turn in turns if turn.turn_index < index]),
    )


def _find_case(reply: Turn, before: list[Any]) -> Case | None:
    """The case of a reply, with the rubrics of the session, which mostly stand at the question."""
    case = describe_case(reply.metadata, reply.extra) or Case()
    rubrics = next((found for turn in before if (found := read_rubrics(turn.rubrics))), case.rubrics)
    case = case._replace(rubrics=rubrics)
    return case if any(case) else None


def record_raw_read(member: CampaignMember, is_raw: bool, **counts: int) -> None:
    """Record in the audit log what an annotator is about to read, if the dataset's text is raw."""
    if is_raw:
        campaign = member.campaign
        raw_access.record_raw_access(
            campaign.dataset, member.user, place="annotation queue", campaign=campaign.pk, **counts
        )


def turns_with_start(reply: Turn) -> QuerySet[Turn, dict[str, Any] | Any]:
    """Turns of the session of a reply, with the ``start`` of their text and its number of ``characters``."""
    turns = Turn.objects.filter(dataset=reply.dataset_id, session=reply.session_id)
    turns = turns.only("turn_index", "role")
    return turns.annotate(start=Left("text", MAX_TURN_CHARACTERS), characters=Length(F("text")))


def highlight_text(text: str, campaign: Campaign) -> list[TextPiece]:
    document = parse_persona_cached(campaign.persona.yaml)
    return highlight_words(text, document.preferred, document.avoid) if document else [TextPiece(text)]
