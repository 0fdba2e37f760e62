"""Finds a persona's preferred and avoided words in a text."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

PREFERRED, AVOID = "preferred", "avoid"
# Longer entries are not words; without a limit, matching could take quadratic time.
MAX_ENTRY_LENGTH = 100
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\uff07": "'"})
# Scripts without spaces between words: an entry matches anywhere.
_UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


@dataclass(frozen=True)
class TextPiece:
    """A piece of the text, with the kinds of entries that it belongs to."""

    text: str
    kinds: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """ "preferred", "avoid", "both" or nothing."""
        return "both" if len(self.kinds) > 1 else "".join(self.kinds)


@dataclass
class _TrieNode:
    """The next characters of entries, and the kinds of entries that end here."""

    next: dict[str, "_TrieNode"] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)


def highlight_words(text: str, preferred: Sequence[Any], avoid: Sequence[Any]) -> list[TextPiece]:
    """Split the text into pieces, which join to the text again.

    Entries match whole words regardless of case, Unicode form and white space, and may overlap. Skips
    entries that aren't text (YAML's yes and no).
    """
    tree = _build_trie(_text_entries(preferred), _text_entries(avoid))
    if not tree.next or not text:
        return [TextPiece(text)] if text else []
    characters, places = _fold_text(text)
    kinds_at: list[frozenset[str]] = [frozenset()] * len(text)
    for start, end, kinds in _find_entries(characters, tree):
        for place in range(places[start], places[end - 1] + 1):
            kinds_at[place] = kinds_at[place] | kinds
    return _split_into_pieces(text, kinds_at)


def list_highlighted_words(pieces: Iterable[TextPiece], kind: str) -> list[str]:
    """The distinct words of a kind, as written in the text."""
    found = {" ".join(piece.text.split()).casefold(): piece.text for piece in pieces if kind in piece.kinds}
    return list(found.values())


def _text_entries(entries: Sequence[Any]) -> tuple[str, ...]:
    return tuple(entry for entry in entries if isinstance(entry, str))


@lru_cache(maxsize=32)
def _build_trie(preferred: tuple[str, ...], avoid: tuple[str, ...]) -> _TrieNode:
    root = _TrieNode()
    for kind, entries in ((PREFERRED, preferred), (AVOID, avoid)):
        for entry in entries:
            characters = "".join(_fold_text(entry.strip())[0])
            if not characters or len(characters) > MAX_ENTRY_LENGTH:
                continue
            node = root
            for character in characters:
                node = node.next.setdefault(character, _TrieNode())
            node.kinds.add(kind)
    return root


def _fold_text(text: str) -> tuple[list[str], list[int]]:
    """Characters to compare, and their positions in the text. White space becomes one space."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isspace():
            if characters and characters[-1] == " ":
                continue
            folded = " "
        else:
            folded = unicodedata.normalize("NFKD", character.casefold().translate(_APOSTROPHES))
        characters.extend(folded)
        places.extend([place] * len(folded))
    return characters, places


def _find_entries(characters: list[str], trie: _TrieNode) -> Iterable[tuple[int, int, frozenset[str]]]:
    """Each entry that occurs as whole words: start, end (exclusive), kinds."""
    inner = [_is_word_character(character) for character in characters] + [False]
    for start in range(len(characters)):
        if start and inner[start] and inner[start - 1]:
            continue
        node: _TrieNode | None = trie
        for end in range(start, len(characters)):
            node = node.next.get(characters[end]) if node else None
            if node is None:
                break
            if node.kinds and not (inner[end] and inner[end + 1]):
                yield start, end + 1, frozenset(node.kinds)


@lru_cache(maxsize=4096)
def _is_word_character(character: str) -> bool:
    if unicodedata.name(character, "").startswith(_UNSPACED_SCRIPTS):
        return False
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def _split_into_pieces(text: str, kinds_at: list[frozenset[str]]) -> list[TextPiece]:
    pieces: list[TextPiece] = []
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or kinds_at[place] != kinds_at[start]:
            pieces.append(TextPiece(text[start:place], tuple(sorted(kinds_at[start]))))
            start = place
    return pieces
