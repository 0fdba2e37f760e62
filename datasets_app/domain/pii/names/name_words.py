"""Splits a text into words for the name model, and words into features.

Our own tokenizer takes linear time on any text, loses no character, and cuts where a name may begin or end
("O'Brien's" is O, ', Brien, 's). The model sees only frequent ordinary words themselves; of all others only
their form, beginning, ending, and whether they are known names. So it judges unseen names as it judges John.
"""

import re
import zlib
from functools import lru_cache
from itertools import accumulate

from datasets_app.domain.pii.names.gazetteer import WordFacts, fold_word, look_up_word

_LETTERS = r"[^\W\d_]+(?:[\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff]+[^\W\d_]*)*"
# Letters mixed with digits are a code, and one word: "4th", "b275b664".
_WORD_PIECES = rf"{_LETTERS}(?![^\W_])|[^\W_]+|['’](?:s|t|re|ve|ll|d|m)(?!\w)|\s+|."
_PIECE_PATTERN = re.compile(_WORD_PIECES, re.DOTALL | re.IGNORECASE)
# Addresses are one word each. Bounded, since every start of a word tries them.
_PIECE_OR_ADDRESS_PATTERN = re.compile(
    rf"\w[\w.+-]{{0,63}}@[\w-]{{1,63}}\.[\w.-]{{1,190}}\w|\bhttps?://[^\s<>\"']{{1,2000}}|{_WORD_PIECES}",
    re.DOTALL | re.IGNORECASE,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
# Prefix of a word that follows the one before without a space.
GLUED = "\0"
FEATURES = 8
# The classes of the network, and which of them are names.
LABELS = ("O", "NAME-B", "NAME-I", "PLACE", "ORGANISATION")
NAME_COLUMNS = (LABELS.index("NAME-B"), LABELS.index("NAME-I"))


def split_pieces(text: str) -> list[str]:
    """Split ``text`` into words and what is between them; joined, they are ``text`` again.

    Lone surrogates become question marks.
    """
    if not text.isascii() and _SURROGATE.search(text):
        text = _SURROGATE.sub("?", text)
    pattern = _PIECE_OR_ADDRESS_PATTERN if "@" in text or "://" in text else _PIECE_PATTERN
    return pattern.findall(text)


def select_words(pieces: list[str]) -> list[str]:
    """The pieces that the model reads: all but single spaces after a word."""
    return pieces[:1] + [piece for piece in pieces[1:] if piece != " "]


def build_readings(pieces: list[str]) -> list[str]:
    """The words as the network reads them, with a mark on those that follow without a space."""
    seen: list[str] = []
    before = " "
    for piece in pieces:
        if piece != " " or not seen:
            seen.append(piece if before.isspace() else GLUED + piece)
        before = piece
    return seen


def read_word(reading: str) -> str:
    """The word of which :func:`build_readings` made this."""
    return reading[1:] if len(reading) > 1 and reading[0] == GLUED else reading


def compute_word_starts(pieces: list[str]) -> list[int]:
    """Where in the text each word starts."""
    starts = [
        start
        for start, piece in zip(accumulate(map(len, pieces), initial=0), pieces, strict=False)
        if piece != " "
    ]
    return [0, *starts] if pieces[:1] == [" "] else starts


def place_words(text: str) -> tuple[list[str], list[int]]:
    """The words of ``text`` that the model reads, and where each starts."""
    pieces = split_pieces(text)
    return select_words(pieces), compute_word_starts(pieces)


@lru_cache(maxsize=1 << 15)
def compute_features(reading: str, hidden: bool = False) -> tuple[int, ...]:
    """The features of a word as numbers; ``hidden``: as if no list of names had it."""
    word = read_word(reading)
    glued = word != reading
    known, plain = look_up_word(word), fold_word(word)
    if hidden:
        known = WordFacts(0, 0, known.common)
    stem = "" if any(map(str.isdigit, plain)) else plain
    seen = (
        _encode_identity(plain, known),
        stem[:1],
        stem[:3],
        stem[-2:],
        stem[-3:],
        stem[-4:],
        f"{_encode_form(word)}{'+' if glued else ''}",
        f"{known.first}{known.last}{known.common}",
    )
    return tuple(
        zlib.crc32(f"{place} {value}".encode("utf-8", "surrogatepass")) for place, value in enumerate(seen)
    )


def _encode_identity(plain: str, known: WordFacts) -> str:
    if plain.isspace():
        return "\n" if "\n" in plain else " "
    if plain.isdigit():
        return "0" * min(len(plain), 6)
    if "@" in plain[1:] or "://" in plain:
        return "address"
    if any(map(str.isdigit, plain)):
        return plain if len(plain) <= 4 else "code"
    if known.common == 2 or len(plain) == 1 or plain[0] in "'’":
        return plain
    return "?"


def _encode_form(word: str) -> str:
    """Capitals, digits and length, as far as they distinguish names from other words."""
    if not word[0].isalnum():
        return word[0]
    if any(map(str.isdigit, word)):
        case = "0" if word.isdigit() else "x0"
    elif word.islower():
        case = "x"
    elif word.isupper():
        case = "X"
    else:
        case = "Xx" if word.istitle() else "xX"
    return f"{case}{min(len(word), 9)}{'' if word.isascii() else 'é'}"
