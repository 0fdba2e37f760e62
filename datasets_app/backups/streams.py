"""Encrypts what is written and decrypts what is read, a few kilobytes at a time.

pyrage copies from a reader to a writer, so a thread runs it at the other end of a pipe.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyrage

from datasets_app.catalog.files import DigestWriter
from datasets_app.core.errors import UserError

READ_BYTES = 1 << 20


class DigestSink(DigestWriter):
    """``error`` is why something could not be written."""

    error: Exception | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except Exception as error:  # pyrage would raise another one
            self.error = error
            raise

    def flush(self) -> None:
        self._out.flush()


class _Source:
    """``error`` is why it could not be read."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.error: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        try:
            return self._source.read(size)
        except Exception as error:  # pyrage would raise another one
            self.error = error
            raise


@contextmanager
def encrypt_to(out: DigestSink, recipients: list[Any]) -> Iterator[BinaryIO]:
    """What is written to the yielded file is written to ``out``, encrypted. Raises what ``out`` raises."""
    reading, writing = os.pipe()

    def encrypt() -> None:
        with open(reading, "rb") as source:
            pyrage.encrypt_io(source, out, recipients)

    failure: Exception | None = None
    with ThreadPoolExecutor(1) as pool:
        thread = pool.submit(encrypt)
        try:
            with open(writing, "wb", buffering=READ_BYTES) as sink:
                yield sink
        except BrokenPipeError as error:  # the thread has ended, and knows why
            failure = error
    if problem := out.error or thread.exception() or failure:
        raise problem


@contextmanager
def decrypt_from(source: BinaryIO, identities: list[Any]) -> Iterator[BinaryIO]:
    """What can be read from the yielded file is authentic; once the block has ended, it was also complete.

    Raises :class:`UserError` if no key fits, or if ``source`` was changed or cut off.
    """
    reading, writing = os.pipe()
    read = _Source(source)

    def decrypt() -> None:
        with open(writing, "wb", buffering=0) as sink:
            pyrage.decrypt_io(read, sink, identities)

    failure: Exception | None = None
    is_read = False
    with ThreadPoolExecutor(1) as pool, open(reading, "rb", buffering=READ_BYTES) as stream:
        thread = pool.submit(decrypt)
        try:
            yield stream
            while stream.read(READ_BYTES):  # only at its end it is known to be complete
                pass
            is_read = True
        except Exception as error:
            # What is wrong with the stream explains what was wrong with its content.
            failure = error
            is_read = not stream.closed and not stream.read(1)
    if is_read and (problem := read.error or thread.exception()):
        raise _explain(problem) from None
    if failure is not None:
        raise failure


def _explain(error: BaseException) -> UserError:
    text = str(error)
    if not isinstance(error, pyrage.DecryptError | OSError) or getattr(error, "errno", None):
        return UserError(f"The backup can't be read to its end ({type(error).__name__}). Try again.")
    if isinstance(error, pyrage.DecryptError) and "No matching keys" in text:
        return UserError("The key does not open this backup: it was encrypted for another one.")
    if isinstance(error, pyrage.DecryptError):
        return UserError("This is not a backup: it isn't encrypted as age does it.")
    return UserError("The backup was changed or cut off after it was written. Use another copy of it.")
