"""Files that commands read and write."""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from datasets_app.command_line import conversion
from datasets_app.command_line.streams import get_standard_output
from datasets_app.core.atomic_files import PRIVATE_MODE, write_atomically
from datasets_app.core.limits import configured_limits
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.metadata.metadata import metadata_path
from datasets_app.management.terminal import command_error


def open_conversations(file_name: str, **options: Any) -> AbstractContextManager[ConversationFile]:
    """Within the limits of the settings."""
    return conversion.open_conversations(file_name, limits=configured_limits(), **options)


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


def refuse_folder(file_name: str | None) -> None:
    if file_name not in (None, "-") and Path(file_name).is_dir():
        raise command_error(f"{file_name} is a directory; name a file in it.")


def check_target(file_name: str | None, *sources: str | None) -> None:
    """Refuse to write to a folder, into one that doesn't exist, or over a file that is read."""
    if file_name in (None, "-"):
        return
    refuse_folder(file_name)
    target = Path(file_name)
    if not target.resolve().parent.is_dir():
        raise command_error(f"{target} can't be written: the folder {target.parent} does not exist.")
    if any(source is not None and is_input_file(source, target) for source in sources):
        raise command_error(f"{target} is the input, which is never overwritten. Name another file.")


def check_metadata_target(file_name: str, source: str) -> None:
    """Refuse to write the metadata of a new file over that of the input, or over the input itself, whatever
    name or link leads to it."""
    metadata = metadata_path(Path(file_name))
    if source != "-" and is_same_file(metadata, metadata_path(Path(source))):
        raise command_error(
            f"Input and output would share the metadata file {metadata.name}. "
            "Give the output another name or folder."
        )
    if is_input_file(source, metadata):
        raise command_error(f"The metadata would overwrite the input {metadata}. Name another output.")


def is_input_file(source: str, path: Path) -> bool:
    """Whether ``source``, or standard input for ``-``, is read from the file at ``path``."""
    if source != "-":
        return is_same_file(Path(source), path)
    with suppress(OSError, AttributeError, ValueError):
        return os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat()) and path.is_file()
    return False


def is_same_file(first: Path, second: Path) -> bool:
    """Whether two names lead to one file: by links, another path, or on a case-insensitive file system."""
    with suppress(OSError):
        return first.samefile(second)
    return first.resolve() == second.resolve()


@contextmanager
def open_output(file_name: str, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A file to write. It appears under its name once it is complete; ``-`` is standard output. Only its
    owner may read a ``private`` one, also where it replaces another."""
    target = Path(file_name)
    if file_name == "-":
        yield get_standard_output()
        get_standard_output().flush()
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
