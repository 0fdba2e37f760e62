"""Invalid lines of a file that is taken as a whole or not at all."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.quality.e202_repeated_turns import refuse_repeated
from datasets_app.domain.quality.survey import MAX_PROBLEMS_LISTED
from datasets_app.domain.wording import format_count

Record = TypeVar("Record")


class LineProblems:
    """The first hundred invalid lines and how many there are; ``outcome`` ends the error's sentence."""

    def __init__(self, outcome: str) -> None:
        self.outcome = outcome
        self.listed: list[dict[str, Any]] = []
        self.total = 0

    def add(self, file_name: str, error: LineError) -> None:
        self.total += 1
        if self.total <= MAX_PROBLEMS_LISTED:
            self.listed.append({"file": file_name, **error._asdict()})

    def skip(self, file_name: str, lines: Iterable[Record | LineError]) -> Iterator[Record]:
        """The valid lines up to the first invalid one; the rest is only searched for more problems."""
        for line in lines:
            if isinstance(line, LineError):
                self.add(file_name, line)
            elif not self.total:
                yield line

    def raise_if_any(self, file_name: str = "") -> None:
        """Raises UserError whose details list the problems."""
        if self.total:
            prefix = f"{file_name}: " if file_name else ""
            raise UserError(
                f"{prefix}{format_count(self.total, 'invalid line')}; {self.outcome}.",
                {"problems": self.listed, "problem_total": self.total},
            )


class FilePasses:
    """Reads the turns of a file up to ``passes`` times, with progress over all of them. Raises UserError for
    a line that isn't a turn."""

    def __init__(self, file: ConversationFile, passes: int, report_progress: ProgressCallback) -> None:
        self._file, self._total, self._report = file, passes * file.bytes_total, report_progress
        self._before = -file.bytes_total

    def turns(self) -> Iterator[TurnRecord]:
        self._before += self._file.bytes_total
        before = self._before
        turns = self._file.turns(lambda done: self._report(before + done, self._total))
        return require_turns(self._file.name, turns)


def require_turns(name: str, lines: Iterable[TurnRecord | LineError]) -> Iterator[TurnRecord]:
    """For what reads turns alone, of the file ``name``. Raises UserError at any other line."""
    for line in refuse_repeated(lines):
        if isinstance(line, LineError):
            raise UserError(f"{name}:{line.line}: {line.code} {line.message}; nothing was written.")
        yield line
