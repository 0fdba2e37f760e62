"""Reads a file of review tasks, line by line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations_app.domain.review import InvalidTask, read_task
from datasets_app.core.errors import UserError
from datasets_app.domain.wording import format_count


def read_tasks(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(line, task). Raises UserError for the first line that is no task, and for a file without any."""
    found = False
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    found = True
                    yield line, _read_line(path, number, line)
    except OSError as error:
        raise UserError(f"{path.name} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UserError(f"{path.name} is not UTF-8 text.") from None
    if not found:
        raise UserError(f"{path.name} holds no review tasks.")


def describe_repeated(lines: int) -> str:
    return f"Counted once: {format_count(lines, 'line')} with a task that the file has before."


def _read_line(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        return read_task(line)
    except InvalidTask as error:
        raise UserError(f"{path.name}, line {number:,}: it {error}.") from None
