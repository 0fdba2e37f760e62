"""Postal addresses as people write them in some thirty countries, on one line or several.

Most are told by the line with the street, others by a postal code with its place, by the words before them
("I live at …", "ship it to …"), or by the signs of Chinese, Japanese and Korean addresses. All of it is linear
in the length of the text: around a number, a code or a word a bounded part is read.
"""

import re
from collections.abc import Iterable, Iterator

from datasets_app.domain.pii.detector import ADDRESS, Match, Span
from datasets_app.domain.pii.rules import address_words as vocabulary
from datasets_app.domain.pii.rules.address_blocks import find_blocks
from datasets_app.domain.pii.rules.address_tails import Tail, find_start, read_tail
from datasets_app.domain.pii.rules.announced_addresses import ADDRESS_CUES, find_announced_addresses
from datasets_app.domain.pii.rules.cue_words import make_cues, split_words
from datasets_app.domain.pii.rules.street_lines import Evidence, StreetLine, find_street_lines

_STREET_WORDS = make_cues(
    " ".join(
        vocabulary.STREET_TYPES
        | vocabulary.PLACE_TYPES
        | vocabulary.PREFIX_TYPES
        | vocabulary.LOOSE_PREFIX_TYPES
        | vocabulary.SEPARATE_TYPES
        | frozenset("route rte rt box postfach postbus postboks psc cmr hwy apt suite apartado casella caixa".split())
    )
) - make_cues("c al r point route place pass view way os str run cross field fields rise eje cours")
# With a suffix, a street is one word: Hauptstraße, Storgatan. Its last letters tell that of most words.
_SUFFIXES = tuple({form.encode() for ending in vocabulary.SUFFIX_TYPES for form in (ending, ending.upper())})
_LAST_LETTERS = frozenset(suffix[-3:] for suffix in _SUFFIXES)
# Postal codes by their shape: SW1A 1AA, K1A 0B1, IL 62704, 10115 Berlin, 1234 AB, 00-001 Warszawa, 01234-567.
_CODE_SHAPES = (b"0 0aa", b"0a 0a0", b"0a0a0a", b"0a-0a0", b"aa 00000", b"00000 a", b"0000 aa", b"0000aa", b"00-000", b"00000-0", b"000 00 a", b"-000", b"a 000000", b"0a 0aa")
_ASIAN = re.compile(
    r"(?:〒 ?\d{3}-?\d{4}[ \n]{0,3})?(?:[一-龥]{2,3}[都道府県])?(?:[一-龥ぁ-んァ-ヶ]{1,8}[市区町村郡]){1,3}[一-龥ぁ-んァ-ヶ々ー]{0,14}"
    r"\d{1,4}(?:丁目|番地?|号|の|[-－ー]|\d|条|線){0,14}号?(?:[ 　][一-龥ぁ-んァ-ヶーA-Za-z・]{1,20}[ ]?\d{1,4}号?室?)?"
    r"|(?:[一-龥]{2,8}(?:省|市|自治区))(?:[一-龥]{1,8}(?:市|区|县|州)){0,2}[一-龥]{1,10}(?:路|街|道|巷|弄|村|镇|座)[一-龥A-Z]{0,4}\d{0,5}号?(?:[ ]?\d{1,4}(?:号楼|单元|室|座|层|弄|幢|栋|号)){0,4}(?:[ ]\d{6})?"
    r"|(?:[가-힣]{2,8}(?:특별시|광역시|특별자치시|도|시)[ ])?(?:[가-힣]{1,8}(?:시|군|구)[ ]){1,2}[가-힣0-9]{1,14}[로길동읍면가리][ ]?(?:지하)?\d{1,4}(?:-\d{1,4})?"
    r"(?:[ ]?\([가-힣0-9 ]{1,14}\))?(?:[ ]\d{1,4}(?:동|호|층)){0,2}"
)
_ASIAN_SIGN = re.compile("[市区町村郡路街로길동]")


def may_hold(encoded: bytes, shape: bytes) -> bool:
    words = split_words(encoded)
    if b"0" not in shape:
        return not ADDRESS_CUES.isdisjoint(words) and not _STREET_WORDS.isdisjoint(words)
    return (
        not _STREET_WORDS.isdisjoint(words)
        or not ADDRESS_CUES.isdisjoint(words)
        or any(code in shape for code in _CODE_SHAPES)
        or any(word[-3:] in _LAST_LETTERS and word.endswith(_SUFFIXES) for word in words)
        or (not encoded.isascii() and _ASIAN_SIGN.search(encoded.decode("utf-8", "surrogatepass")) is not None)
    )


def search_folded(text: str) -> list[Match]:
    """Every postal address in a folded text without placeholders, by its start, without overlaps."""
    # The line breaks of a JSON string.
    text = text.replace("\\n", " \n") if "\\n" in text else text
    found = [*_find_by_street(text), *find_blocks(text), *find_announced_addresses(text)]
    if not text.isascii():
        found += (match.span() for match in _ASIAN.finditer(text))
    return [Match(ADDRESS, start, end) for start, end in _join(found, text)] if found else []


def _find_by_street(text: str) -> Iterator[Span]:
    for line in find_street_lines(text):
        tail = read_tail(text, line.end)
        if line.needs == Evidence.POSTAL_CODE and not tail.has_postal_code:
            continue
        start = find_start(text, line.start)
        if _has_evidence(text, line, tail, start):
            yield start, tail.end


def _has_evidence(text: str, line: StreetLine, tail: Tail, start: int) -> bool:
    if line.needs == Evidence.NONE:
        return True
    if line.needs == Evidence.POSTAL_CODE:
        return tail.has_postal_code and (tail.has_place or tail.has_state)
    if tail.has_unit or tail.has_postal_code or tail.has_state or start < line.start:
        return True
    if tail.has_place and "," in text[line.end : tail.end]:
        return True
    return _CUE_BEFORE.search(text, max(0, start - 50), start) is not None


_CUE_BEFORE = re.compile(
    r"\b(?:live|lives|living|lived|address|located|reside|resides|residing|ship|ships|shipped|deliver|delivered|send|mail|moved"
    r"|moving|home|house|apartment|stay|staying|pick(?:ed)? (?:me |us )?up)\b[^.!?\n]{0,24}\Z",
    re.IGNORECASE,
)
_BETWEEN_PARTS = re.compile(r"[ \t]*[,;/|–-]?[ \t]*(?:\r?\n[ \t]*)?\Z")


def _join(spans: Iterable[Span], text: str) -> list[Span]:
    """Overlapping spans as one, and those that only a comma or a line break parts."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and (start <= joined[-1][1] or _BETWEEN_PARTS.fullmatch(text, joined[-1][1], min(start, joined[-1][1] + 30) if start - joined[-1][1] > 30 else start)):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
