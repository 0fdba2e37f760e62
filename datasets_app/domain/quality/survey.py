"""A look over a whole file before anything of it is saved: what is sound, what is not, and why."""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO

import msgspec

from datasets_app.domain.conversations.records import Finding, LineError, SessionRecord, TurnRecord
from datasets_app.domain.quality.checks import INTEGRITY_CHECKS
from datasets_app.domain.quality.runner import run_checks

MAX_PROBLEMS_LISTED = 100

_encode = msgspec.json.Encoder().encode
_decode_session = msgspec.json.Decoder(SessionRecord).decode


@dataclass
class Problems:
    """The first hundred problems, how many there are, and what they touch."""

    listed: list[Finding] = field(default_factory=list)
    total: int = 0
    sessions: set[str] = field(default_factory=set)
    lines: set[int] = field(default_factory=set)

    def add(self, finding: Finding) -> None:
        self.total += 1
        if len(self.listed) < MAX_PROBLEMS_LISTED:
            self.listed.append(finding)
        if finding.session_id is not None:
            self.sessions.add(finding.session_id)
        if finding.line:
            self.lines.add(finding.line)


class Survey:
    """What a file holds. The sessions are kept in a temporary file, not in memory."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.turn_count = 0
        self.session_count = 0
        self._spool: IO[bytes] = tempfile.TemporaryFile(prefix="alignmenter-survey-")  # noqa: SIM115

    def add(self, session: SessionRecord) -> None:
        self.session_count += 1
        self._spool.write(_encode(session) + b"\n")

    def sessions(self) -> Iterator[SessionRecord]:
        """The sessions without a problem, in the order of the file."""
        self._spool.seek(0)
        for line in self._spool:
            session = _decode_session(line)
            if session.session_id not in self.problems.sessions:
                yield session

    def close(self) -> None:
        self._spool.close()


def survey_records(records: Iterable[TurnRecord | LineError]) -> Survey:
    """Read all of ``records`` (sessions in one piece) and report on them; saves nothing."""
    result = Survey()
    for finding in run_checks(_collect_sessions(records, result), INTEGRITY_CHECKS):
        result.problems.add(finding)
    return result


def _collect_sessions(
    records: Iterable[TurnRecord | LineError], result: Survey
) -> Iterator[TurnRecord | LineError]:
    session_id: str | None = None
    persona_id: str | None = None
    count = line = 0
    for record in records:
        yield record
        if type(record) is not TurnRecord:
            continue
        if record.session_id != session_id:
            if session_id is not None:
                result.add(SessionRecord(session_id, persona_id, count, line))
            session_id, persona_id, count, line = record.session_id, None, 0, record.line
        count += 1
        result.turn_count += 1
        if persona_id is None:
            persona_id = record.persona_id
    if session_id is not None:
        result.add(SessionRecord(session_id, persona_id, count, line))


def renumber_turns(records: Iterable[TurnRecord | LineError]) -> Iterator[TurnRecord | LineError]:
    """Count the turns of every session 1, 2, 3 … in their order.

    Two turns of one index keep one index: which of them is right is not for us to say.
    """
    session_id: str | None = None
    given = index = 0
    for record in records:
        if type(record) is TurnRecord:
            if record.session_id != session_id:
                session_id, given, index = record.session_id, record.turn_index, 1
            elif record.turn_index != given:
                given, index = record.turn_index, index + 1
            record = record._replace(turn_index=index)
        yield record
