"""Texts behind the escapes of HTML, JSON, URLs and mail, and in base64 or hexadecimal digits.

Linear in the length of the text, as all rules are.
"""

import re
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterator
from html import unescape
from itertools import repeat
from typing import NamedTuple
from urllib.parse import unquote

# Escapes within escapes: JSON in a URL in JSON.
MAX_DEPTH = 3
MAX_ENCODED_CHARACTERS = 1 << 20
MIN_CODED_CHARACTERS = 16

_ESCAPE = re.compile(
    r"(?P<html>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});)"
    r"|\\{1,8}(?:u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\{1,8}u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<four>[0-9a-fA-F]{4})|u\{(?P<braced>[0-9a-fA-F]{1,5})\}|x(?P<two>[0-9a-fA-F]{2})"
    r"|(?P<octal>[01][0-7]{2})(?!\d))"
    r"|(?P<url>(?:%[0-9a-fA-F]{2})+)"
    r"|(?P<mail>=(?:40|2E|2B|5F)|=\r?\n)"
    # Marks within a value, which a page doesn't show; and dots that keep an address from being a link.
    r"|(?P<mark></?(?:b|i|u|em|strong|span|wbr|font|mark|code)\b[^<>]{0,100}>|<!--[^<>]{0,100}-->)"
    r"|(?P<dot>\[\.\]|\(\.\))"
)
_MAY_BE_ESCAPED = re.compile(rb"&[#A-Za-z]|\\[ux\\01]|%[0-9a-fA-F]{2}|=(?:40|\r?\n)|<[/!a-z]|[\[(]\.[\])]")
_CODED = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:"
    r"(?:\\x|0x)?(?P<hex>(?:[0-9a-f]{2}){10,}|(?:[0-9A-F]{2}){10,})(?![A-Za-z0-9+/_=-])"
    r"|(?:[A-Za-z0-9+/]{16,76}\r?\n){1,2000}[A-Za-z0-9+/]+={0,2}"
    r"|[A-Za-z0-9+/_-]{16,}={0,2})"
)
_MAY_BE_CODED = re.compile(rb"[A-Za-z0-9+/_-]{16}")
# In a value of several lines, or behind the folders of an address, one that stands alone.
_PIECE = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_URL_SAFE = str.maketrans("-_", "+/")


class Decoded(NamedTuple):
    """``text`` is what a text says; its character ``i`` stands at ``starts[i]`` to ``ends[i]`` of it."""

    text: str
    starts: "array[int]"
    ends: "array[int]"

    def locate(self, start: int, end: int) -> tuple[int, int] | None:
        """Where a part of ``text`` stands; None if no escape is in it or beside it."""
        before, behind = max(0, start - 1), min(len(self.text), end + 1)
        if self.ends[behind - 1] - self.starts[before] == behind - before:
            return None
        return self.starts[start], self.ends[end - 1]


def decode_escapes(text: str, encoded: bytes) -> Decoded | None:
    """The text without its escapes; None if it has none. ``encoded`` is the text in UTF-8."""
    if not _MAY_BE_ESCAPED.search(encoded):
        return None
    parts: list[str] = []
    starts, ends = array("I"), array("I")
    at = 0
    for match in _ESCAPE.finditer(text):
        said = _read_escape(match)
        if said is None:
            continue
        parts += (text[at : match.start()], said)
        starts.extend(range(at, match.start()))
        ends.extend(range(at + 1, match.start() + 1))
        starts.extend(repeat(match.start(), len(said)))
        ends.extend(repeat(match.end(), len(said)))
        at = match.end()
    if not parts:
        return None
    starts.extend(range(at, len(text)))
    ends.extend(range(at + 1, len(text) + 1))
    return Decoded("".join((*parts, text[at:])), starts, ends)


def _read_escape(match: re.Match[str]) -> str | None:
    """What one escape stands for; None for what is none."""
    kind, value = match.lastgroup or "", match[0]
    if kind == "html":
        said = unescape(value)
    elif kind == "url":
        said = unquote(value)
    elif kind == "mail":
        said = chr(int(value[1:], 16)) if value[1:].isalnum() else ""
    elif kind in ("mark", "dot"):
        said = "." if kind == "dot" else ""
    elif kind == "low":
        said = chr(0x10000 + ((int(match["high"], 16) & 0x3FF) << 10) + (int(match["low"], 16) & 0x3FF))
    else:
        said = chr(int(match[kind], 8 if kind == "octal" else 16))
    return None if said == value or "\ufffd" in said else said


def find_encoded_texts(text: str, encoded: bytes) -> Iterator[tuple[int, int, str]]:
    """(start, end, what it says) of each part in base64 or hexadecimal digits that is a text."""
    if not _MAY_BE_CODED.search(encoded):
        return
    for match in _CODED.finditer(text):
        value = match[0]
        if len(value) > MAX_ENCODED_CHARACTERS:
            continue
        if said := _decode_hex(match["hex"]) if match["hex"] else _decode_base64(value):
            yield *match.span(), said
            continue
        for line in _PIECE.finditer(value):
            start = line.start()
            pieces = {start, start + line[0].rfind("/") + 1}
            if said := next(filter(None, (_decode_base64(value[at : line.end()]) for at in pieces)), ""):
                yield match.start() + start, match.start() + line.end(), said


def _decode_hex(value: str) -> str:
    return _read_text(bytes.fromhex(value))


def _decode_base64(value: str) -> str:
    plain = "".join(value.split()).rstrip("=").translate(_URL_SAFE)
    if len(plain) < MIN_CODED_CHARACTERS or len(plain) % 4 == 1:
        return ""
    return _read_text(b64decode(plain + "=" * (-len(plain) % 4)))


def list_base64(value: str) -> set[str]:
    """What of base64 is the same wherever ``value`` stands in the text behind it."""
    raw, found = value.encode(), set()
    for before in range(3):
        coded = b64encode(bytes(before) + raw).decode()
        whole = coded[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
        found |= {whole, whole.replace("+", "-").replace("/", "_")}
    return found


def _read_text(raw: bytes) -> str:
    """Empty for bytes that aren't text."""
    try:
        said = raw.decode()
    except ValueError:
        return ""
    return said if all(sign.isprintable() or sign in "\r\n\t" for sign in said) else ""
