"""The text of HTML, as help desks and mail write their messages."""

import re
from html.parser import HTMLParser
from typing import Any

from datasets_app.domain.conversations.roles import UNKNOWN
from datasets_app.domain.traces.records import NO_ROLE, UNREAD_PARTS, Message
from datasets_app.domain.traces.values import drop_empty

_HIDDEN = frozenset(("style", "script", "head", "title", "template"))
_BREAKS = frozenset(
    "p div li tr table ul ol blockquote pre h1 h2 h3 h4 h5 h6 hr section article header footer".split()
)
_BLANK_LINES = re.compile(r"[ \t]*\n[ \t]*\n\s*")
_BLANKS = re.compile(r"[ \t\xa0]+")
# A text that is laid out as a page, and not a person's words about HTML.
_PAGE = re.compile(
    r"\s*<(?:!doctype|html|body|p|div|span|table|ul|ol|h\d|font|blockquote|section|article)\b[^<>]*>.*"
    r"(?:</(?:html|body|p|div|span|table|ul|ol|h\d|font|blockquote|section|article)>|<br\s*/?>|"
    r"(?:<br\s*/?>.*){2})\s*|[^<]*(?:<br\s*/?>[^<]*){2,}(?:<(blockquote|div|p|table|ul|ol)\b.*</\1>\s*)?",
    re.IGNORECASE | re.DOTALL,
)


def strip_html(value: Any, *, only_pages: bool = False) -> str:
    """The text of a piece of HTML: line breaks where it has paragraphs, "- " before items of lists,
    addresses of
    links behind their words. ``only_pages`` leaves alone what isn't laid out as HTML."""
    text = value if type(value) is str else ""
    if only_pages and not ("<" in text and _PAGE.fullmatch(text)):
        return text
    if "<" in text or "&" in text:
        reader = _Reader()
        reader.feed(text)
        reader.close()
        text = "".join(reader.parts)
    text = "\n".join(_BLANKS.sub(" ", line).strip() for line in text.replace("\r", "").split("\n"))
    return _BLANK_LINES.sub("\n\n", text).strip()


def read_html(role: str, body: Any, **details: Any) -> Message:
    """A message whose body is a text or HTML. Without a role, nobody knows who speaks."""
    text = strip_html(str(body) if type(body) in (int, float) else body)
    found = drop_empty({**details, UNREAD_PARTS: [type(body).__name__] if body and not text else []})
    return Message(role or UNKNOWN, text, found, "" if role else NO_ROLE)


class _Reader(HTMLParser):
    """Comments, and conditional sections of Word and Outlook, aren't text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0
        self._links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        if tag == "br" or tag in _BREAKS:
            self.parts.append("\n- " if tag == "li" else "\n")
        elif tag == "a":
            self._links.append((dict(attrs).get("href") or "", len(self.parts)))
        elif tag == "td" and self.parts:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0
        if tag in _BREAKS:
            self.parts.append("\n")
        elif tag == "a" and self._links:
            address, start = self._links.pop()
            words = "".join(self.parts[start:])
            bare = address.removeprefix("mailto:").removeprefix("tel:")
            if bare and bare not in words and not address.startswith(("#", "javascript:")):
                self.parts.append(f" ({bare})")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)
