"""The search for personal data, done once for all checks that report it."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar

from datasets_app.domain.conversations.records import Finding, LabelRecord, LineError, TurnRecord
from datasets_app.domain.pii.allow import NOTHING_EXEMPT, AllowList
from datasets_app.domain.pii.detection import ValueFinder
from datasets_app.domain.pii.detector import ID_NUMBER, Match
from datasets_app.domain.pii.keys import get_kind_by_key
from datasets_app.domain.pii.pieces import is_searched_number, join_path, write_number
from datasets_app.domain.pii.rules.assignments import is_secret_key
from datasets_app.domain.pii.rules.finder import find_quickly
from datasets_app.domain.pii.session_ids import blank_hashed_id
from datasets_app.domain.quality.base import Check

# Tags, keys, model names: the same few strings on line after line, remembered once found clean.
MAX_CLEAN_STRINGS = 20_000
MAX_CLEAN_CHARACTERS = 100
# Between the words before a string and the string itself; no stored string holds it.
_AFTER_PREFIX = "\0"

# Fields in which people write sentences.
_WRITTEN = frozenset({"text", "notes"})

SearchedString = tuple[str, str, str]  # field, the words before it that say what it is, text
Find = Callable[[str], list[Match]]
# The session before, and turns; what was found in each of them.
SearchTask = tuple[str | None, list[TurnRecord]]
SearchBatches = Callable[[Iterable[SearchTask]], Iterator[list[list[Finding] | None]]]
SEARCH_BATCH_SIZE = 1_000


class PersonalDataCheck(Check):
    """A check for one class of personal data. ``kind`` is the class, as in ``pii.detector``."""

    kind: ClassVar[str]


class PersonalDataSearch:
    """Searches every string of a record and hands each value to the check of its class.

    Findings name the class, place and length of a value, never the value. Values in ``exempt`` are none.
    ``find`` finds by rules in a string; in what people wrote the network finds more.
    """

    def __init__(
        self,
        checks: Iterable[PersonalDataCheck],
        exempt: AllowList = NOTHING_EXEMPT,
        find: Find = find_quickly,
    ) -> None:
        self._exempt, self._find_by_rules = exempt, find
        self._values = ValueFinder(find)
        self._checks = {check.kind: check for check in checks}
        self._clean: set[str] = set()
        self._session: str | None = None

    def turn(self, turn: TurnRecord) -> list[Finding] | None:
        session_id, _, _, text, tags, persona_id, _, metadata, extra, _ = turn
        clean = self._clean
        matches = self._find(turn, text, self._values.find)
        found = list(self._findings(turn, "text", text, matches)) if matches else []
        if tags and not clean.issuperset(tags):
            for tag in tags:
                found += self._search(turn, ("tags", "", tag))
        if session_id != self._session:
            # The id is on every line of the session, but is one thing to fix.
            self._session = session_id
            found += self._search(turn, ("session_id", "", session_id))
        if persona_id is not None and persona_id not in clean:
            found += self._search(turn, ("persona_id", "", persona_id))
        if metadata:
            found += self._search_object(turn, metadata, "metadata")
        if extra:
            found += self._search_object(turn, extra, "")
        return found or None

    def batch(self, task: SearchTask) -> list[list[Finding] | None]:
        """What :meth:`turn` returns for each turn of a task."""
        self._session, turns = task
        self._values.prepare(turn.text for turn in turns)
        return list(map(self.turn, turns))

    def label(self, record: LabelRecord) -> list[Finding] | None:
        found: list[Finding] = []
        for field in ("text", "session_id", "persona_id", "annotator", "notes"):
            value = getattr(record, field)
            if value and value not in self._clean:
                found += self._search(record, (field, "", value))
        if record.extra:
            found += self._search_object(record, record.extra, "")
        return found or None

    def _search_object(
        self, record: TurnRecord | LabelRecord, value: dict[str, Any], field: str
    ) -> Iterable[Finding]:
        if self._is_known_clean(value):
            return ()
        return (
            finding
            for where in iterate_strings(value, field, self._clean)
            for finding in self._search(record, where)
        )

    def _is_known_clean(self, value: dict[str, Any]) -> bool:
        """Whether a flat object has nothing new in it: a quick test that most metadata passes."""
        clean = self._clean
        for key, item in value.items():
            kind = type(item)
            if key not in clean:
                return False
            if kind is str:
                if item not in clean or _build_key_prefix(key, item):
                    return False
            elif kind is dict or kind is list or is_searched_number(item):
                return False
        return True

    def _search(self, record: TurnRecord | LabelRecord, where: SearchedString) -> Iterator[Finding]:
        field, prefix, text = where
        matches = self._find(record, text, self._values.find if field in _WRITTEN else self._find_by_rules)
        if not matches and prefix:
            # {"phone": "5551234567"}: the key says what the bare number is.
            matches = [
                Match(kind, start - len(prefix), end - len(prefix))
                for kind, start, end, _ in self._find(record, prefix + text, self._find_by_rules)
                if start >= len(prefix)
            ]
        if matches:
            yield from self._findings(record, field, text, matches)
        elif len(text) <= MAX_CLEAN_CHARACTERS and len(self._clean) < MAX_CLEAN_STRINGS:
            self._clean.add(_make_clean_key(prefix, text))

    def _find(self, record: TurnRecord | LabelRecord, text: str, find: Find) -> list[Match]:
        """The values in a text of a record; the hashed id of its session is none."""
        matches = find(text)
        session_id = record.session_id
        if not matches or session_id is None or session_id not in text:
            return matches
        blanked = blank_hashed_id(session_id, text)
        return matches if blanked is text else find(blanked)

    def _findings(
        self, record: TurnRecord | LabelRecord, field: str, text: str, matches: Iterable[Match]
    ) -> Iterator[Finding]:
        for kind, start, end, _ in matches:
            check = self._checks.get(kind)
            if check is None or self._exempt.covers(text, start, end):
                continue
            length = end - start
            yield Finding(
                check.code,
                f"{check.title} in {field} at column {start + 1} ({length} characters); "
                "scrub it before sharing",
                record.line,
                record.session_id,
                record.turn_index,
                field,
            )


def search_ahead(
    records: Iterable[TurnRecord | LineError], search_batches: SearchBatches
) -> Iterator[tuple[TurnRecord | LineError, list[Finding] | None]]:
    """The records in their order, each turn with what was found in it."""
    waiting: deque[list[TurnRecord | LineError]] = deque()
    failure: Exception | None = None

    def make_tasks() -> Iterator[SearchTask]:
        nonlocal failure
        stream, session = iter(records), None
        while failure is None:
            batch: list[TurnRecord | LineError] = []
            try:
                batch.extend(islice(stream, SEARCH_BATCH_SIZE))
            except Exception as error:
                # Raised where the records end, behind what was found in those before.
                failure = error
            if not batch:
                return
            waiting.append(batch)
            turns = [record for record in batch if isinstance(record, TurnRecord)]
            yield session, turns
            session = turns[-1].session_id if turns else session

    for results in search_batches(make_tasks()):
        found = iter(results)
        for record in waiting.popleft():
            yield record, next(found) if isinstance(record, TurnRecord) else None
    if failure is not None:
        raise failure


def iterate_strings(value: Any, field: str, clean: set[str], key: str = "") -> Iterator[SearchedString]:
    """Every string (and long number) in a JSON value, keys as well, that is not in ``clean``. ``key`` is the
    last one on the way to ``value``."""
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if key not in clean:
                yield f"a key of {field}" if field else "a key", "", key
            if type(item) in _SEARCHED_TYPES:
                yield from iterate_strings(item, join_path(field, key), clean, key)
    elif kind is list:
        for place, item in enumerate(value):
            if type(item) in _SEARCHED_TYPES:
                yield from iterate_strings(item, f"{field}[{place}]", clean, key)
    else:
        if kind is not str:
            if not is_searched_number(value):
                return
            value = write_number(value)
        prefix = _build_key_prefix(key, value)
        if _make_clean_key(prefix, value) not in clean:
            yield field, prefix, value


_SEARCHED_TYPES = frozenset({str, dict, list, int, float})


def _make_clean_key(prefix: str, text: str) -> str:
    """What is remembered of a string: clean in one place, it may be a secret behind other words."""
    return f"{prefix}{_AFTER_PREFIX}{text}" if prefix else text


def _build_key_prefix(key: str, text: str) -> str:
    """Only bare numbers, codes and secrets need the word before them to be told apart."""
    if (
        key
        and len(text) <= MAX_CLEAN_CHARACTERS
        and (text[:1].isdigit() or is_secret_key(key) or get_kind_by_key(key, text) == ID_NUMBER)
    ):
        return f"{key.replace('_', ' ')}: "
    return ""
