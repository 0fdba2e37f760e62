"""Highlights of the findings of scrubs, previews and reviewers in the turns of a session."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.domain.pii.detection import find_values, merge_values
from datasets_app.domain.pii.folding import fold
from datasets_app.domain.pii.marks import MissedValueDetector
from datasets_app.domain.pii.policy import MissedMark
from datasets_app.domain.quality.text_tally import KINDS_BY_CODE
from datasets_app.models import ScrubFinding, ScrubMark, ScrubRun, Session, Turn
from datasets_app.scrubbing.mark_pages import kind_choices

MAX_FINDINGS_SHOWN = 2_000
FOLDED_PREVIEW_CHARACTERS = 600


class Piece(NamedTuple):
    """A part of a text. ``state`` is "" (plain), "found" (by a preview), "kept" (a reviewer marked it as not
    personal), "missed" (a reviewer marked it as personal) or "placeholder" (already scrubbed)."""

    text: str
    state: str = ""
    kind: str = ""
    finding: int | None = None
    score: float | None = None


class _Span(NamedTuple):
    start: int
    end: int
    state: str
    kind: str
    finding: int | None = None
    score: float | None = None


class Highlights:
    """Finds what to highlight in some turns of a session, in a fixed number of queries. Each turn has its
    ``findings`` of the last checks."""

    def __init__(self, session: Session, turns: Sequence[Turn], *, may_mark: bool) -> None:
        self.may_mark = may_mark
        dataset = session.dataset_id
        self.last_run = ScrubRun.objects.filter(dataset=dataset).first()
        marks = list(ScrubMark.objects.applied_to(dataset))
        self._not_personal_terms = {_normalize(mark.term) for mark in marks if mark.term}
        self._missed_values = _build_missed_values(marks)
        pending = [mark for mark in marks if self.last_run and mark.created_at > self.last_run.created_at]
        self.pending_mark_count = len(pending) if self.last_run else len(marks)
        self._findings_by_turn: dict[int | None, list[ScrubFinding]] = defaultdict(list)
        for finding in self._load_findings(session, turns):
            self._findings_by_turn[finding.turn_index].append(finding)
        self.session_findings = self._findings_by_turn[None]
        self.has_preview = any(f.scrub.dry_run for group in self._findings_by_turn.values() for f in group)
        self.kinds = kind_choices(session.dataset) if may_mark else []

    def _load_findings(self, session: Session, turns: Sequence[Turn]) -> Iterable[ScrubFinding]:
        """The findings of these turns and of the session as a whole."""
        findings = ScrubFinding.objects.filter(session=session).select_related("scrub")
        of_session = findings.filter(turn_index=None)[:MAX_FINDINGS_SHOWN]
        if not turns:
            return of_session
        turn_range = (turns[0].turn_index, turns[-1].turn_index)
        return [
            *of_session,
            *findings.filter(turn_index__range=turn_range).order_by("id")[:MAX_FINDINGS_SHOWN],
        ]

    def pieces(self, turn: Any) -> list[Piece]:
        """The visible text of a turn (``turn.start``), split at its highlights."""
        spans = [*self._finding_spans(turn), *self._missed_spans(turn.start)]
        # The first of two at the same place counts: a scrub knows more than a check.
        return _split_at_spans(turn.start, [*spans, *self._check_spans(turn)])

    def findings_outside_text(self, turn_index: int) -> list[ScrubFinding]:
        """Findings of a turn that are not in its text."""
        return [finding for finding in self._findings_by_turn.get(turn_index, ()) if finding.field != "text"]

    def _finding_spans(self, turn: Any) -> Iterable[_Span]:
        for finding in self._findings_by_turn.get(turn.turn_index, ()):
            if finding.field == "text":
                end = finding.start + finding.length
                position = (finding.start, end)
                if not finding.scrub.dry_run:
                    yield _Span(*position, "placeholder", finding.kind)
                elif _normalize(turn.start[finding.start : end]) in self._not_personal_terms:
                    yield _Span(*position, "kept", finding.kind)
                else:
                    yield _Span(*position, "found", finding.kind, finding.pk, score=finding.score)

    def _check_spans(self, turn: Any) -> Iterable[_Span]:
        """What the checks reported, searched again: they keep no positions. Names take a model, and are only
        listed below the turn."""
        kinds = {KINDS_BY_CODE[found.code] for found in turn.findings if found.code in KINDS_BY_CODE}
        found = merge_values(find_values(turn.start)) if kinds else []
        for match in (match for match in found if match.kind in kinds):
            value = _normalize(turn.start[match.start : match.end])
            state = "kept" if value in self._not_personal_terms else "found"
            yield _Span(match.start, match.end, state, match.kind)

    def _missed_spans(self, text: str) -> Iterable[_Span]:
        if self._missed_values is None:
            return
        for match in self._missed_values.find(text):
            yield _Span(match.start, match.end, "missed", match.kind)


def _build_missed_values(marks: Iterable[ScrubMark]) -> MissedValueDetector | None:
    """Find values marked as missed again: only their digests are stored."""
    missed = [
        MissedMark(mark.kind, mark.digest, mark.words or 1, mark.length or 0) for mark in marks if mark.digest
    ]
    return MissedValueDetector(missed, hash_key()) if missed else None


def _normalize(term: str) -> str:
    return " ".join(fold(term).casefold().split())


def _split_at_spans(text: str, spans: Iterable[_Span]) -> list[Piece]:
    """Split the text; leaves out spans that overlap an earlier one or end beyond the text."""
    pieces: list[Piece] = []
    at = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start < at or span.end > len(text) or span.start == span.end:
            continue
        if span.start > at:
            pieces.append(Piece(text[at : span.start]))
        pieces.append(Piece(text[span.start : span.end], *span[2:]))
        at = span.end
    if at < len(text):
        pieces.append(Piece(text[at:]))
    return pieces


def take_first(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces of about the first characters, without cutting a highlighted one in two."""
    start: list[Piece] = []
    length = 0
    for piece in pieces:
        if length >= FOLDED_PREVIEW_CHARACTERS:
            break
        if not piece.state and length + len(piece.text) > FOLDED_PREVIEW_CHARACTERS:
            piece = piece._replace(text=piece.text[: FOLDED_PREVIEW_CHARACTERS - length])
        start.append(piece)
        length += len(piece.text)
    return start
