"""What a model has written so far, beside the file it is for: nothing that is finished is paid for twice.

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

from datasets_app.core.errors import Refused
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.budget import TokensUsed
from datasets_app.domain.generation.model_turns import as_turns
from datasets_app.domain.generation.plan import Plan
from datasets_app.domain.generation.writer import Written

KIND, VERSION = "sessions written by a model", 1


def journal_path(out: Path) -> Path:
    return out.with_name(f"{out.name}.journal")


class Journal:
    """Opened for one run at a time; to be closed. ``used`` are the tokens of all runs it is of."""

    def __init__(self, path: Path, plan: Plan, made_by: str, *, resume: bool) -> None:
        """``made_by`` is :func:`shape_of` the writer. Raises :class:`Refused`, and OSError."""
        self.path, self._plan, self._made_by = path, plan, made_by
        self.used = TokensUsed()
        self.failures: dict[int, str] = {}
        # Where the line of each session begins; 0, where the first line is, for one not finished.
        self._places = array("q", bytes(8 * len(plan)))
        self.finished = 0
        self._unsynced = False
        self._file = _locked(path)
        try:
            self._begin(resume)
        except BaseException:
            self._file.close()
            raise

    # --- writing -------------------------------------------------------------------------------

    def add(self, written: Written, used: TokensUsed) -> None:
        """Put down what became of a session; for good with the next :meth:`sync`."""
        number = written.planned.number
        line: dict[str, Any] = {"n": number}
        if written.failure is None:
            line["texts"] = [turn.text for turn in written.turns]
        else:
            line["failed"] = written.failure
        line["used"] = asdict(used)
        self._take(number, line, self._append(line))

    def sync(self, used: TokensUsed) -> None:
        """Have all of it on the disk, with what was used meanwhile: a session not finished costs as well.

        Between the answers of a writer, as its ``while_waiting``: once for all that came in together.
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
        if self._unsynced:
            os.fsync(self._file.fileno())
            self._unsynced = False

    @property
    def is_of_use(self) -> bool:
        """Whether there is anything in it: sessions, or what calls have cost."""
        return bool(self.finished or self.used.total)

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)

    def _append(self, line: dict[str, Any]) -> int:
        place = self._file.seek(0, os.SEEK_END)
        self._file.write(json.dumps(line, ensure_ascii=True).encode() + b"\n")
        self._file.flush()
        self._unsynced = True
        return place

    def _take(self, number: int, line: dict[str, Any], place: int) -> None:
        self.used = TokensUsed(**line["used"])
        if "texts" in line:
            self.finished += not self._places[number]
            self._places[number] = place
            self.failures.pop(number, None)
        else:
            self.failures[number] = line["failed"]

    # --- reading -------------------------------------------------------------------------------

    def is_finished(self, number: int) -> bool:
        return bool(self._places[number])

    def sessions(self) -> Iterator[list[TurnRecord]]:
        """The finished ones, in the order of the plan."""
        for number, place in enumerate(self._places):
            if place:
                self._file.seek(place)
                yield as_turns(self._plan[number], json.loads(self._file.readline())["texts"])

    def _begin(self, resume: bool) -> None:
        head = self._file.readline()
        if not head.endswith(b"\n") or self._holds_nothing(head):
            self._file.truncate(0)
            self._append(self._head())
            self._sync()
            return
        self._refuse_others(_object(head))
        self._read()
        if not resume and (self.finished or self.used.calls):
            raise Refused(
                f"{self.path.name} holds {self.finished:,} finished sessions of an earlier run, which may "
                "have been paid for. Go on with --resume, or delete it."
            )

    def _holds_nothing(self, head: bytes) -> bool:
        """Whether it is the journal of a run that has ended before it began."""
        value = _object(head)
        place = self._file.tell()
        nothing = value is not None and value.get("journal") == KIND and not self._file.readline()
        self._file.seek(place)
        return nothing

    def _head(self) -> dict[str, Any]:
        return {
            "journal": KIND,
            "version": VERSION,
            "plan": self._plan.digest,
            "sessions": len(self._plan),
            "made_by": self._made_by,
        }

    def _refuse_others(self, head: dict[str, Any] | None) -> None:
        if head is None or head.get("journal") != KIND or head.get("version") != VERSION:
            raise Refused(f"{self.path.name} is no journal of generated sessions; move it out of the way.")
        if head.get("made_by") != self._made_by:
            raise Refused(
                f"{self.path.name} is of sessions written by another model, version, temperature or prompt. "
                "Go on with the same ones, or delete it and begin anew."
            )
        if head.get("plan") != self._plan.digest:
            raise Refused(
                f"{self.path.name} is of another plan: sessions, turns, ratios, seed, persona or source "
                "differ. Go on with the same ones, or delete it and begin anew."
            )

    def _read(self) -> None:
        """All lines; what a killed process has left of its last one is cut off."""
        place = self._file.tell()
        for number, raw in enumerate(self._file, 2):
            line = _object(raw) if raw.endswith(b"\n") else None
            if line is None or not self._fits(line):
                if self._file.readline():
                    raise Refused(
                        f"Line {number} of {self.path.name} can't be read. Restore the file, or delete it."
                    )
                self._file.truncate(place)
                return
            if "n" in line:
                self._take(line["n"], line, place)
            else:
                self.used = TokensUsed(**line["used"])
            place += len(raw)

    def _fits(self, line: dict[str, Any]) -> bool:
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
        whole = isinstance(texts, list) and len(texts) == self._plan[number].turns
        return whole and all(isinstance(text, str) for text in texts)


def _locked(path: Path) -> IO[bytes]:
    """The file, made if need be, and held until it is closed or the process ends."""
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise Refused(f"Another command is at work on {path.name}; wait for it, or stop it.") from None
    return file


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
