"""Vocabulary: the words that a module looks for, in a text file beside it that has its name.

A line in brackets begins a list, a line with ``#`` is a comment; words are separated by white space.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def read_sections(path: Path) -> Mapping[str, tuple[str, ...]]:
    """The lines below each ``[title]`` of a file."""
    sections: dict[str, tuple[str, ...]] = {}
    title = ""
    for line in filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())):
        if line.startswith("["):
            title = line.strip("[]")
        elif not line.startswith("#"):
            sections[title] = (*sections.get(title, ()), line)
    return sections


def read_word_lists(module: str) -> Mapping[str, frozenset[str]]:
    """The lists of the module whose file is given, by their titles."""
    sections = read_sections(Path(module).with_suffix(".txt"))
    return {title: frozenset(" ".join(lines).split()) for title, lines in sections.items()}
