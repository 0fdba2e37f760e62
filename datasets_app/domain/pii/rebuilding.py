"""Builds the records of a scrubbed session from its pieces."""

from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii import timestamps
from datasets_app.domain.pii.pieces import TEXT_PLACE, Piece, Place, Span, Visitor, visit_object, visit_turn
from datasets_app.domain.pii.pseudonyms import Pseudonyms, format_placeholder
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.domain.pii.session_scrub import SESSION_ID_KIND, SessionScrub


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


class SessionRebuilder:
    """Builds the scrubbed session from its pieces."""

    def __init__(self, work: SessionScrub) -> None:
        self.work, self.policy = work, work.rules.policy
        self.findings: list[FoundValue] = []
        self.turn_index: int | None = None
        self.hashes_id = work.hashes_id or work.id_piece.has_findings
        self.new_id = hash_session_id(work.session_id, work.rules.key) if self.hashes_id else work.session_id
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
                match = self.work.rules.placeholders.fullmatch(piece.text, span.start, span.end)
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
            key=self.work.rules.key,
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
