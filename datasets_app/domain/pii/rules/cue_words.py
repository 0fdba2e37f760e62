"""The words of a text, for all rules that look for a cue in it."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Generic, TypeVar

from datasets_app.domain import lazy_re

# Letters, also of other scripts; ASCII capitals become small, all else a space.
_LETTERS = bytes(
    byte + 32 if 65 <= byte <= 90 else byte if 97 <= byte <= 122 or byte >= 0x80 else 32
    for byte in range(256)
)


_ALL_CUES: set[bytes] = set()


def make_cues(words: str) -> frozenset[bytes]:
    """Words that :func:`find_cues` finds: small, all in capitals, or with one."""
    cues = frozenset(
        form.encode().translate(_LETTERS)
        for word in words.split()
        for form in (word, word.upper(), word.capitalize())
    )
    _ALL_CUES.update(cues)
    return cues


@lru_cache(maxsize=1)
def split_letters(encoded: bytes) -> frozenset[bytes]:
    """The words of a text in UTF-8, ASCII in small letters: split once for all rules."""
    return frozenset(encoded.translate(_LETTERS).split())


@lru_cache(maxsize=1)
def find_cues(encoded: bytes) -> frozenset[bytes]:
    """The cues of all rules in a text in UTF-8."""
    return split_letters(encoded) & _ALL_CUES


MAX_PLAIN_WORDS = 20_000
Word = TypeVar("Word", bound=bytes | str)


class PlainWords(Generic[Word]):
    """Words that ``is_plain`` says yes to: most of a text, which costs one comparison of sets once it was
    asked about each."""

    def __init__(self, is_plain: Callable[[Word], bool]) -> None:
        self._is_plain = is_plain
        self._plain: set[Word] = set()
        self._others: set[Word] = set()

    def find_others(self, words: frozenset[Word]) -> frozenset[Word]:
        others = words - self._plain
        if others and (new := others - self._others):
            plain = frozenset(filter(self._is_plain, new))
            others -= plain
            if len(self._plain) + len(self._others) > MAX_PLAIN_WORDS:
                # Numbers and addresses fill it, too; what is frequent comes again.
                self._plain.clear()
                self._others.clear()
            self._plain |= plain
            self._others |= new - plain
        return others


def make_words(words: str) -> frozenset[str]:
    """A vocabulary, written with spaces between its words."""
    return frozenset(words.split())


class CueStarts:
    """What words of a cue begin with, in small letters."""

    def __init__(self, starts: Iterable[str]) -> None:
        # Up to the first space or sign, which end a word.
        self._starts = [(start, next(filter(None, _NON_LETTERS.split(start)))) for start in starts]
        self._by_word: dict[bytes, list[str]] = {}
        self._plain: PlainWords[bytes] = PlainWords(lambda word: not self._list_starts(word))

    def find_possible(self, words: frozenset[bytes]) -> set[str]:
        """Those that may begin in a text of these words (:func:`split_letters`), and maybe some more."""
        possible: set[str] = set()
        for word in self._plain.find_others(words):
            starts = self._by_word.get(word)
            if starts is None:
                starts = self._list_starts(word)
                if len(self._by_word) < MAX_PLAIN_WORDS:
                    self._by_word[word] = starts
            possible.update(starts)
        return possible

    def _list_starts(self, word: bytes) -> list[str]:
        text = lower_in_place(word.decode("utf-8", "surrogatepass"))
        if word.isascii():
            return [start for start, head in self._starts if text.startswith(head)]
        # Signs of other scripts, such as ’, end no word for split_letters.
        return [start for start, head in self._starts if head in text]


_NON_LETTERS = lazy_re.compile(r"[^a-z\x80-\U0010ffff]+")


def make_cue_starts(starts: str) -> CueStarts:
    """Of starts with spaces between them; an underscore is a space."""
    return CueStarts(start.replace("_", " ") for start in starts.split())


def find_cue_starts(cue_starts: CueStarts, text: str) -> list[int]:
    """Where in ``text`` a word begins with one of the starts, in any letter case.

    To try a long expression at these few places takes a hundredth of a search for it.
    """
    possible = cue_starts.find_possible(split_letters(text.encode("utf-8", "surrogatepass")))
    if not possible:
        return []
    lower = lower_in_place(text)
    found = set()
    for start in possible:
        place = lower.find(start)
        while place >= 0:
            if place == 0 or not lower[place - 1].isalnum():
                found.add(place)
            place = lower.find(start, place + 1)
    return sorted(found)


def lower_in_place(text: str) -> str:
    """``text`` in small letters, each at its place: some capitals have a small form of two characters."""
    lower = text.lower()
    return (
        lower
        if len(lower) == len(text)
        else "".join(s if len(s := sign.lower()) == 1 else sign for sign in text)
    )


def has_ascii_variants(text: str) -> bool:
    """Whether letters are in it that ``re.IGNORECASE`` takes for ASCII ones, and ``lower()`` does not."""
    return not text.isascii() and ("ſ" in text or "ı" in text or "İ" in text or "\N{KELVIN SIGN}" in text)
