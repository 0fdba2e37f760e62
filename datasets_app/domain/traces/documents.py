"""A file → its JSON documents, one after the other, in bounded memory.

Lines of JSON, one document over many lines, several documents, server-sent events. The elements of an array
are documents of their own; an object too large to hold is handed out in pieces of the same shape.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import IO, Any, NamedTuple

import msgspec

from datasets_app.domain.conversations.jsonl import (
    InvalidRecord,
    describe_syntax,
    explain_syntax_error,
    refuse_repeated_keys,
)
from datasets_app.domain.conversations.lines import (
    BLOCK_BYTES,
    UTF8_BOM,
    Limits,
    UnreadableFile,
    read_numbered_lines,
)
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.values import decode_leniently, decode_text, replace_halves

# An object up to this size is decoded as a whole.
MAX_WHOLE_CHARACTERS = 8 << 20
MAX_DEPTH = 12
# What a large object is taken apart by: the lists that hold its records, and what they lie in.
_PIECES = frozenset(
    "resourceSpans resource_spans scopeSpans scope_spans instrumentationLibrarySpans batches spans data "
    "traces trace observations runs post patch conversations items results samples history tickets rows "
    "hits chats list sessions logs resourceLogs scopeLogs logRecords".split()
)
_NO_SPACE = re.compile(r"[^ \t\r\n,]")
_CUT_OBJECT = "the file ends in the middle of an object; transfer it again"

# Called with what is remarked, and the line or the document it is said of.
Noting = Callable[[str, int], object]

_decode_line = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def ignore(what: str, number: int) -> None:
    """For callers to whom remarks say nothing."""


class Document(NamedTuple):
    """``number`` is the line, or the position among the documents of the file, from 1."""

    number: int
    value: Any


def _review(value: Any, written: str | bytes, number: int, note: Noting) -> Any:
    """``value`` of document ``number`` as it can be stored. Notes what it lacks of what is ``written``."""
    try:
        encoded = _encode(value)
    except UnicodeEncodeError:
        note(reasons.HALF_CHARACTERS, number)
        value = replace_halves(value)
        encoded = _encode(value)
    # There is one colon for each key, and those within texts.
    colons = written.count(":") if isinstance(written, str) else written.count(b":")
    if encoded.count(b":") != colons:
        try:
            refuse_repeated_keys(written)
        except InvalidRecord:
            note(reasons.REPEATED_KEYS, number)
    return value


class _TooLarge(Exception):
    pass


class _Invalid(Exception):
    pass


def is_line_layout(head: bytes) -> bool:
    """Whether every line of a file that begins like this is a document of its own."""
    lines = [line for line in head.removeprefix(UTF8_BOM).split(b"\n", 12)[:12] if line.strip()]
    if lines[:1] and lines[0].strip() == b"[":  # one array, an element a line
        return False
    if len(lines) == 1:
        return lines[0].lstrip()[:1] == b"{" and _is_json(lines[0])
    return any(_is_json(line) for line in lines[:2])


def _is_json(line: bytes) -> bool:
    try:
        return type(_decode_line(line)) in (dict, list)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def read_line_documents(
    stream: IO[bytes], limits: Limits, on_block: Any = lambda: None, note: Noting = ignore
) -> Iterator[Document | LineError]:
    for item in read_numbered_lines(stream, limits, on_block=on_block):
        if isinstance(item, LineError):
            yield item
            continue
        number, raw = item
        for prefix in (b"data:", b"\x1e"):  # server-sent events, JSON text sequences
            raw = raw.removeprefix(prefix)
        if raw[:6] == b"event:" or raw.strip() == b"[DONE]" or raw[:1] == b":" or raw[:3] == b"id:":
            continue
        yield decode_document(number, raw, note)


def decode_document(number: int, raw: bytes, note: Noting = ignore) -> Document | LineError:
    try:
        return Document(number, _review(decode_leniently(raw), raw, number, note))
    except RecursionError:
        return LineError(number, "E101", "nested too deeply")
    except ValueError as error:
        return explain_syntax_error(raw, error).to_line_error(number, None)


def read_whole_documents(
    stream: IO[bytes], limits: Limits, on_block: Any = lambda: None, note: Noting = ignore
) -> Iterator[Document | LineError]:
    """The documents of a file of JSON; what can't be read ends it with a :class:`LineError`."""
    text = _Text(stream, limits, on_block, note)
    try:
        while text.peek():
            for value in _read_values(text, 0):
                yield Document(text.number, value)
                text.number += 1
    except _TooLarge:
        yield LineError(
            text.number,
            "E109",
            f"record is larger than {limits.line_bytes:,} characters; split the file, or raise "
            "ALIGNMENTER_MAX_LINE_BYTES",
        )
    except RecursionError:
        yield LineError(text.number, "E101", "nested too deeply")
    except UnicodeDecodeError:
        raise UnreadableFile("is not UTF-8; convert it: iconv -t UTF-8 IN > OUT") from None
    except _Invalid as error:
        yield LineError(text.number, "E101", str(error))


def _read_values(text: "_Text", depth: int) -> Iterator[Any]:
    """The elements of an array, or an object: whole, or in pieces."""
    if depth > MAX_DEPTH:
        raise _Invalid("nested too deeply")
    if text.peek() == "[":
        text.take()
        yield from _read_elements(text, depth)
        return
    try:
        value = text.decode(min(MAX_WHOLE_CHARACTERS, text.limit))
    except _TooLarge:
        yield from _read_pieces(text, depth)
    else:
        yield value


def _read_elements(text: "_Text", depth: int) -> Iterator[Any]:
    while (char := text.peek()) != "]":
        if not char:
            raise text.make_error("the file ends in the middle of a list; transfer it again")
        if char == "{":
            yield from _read_values(text, depth + 1)
        else:
            yield text.decode(text.limit)
    text.take()


def _read_pieces(text: "_Text", depth: int) -> Iterator[Any]:
    text.take()
    context: dict[str, Any] = {}
    found = False
    while (char := text.peek()) != "}":
        if char != '"':
            raise text.make_error("expecting a property name in double quotes" if char else _CUT_OBJECT)
        key = text.decode(text.limit)
        if text.peek() != ":":
            raise text.make_error("expecting ':' delimiter")
        text.take()
        kind = text.peek()
        if key in _PIECES and kind == "[":
            text.take()
            for value in _read_elements(text, depth):
                found = True
                yield {**context, key: [value]}
        elif key in _PIECES and kind == "{":
            for value in _read_values(text, depth + 1):
                found = True
                yield {**context, key: value}
        else:
            context[key] = text.decode(text.limit)
    text.take()
    if not found:
        yield context


class _Text:
    """A window over the text of a stream, of which values are decoded."""

    def __init__(self, stream: IO[bytes], limits: Limits, on_block: Any, note: Noting) -> None:
        self.stream, self.limits, self.on_block, self.note = stream, limits, on_block, note
        self.number = 1  # of the document that is read
        self.limit = limits.line_bytes
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.text, self.at, self.ended, self.total = "", 0, False, 0
        self.line, self.column = 1, 1  # where the window begins

    def peek(self) -> str:
        """The next character that is not white space or a comma; empty at the end."""
        while True:
            if found := _NO_SPACE.search(self.text, self.at):
                self.at = found.start()
                return found[0]
            self.at = len(self.text)
            if not self.fill(BLOCK_BYTES):
                return ""

    def take(self) -> None:
        self.at += 1

    def decode(self, limit: int) -> Any:
        """The value that begins here. Raises _TooLarge if it has more than ``limit`` characters."""
        wanted = BLOCK_BYTES
        self.peek()
        while True:
            try:
                value, end = decode_text(self.text, self.at)
            except json.JSONDecodeError as error:
                if self.ended or (error.pos < len(self.text) - 64 and "Unterminated" not in error.msg):
                    raise self._explain(error) from None
            except ValueError:  # infinite, or more digits than Python reads
                raise self.make_error("a number is too large") from None
            else:
                if end < len(self.text) or self.ended:
                    if end - self.at > limit:
                        raise _TooLarge
                    written, self.at = self.text[self.at : end], end
                    return _review(value, written, self.number, self.note)
            if len(self.text) - self.at > limit:
                raise _TooLarge
            self.fill(wanted)
            wanted *= 2

    def _explain(self, error: json.JSONDecodeError) -> _Invalid:
        if self.ended and (error.pos >= len(self.text.rstrip()) or "Unterminated" in error.msg):
            return self.make_error("the file ends in the middle of a record; transfer it again", error.pos)
        return self.make_error(describe_syntax(error.msg), error.pos)

    def make_error(self, problem: str, place: int | None = None) -> _Invalid:
        """With the line and the column of ``place`` in the window, or of where it is read now."""
        before = self.text[: self.at if place is None else place]
        line = self.line + before.count("\n")
        column = len(before) - before.rfind("\n") + (0 if "\n" in before else self.column - 1)
        problem, mark, remedy = problem.partition("; ")
        return _Invalid(f"not valid JSON: {problem} at line {line:,}, column {column:,}{mark}{remedy}")

    def fill(self, size: int) -> bool:
        if self.ended:
            return False
        block = self.stream.read(size)
        self.on_block()
        self.limits.on_step()
        self.total += len(block)
        if self.total > self.limits.unpacked_bytes:
            raise UnreadableFile(f"is larger than {self.limits.unpacked_bytes:,} bytes unpacked; split it")
        self.ended = not block
        passed = self.text[: self.at]
        self.line += passed.count("\n")
        self.column = len(passed) - passed.rfind("\n") + (0 if "\n" in passed else self.column - 1)
        self.text = self.text[self.at :] + self.decoder.decode(block, not block)
        self.at = 0
        return True


def peek_documents(documents: Iterator[Document | LineError], count: int) -> list[Document]:
    return [item for item in islice(documents, count) if isinstance(item, Document)]
