"""The words of a text, for all rules that look for a cue in it."""

from functools import lru_cache

# Letters, also of other scripts; ASCII capitals become small, all else a space.
_LETTERS = bytes(
    byte + 32 if 65 <= byte <= 90 else byte if 97 <= byte <= 122 or byte >= 0x80 else 32
    for byte in range(256)
)


@lru_cache(maxsize=1)
def split_letters(encoded: bytes) -> frozenset[bytes]:
    """The words of a text in UTF-8, ASCII in small letters: split once for all rules."""
    return frozenset(encoded.translate(_LETTERS).split())


def make_words(words: str) -> frozenset[str]:
    """A vocabulary, written with spaces between its words."""
    return frozenset(words.split())


def has_ascii_variants(text: str) -> bool:
    """Whether letters are in it that ``re.IGNORECASE`` takes for ASCII ones, and ``lower()`` does not."""
    return not text.isascii() and ("ſ" in text or "ı" in text or "İ" in text or "\N{KELVIN SIGN}" in text)
