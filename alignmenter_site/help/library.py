"""The files of docs/, read once per process, and the search in them."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse

from alignmenter_site.help.markdown import Document, Section, render_document

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
