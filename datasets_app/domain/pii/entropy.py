"""Whether a word was made by a machine drawing characters, or by somebody writing."""

import re

_LETTER, _DIGIT = re.compile(r"[A-Za-z]"), re.compile(r"[0-9]")
_CHARACTER_RUNS = re.compile(r"[0-9]+|[a-z]+|[A-Z]+")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
UUID_PATTERN = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_DIGEST = re.compile(r"[0-9a-f]{40,}|[0-9A-F]{40,}")
MIN_RANDOM_CHARACTERS = 12


def is_mixed(word: str) -> bool:
    """Letters and digits in one word: "hunter2", and no word of a language."""
    return _LETTER.search(word) is not None and _DIGIT.search(word) is not None


def is_random(word: str) -> bool:
    """Digits and letters of both cases taking turns far oftener than in names and versions."""
    if len(word) < MIN_RANDOM_CHARACTERS:
        return False
    runs = _CHARACTER_RUNS.findall(word)
    drawn = sum(map(len, runs))
    if is_mixed(word):
        # Base 62 changes its kind of character at two places of three, hexadecimal at half of them;
        # "report-2024-final-v2" at every fourth.
        return len(runs) - 1 >= max(3, drawn // 5) and drawn * 10 >= len(word) * 7
    # fooBarBaz changes its case at every third letter.
    return drawn >= 20 and word.isascii() and not word.isdigit() and len(runs) * 5 >= drawn * 2


def is_digest(word: str) -> bool:
    """Nothing but hexadecimal digits, as many as SHA-1 has or more: a hashed session id, a checksum.

    Keys of this length are drawn from a larger alphabet, or have a prefix with other characters.
    """
    return _DIGEST.fullmatch(word) is not None


def is_hexadecimal(word: str) -> bool:
    """A digest, a key: both look the same."""
    return len(word) >= 16 and _HEX.fullmatch(word) is not None and is_mixed(word)
