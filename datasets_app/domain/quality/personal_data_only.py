"""Finds personal data in any JSONL file, for git hooks.

Every string and key is searched, whether lines are turns, labels, chats or those of other programs. A line
that is no valid JSON object is searched as plain text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object
from datasets_app.domain.conversations.lines import (
    DEFAULT_LIMITS,
    Limits,
    OnBytes,
    UnreadableFile,
    read_lines,
)
from datasets_app.domain.conversations.records import Finding, LineError
from datasets_app.domain.pii.allow import AllowList
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import NAME, PATTERN_KINDS, Match, merge_matches
from datasets_app.domain.pii.pieces import Place, visit_object
from datasets_app.domain.pii.placeholders import drop_placeholders
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.session_ids import blank_hashed_id
from datasets_app.domain.quality.personal_data_checks import PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.runner import make_line_error_finding
from datasets_app.domain.quality.w406_names import NamesOfPeople

# Many texts at once take the name model a fifth of the time of one after the other.
LINES_PER_BATCH = 500
# Code and title of each class.
_CODES_AND_TITLES = {check.kind: (check.code, check.title) for check in PERSONAL_DATA_CHECKS} | {
    NAME: (NamesOfPeople.code, NamesOfPeople.title)
}
# Written by people even where it is one word; all else is an identifier unless it has a space.
_PROSE_KEYS = frozenset({"text", "content", "value", "notes"})
# Those who label are known to those who keep the file, and a persona is no person.
_FIELDS_ALLOWING_NAMES = frozenset({"persona_id", "annotator", "labeler"})
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/])|[bfnrt])')
_KEY_PATTERN = re.compile(r"[^.\[\] ]+")


class _LineString(NamedTuple):
    line: int
    place: Place
    text: str

    def to_input(self) -> DetectionInput:
        is_prose = " " in self.text or self.place.key in _PROSE_KEYS
        return DetectionInput(self.text, self.place.key, is_prose and not self.place.is_key)


class PersonalDataScan:
    """A file to search. ``allow`` are values to ignore; without ``name_models`` names of people are not
    searched for. Raises an error of the name model if that can't be used."""

    def __init__(
        self,
        path: Path,
        *,
        allow: Iterable[str] = (),
        name_models: Sequence[str] = ("builtin",),
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        kinds = (*PATTERN_KINDS, NAME) if name_models else PATTERN_KINDS
        self._detection = Detection(Policy(kinds=kinds, name_models=tuple(name_models)), b"")
        self._allowed = AllowList(allow)
        self.path, self.limits = path, limits
        self._session: str | None = None

    def findings(self, on_bytes: OnBytes | None = None) -> Iterator[Finding]:
        """Yield findings some hundred lines after they were read. An unreadable line is one too, as nobody
        knows what is in it."""
        pending: list[_LineString] = []
        try:
            for count, item in enumerate(read_lines(self.path, self.limits, on_bytes), 1):
                if isinstance(item, LineError):
                    yield make_line_error_finding(item)
                    continue
                pending += self._read_strings(*item)
                if count % LINES_PER_BATCH == 0:
                    yield from self._find_in_strings(pending)
                    pending = []
            yield from self._find_in_strings(pending)
        except UnreadableFile as error:
            yield Finding(error.code, str(error))

    def _read_strings(self, line: int, raw: bytes) -> list[_LineString]:
        """The strings of a line; a session's id, which all its lines repeat, only once."""
        try:
            value = decode_object(raw)
        except InvalidRecord:
            # It may be cut off, or have a key twice of which a parser would hide one.
            return [_LineString(line, Place("the line"), _unescape_json(raw))]
        strings: list[_LineString] = []
        session_id = ""
        if isinstance(value.get("session_id"), str):
            session_id = value.pop("session_id")
            if session_id != self._session:
                # Without its key, which would say that anything under it is a secret.
                strings.append(_LineString(line, Place("session_id"), session_id))
            self._session = session_id

        def collect(place: Place, text: str) -> str:
            strings.append(_LineString(line, place, blank_hashed_id(session_id, text)))
            return text

        visit_object(value, "", collect)
        return strings

    def _find_in_strings(self, strings: list[_LineString]) -> Iterator[Finding]:
        matches_by_string = [
            self._filter_matches(string, matches)
            for string, matches in zip(
                strings, self._detection.find_many([string.to_input() for string in strings]), strict=True
            )
        ]
        # Paths of findings must not show a key that is personal itself.
        hidden = {
            string.text
            for string, matches in zip(strings, matches_by_string, strict=True)
            if string.place.is_key and matches
        }
        for string, matches in zip(strings, matches_by_string, strict=True):
            for match in matches:
                yield _make_finding(string, match, hidden)

    def _filter_matches(self, string: _LineString, matches: list[Match]) -> list[Match]:
        """Matches without allowed values, placeholders, and names in fields that are for names."""
        return [
            match
            for match in drop_placeholders(merge_matches(matches), string.text)
            if not (match.kind == NAME and string.place.field in _FIELDS_ALLOWING_NAMES)
            and not self._allowed.covers(string.text, match.start, match.end)
        ]


def _make_finding(string: _LineString, match: Match, hidden: set[str]) -> Finding:
    code, title = _CODES_AND_TITLES[match.kind]
    field = _KEY_PATTERN.sub(lambda part: "*" if part[0] in hidden else part[0], string.place.field)
    place = f"{field} at column {match.start + 1} ({match.end - match.start} characters)"
    return Finding(code, f"{title} in {place}; scrub it before sharing", string.line, field=field)


def _unescape_json(raw: bytes) -> str:
    """A line as text, with JSON's escapes decoded."""
    text = raw.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2] or " ", text)
