"""The words of a text, for all rules that look for a cue in it."""

import re
from collections.abc import Iterator
from functools import lru_cache

# Letters, also of other scripts; ASCII capitals become small, all else a space.
_LETTERS = bytes(
    byte + 32 if 65 <= byte <= 90 else byte if 97 <= byte <= 122 or byte >= 0x80 else 32 for byte in range(256)
)


@lru_cache(maxsize=1)
def split_words(encoded: bytes) -> frozenset[bytes]:
    """The distinct words of a text in UTF-8, in the form of :func:`make_cues`."""
    return frozenset(encoded.translate(_LETTERS).split())


def make_cues(words: str) -> frozenset[bytes]:
    """Words to look for among those of :func:`split_words`: small, all in capitals, or with one."""
    return frozenset(
        form.encode().translate(_LETTERS)
        for word in words.split()
        for form in (word, word.upper(), word.capitalize())
    )


def compile_cue_starts(starts: str) -> re.Pattern[str]:
    """Finds where one of these begins, in small letters; an underscore is a space.

    To try a long expression at the few places where its first word stands takes a hundredth of a search for it.
    """
    words = sorted((word.replace("_", " ") for word in starts.split()), reverse=True)
    return re.compile("|".join(map(re.escape, words)))


def find_cue_starts(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    """Where in ``text`` a word begins with one of the starts, in any letter case."""
    for match in pattern.finditer(lower_in_place(text)):
        start = match.start()
        if start == 0 or not text[start - 1].isalnum():
            yield start


def lower_in_place(text: str) -> str:
    """``text`` in small letters, each at its place: some capitals have a small form of two characters."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(s if len(s := sign.lower()) == 1 else sign for sign in text)
