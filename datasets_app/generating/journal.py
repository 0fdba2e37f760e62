"""The journal of sessions that a model writes, beside the file they are for: none is paid for twice.

The first line says what the journal is of. Each further one is a session that is finished (its texts), or has
failed (why), with all tokens used until then. A line is with the system as soon as it is added, so that it
outlives this process, and on the disk before the next answer is waited for.
"""

import fcntl
import json
import os
from array import array
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any

from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.model_turns import build_turns
from datasets_app.domain.generation.plan import Plan
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls.budget import TokensUsed

_KIND, _VERSION = "sessions written by a model", 1


def journal_path(out: Path) -> Path:
    return out.with_name(f"{out.name}.journal")


class SessionJournal:
    """A :class:`SessionStore`, opened for one run at a time; to be closed. ``made_by`` is
    :func:`format_shape` of the writer, ``used`` are the tokens of all runs it is of."""

    def __init__(self, path: Path, plan: Plan, made_by: str, *, resume: bool) -> None:
        """Raises :class:`UserError`, and OSError."""
        self.path, self._plan, self._made_by = path, plan, made_by
        self.used = TokensUsed()
        self.failures: dict[int, str] = {}
        # Where the line of each session begins; 0, where the first line is, for one not finished.
        self._offsets = array("q", bytes(8 * len(plan)))
        self.finished = 0
        self._has_unsynced_lines = False
        self._file = _open_locked(path)
        try:
            self._load(resume)
        except BaseException:
            self._file.close()
            raise

    # --- writing -------------------------------------------------------------------------------

    def add(self, written: WrittenSession, used: TokensUsed) -> None:
        """Put down what became of a session; for good with the next :meth:`sync`."""
        number, failed = written.planned.number, {"failed": written.failure}
        outcome = failed if written.failure is not None else {"texts": [turn.text for turn in written.turns]}
        line = {"n": number, **outcome, "used": asdict(used)}
        self._apply_line(number, line, self._append(line))

    def sync(self, used: TokensUsed) -> None:
        """Have all of it on the disk, with what was used meanwhile: a session not finished costs as well.

        Called between answers: once for all that came in together.
        """
        if used != self.used:
            self._append({"used": asdict(used)})
            self.used = TokensUsed(**asdict(used))
        self._sync()

    def close(self) -> None:
        if not self._file.closed:
            self._sync()
            self._file.close()

    def _sync(self) -> None:
        if self._has_unsynced_lines:
            os.fsync(self._file.fileno())
            self._has_unsynced_lines = False

    @property
    def has_content(self) -> bool:
        """Whether there is anything in it: results, or what calls have cost."""
        return bool(self.finished or self.used.total)

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)

    def _append(self, line: dict[str, Any]) -> int:
        place = self._file.seek(0, os.SEEK_END)
        self._file.write(json.dumps(line, ensure_ascii=True).encode() + b"\n")
        self._file.flush()
        self._has_unsynced_lines = True
        return place

    def _apply_line(self, number: int, line: dict[str, Any], place: int) -> None:
        self.used = TokensUsed(**line["used"])
        if "texts" in line:
            self.finished += not self._offsets[number]
            self._offsets[number] = place
            self.failures.pop(number, None)
        else:
            self.failures[number] = line["failed"]

    # --- reading -------------------------------------------------------------------------------

    def is_finished(self, number: int) -> bool:
        return bool(self._offsets[number])

    def sessions(self) -> Iterator[list[TurnRecord]]:
        """The finished ones, in the order of the plan."""
        for number, place in enumerate(self._offsets):
            if place:
                self._file.seek(place)
                yield build_turns(self._plan[number], json.loads(self._file.readline())["texts"])

    def _load(self, resume: bool) -> None:
        head = self._file.readline()
        if not head.endswith(b"\n") or self._is_empty_journal(head):
            self._file.truncate(0)
            self._append(
                {
                    "journal": _KIND,
                    "version": _VERSION,
                    "plan": self._plan.digest,
                    "sessions": len(self._plan),
                    "made_by": self._made_by,
                }
            )
            self._sync()
            return
        self._refuse_other_journal(_parse_object(head))
        self._replay_lines()
        if not resume and (self.finished or self.used.calls):
            raise UserError(
                f"{self.path.name} holds {self.finished:,} finished sessions of an earlier run, "
                "which may have been paid for. Resume with --resume, or delete the file."
            )

    def _is_empty_journal(self, head: bytes) -> bool:
        """Whether it is the journal of a run that ended before its first session."""
        value = _parse_object(head)
        position = self._file.tell()
        is_empty = value is not None and value.get("journal") == _KIND and not self._file.readline()
        self._file.seek(position)
        return is_empty

    def _refuse_other_journal(self, head: dict[str, Any] | None) -> None:
        if head is None or head.get("journal") != _KIND or head.get("version") != _VERSION:
            raise UserError(f"{self.path.name} is not a journal of generated sessions. Move it elsewhere.")
        if head.get("made_by") != self._made_by:
            raise UserError(
                f"{self.path.name} holds sessions written by another model, version, temperature or "
                "prompt. Use the same ones to resume, or delete the file to start over."
            )
        if head.get("plan") != self._plan.digest:
            raise UserError(
                f"{self.path.name} is of another plan: sessions, turns, ratios, seed, persona or source "
                "differ. Use the same ones to resume, or delete the file to start over."
            )

    def _replay_lines(self) -> None:
        """All lines; what a killed process has left of its last one is cut off."""
        place = self._file.tell()
        for number, raw in enumerate(self._file, 2):
            line = _parse_object(raw) if raw.endswith(b"\n") else None
            if line is None or not self._is_valid_line(line):
                if self._file.readline():
                    raise UserError(
                        f"Line {number} of {self.path.name} can't be read. Restore the file, or delete it."
                    )
                self._file.truncate(place)
                return
            if "n" in line:
                self._apply_line(line["n"], line, place)
            else:
                self.used = TokensUsed(**line["used"])
            place += len(raw)

    def _is_valid_line(self, line: dict[str, Any]) -> bool:
        used = line.get("used")
        if not isinstance(used, dict) or used.keys() != {item.name for item in fields(TokensUsed)}:
            return False
        if any(type(count) is not int or count < 0 for count in used.values()):
            return False
        if "n" not in line:
            return True
        number, texts = line["n"], line.get("texts")
        if type(number) is not int or not 0 <= number < len(self._plan):
            return False
        if texts is None:
            return isinstance(line.get("failed"), str)
        whole = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        return whole and len(texts) == self._plan[number].turns


def _open_locked(path: Path) -> IO[bytes]:
    """The file, made if need be, and held until it is closed or the process ends."""
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UserError(f"Another command is at work on {path.name}; wait for it, or stop it.") from None
    return file


def _parse_object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
