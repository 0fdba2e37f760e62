"""Replaces personal data in sessions; no other module replaces values.

A round searches every string of a session, adds the values that only the conversation reveals, and replaces
them. Rounds go on until one finds nothing, so that scrubbing the result again changes nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii import context, timestamps
from datasets_app.domain.pii.allow import AllowList, normalize_term
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import NAME, PATTERN_KINDS, Match, merge_matches
from datasets_app.domain.pii.keys import get_kind_by_key, parse_tag_kind
from datasets_app.domain.pii.pieces import (
    PERSONA_PLACES,
    TEXT_PLACE,
    Piece,
    Place,
    Span,
    Visitor,
    visit_object,
    visit_turn,
)
from datasets_app.domain.pii.policy import ID, Policy
from datasets_app.domain.pii.propagation import KnownValues
from datasets_app.domain.pii.pseudonyms import Pseudonyms, build_placeholder_pattern, format_placeholder
from datasets_app.domain.pii.session_ids import hash_session_id, is_hashed_id, places_of

# Each round replaces at least one more value; a text crafted to need more rounds keeps the rest.
MAX_ROUNDS = 50
# Marks where the session repeats its own id; no class of personal data.
SESSION_ID_KIND = "SESSION_ID"
MIN_ID_CHARACTERS = 8

_WORD = re.compile(r"\w+")


class SessionInput(NamedTuple):
    """A session to scrub. ``attached`` are other JSON objects that belong to it (notes of labels).

    ``id_hashed``: this installation has hashed its id already. ``turns`` may be empty: the attached objects
    then belong to no session.
    """

    turns: list[TurnRecord]
    attached: Sequence[dict[str, Any]] = ()
    id_hashed: bool = False


class FoundValue(NamedTuple):
    """Where a value was and where its replacement is, never the value. Offsets in code points.

    ``turn_index`` is None for a value of the session as a whole.
    """

    turn_index: int | None
    field: str
    kind: str
    start: int
    length: int
    score: float
    new_start: int
    new_length: int


class ScrubbedSession(NamedTuple):
    """``changed`` are the positions (from 0) of turns in which more than the session id differs."""

    session_id: str
    id_hashed: bool
    turns: list[TurnRecord]
    attached: list[dict[str, Any]]
    findings: list[FoundValue]
    changed: list[int]


class Scrubber:
    """Scrubs sessions under one policy. ``key`` is the installation's, for hashes and marks.

    ``persona_words`` are the names and the lexicon of personas, which are no people.
    Raises :class:`PolicyError` or an error of the name model where the policy can't be carried out.
    """

    def __init__(self, policy: Policy, *, key: bytes, persona_words: Iterable[str] = ()) -> None:
        self.policy, self.key = policy, key
        self.kinds = frozenset(policy.kinds)
        self.placeholders = build_placeholder_pattern(policy.labels)
        self._allowed = AllowList(policy.allow)
        self._allowed_names = AllowList((*policy.allow, *policy.allow_names))
        self._persona_words = {word for term in persona_words for word in _WORD.findall(normalize_term(term))}
        self._detection = Detection(policy, key)
        self._rules = Detection(policy, key, rules_only=True)

    def scrub(self, sessions: Sequence[SessionInput]) -> list[ScrubbedSession]:
        """Return the scrubbed sessions in their order; the records passed in don't change."""
        works = [_SessionScrub(session, self) for session in sessions]
        active = works
        for _ in range(MAX_ROUNDS):
            self._detect_matches(active)
            active = [work for work in active if work.run_round()]
            if not active:
                break
        return [_SessionRebuilder(work).rebuild() for work in works]

    def scrub_object(self, value: dict[str, Any]) -> tuple[dict[str, Any], list[FoundValue]]:
        """A JSON object that belongs to no session, scrubbed, and what was found in it."""
        [result] = self.scrub([SessionInput([], [value], id_hashed=True)])
        return result.attached[0], result.findings

    def scrub_text(self, text: str) -> str:
        """A text that belongs to no session (a file name, an error message), scrubbed."""
        [scrubbed] = self.scrub_object({"text": text})[0].values()
        return str(scrubbed)

    def count_remaining(self, sessions: Sequence[SessionInput]) -> Counter[str]:
        """For verification: how many values of each class but names the rules still find."""
        remaining: Counter[str] = Counter()
        for session in sessions:
            pieces = _SessionScrub(session, self).pieces
            for piece, matches in zip(pieces, self._rules.find_many(_make_inputs(pieces)), strict=True):
                spans = piece.map_matches([match for match in matches if not self.is_allowed(piece, match)])
                remaining.update(span.kind for span in spans)
        return remaining

    def list_strings(self, sessions: Sequence[SessionInput]) -> Iterator[str]:
        """Every string that :meth:`count_remaining` searches."""
        for session in sessions:
            for piece in _SessionScrub(session, self).pieces:
                yield piece.text

    def _detect_matches(self, works: Sequence["_SessionScrub"]) -> None:
        pieces = [piece for work in works for piece in work.pieces if piece.matches is None]
        for piece, matches in zip(pieces, self._detection.find_many(_make_inputs(pieces)), strict=True):
            piece.matches = matches

    def is_allowed(self, piece: Piece, match: Match) -> bool:
        """Whether the allow list, or a persona that uses the word, lets this value stay."""
        if not self._allowed_names and not self._persona_words:
            return False
        view = piece.get_view()
        allowed = self._allowed if match.kind in PATTERN_KINDS else self._allowed_names
        if allowed.covers(view, match.start, match.end):
            return True
        value = normalize_term(view[match.start : match.end])
        return match.kind == NAME and self._persona_words.issuperset(_WORD.findall(value))


def _make_inputs(pieces: Iterable[Piece]) -> list[DetectionInput]:
    return [DetectionInput(piece.get_view(), piece.place.key, piece.is_prose) for piece in pieces]


class _SessionScrub:
    """A session during its scrub: its strings, and the values found so far."""

    def __init__(self, session: SessionInput, scrubber: Scrubber) -> None:
        self.session, self.scrubber = session, scrubber
        self.session_id = session.turns[0].session_id if session.turns else ""
        # The product made this id, so no detector looks at it, wherever the session repeats it.
        self.hashed_id = self.session_id if session.id_hashed and is_hashed_id(self.session_id) else ""
        self.id_piece = self._make_piece(Place("session_id"), self.session_id)
        self.by_turn = [self._make_turn_pieces(turn) for turn in session.turns]
        self.by_object = [self._make_object_pieces(item) for item in session.attached]
        self.pieces = [self.id_piece, *chain.from_iterable(self.by_turn + self.by_object)]
        self.known = KnownValues()
        self.hashes_id = scrubber.policy.hash_session_ids and not session.id_hashed
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
        kept = []
        if "[" in text:
            kept = [Span(*match.span(), "") for match in self.scrubber.placeholders.finditer(text)]
        if self.hashed_id and self.hashed_id in text:
            kept += [Span(*span, "") for span in places_of(self.hashed_id, text)]
        return Piece(place, text, sorted(kept))

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

    def _collect_matches(self, piece: Piece) -> list[Match]:
        matches = list(piece.matches or ())
        if piece.place.field != "text":
            matches += self._match_by_key(piece)
        return self._drop_allowed(piece, matches) if matches else matches

    def _drop_allowed(self, piece: Piece, matches: Iterable[Match]) -> list[Match]:
        """Matches without allowed values; a persona's id names no person."""
        kept = [match for match in matches if not self.scrubber.is_allowed(piece, match)]
        return [match for match in kept if match.kind != NAME] if piece.place in PERSONA_PLACES else kept

    def _match_by_key(self, piece: Piece) -> Iterator[Match]:
        """The whole value, if its key tells the class."""
        view, place, start = piece.get_view(), piece.place, 0
        if place.field.startswith("tags["):
            kind, start = parse_tag_kind(view) or (None, 0)
        else:
            kind = None if place.is_key else get_kind_by_key(place.key, piece.text)
        # An id identifies a person as a name does.
        if (
            kind
            and (NAME if kind == ID else kind) in self.scrubber.kinds
            and any(map(str.isalnum, view[start:]))
        ):
            yield Match(kind, start, len(view))

    def _add_answers(self, matches_by_piece: list[list[Match]]) -> None:
        """Add the values with which a turn answers the question before it."""
        piece_number = 1
        turns = self.session.turns
        for number, pieces in enumerate(self.by_turn):
            if number and turns[number].role != turns[number - 1].role:
                requested = context.find_requested_kinds(self.by_turn[number - 1][0].get_view())
                kinds = tuple(kind for kind in requested if kind in self.scrubber.kinds)
                if kinds:
                    answers = context.find_answers(kinds, pieces[0].get_view())
                    matches_by_piece[piece_number] += self._drop_allowed(pieces[0], answers)
            piece_number += len(pieces)

    def _remove_matches(self, piece: Piece, matches: list[Match]) -> bool:
        if self.known and piece is not self.id_piece:
            matches = matches + self._drop_allowed(piece, self.known.find_occurrences(piece.get_view()))
        if not matches:
            return False
        spans = list(piece.map_matches(merge_matches(matches)))
        piece.remove_spans(_join_names(spans, piece.text))
        return bool(spans)


class _SessionRebuilder:
    """Builds the scrubbed session from its pieces."""

    def __init__(self, work: _SessionScrub) -> None:
        self.work, self.policy = work, work.scrubber.policy
        self.findings: list[FoundValue] = []
        self.turn_index: int | None = None
        self.hashes_id = work.hashes_id or work.id_piece.has_findings
        self.new_id = (
            hash_session_id(work.session_id, work.scrubber.key) if self.hashes_id else work.session_id
        )
        self.pseudonyms = Pseudonyms() if self.policy.placeholders == "numbered" else None
        if self.pseudonyms:
            self._reserve_numbers(self.pseudonyms)

    def rebuild(self) -> ScrubbedSession:
        work = self.work
        self._record_findings(work.id_piece.place, work.id_piece, whole_id=True)
        originals = work.session.turns
        stamps = self._fuzz_timestamps([turn.timestamp for turn in originals])
        turns = [self._rebuild_turn(*item) for item in zip(originals, work.by_turn, stamps, strict=True)]
        changed = [
            number for number, (old, new) in enumerate(zip(originals, turns, strict=True)) if old is not new
        ]
        if self.hashes_id:
            turns = [turn._replace(session_id=self.new_id) for turn in turns]
        attached = [
            self._rebuild_object(*item) for item in zip(work.session.attached, work.by_object, strict=True)
        ]
        id_hashed = self.hashes_id or work.session.id_hashed
        return ScrubbedSession(self.new_id, id_hashed, turns, attached, self.findings, changed)

    def _reserve_numbers(self, pseudonyms: Pseudonyms) -> None:
        for piece in self.work.pieces:
            for span in piece.spans:
                match = self.work.scrubber.placeholders.fullmatch(piece.text, span.start, span.end)
                if not span.kind and match and match[2]:
                    pseudonyms.reserve(match[1], int(match[2]))

    def _fuzz_timestamps(self, originals: list[str | None]) -> list[str | None]:
        if self.policy.drop_timestamps:
            return [None] * len(originals)
        if not self.policy.fuzz_seconds:
            return originals
        return timestamps.fuzz_timestamps(
            originals,
            session_id=self.work.session_id,
            seconds=self.policy.fuzz_seconds,
            seed=self.policy.seed,
            key=self.work.scrubber.key,
        )

    def _rebuild_turn(self, turn: TurnRecord, pieces: list[Piece], timestamp: str | None) -> TurnRecord:
        self.turn_index = turn.turn_index
        if any(piece.has_findings for piece in pieces):
            text = self._render_piece(pieces[0].place, pieces[0])
            turn = turn._replace(text=text)
            if any(piece.has_findings for piece in pieces[1:]):
                turn = visit_turn(turn, self._make_visitor(pieces[1:]))
        return turn if timestamp == turn.timestamp else turn._replace(timestamp=timestamp)

    def _rebuild_object(self, item: dict[str, Any], pieces: list[Piece]) -> dict[str, Any]:
        index = item.get("turn_index")
        self.turn_index = index if type(index) is int else None
        if not any(piece.has_findings for piece in pieces):
            return item
        return visit_object(item, "beside", self._make_visitor(pieces))

    def _make_visitor(self, pieces: list[Piece]) -> Visitor:
        following = iter(pieces)

        def replace(place: Place, text: str) -> str:
            return text if place == TEXT_PLACE else self._render_piece(place, next(following))

        return replace

    def _render_piece(self, place: Place, piece: Piece) -> str:
        if not piece.has_findings:
            return piece.text
        return self._record_findings(place, piece)

    def _record_findings(self, place: Place, piece: Piece, whole_id: bool = False) -> str:
        """Render a piece, and record its findings under ``place``."""
        text, placed = piece.render(self._choose_replacement)
        for span, start, length in placed:
            if span.kind != SESSION_ID_KIND:
                if whole_id:
                    start, length = 0, len(self.new_id)
                original = (span.start, span.end - span.start, round(span.score, 3))
                self.findings.append(
                    FoundValue(self.turn_index, place.field, span.kind, *original, start, length)
                )
        return text

    def _choose_replacement(self, span: Span, value: str) -> str:
        if span.kind == SESSION_ID_KIND:
            return self.new_id
        return (
            self.pseudonyms.get_placeholder(span.kind, value)
            if self.pseudonyms
            else format_placeholder(span.kind)
        )


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
