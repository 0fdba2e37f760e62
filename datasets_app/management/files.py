"""Files that commands read and write."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError

from datasets_app.command_line.streams import provide_local_file
from datasets_app.core.atomic_files import PRIVATE_MODE, write_atomically
from datasets_app.core.limits import configured_limits
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.traces.convert import ConvertOptions, Report
from datasets_app.domain.traces.converted_file import ConvertedFile, open_conversation_file
from datasets_app.domain.traces.describe import (
    describe_report,
    explain_missing_sessions,
    list_left_out_with_lines,
    list_warnings,
)
from datasets_app.domain.traces.records import UNKNOWN_ROLES
from datasets_app.domain.traces.sides import UnknownSender
from datasets_app.management.terminal import command_error

STDIN_NAME = "standard input"
MAX_SENDERS_LISTED = 50


@contextmanager
def open_conversations(
    file_name: str, *, format: str = "auto", reading: ConvertOptions = ConvertOptions(),  # noqa: B008
    tell: Callable[[str], object] | None = None,
) -> Iterator[ConversationFile]:  # fmt: skip
    """The conversations of a file of any format, or of standard input for ``-``. ``tell`` is called with
    what a
    conversion has made and left out."""
    name = STDIN_NAME if file_name == "-" else Path(file_name).name
    shown = STDIN_NAME if file_name == "-" else file_name
    with provide_local_file(file_name) as path:
        try:
            file = open_conversation_file(
                path, format=format, limits=configured_limits(), name=name, options=reading
            )
            file.scan()
            if isinstance(file, ConvertedFile):
                for line in describe_conversion(shown, file.report) if tell else ():
                    tell(line)  # type: ignore[misc]  # there are no lines without it
                if reason := explain_missing_sessions(file.report):
                    raise command_error(f"{shown}: {reason}")
            yield file
        except UnreadableFile as error:
            raise unreadable_error(shown, error) from None


def describe_conversion(name: str, report: Report) -> list[str]:
    """What became of a file, line by line, with the roles that nobody knows: for the person who reads it."""
    lines = [f"{name}: {describe_report(report)}"]
    lines += [f"  left out: {described}" for described in list_left_out_with_lines(report)]
    if unknown := report.left_out.get(UNKNOWN_ROLES):
        roles = ", ".join(
            f"{role} {count:,}" for role, count in unknown.kinds.most_common(MAX_SENDERS_LISTED)
        )
        lines.append(f"  unknown roles: {roles}. Say what each is: --map 'sender:ROLE=user'")
    return lines + [f"  warning: {warning}" for warning in list_warnings(report)]


def unreadable_error(name: str, error: UnreadableFile) -> CommandError:
    """With the senders there are, if nobody has the name that was given for the assistant."""
    senders = error.senders[:MAX_SENDERS_LISTED] if isinstance(error, UnknownSender) else []
    listed = f": {', '.join(senders)}" if senders else ""
    return command_error(f"{name}: {error}{listed}.")


def read_text(file_name: str) -> str:
    """The whole of a small UTF-8 file, or of standard input for ``-``; a byte-order mark stays."""
    try:
        raw = sys.stdin.buffer.read() if file_name == "-" else Path(file_name).read_bytes()
    except OSError as error:
        raise command_error(f"{file_name} can't be read: {error.strerror}.") from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise command_error(f"{file_name} is not UTF-8 (byte {error.start + 1}); convert it.") from None


@contextmanager
def open_output(file_name: str, stdout: Any, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A file to write. It appears under its name once it is complete; ``-`` is standard output. Only its
    owner may read a ``private`` one, also where it replaces another."""
    target = Path(file_name)
    if file_name == "-":
        yield _binary_stream(stdout)
        _binary_stream(stdout).flush()
    elif target.exists() and not target.is_file():
        # A device or a pipe is written to, not replaced.
        with _report_write_errors(file_name), target.open("wb") as file:
            yield file
    else:
        with _report_write_errors(file_name), write_atomically(target.resolve()) as file:
            yield file
            if private and target.exists():
                target.chmod(PRIVATE_MODE)  # the new file takes the old one's permissions


@contextmanager
def _report_write_errors(file_name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise command_error(f"{file_name} can't be written: {error.strerror or error}.") from None


def _binary_stream(stdout: Any) -> IO[bytes]:
    inner = getattr(stdout, "_out", stdout)
    return getattr(inner, "buffer", None) or _TextSink(inner)  # type: ignore[return-value]


class _TextSink:
    """For a caller that collects the output as text."""

    def __init__(self, out: Any) -> None:
        self.out = out

    def write(self, block: bytes) -> None:
        self.out.write(block.decode())

    def flush(self) -> None:
        self.out.flush()
