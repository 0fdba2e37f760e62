"""What the detection model sees of a candidate: how it is written, and the words around it.

A feature is a pair: the place, and what is in it. A word counts as a whole and by its parts, so
that "Rückrufnummer" is known by "nummer".
"""

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from datasets_app.domain.pii.learned.candidates import (
    DATE,
    NUMBER,
    Candidate,
    classify_date,
    classify_number,
    describe_date,
    describe_number,
)
from datasets_app.domain.pii.names.gazetteer import strip_accents

Feature = tuple[str, str]

BUCKETS = 1 << 20
_TOKEN = re.compile(r"[^\W\d_]+|\d+|\n|[^\w\s]|_")
MAX_BEFORE, MAX_AFTER, _MAX_QUESTION = 14, 9, 30
MAX_CHARACTERS_BEFORE, MAX_CHARACTERS_AFTER, _MAX_QUESTION_CHARACTERS = 160, 80, 300
# Beyond these, a word is only in a bag.
PLACES_BEFORE, PLACES_AFTER, NEAR = 4, 3, 6
_WORD_BINS = frozenset(
    (*(f"b{n}" for n in range(PLACES_BEFORE)), *(f"a{n}" for n in range(PLACES_AFTER)), *"BCLAMQ")
)
DESCRIBE: dict[str, Callable[[str], Iterator[str]]] = {
    NUMBER: describe_number,
    DATE: describe_date,
}
CLASSIFY = {NUMBER: classify_number, DATE: classify_date}


def split_tokens(text: str) -> list[tuple[str, int, int]]:
    """Words in lower case without accents, numbers as their length, single signs; each with its place."""
    return [(normalize_token(match[0]), match.start(), match.end()) for match in _TOKEN.finditer(text)]


@lru_cache(maxsize=1 << 14)
def normalize_token(token: str) -> str:
    if token[0].isdigit():
        return f"#{min(len(token), 9)}"
    return strip_accents(token.lower()) or token


def list_features(text: str, candidate: Candidate, question: str = "") -> Iterator[Feature]:
    """``question`` is what the other side said before ``text``, if this may be its answer."""
    sort, start, end = candidate
    value = text[start:end]
    before = [token for token, _, _ in split_tokens(text[max(0, start - MAX_CHARACTERS_BEFORE) : start])][
        ::-1
    ]
    after = [token for token, _, _ in split_tokens(text[end : end + MAX_CHARACTERS_AFTER])]
    for description in DESCRIBE[sort](value):
        yield "v", description
    looks = CLASSIFY[sort](value)
    yield from _list_before(before, looks, question)
    yield from _list_after(after, looks)
    b = [*before[:3], "", "", ""]
    a = [*after[:2], "", ""]
    yield "bb", f"{b[1]} {b[0]}"
    yield "bbb", f"{b[2]} {b[1]} {b[0]}"
    yield "ba", f"{b[0]} {a[0]}"
    yield "aa", f"{a[0]} {a[1]}"
    yield "looks b", f"{looks} {b[0]}"
    yield "looks bb", f"{looks} {b[1]} {b[0]}"
    yield "looks a", f"{looks} {a[0]}"
    yield "glued", f"{text[start - 1 : start].isspace()} {text[end : end + 1].isspace()}"
    yield "bias", ""


@lru_cache(maxsize=1 << 12)
def split_question(question: str) -> tuple[str, ...]:
    return tuple(token for token, _, _ in split_tokens(question[-_MAX_QUESTION_CHARACTERS:]))[-_MAX_QUESTION:]


def _list_before(before: Sequence[str], looks: str, question: str) -> Iterator[Feature]:
    line, bag = 0, "B"
    for place, token in enumerate(before[:MAX_BEFORE]):
        if token == "\n":
            yield "line", str(min(place, 8))
            line += 1
            bag = "L"
            if line > 2:
                break
            if place < PLACES_BEFORE:
                yield f"b{place}", token
            continue
        if place < PLACES_BEFORE:
            yield f"b{place}", token
        if not line and place >= NEAR:
            bag = "C"
        yield bag, token
        if bag != "C" and token.isalpha():
            yield f"{looks} {bag}", token
    else:
        place = len(before)
    if len(before) < MAX_BEFORE and not question:
        yield "starts", str(min(len(before), 8))
    if question:
        yield "answers", str(min(place, 8))
        for token in split_question(question):
            yield "Q", token
            if token.isalpha():
                yield f"{looks} Q", token


def _list_after(after: Sequence[str], looks: str) -> Iterator[Feature]:
    bag = "A"
    for place, token in enumerate(after[:MAX_AFTER]):
        if place < PLACES_AFTER:
            yield f"a{place}", token
        if token == "\n":
            if bag == "M":
                return
            bag = "M"
            continue
        yield bag, token
    if len(after) < MAX_AFTER:
        yield "ends", str(min(len(after), 6))


def hash_feature(sort: str, feature: Feature) -> list[int]:
    """The buckets of a feature: of a word, also those of its parts."""
    where, what = feature
    names = list_names(what) if where in _WORD_BINS else [_encode(what)]
    return hash_names(names, hash_place(sort, where))


def list_names(word: str) -> list[bytes]:
    """A word and its parts, by which it is known in each place."""
    names = [_encode(word)]
    if len(word) > 3 and word.isalpha():
        marked = f"<{word}>"
        names += [_encode(f"~{marked[at : at + 4]}") for at in range(min(len(marked) - 3, 20))]
        names.append(_encode(f"^{marked[:6]}"))
    return names


def hash_place(sort: str, where: str) -> int:
    """What :func:`hash_names` goes on from: the place is hashed once for all that is in it."""
    return zlib.crc32(_encode(f"{sort} {where} "))


def hash_names(names: Sequence[bytes], place: int) -> list[int]:
    return [zlib.crc32(name, place) % BUCKETS for name in names]


def hash_name(text: str) -> int:
    return zlib.crc32(_encode(text)) % BUCKETS


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
