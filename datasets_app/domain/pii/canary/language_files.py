"""How people of a language name and say personal data, and what they are called: a text file each."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from datasets_app.domain.pii import word_lists

FOLDER = Path(__file__).parent / "languages"
# For languages without a file: bare values, and forms that are written alike everywhere.
OTHER = "other"


def list_languages() -> list[str]:
    """Those with a file (ISO 639-1)."""
    return sorted(path.stem for path in FOLDER.glob("*.txt") if path.stem != OTHER)


def read_sections(language: str) -> Mapping[str, tuple[str, ...]]:
    """The lines below each ``[title]`` of a language's file; ``other.txt`` says which titles there are."""
    path = FOLDER / f"{language}.txt"
    return word_lists.read_sections(path if path.is_file() else FOLDER / f"{OTHER}.txt")


@cache
def read_words(language: str, title: str) -> tuple[str, ...]:
    """The words of a section; an underscore joins what is one name."""
    lines = read_sections(language).get(title, ())
    return tuple(word.replace("_", " ") for line in lines for word in line.split())
