"""Personal data in any JSONL file, whatever its lines are, and nothing else: for git hooks.

The format is not asked for: conversations, labels, chat files and lines of other programs are looked
through alike, every string and key of them. A line that is no sound JSON object is looked at as it stands.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object
from datasets_app.domain.conversations.lines import (
    DEFAULT_LIMITS,
    Limits,
    UnreadableFile,
    open_file,
    read_numbered_lines,
    unpack_stream,
)
from datasets_app.domain.conversations.records import Finding, LineError
from datasets_app.domain.pii.allow import AllowList
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import NAME, PATTERN_KINDS, Match, merge_matches
from datasets_app.domain.pii.pieces import Place, visit_object
from datasets_app.domain.pii.placeholders import PLACEHOLDER_PATTERN
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.session_ids import blank_hashed_id
from datasets_app.domain.quality.checks import PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.personal_data import PersonalDataCheck
from datasets_app.domain.quality.runner import make_line_error_finding
from datasets_app.domain.quality.w406_names import NamesOfPeople

# Many texts at once take the name model a fifth of the time of one after the other.
LINES_PER_BATCH = 500
# Code and title of each class.
_CODES_AND_TITLES = {
    check.kind: (check.code, check.title)
    for check in PERSONAL_DATA_CHECKS
    if issubclass(check, PersonalDataCheck)
} | {NAME: (NamesOfPeople.code, NamesOfPeople.title)}
# Written by people even where it is one word; all else is an identifier unless it has a space.
_PROSE_KEYS = frozenset({"text", "content", "value", "notes"})
# Those who label are known to those who keep the file, and a persona is no person.
_FIELDS_ALLOWING_NAMES = frozenset({"persona_id", "annotator", "labeler"})
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/])|[bfnrt])')
_KEY_PATTERN = re.compile(r"[^.\[\] ]+")

OnBytes = Callable[[int], None]


class _LineString(NamedTuple):
    line: int
    place: Place
    text: str

    def to_input(self) -> DetectionInput:
        is_prose = " " in self.text or self.place.key in _PROSE_KEYS
        return DetectionInput(self.text, self.place.key, is_prose and not self.place.is_key)


class PersonalDataScan:
    """A file to be looked through. ``allow`` are values that may stand in it; without ``name_models``
    names of people are not looked for. Raises an error of the name model if that can't be used."""

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
        """Every finding, some hundred lines after it is read. What could not be read is one too: nobody
        can say what stands in it."""
        waiting: list[_LineString] = []
        try:
            with open_file(self.path) as raw:
                for count, item in enumerate(read_numbered_lines(unpack_stream(raw), self.limits), 1):
                    if isinstance(item, LineError):
                        yield make_line_error_finding(item)
                        continue
                    waiting += self._read_strings(*item)
                    if count % LINES_PER_BATCH == 0:
                        yield from self._find_in_strings(waiting)
                        waiting = []
                        if on_bytes:
                            on_bytes(raw.tell())
                yield from self._find_in_strings(waiting)
        except UnreadableFile as error:
            yield Finding(error.code, str(error))

    def _read_strings(self, line: int, raw: bytes) -> list[_LineString]:
        """What stands in a line; an id that is on every line of its session only once."""
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
        found = [
            self._filter_matches(string, matches)
            for string, matches in zip(
                strings, self._detection.find_many([string.to_input() for string in strings]), strict=True
            )
        ]
        # A key that is personal is not to be shown on the way to what stands under it.
        hidden = {
            string.text
            for string, matches in zip(strings, found, strict=True)
            if string.place.is_key and matches
        }
        for string, matches in zip(strings, found, strict=True):
            for match in matches:
                yield _make_finding(string, match, hidden)

    def _filter_matches(self, string: _LineString, matches: list[Match]) -> list[Match]:
        """Without what is allowed, what is a placeholder already, and what is meant to stand there."""
        if not matches:
            return matches
        placeholders = [match.span() for match in PLACEHOLDER_PATTERN.finditer(string.text)]
        return [
            match
            for match in merge_matches(matches)
            if not any(first < match.end and match.start < last for first, last in placeholders)
            and not (match.kind == NAME and string.place.field in _FIELDS_ALLOWING_NAMES)
            and not self._allowed.covers(string.text, match.start, match.end)
        ]


def _make_finding(string: _LineString, match: Match, hidden: set[str]) -> Finding:
    code, title = _CODES_AND_TITLES[match.kind]
    field = _KEY_PATTERN.sub(lambda part: "*" if part[0] in hidden else part[0], string.place.field)
    place = f"{field} at column {match.start + 1} ({match.end - match.start} characters)"
    return Finding(code, f"{title} in {place}; scrub it before sharing", string.line, field=field)


def _unescape_json(raw: bytes) -> str:
    """A line as text, with what JSON writes in escapes as the characters they stand for."""
    text = raw.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2] or " ", text)
