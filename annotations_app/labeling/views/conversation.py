"""What an annotator reads: the reply to judge and the turns around it.

A session may have hundreds of thousands of turns and a turn megabytes of text, so only a window of the one
and the beginning of the other are loaded. The rest follows on request.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.db.models import F, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Left, Length
from django.urls import reverse
from django.utils.html import format_html

from annotations_app.domain.evidence import digest_text
from annotations_app.domain.highlighting import (
    AVOID,
    PREFERRED,
    TextPiece,
    highlight_words,
    list_highlighted_words,
)
from annotations_app.labeling.judgments import list_staying_answers
from annotations_app.labeling.views.pairs import Side, find_side, keep_common
from annotations_app.labeling.views.persona_card import parse_persona_cached
from annotations_app.labeling.views.recent import name_pair, shorten_text
from annotations_app.models import Assignment, Campaign, CampaignMember
from annotations_app.templatetags.annotations_display import highlight
from datasets_app.catalog import raw_access
from datasets_app.core.web.turns import format_turns
from datasets_app.domain.conversations.cases import Case, describe_case, read_rubrics
from datasets_app.domain.conversations.turn_metadata import STEP_KEYS, list_steps
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
    preferred: list[str]
    avoid: list[str]
    # Of two replies; the turn is then that of A.
    sides: tuple[Side, ...] = ()
    # Answers that needn't be given again.
    staying: dict[str, Any] = field(default_factory=dict)

    @property
    def staying_json(self) -> str:
        return json.dumps(self.staying) if self.staying else ""

    @property
    def digest(self) -> str:
        """Of the whole text, in which words may be marked."""
        return digest_text(self.assignment.item.turn.text)

    @property
    def earlier(self) -> int:
        """The first turn shown if there are turns before it, else 0."""
        first = (self.before or [self.turn])[0].turn_index
        return first if first > 1 else 0

    @property
    def later(self) -> int:
        """The last turn shown if there are turns after it, else 0; those after one of two replies tell whose
        they are."""
        if self.sides:
            return 0
        last = (self.after or [self.turn])[-1].turn_index
        return last if last < self.turn_count else 0


def load_reply(assignment: Assignment, campaign: Campaign) -> ReplyView:
    view = (_load_pair if campaign.other_dataset_id else _load_one)(assignment, campaign)
    if schema := campaign.schema_content:
        view.staying = list_staying_answers(assignment, schema)
    return view


def _load_one(assignment: Assignment, campaign: Campaign) -> ReplyView:
    index, session = assignment.item.turn.turn_index, assignment.item.turn.session
    window = turns_with_start(assignment.item.turn).filter(
        turn_index__range=(index - TURNS_BEFORE, index + TURNS_AFTER)
    )
    turns = list(window.annotate(rubrics=F("metadata__rubrics")).order_by("turn_index"))
    turn = next(turn for turn in turns if turn.turn_index == index)
    turn.start = assignment.item.turn.text[:MAX_REPLY_CHARACTERS]
    before = [turn for turn in turns if turn.turn_index < index]
    show_turns_around(turns, assignment, campaign)
    pieces = _show_text(turn, campaign)
    turn.case = _find_case(assignment.item.turn, before)
    return ReplyView(
        assignment,
        turn,
        before=before,
        after=[turn for turn in turns if turn.turn_index > index],
        turn_count=session.turn_count,
        snippet=shorten_text(turn.start),
        preferred=list_highlighted_words(pieces, PREFERRED),
        avoid=list_highlighted_words(pieces, AVOID),
    )


def _load_pair(assignment: Assignment, campaign: Campaign) -> ReplyView:
    index = assignment.item.turn.turn_index
    before = readable_turns(assignment, campaign).filter(turn_index__gte=index - TURNS_BEFORE)
    turns = list(before.order_by("turn_index"))
    show_turns_around(turns, assignment, campaign)
    pieces = {name: _show_side(assignment, campaign, name) for name in ("a", "b")}
    (first, first_pieces), (second, second_pieces) = pieces.values()
    return ReplyView(
        assignment,
        first,
        before=turns,
        after=[],
        turn_count=index,
        snippet=name_pair(assignment),
        preferred=list_highlighted_words([*first_pieces, *second_pieces], PREFERRED),
        avoid=list_highlighted_words([*first_pieces, *second_pieces], AVOID),
        sides=(Side("A", first), Side("B", second)),
    )


def _show_side(assignment: Assignment, campaign: Campaign, name: str) -> tuple[Any, list[TextPiece]]:
    """Only the text: metadata may name the model."""
    reply = find_side(assignment, name)
    turn = turns_with_start(reply).get(turn_index=reply.turn_index)
    turn.start = reply.text[:MAX_REPLY_CHARACTERS]
    show_turns_around([turn], assignment, campaign)
    if turn.rest_url:
        turn.rest_url += f"?side={name}"
    pieces = _show_text(turn, campaign)
    turn.steps = []
    return turn, pieces


def _show_text(turn: Any, campaign: Campaign) -> list[TextPiece]:
    pieces = highlight_text(turn.start, campaign)
    turn.text_html = format_html("{}{}", highlight(pieces), "…" if turn.rest_url else "")
    turn.is_raw_first = any(piece.kinds for piece in pieces)
    return pieces


def show_turns_around(turns: list[Any], assignment: Assignment, campaign: Campaign) -> list[Any]:
    """Set what ``_turn.html`` shows; see core/web/turns.py."""
    for turn in turns:
        turn.rest_url = ""
        if turn.characters > len(turn.start):
            place = [campaign.name, assignment.pk, turn.turn_index]
            turn.rest_url = reverse("annotate:whole_turn", args=place)
        turn.text_html = f"{turn.start}…" if turn.rest_url else turn.start
        turn.steps = list_steps({name: _read_step(getattr(turn, name)) for name in STEP_KEYS}, None)
        turn.tags, turn.timestamp = (), None
    format_turns(turns)
    return turns


def _read_step(text: str | None) -> Any:
    """The value of a key of the metadata; as text if it was too long to be read whole."""
    try:
        return None if text is None else msgspec.json.decode(text)
    except msgspec.DecodeError:
        return f"{text}…" if text and len(text) == MAX_TURN_CHARACTERS else text


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
        for dataset in campaign.datasets:
            raw_access.record_raw_access(
                dataset.name, member.user, place="annotation queue", campaign=campaign.pk, **counts
            )


def readable_turns(assignment: Assignment, campaign: Campaign) -> QuerySet[Turn, Any]:
    """The turns an annotator may read: of a pair only those before it that both conversations have."""
    turns = turns_with_start(assignment.item.turn)
    return keep_common(turns, assignment) if campaign.other_dataset_id else turns


def turns_with_start(reply: Turn) -> QuerySet[Turn, dict[str, Any] | Any]:
    """Turns of the session of a reply, with the ``start`` of their text and its number of ``characters``."""
    turns = Turn.objects.filter(dataset=reply.dataset_id, session=reply.session_id)
    turns = turns.only("turn_index", "role")
    steps = {
        name: Left(KeyTextTransform(name, "metadata"), MAX_TURN_CHARACTERS, output_field=TextField())
        for name in STEP_KEYS
    }
    return turns.annotate(start=Left("text", MAX_TURN_CHARACTERS), characters=Length(F("text")), **steps)


def highlight_text(text: str, campaign: Campaign) -> list[TextPiece]:
    document = parse_persona_cached(campaign.persona.yaml)
    return highlight_words(text, document.preferred, document.avoid) if document else [TextPiece(text)]
