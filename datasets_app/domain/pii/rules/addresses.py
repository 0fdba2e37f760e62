"""Postal addresses as people write them in some thirty countries, on one line or several.

Most are told by the line with the street, others by a postal code with its place, by the words before them
("I live at …", "ship it to …"), or by the signs of Chinese, Japanese and Korean addresses. All of it is
linear in the length of the text: around a number, a code or a word a bounded part is read.
"""

import re
from collections.abc import Iterable, Iterator

from datasets_app.domain.pii.detector import ADDRESS, Match, Span
from datasets_app.domain.pii.rules import address_words as vocabulary
from datasets_app.domain.pii.rules.address_blocks import find_blocks
from datasets_app.domain.pii.rules.address_tails import Tail, find_start, read_tail
from datasets_app.domain.pii.rules.announced_addresses import ADDRESS_CUES, find_announced_addresses
from datasets_app.domain.pii.rules.cue_words import find_cues, make_cues
from datasets_app.domain.pii.rules.street_lines import Evidence, StreetLine, find_street_lines

_STREET_WORDS = make_cues(
    " ".join(
        vocabulary.STREET_TYPES
        | vocabulary.PLACE_TYPES
        | vocabulary.PREFIX_TYPES
        | vocabulary.LOOSE_PREFIX_TYPES
        | vocabulary.SEPARATE_TYPES
        | frozenset(
            "route rte rt box postfach postbus postboks psc cmr hwy apt suite apartado casella caixa".split()
        )
    )
) - make_cues("c al r point route place pass view way os str run cross field fields rise eje cours")
_STATE_WORDS = make_cues(
    " ".join(name.split()[-1].strip("()?") for name in vocabulary.STATE_NAMES.split("|"))
)
# With its suffix, a street is one word before the number: Hauptstraße 5. Its last letters tell.
_SUFFIXES = tuple({form.encode() for ending in vocabulary.SUFFIX_TYPES for form in (ending, ending.upper())})
_LAST_LETTERS = b"|".join(sorted({re.escape(suffix[-3:]) for suffix in _SUFFIXES}))
_NUMBER_BEHIND_SUFFIX = re.compile(
    rb" [0-9](?:(?<=(?:%b)..)|(?<=(?:%b)[.,]..))" % (_LAST_LETTERS, _LAST_LETTERS)
)
# A number, and digits with a place behind them: "brekkerøa 16, 9512 andreassen".
_NUMBER_AND_CODE = re.compile(
    rb"0(?:(?<=a 0)|(?<=a[. ] 0))0{0,3}a?(?:[-/][0a]{1,3})?[. ] ?(?:a{1,3}-)?0{4,5}(?:aa)? ?[ \n]?a"
)
# Other postal codes by shape: SW1A 1AA, K1A 0B1, IL 62704, 1234 AB, 00-001, 01234-567, 123 45, 560001.
_CODE_SHAPE = re.compile(
    rb"0(?: 0aa|a 0a[a0]|a[ -]?0a0|0-000|000aa|0000-0|00 00 a|00-0000|(?<= aa 0)0000|"
    rb"(?<=aa  0)0000|(?<=a-0)00000(?!0)|"
    rb"(?<=a - 0)00000(?!0))"
)
# How far behind a cue its address has a number.
_REACH = 80


def may_hold(encoded: bytes, shape: bytes) -> bool:
    cues = find_cues(encoded)
    if b"0" not in shape:
        return bool(cues) and not (ADDRESS_CUES.isdisjoint(cues) or _STREET_WORDS.isdisjoint(cues))
    if cues and not (
        _STREET_WORDS.isdisjoint(cues)
        and (ADDRESS_CUES.isdisjoint(cues) or not _has_number_behind(encoded, shape, cues & ADDRESS_CUES))
        and (_STATE_WORDS.isdisjoint(cues) or b"a 00000" not in shape)
    ):
        return True
    return (
        _CODE_SHAPE.search(shape) is not None
        or (b"0000" in shape and _NUMBER_AND_CODE.search(shape) is not None)
        or (b"aa 00000" in shape[:8])
        or ((b"a 0" in shape or b"a. 0" in shape or b"a  0" in shape) and _has_street_and_number(encoded))
        or (not encoded.isascii() and _ASIAN_BYTE.search(encoded) is not None)
    )


def _has_street_and_number(encoded: bytes) -> bool:
    return any(_ends_as_street(encoded, number.start()) for number in _NUMBER_BEHIND_SUFFIX.finditer(encoded))


def _has_number_behind(encoded: bytes, shape: bytes, cues: Iterable[bytes]) -> bool:
    lower = encoded.lower()
    for cue in cues:
        place = lower.find(cue)
        while place >= 0:
            if b"0" in shape[place : place + _REACH]:
                return True
            place = lower.find(cue, place + 1)
    return False


def _ends_as_street(encoded: bytes, end: int) -> bool:
    """Whether the word before ``end`` has the suffix of a street."""
    return encoded[max(0, end - 12) : end].rstrip(b".,").endswith(_SUFFIXES)


_ASIAN = re.compile(
    r"(?:〒 ?\d{3}-?\d{4}[ \n]{0,3})?(?:[一-龥]{2,3}[都道府県])?(?:[一-龥ぁ-んァ-ヶ]{1,8}[市区町村郡]){1,3}"
    r"[一-龥ぁ-んァ-ヶ々ー]{0,14}"
    r"\d{1,4}(?:丁目|番地?|号|の|[-－ー]|\d|条|線){0,14}号?"
    r"(?:[ 　][一-龥ぁ-んァ-ヶーA-Za-z・]{1,20}[ ]?\d{1,4}号?室?)?"
    r"|(?:[一-龥]{2,8}(?:省|市|自治区))(?:[一-龥]{1,8}(?:市|区|县|州)){0,2}[一-龥]{1,10}(?:路|街|道|巷|弄|村|镇"
    r"|座)[一-龥A-Z]{0,4}\d{0,5}号?(?:[ ]?\d{1,4}(?:号楼|单元|室|座|层|弄|幢|栋|号)){0,4}(?:[ ]\d{6})?"
    r"|(?:[가-힣]{2,8}(?:특별시|광역시|특별자치시|도|시)[ ])?(?:[가-힣]{1,8}(?:시|군|구)[ ]){1,2}"
    r"[가-힣0-9]{1,14}[로길동읍면가리][ ]?"
    r"(?:지하)?\d{1,4}(?:-\d{1,4})?"
    r"(?:[ ]?\([가-힣0-9 ]{1,14}\))?(?:[ ]\d{1,4}(?:동|호|층)){0,2}"
)
_ASIAN_LETTER = re.compile("[\u3040-\u9fff\uac00-\ud7a3]")
# The first byte of most Chinese, Japanese and Korean letters in UTF-8.
_ASIAN_BYTE = re.compile(rb"[\xe4-\xed]")


def search_folded(text: str) -> list[Match]:
    """Every postal address in a folded text without placeholders, by its start, without overlaps."""
    # The line breaks of a JSON string.
    text = text.replace("\\n", " \n") if "\\n" in text else text
    found = [*_find_by_street(text), *find_blocks(text), *find_announced_addresses(text)]
    if _ASIAN_LETTER.search(text):
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
    r"\b(?:live|lives|living|lived|address|located|reside|resides|residing|ship|ships|shipped|deliver"
    r"|delivered|send|mail|moved"
    r"|moving|home|house|apartment|stay|staying|pick(?:ed)? (?:me |us )?up)\b[^.!?\n]{0,24}\Z",
    re.IGNORECASE,
)
_BETWEEN_PARTS = re.compile(r"[ \t]*[,;/|–-]?[ \t]*(?:\r?\n[ \t]*)?\Z")


def _join(spans: Iterable[Span], text: str) -> list[Span]:
    """Overlapping spans as one, and those that only a comma or a line break parts."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and (
            start <= joined[-1][1]
            or _BETWEEN_PARTS.fullmatch(
                text, joined[-1][1], min(start, joined[-1][1] + 30) if start - joined[-1][1] > 30 else start
            )
        ):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
