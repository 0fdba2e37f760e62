"""Replaces personal data in sessions; no other module replaces values.

A round searches every string of a session, adds the values that only the conversation reveals, and replaces
them. Rounds go on until one finds nothing, so that scrubbing the result again changes nothing.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from datasets_app.domain.pii.allowed_values import AllowedValues
from datasets_app.domain.pii.detection import Detection, DetectionInput, make_input, merge_values
from datasets_app.domain.pii.detector import HANDLE, NAME
from datasets_app.domain.pii.names.names import BUILT_IN
from datasets_app.domain.pii.network.languages import Spoken, count_languages
from datasets_app.domain.pii.pieces import PERSONA_PLACES, Piece
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.pseudonyms import build_placeholder_pattern
from datasets_app.domain.pii.rebuilding import FoundValue, ScrubbedSession, SessionRebuilder
from datasets_app.domain.pii.session_scrub import ScrubRules, SessionInput, SessionScrub

# Each round replaces at least one more value; strings crafted to need more rounds are replaced whole.
MAX_ROUNDS = 50


class RemainingValue(NamedTuple):
    """Where verification still finds a value. ``session`` is the place (from 0) among those searched."""

    session: int
    turn_index: int | None
    field: str
    kind: str
    start: int
    length: int


class Scrubber:
    """Scrubs sessions under one policy. ``key`` is the installation's, for hashes and marks.

    ``persona_terms`` are those of :mod:`persona_terms`, which aren't people. Raises :class:`PolicyError` or
    an error of the name model where the policy can't be carried out.
    """

    def __init__(self, policy: Policy, *, key: bytes, persona_terms: Iterable[str] = ()) -> None:
        self.policy, self.key = policy, key
        self.kinds = frozenset(policy.kinds)
        self.allowed = AllowedValues(policy, key, persona_terms)
        placeholders = build_placeholder_pattern(policy.labels)
        self._shared = ScrubRules(policy, key, self.kinds, placeholders, self.allowed)
        self._detection = Detection(policy, key)
        self._rules = Detection(policy, key, rules_only=True)

    def scrub(self, sessions: Sequence[SessionInput]) -> list[ScrubbedSession]:
        """Return the scrubbed sessions in their order; the records passed in don't change."""
        works = [SessionScrub(session, self._shared) for session in sessions]
        active = works
        for _ in range(MAX_ROUNDS):
            self._detect_matches(active)
            active = [work for work in active if work.run_round()]
            if not active:
                break
        if active:
            self._detect_matches(active)
            for work in active:
                work.replace_whole_strings()
        return [SessionRebuilder(work).rebuild() for work in works]

    def scrub_object(self, value: dict[str, Any]) -> tuple[dict[str, Any], list[FoundValue]]:
        """A JSON object that belongs to no session, scrubbed, and what was found in it."""
        [result] = self.scrub([SessionInput([], [value], id_hashed=True)])
        return result.attached[0], result.findings

    def scrub_fields(
        self, fields: dict[str, Any], own: Container[str]
    ) -> tuple[dict[str, Any], list[FoundValue]]:
        """The same for an object with ``own`` keys, which stay even if a pattern of the user's matches them,
        and what was found in its values."""
        scrubbed, findings = self.scrub_object(fields)
        pairs = zip(fields, scrubbed.items(), strict=True)
        kept = {key if key in own else new: value for key, (new, value) in pairs}
        return kept, [found for found in findings if found.field != "a key of beside"]

    def scrub_text(self, text: str) -> str:
        """A text that belongs to no session (a file name, an error message), scrubbed."""
        [scrubbed] = self.scrub_object({"text": text})[0].values()
        return str(scrubbed)

    def find_remaining(self, sessions: Sequence[SessionInput]) -> Iterator[RemainingValue]:
        """For verification: the values of all classes but names that the rules still find."""
        works = [SessionScrub(session, self._shared) for session in sessions]
        found = iter(self._rules.find_many(_make_inputs(piece for work in works for piece in work.pieces)))
        for number, work in enumerate(works):
            for (turn_index, piece), matches in zip(work.iterate_places(), found, strict=False):
                view, is_persona = piece.get_view(), piece.place in PERSONA_PLACES
                told = (match for match in piece.match_by_key() if match.kind in self.kinds - {NAME})
                rest = (
                    match
                    for match in (*matches, *told)
                    if not (is_persona and match.kind == HANDLE) and not self.allowed.is_allowed(view, match)
                )
                for span in piece.map_matches(merge_values(rest)):
                    length = span.end - span.start
                    yield RemainingValue(number, turn_index, piece.place.field, span.kind, span.start, length)

    def count_remaining(self, sessions: Sequence[SessionInput]) -> Counter[str]:
        """How many values of each class :meth:`find_remaining` finds."""
        return Counter(value.kind for value in self.find_remaining(sessions))

    def count_languages(self, sessions: Sequence[SessionInput]) -> Spoken:
        """The languages in which names were looked for by a packaged model."""
        if NAME not in self.kinds or BUILT_IN not in self.policy.name_models:
            return Spoken(Counter(), Counter())
        return count_languages([turn.text for turn in session.turns] for session in sessions)

    def list_strings(self, sessions: Sequence[SessionInput]) -> Iterator[str]:
        """Every string that :meth:`find_remaining` searches."""
        for session in sessions:
            for piece in SessionScrub(session, self._shared).pieces:
                yield piece.text

    def _detect_matches(self, works: Sequence[SessionScrub]) -> None:
        pieces = [piece for work in works for piece in work.pieces if piece.matches is None]
        for piece, matches in zip(pieces, self._detection.find_many(_make_inputs(pieces)), strict=True):
            piece.matches = matches
        pairs = [pair for work in works for pair in work.list_replies()]
        answers = dict(zip(pairs, self._detection.find_answers(pairs), strict=True))
        for work in works:
            work.answers = answers


def _make_inputs(pieces: Iterable[Piece]) -> list[DetectionInput]:
    return [make_input(piece.place, piece.get_view(), piece.is_prose) for piece in pieces]
