"""A session during its scrub: its strings, and the values found so far."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii import context
from datasets_app.domain.pii.allowed_values import AllowedValues
from datasets_app.domain.pii.detector import HANDLE, NAME, Match, merge_matches
from datasets_app.domain.pii.kept_names import IsPerson
from datasets_app.domain.pii.pieces import (
    PERSONA_PLACES,
    TEXT_PLACE,
    Piece,
    Place,
    Span,
    Visitor,
    make_piece,
    visit_object,
    visit_turn,
)
from datasets_app.domain.pii.policy import ID, Policy
from datasets_app.domain.pii.propagation import KnownValues
from datasets_app.domain.pii.session_ids import is_hashed_id

MIN_ID_CHARACTERS = 8
# Marks where the session repeats its own id; no class of personal data.
SESSION_ID_KIND = "SESSION_ID"


class SessionInput(NamedTuple):
    """A session to scrub. ``attached`` are other JSON objects that belong to it (notes of labels).

    ``id_hashed``: this installation has hashed its id already. ``turns`` may be empty: the attached objects
    then belong to no session.
    """

    turns: list[TurnRecord]
    attached: Sequence[dict[str, Any]] = ()
    id_hashed: bool = False


class ScrubRules(NamedTuple):
    """What all sessions of a scrub share. ``key`` is the installation's, for hashes and marks."""

    policy: Policy
    key: bytes
    kinds: frozenset[str]
    placeholders: re.Pattern[str]
    allowed: AllowedValues


class SessionScrub:
    """A session, its strings and values. ``answers``: the values in short replies, by question and reply."""

    def __init__(self, session: SessionInput, rules: ScrubRules) -> None:
        self.session, self.rules = session, rules
        self.session_id = session.turns[0].session_id if session.turns else ""
        # The product made this id, so no detector looks at it, wherever the session repeats it.
        self.hashed_id = self.session_id if session.id_hashed and is_hashed_id(self.session_id) else ""
        self.id_piece = self._make_piece(Place("session_id"), self.session_id)
        self.by_turn = [self._make_turn_pieces(turn) for turn in session.turns]
        self.by_object = [self._make_object_pieces(item) for item in session.attached]
        self.pieces = [self.id_piece, *chain.from_iterable(self.by_turn + self.by_object)]
        self.known = KnownValues()
        self.answers: Mapping[tuple[str, str], list[Match]] = {}
        self.hashes_id = rules.policy.hash_session_ids and not session.id_hashed
        if self.hashes_id:
            self._remove_session_id()

    # --- split into pieces ---

    def _make_turn_pieces(self, turn: TurnRecord) -> list[Piece]:
        """The pieces of a turn, its text first."""
        pieces = [self._make_piece(TEXT_PLACE, turn.text)]
        if turn.tags or turn.metadata or turn.extra or turn.persona_id is not None:
            visit_turn(turn, self._make_collector(pieces))
            del pieces[1]  # visit_turn has added the text again
        return pieces

    def _make_object_pieces(self, item: dict[str, Any]) -> list[Piece]:
        pieces: list[Piece] = []
        visit_object(item, "beside", self._make_collector(pieces))
        return pieces

    def _make_collector(self, pieces: list[Piece]) -> Visitor:
        def collect(place: Place, text: str) -> str:
            pieces.append(self._make_piece(place, text))
            return text

        return collect

    def _make_piece(self, place: Place, text: str) -> Piece:
        return make_piece(place, text, self.rules.placeholders, self.hashed_id)

    def _remove_session_id(self) -> None:
        """Replace the id where the session repeats it: as a whole value, or within a text if distinctive."""
        raw = self.session_id
        is_distinctive = len(raw) >= MIN_ID_CHARACTERS and any(map(str.isdigit, raw))
        word = re.compile(rf"(?<!\w){re.escape(raw)}(?!\w)")
        for piece in self.pieces[1:]:
            if (
                raw in piece.text
                and (is_distinctive or piece.text == raw)
                and piece.place not in PERSONA_PLACES
            ):
                places = [match.span() for match in word.finditer(piece.text)]
                piece.remove_spans(
                    [Span(*place, SESSION_ID_KIND) for place in places if not piece.overlaps_removed(*place)]
                )

    def iterate_places(self) -> Iterator[tuple[int | None, Piece]]:
        """The pieces in their order, with the number of their turn."""
        yield None, self.id_piece
        for turn, pieces in zip(self.session.turns, self.by_turn, strict=True):
            yield from ((turn.turn_index, piece) for piece in pieces)
        yield from ((None, piece) for piece in chain.from_iterable(self.by_object))

    # --- a round ---

    def run_round(self) -> bool:
        """Replace the values found now; False if there are none."""
        matches_by_piece = [self._collect_matches(piece) for piece in self.pieces]
        self._add_answers(matches_by_piece)
        for piece, matches in zip(self.pieces, matches_by_piece, strict=True):
            for match in matches:
                self.known.add(match.kind, piece.get_view()[match.start : match.end])
        removed = [
            self._remove_matches(piece, matches)
            for piece, matches in zip(self.pieces, matches_by_piece, strict=True)
        ]
        return any(removed)

    def replace_whole_strings(self) -> None:
        """Replace all of every string in which values are left after the last round."""
        for piece in self.pieces:
            for match in self._collect_matches(piece)[:1]:
                whole = match._replace(start=0, end=len(piece.get_view()))
                piece.remove_spans(list(piece.map_matches([whole])))

    def _collect_matches(self, piece: Piece) -> list[Match]:
        matches = [*(piece.matches or ()), *self._match_by_key(piece)]
        return self._drop_allowed(piece, matches) if matches else matches

    def _drop_allowed(
        self, piece: Piece, matches: Iterable[Match], is_person: IsPerson | None = None
    ) -> list[Match]:
        """Matches without allowed values; a persona's id names no person."""
        is_person = is_person or self.known.has_name
        allowed = self.rules.allowed
        kept = list(allowed.drop_allowed(piece.get_view(), matches, is_person))
        if piece.place in PERSONA_PLACES:
            return [match for match in kept if match.kind not in (NAME, HANDLE)]
        return kept

    def _match_by_key(self, piece: Piece) -> Iterator[Match]:
        """The whole value, if its key tells the class. An id identifies a person as a name does."""
        for match in piece.match_by_key():
            if (NAME if match.kind == ID else match.kind) in self.rules.kinds:
                yield match

    def list_replies(self) -> Iterator[tuple[str, str]]:
        """Each question, and the short reply that the other side gives to it."""
        for number in range(1, len(self.by_turn)):
            if self.session.turns[number].role != self.session.turns[number - 1].role:
                question, reply = (self.by_turn[turn][0].get_view() for turn in (number - 1, number))
                if context.may_answer(question, reply):
                    yield question, reply

    def _add_answers(self, matches_by_piece: list[list[Match]]) -> None:
        """Add the values with which a turn answers the question before it."""
        piece_number = 1
        turns = self.session.turns
        requested: tuple[str, ...] = ()
        question = ""
        for number, pieces in enumerate(self.by_turn):
            piece, matches = pieces[0], matches_by_piece[piece_number]
            view = piece.get_view()
            if not number or turns[number].role == turns[number - 1].role:
                requested, question = (), ""
            answers = context.find_answers(requested, view)
            if NAME in requested:  # a person's, even if the persona is called so
                answers += [match for match in piece.matches or () if match.kind == NAME]
            known = matches + answers
            answers += [
                match
                for match in self.answers.get((question, view), ())
                if not any(match.start < other.end and other.start < match.end for other in known)
            ]
            if answers:
                matches += self._drop_allowed(piece, answers, is_person=lambda word: True)
            requested = context.find_requested_kinds(view, self.rules.kinds)
            question = view
            piece_number += len(pieces)

    def _remove_matches(self, piece: Piece, matches: list[Match]) -> bool:
        if self.known:
            matches = matches + self._drop_allowed(piece, self.known.find_occurrences(piece.get_view()))
        if not matches:
            return False
        spans = list(piece.map_matches(merge_matches(matches)))
        piece.remove_spans(_join_names(spans, piece.text))
        return bool(spans)


def _join_names(spans: list[Span], text: str) -> list[Span]:
    """Join a first and a last name that were found separately."""
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last and last.kind == span.kind == NAME and text[last.end : span.start] == " ":
            joined[-1] = last._replace(end=span.end, score=max(last.score, span.score))
        else:
            joined.append(span)
    return joined
