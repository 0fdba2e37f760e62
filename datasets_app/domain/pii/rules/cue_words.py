"""The words of a text, for all rules that look for a cue in it."""

from functools import lru_cache

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


def make_words(words: str) -> frozenset[str]:
    """A vocabulary, written with spaces between its words."""
    return frozenset(words.split())


def make_cue_starts(starts: str) -> tuple[str, ...]:
    """What words of a cue begin with, in small letters; an underscore is a space."""
    return tuple(start.replace("_", " ") for start in starts.split())


def find_cue_starts(starts: tuple[str, ...], text: str) -> list[int]:
    """Where in ``text`` a word begins with one of ``starts``, in any letter case.

    To try a long expression at these few places takes a hundredth of a search for it.
    """
    lower = lower_in_place(text)
    found = set()
    for start in starts:
        if start in lower:
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
