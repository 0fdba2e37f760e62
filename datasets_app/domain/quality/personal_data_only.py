"""Finds personal data in any JSONL file, for git hooks.

Every string and key is searched, whether lines are turns, labels, chats or those of other programs. A line
that isn't a valid JSON object is searched as plain text.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object, parse_turn, unescape_json
from datasets_app.domain.conversations.lines import (
    DEFAULT_LIMITS,
    Limits,
    OnBytes,
    UnreadableFile,
    read_lines,
)
from datasets_app.domain.conversations.records import Finding, LineError, TurnRecord
from datasets_app.domain.pii.allow import AllowList
from datasets_app.domain.pii.pieces import Place, visit_object
from datasets_app.domain.quality.kept_terms import NOTHING_KEPT, KeptTerms
from datasets_app.domain.quality.personal_data import PERSONAL_DATA_CHECKS, PersonalDataSearch, SearchedString
from datasets_app.domain.quality.runner import make_line_error_finding
from datasets_app.domain.quality.w406_names import make_names_check

# Many texts at once take the models a fifth of the time of one after the other.
LINES_PER_BATCH = 500


class PersonalDataScan:
    """A file to search. ``allow`` are values to ignore, as is what its metadata has ``kept``; without
    ``name_models`` names of people are not searched for. Raises an error of the name model if that can't be
    used."""

    def __init__(
        self,
        path: Path,
        *,
        allow: Iterable[str] = (),
        kept: KeptTerms = NOTHING_KEPT,
        name_models: Sequence[str] = ("builtin",),
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        names = (make_names_check(name_models, kept),) if name_models else ()
        checks = [check() for check in (*PERSONAL_DATA_CHECKS, *names)]
        self._search = PersonalDataSearch(checks, AllowList((*allow, *kept.values)))
        self.path, self.limits = path, limits
        self._session: str | None = None

    def findings(self, on_bytes: OnBytes | None = None) -> Iterator[Finding]:
        """Yield findings some hundred lines after they were read. An unreadable line is one too, as nobody
        knows what is in it."""
        pending: list[SearchedString] = []
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

    def _read_strings(self, line: int, raw: bytes) -> list[SearchedString]:
        """The strings of a line; a session's id, which all its lines repeat, only once."""
        try:
            value = decode_object(raw)
        except InvalidRecord:
            # It may be cut off, or have a key twice of which a parser would hide one.
            return [SearchedString(Place("the line"), unescape_json(raw.decode("utf-8", "replace")), line)]
        turn = parse_turn(line, raw)
        if isinstance(turn, TurnRecord):
            return self._search.list_strings(turn)
        strings: list[SearchedString] = []
        session_id = value.pop("session_id") if isinstance(value.get("session_id"), str) else None

        def collect(place: Place, text: str) -> str:
            strings.append(SearchedString(place, text, line, session_id))
            return text

        if session_id is not None:
            if session_id != self._session:
                # Without its key, which would say that anything under it is a secret.
                collect(Place("session_id"), session_id)
            self._session = session_id
        visit_object(value, "", collect)
        return strings

    def _find_in_strings(self, strings: list[SearchedString]) -> Iterator[Finding]:
        for findings in self._search.find(strings):
            for finding in findings:
                yield finding._replace(session_id=None, turn_index=None)
