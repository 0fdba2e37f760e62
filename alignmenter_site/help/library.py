"""The files of docs/, read once per process, and the search in them."""

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import nh3
from django.conf import settings
from django.urls import reverse
from markdown_it import MarkdownIt
from markdown_it.token import Token

_ALLOWED_TAGS = {
    "p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "div",
    "h1", "h2", "h3", "h4", "h5", "h6", "a", "img", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_ALLOWED_ATTRIBUTES = {
    "a": {"href", "rel", "target"},
    "img": {"src", "alt"},
    "ol": {"start"},
    "th": {"scope"},
    "div": {"class", "tabindex", "role", "aria-label"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}


class Section(NamedTuple):
    """A heading and the text up to the next one. ``level`` is 1 for the title of the page."""

    anchor: str
    title: str
    level: int
    text: str


class Document(NamedTuple):
    """A page of the help: its title, its HTML and its sections in order."""

    title: str
    html: str
    sections: list[Section]


# Returns the address of a file of docs/, by its path there; None if the help doesn't have it.
AddressOf = Callable[[str], str | None]


def render_document(text: str, path: str, address_of: AddressOf) -> Document:
    """``path`` is the file's path within docs/, from which its links are relative."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = parser.parse(text)
    sections = list(_read_sections(tokens))
    _set_anchors(tokens, [section.anchor for section in sections if section.level])
    for token in tokens:
        if token.children:
            token.children = list(_rewrite_links(token.children, path, address_of))
    html = parser.renderer.render(list(_wrap_tables(tokens)), parser.options, {})
    clean = nh3.clean(html, tags=_ALLOWED_TAGS, attributes=_ALLOWED_ATTRIBUTES, link_rel=None)
    title = next((section.title for section in sections if section.level == 1), path)
    return Document(title, clean, sections)


def make_anchor(title: str, used: set[str]) -> str:
    """The anchor GitHub gives a heading: "Four eyes" → "four-eyes", and "four-eyes-1" for the next one."""
    base = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    anchor, number = base, 0
    while anchor in used:
        number += 1
        anchor = f"{base}-{number}"
    used.add(anchor)
    return anchor


def _plain_text(token: Token) -> str:
    children = token.children or []
    return "".join(" " if child.type == "softbreak" else child.content for child in children)


def _read_sections(tokens: list[Token]) -> Iterator[Section]:
    """Level 0 is text before the first heading."""
    used: set[str] = set()
    anchor, title, level, words = "", "", 0, list[str]()
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            if level or words:
                yield Section(anchor, title, level, " ".join(words))
            title, words = _plain_text(tokens[index + 1]), []
            anchor, level = make_anchor(title, used), int(token.tag[1])
        elif token.type == "inline" and tokens[index - 1].type != "heading_open":
            words.append(_plain_text(token))
        elif token.type in {"fence", "code_block"}:
            words.append(token.content)
    yield Section(anchor, title, level, " ".join(words))


def _set_anchors(tokens: list[Token], anchors: list[str]) -> None:
    headings = [token for token in tokens if token.type == "heading_open"]
    for token, anchor in zip(headings, anchors, strict=True):
        token.attrSet("id", anchor)


def _wrap_tables(tokens: list[Token]) -> Iterator[Token]:
    """Wide tables and code scroll within the page, by keyboard as well."""
    for token in tokens:
        if token.type == "th_open":
            token.attrSet("scope", "col")
        is_table, is_code = token.type == "table_open", token.type in {"fence", "code_block"}
        if is_table or is_code:
            opened = Token("box_open", "div", 1)
            opened.attrs = {
                "class": "h-scroll", "tabindex": "0", "role": "region",
                "aria-label": "Table" if is_table else "Code",
            }  # fmt: skip
            yield opened
        yield token
        if token.type == "table_close" or is_code:
            yield Token("box_close", "div", -1)


def _rewrite_links(children: list[Token], path: str, address_of: AddressOf) -> Iterator[Token]:
    """Links to other files of docs/ lead to their pages; links out of docs/ become plain text."""
    is_dropped = False
    for token in children:
        if token.type == "link_open":
            address = _find_address(str(token.attrGet("href") or ""), path, address_of)
            is_dropped = address is None
            if address is None:
                continue
            token.attrSet("href", address)
            if urlsplit(address).netloc:
                token.attrSet("rel", "noopener noreferrer")
                token.attrSet("target", "_blank")
        elif token.type == "link_close" and is_dropped:
            is_dropped = False
            continue
        elif token.type == "image":
            token.attrSet("src", _find_address(str(token.attrGet("src") or ""), path, address_of) or "")
        yield token


def _find_address(link: str, path: str, address_of: AddressOf) -> str | None:
    parts = urlsplit(link)
    if parts.scheme in {"http", "https", "mailto"} or (not parts.path and parts.fragment):
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), parts.path))
    address = address_of(target)
    return f"{address}#{parts.fragment}" if address and parts.fragment else address


START_PAGE = "index"
PICTURE_TYPES = {".png": "image/png", ".webp": "image/webp", ".jpg": "image/jpeg", ".svg": "image/svg+xml"}
MAX_RESULTS = 30
MAX_QUERY_LENGTH = 200


class Hit(NamedTuple):
    """A section that has all searched words."""

    page: str
    document: Document
    section: Section
    score: int


def docs_folder() -> Path:
    return Path(settings.BASE_DIR) / "docs"


@cache
def page_names() -> list[str]:
    """Paths within docs/ without ".md": "scrubbing", "decisions/0001-three-pass-import"."""
    folder = docs_folder()
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.md"))


@cache
def load_document(page: str) -> Document | None:
    """None if docs/ has no such page; a name from an address opens no other file."""
    if page not in page_names():
        return None
    path = f"{page}.md"
    return render_document((docs_folder() / path).read_text("utf-8"), path, _address_of)


def _address_of(path: str) -> str | None:
    stem, suffix = re.fullmatch(r"(.*?)(\.[a-z]+)?", path).groups()  # type: ignore[union-attr]
    if suffix == ".md" and stem in page_names():
        return reverse("help_page", args=[stem])
    if suffix in PICTURE_TYPES and find_picture(path):
        return reverse("help_picture", args=[path])
    return reverse("help_page", args=["decisions"]) if path == "decisions" else None


def find_picture(path: str) -> Path | None:
    """A picture below docs/."""
    folder = docs_folder().resolve()
    picture = (folder / path).resolve()
    is_ours = picture.is_relative_to(folder) and picture.suffix in PICTURE_TYPES and picture.is_file()
    return picture if is_ours else None


def search(query: str) -> list[Hit]:
    """Sections in which each word begins a word of the text or a heading, best first."""
    words = re.findall(r"\w+", query.lower()[:MAX_QUERY_LENGTH])
    if not words:
        return []
    patterns = [re.compile(rf"(?<!\w){re.escape(word)}") for word in words]
    hits = []
    for page in page_names():
        document = load_document(page)
        for section in document.sections if document else ():
            score = _score(document, section, patterns)  # type: ignore[arg-type]
            if score:
                # Decisions are about the code, not about its use.
                hits.append(Hit(page, document, section, score - 5 * page.startswith("decisions/")))  # type: ignore[arg-type]
    return sorted(hits, key=lambda hit: -hit.score)[:MAX_RESULTS]


def _score(document: Document, section: Section, patterns: list[re.Pattern[str]]) -> int:
    heading, title, text = section.title.lower(), document.title.lower(), section.text.lower()
    total = 0
    for pattern in patterns:
        found = 10 * bool(pattern.search(heading)) + 4 * bool(pattern.search(title))
        found += min(5, len(pattern.findall(text)))
        if not pattern.search(heading) and not pattern.search(text):
            return 0
        total += found
    return total
