"""The search for personal data, done once for all checks that report it, and for every door alike.

Whatever decides about a text sees the same strings, each alone, through the same detection as the
verification of a scrub, and counts one value where several overlap.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import ClassVar, NamedTuple

from datasets_app.domain.conversations.records import Finding, LabelRecord, LineError, TurnRecord
from datasets_app.domain.pii.allow import NOTHING_EXEMPT, AllowList
from datasets_app.domain.pii.detection import Detection, make_input, merge_values
from datasets_app.domain.pii.detector import CLASSES, HANDLE, NAME, PATTERN_KINDS, Match
from datasets_app.domain.pii.pieces import Piece, Place, Span, hide_keys, make_piece, visit_object, visit_turn
from datasets_app.domain.pii.placeholders import drop_placeholders
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.pseudonyms import build_placeholder_pattern
from datasets_app.domain.pii.session_ids import is_hashed_id
from datasets_app.domain.quality.base import Check
from datasets_app.domain.quality.kept_terms import NOTHING_KEPT, KeptTerms

SEARCH_BATCH_SIZE = 1_000
_PLACEHOLDERS = build_placeholder_pattern(Policy().labels)
# Those who label are known to those who keep the file, and a persona isn't a person.
_FIELDS_ALLOWING_NAMES = frozenset({"persona_id", "annotator", "labeler"})

SearchedRecord = TurnRecord | LabelRecord


class NameOptions(NamedTuple):
    """What makes a check for names: name models, and what they find that isn't a person."""

    models: tuple[str, ...] = ()
    kept: KeptTerms = NOTHING_KEPT


class SearchTask(NamedTuple):
    """``session`` is that of the record before. With ``names`` names of people are searched for; values in
    ``exempt`` are none."""

    session: str | None
    records: list[SearchedRecord]
    names: NameOptions | None
    exempt: AllowList


# What was found in each record of each task.
SearchBatches = Callable[[Iterable[SearchTask]], Iterator[list[list[Finding]]]]


class PersonalDataCheck(Check):
    """A check for one class of personal data. ``kind`` is the class, as in ``pii.detector``."""

    kind: ClassVar[str]
    options: ClassVar[NameOptions] = NameOptions()

    def drop_kept(self, text: str, match: Match) -> Iterable[Match]:
        """The parts of a value that aren't terms to keep."""
        return (match,)


PERSONAL_DATA_CHECKS: tuple[type[PersonalDataCheck], ...] = tuple(
    type(f"Find{item.kind}", (PersonalDataCheck,), {"code": item.code, "title": item.noun, "kind": item.kind})
    for item in sorted(CLASSES, key=lambda item: item.code)
    if item.kind != NAME
)


class SearchedString(NamedTuple):
    """A string, and the record that it is of."""

    place: Place
    text: str
    line: int = 0
    session_id: str | None = None
    turn_index: int | None = None


class PersonalDataSearch:
    """Searches every string of a record and hands each value to the check of its class.

    Findings name the class, place and length of a value, never the value. Values in ``exempt`` are none.
    """

    def __init__(self, checks: Iterable[PersonalDataCheck], exempt: AllowList = NOTHING_EXEMPT) -> None:
        self.exempt, self._checks = exempt, {check.kind: check for check in checks}
        self.names = self._checks[NAME].options if NAME in self._checks else None
        kinds = (*PATTERN_KINDS, NAME) if self.names else PATTERN_KINDS
        names = self.names or NameOptions()
        self._detection = Detection(
            Policy(kinds=kinds, name_models=names.models, prefer=names.kept.prefer), b""
        )
        self._session: str | None = None

    def batch(self, task: SearchTask) -> list[list[Finding]]:
        """What is found in each record of a task."""
        self._session = task.session
        by_record = [self.list_strings(record) for record in task.records]
        found = iter(self.find([string for strings in by_record for string in strings]))
        return [[finding for _ in strings for finding in next(found)] for strings in by_record]

    def list_strings(self, record: SearchedRecord) -> list[SearchedString]:
        """Every string of a record. The id of a session is on all of its records, but is one thing to fix."""
        strings: list[SearchedString] = []
        place = (record.line, record.session_id, record.turn_index)

        def collect(where: Place, text: str) -> str:
            strings.append(SearchedString(where, text, *place))
            return text

        if isinstance(record, TurnRecord):
            visit_turn(record, collect)
        else:
            fields = ("text", "persona_id", "annotator", "notes")
            said = {field: getattr(record, field) for field in fields} | (record.extra or {})
            if record.answer:
                said["value"] = record.answer.value
            visit_object(said, "", collect)
        if record.session_id is not None and record.session_id != self._session:
            self._session = record.session_id
            collect(Place("session_id"), record.session_id)
        return strings

    def find(self, strings: Sequence[SearchedString]) -> list[list[Finding]]:
        """What is found in each of the strings."""
        pieces = [_make_piece(item) for item in strings]
        inputs = [make_input(piece.place, piece.get_view(), piece.is_prose) for piece in pieces]
        by_string = [
            list(piece.map_matches(self._select(piece, [*found, *self._match_by_key(piece)])))
            for piece, found in zip(pieces, self._detection.find_many(inputs), strict=True)
        ]
        # Paths of findings must not show a key that is personal itself.
        hidden = {
            item.text for item, found in zip(strings, by_string, strict=True) if item.place.is_key and found
        }
        return [
            [self._make_finding(item, span, hidden) for span in found if span.kind in self._checks]
            for item, found in zip(strings, by_string, strict=True)
        ]

    def _match_by_key(self, piece: Piece) -> Iterator[Match]:
        """The whole value, if its key tells a class that is no name."""
        return (match for match in piece.match_by_key() if match.kind in self._checks and match.kind != NAME)

    def _select(self, piece: Piece, found: list[Match]) -> list[Match]:
        """The values among ``found``: without what is exempt, and names in fields for names."""
        text, place = piece.get_view(), piece.place
        return merge_values(
            part
            for match in drop_placeholders(found, text)
            if not (place.field in _FIELDS_ALLOWING_NAMES and match.kind in (NAME, HANDLE))
            and not self.exempt.covers(text, match.start, match.end)
            for part in (self._checks[NAME].drop_kept(text, match) if match.kind == NAME else (match,))
        )

    def _make_finding(self, item: SearchedString, span: Span, hidden: set[str]) -> Finding:
        check, field = self._checks[span.kind], hide_keys(item.place.field, hidden)
        place = f"{field} at column {span.start + 1} ({span.end - span.start} characters)"
        message = f"{check.title} in {place}; scrub it before sharing"
        return Finding(check.code, message, item.line, item.session_id, item.turn_index, field)


def _make_piece(item: SearchedString) -> Piece:
    session = item.session_id or ""
    return make_piece(item.place, item.text, _PLACEHOLDERS, session if is_hashed_id(session) else "")


def search_ahead(
    records: Iterable[SearchedRecord | LineError], search_batches: SearchBatches, search: PersonalDataSearch
) -> Iterator[tuple[SearchedRecord | LineError, list[Finding]]]:
    """The records in their order, each with what was found in it."""
    waiting: deque[list[SearchedRecord | LineError]] = deque()
    failure: Exception | None = None

    def make_tasks() -> Iterator[SearchTask]:
        nonlocal failure
        stream, session = iter(records), None
        while failure is None:
            batch: list[SearchedRecord | LineError] = []
            try:
                batch.extend(islice(stream, SEARCH_BATCH_SIZE))
            except Exception as error:
                # Raised where the records end, behind what was found in those before.
                failure = error
            if not batch:
                return
            waiting.append(batch)
            searched = [record for record in batch if not isinstance(record, LineError)]
            yield SearchTask(session, searched, search.names, search.exempt)
            session = searched[-1].session_id if searched else session

    for results in search_batches(make_tasks()):
        found = iter(results)
        for record in waiting.popleft():
            yield record, [] if isinstance(record, LineError) else next(found)
    if failure is not None:
        raise failure
