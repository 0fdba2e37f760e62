"""What follows the street of an address, and precedes it: unit, place, state, postal code, country."""

import re
from typing import NamedTuple

from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.rules import address_words as vocabulary

MAX_PARTS = 10
MAX_PLACE_WORDS = 5


class Tail(NamedTuple):
    """The parts behind a street, up to ``end``."""

    end: int
    has_unit: bool = False
    has_place: bool = False
    has_state: bool = False
    has_postal_code: bool = False
    has_province: bool = False


# A line break may be followed by one part only if that ends its line; see _read_place.
_SEPARATOR = re.compile(
    r"(?:\.(?=[,\n]|[ ]H-\d))?[ \t]*(?:[,;|·•/–—-][ \t]*|<br ?/?>[ \t]*)?(?:\r?\n[ \t]{0,40}(?:[,|>*-][ "
    r"\t]*)?)?(?:\([ \t]?)?"
)
_UNIT = re.compile(
    rf"(?:(?:{vocabulary.UNIT_WORDS})\.?[ :]{{0,2}}(?:(?:n[º°o]?|nr|no)\.?[ ]?)?#?(?:\d{{1,5}}[A-Za-z]?"
    rf"(?:[-/]\d{{1,4}})?|[A-Za-z]\d{{0,4}}(?:-\d{{1,4}})?)(?![\w@])"
    r"|#[ ]?\w{1,6}(?:-\w{1,4})?(?!\w)"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er|ère|e|ème|º|ª|°|o|a|\.)?[ ]?(?:{vocabulary.UNIT_ORDINALS})\b\.?(?:[ "
    rf"]\d{{1,3}}\b)?"
    r"|\d{1,2}[ºª°][ ,]?(?:[A-Z]\b|izq\w{0,6}\.?|dcha?\.?|derecha|ctro\.?|\d{1,2}[ºª°]?)?|s/n\b|z/n\b|b/n\b"
    r"|(?:ground|lower|upper|top|first|second|third) floor\b|EG\b|DG\b|parterre\b|HH\b|VH\b|[A-Z] \d{1,3}"
    r"(?=[,\n]))",
    re.IGNORECASE,
)
_CODE_CUE = (
    r"(?:(?:zip ?(?:code)?|post(?:al)? ?code|postcode|plz|c\.?p\.?|cep|cap|code postal|pin ?(?:code)?"
    r"|kode pos|p\.?c\.?)[ :.-]{1,3})?"
)
_UK_CODE = r"(?:[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[ABD-HJLNP-UW-Z]{2}|GIR ?0AA)"
_CANADIAN_CODE = r"[ABCEGHJ-NPRSTVXY]\d[A-Z][ -]?\d[A-Z]\d"
# Told by their form; in the others, digits alone, a place must be near.
_FORMED_CODE = (
    rf"(?:{_UK_CODE}|{_CANADIAN_CODE}|\d{{5}}-\d{{4}}|\d{{5}}-\d{{3}}|\d{{2}}-\d{{3}}|\d{{4}}-\d{{3}}"
    rf"|\d{{4}}[ ]?[A-Z]{{2}}(?![a-z])"
    rf"|〒? ?\d{{3}}-\d{{4}}|(?:D|A|CH|F|I|NL|B|L|S|SE|DK|N|NO|FI|FIN|PL|CZ|SK|H|HU|LV|LT|EE|AT|DE|FR|IT|ES"
    rf"|E|P|PT|GR|RO|HR|SI|L)-\d{{3}} ?\d{{1,3}}"
    r"|[AC-FHKNPRTV-Y]\d[\dW][ ]?[0-9AC-FHKNPRTV-Y]{4})"
)
_DIGIT_CODE = r"(?:\d{3}[ ]\d{2}(?!\d)|\d{3}[ ]\d{3}(?!\d)|\d{4,6}(?![\d/:])|\d{8}(?=[ ][A-ZÀ-Ý]))"
_POSTAL_CODE = re.compile(rf"{_CODE_CUE}(?:{_FORMED_CODE}|{_DIGIT_CODE})(?![\w@%]|[.,]\d|-\d)", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_STATE = re.compile(
    rf"(?:(?P<name>{vocabulary.STATE_NAMES})|(?P<code>[A-Za-z]{{2,3}})\.?)(?![\w'’])", re.IGNORECASE
)
# "Privada Garay 140 647, …": the number of the flat.
_SECOND_NUMBER = re.compile(r"\d{1,4}(?=[ ]?[,\n])")
_COUNTRY = re.compile(rf"(?:{vocabulary.COUNTRIES})(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"\d{1,2}[ªº](?!\w)|[^\W\d_][^\W_]*(?:['’.][^\W\d_]+)*(?:-[^\W_]+)*\.?")
_PLACE_GAP = re.compile(r"[ \t](?!\n)|(?<=[a-z]/)(?=[A-Z])|[ \t]?/[ \t]?(?=[A-Z])")
_PROVINCE = re.compile(
    r"[ \t]?(?:\([A-Za-zÀ-ÿ .-]{2,25}\)|CEDEX(?: \d{1,2})?|[/–-][ \t]?[A-Z]{2}\b|,?[ \t][A-Z]{2}\b(?!['’]))"
)
_LINE_END = re.compile(r"[ \t]*(?:[.,;:!?)\]\"'|<\\]|\r?\n|\Z|[–—-][ \t])")
_PART_END = re.compile(r"[ \t]*(?:[.,;:!?)\]\"'|<\\]|\r?\n|\Z|[–—-][ \t]|\d)")


def read_tail(text: str, start: int) -> Tail:
    """The parts that follow each other from ``start`` on."""
    tail = Tail(start)
    for _ in range(MAX_PARTS):
        separator = _SEPARATOR.match(text, tail.end)
        place = separator.end() if separator else tail.end
        if place == tail.end and text[place : place + 1] != "#":
            break
        longer = _read_part(text, tail, place)
        if longer is None:
            break
        tail = longer
    return tail


def _read_part(text: str, tail: Tail, place: int) -> Tail | None:
    if not tail.has_postal_code:
        code = _POSTAL_CODE.match(text, place)
        if code and _is_postal_code(text, tail, code):
            return _read_place_behind_code(text, tail._replace(end=code.end(), has_postal_code=True))
        unit = _UNIT.match(text, place)
        if unit and not _is_word_alone(unit[0]):
            return tail._replace(end=unit.end(), has_unit=True)
        if not (tail.has_unit or tail.has_place) and (number := _SECOND_NUMBER.match(text, place)):
            return tail._replace(end=number.end())
    country = _COUNTRY.match(text, place)
    if country and country[0][0].isupper():
        return tail._replace(end=country.end(), has_place=True, has_province=True)
    state = _match_state(text, tail, place)
    if state:
        return tail._replace(end=state, has_state=True)
    end = _read_place(text, tail, place)
    return tail._replace(end=end, has_place=True) if end else None


def _is_word_alone(unit: str) -> bool:
    """ "floor a", "shop i": no numbers of units but the words that follow."""
    return not any(map(str.isdigit, unit)) and unit[-1:].islower() and unit[-2:-1] == " "


def _is_postal_code(text: str, tail: Tail, code: re.Match[str]) -> bool:
    """Four to six digits are a code if a place or a state precedes, or a place follows."""
    value = code[0]
    if not value.isdigit():
        return not value.replace(" ", "").isdigit() or tail.has_place or place_follows(text, code.end())
    if len(value) == 4 and _YEAR.match(value) and not (tail.has_state or place_follows(text, code.end())):
        return False
    return (
        tail.has_place
        or tail.has_state
        or place_follows(text, code.end())
        or (len(value) > 4 and not _counts(text, code.end()))
    )


def _counts(text: str, place: int) -> bool:
    word = _WORD.match(text, place + 1)
    return word is not None and text[place : place + 1] == " "


def place_follows(text: str, place: int) -> bool:
    """Whether a word behind a postal code may name a place; in small letters, one in no dictionary."""
    word = _WORD.match(text, place + 1) if text[place : place + 1] in (" ", ",", "\n") else None
    return (
        word is not None
        and _is_place_word(word[0])
        and (word[0][0].isupper() or not look_up_word(word[0]).common)
    )


def _match_state(text: str, tail: Tail, place: int) -> int | None:
    """A state: its name, or its code in capitals or before a postal code."""
    state = _STATE.match(text, place)
    if state is None or tail.has_state:
        return None
    if state["name"]:
        return state.end()
    if state["code"].lower() not in vocabulary.STATE_CODES:
        return None
    gap = _SEPARATOR.match(text, state.end())
    code = _POSTAL_CODE.match(text, gap.end()) if gap else None
    if state["code"].isupper() or code:
        return state.end() - (state[0][-1] == "." and code is None)
    return None


def _is_place_word(word: str) -> bool:
    lower = word.lower().rstrip(".")
    return lower not in vocabulary.STOP_WORDS and lower not in vocabulary.LINKING_WORDS


def _read_place_behind_code(text: str, tail: Tail) -> Tail:
    """The place behind its postal code: "10115 Berlin", "28001 Madrid", "123 45 Stockholm"."""
    if tail.has_state:
        return tail
    separator = re.match(r"[ \t]{1,2}|,[ \t]?|[ \t]?\r?\n[ \t]{0,20}", text[tail.end : tail.end + 24])
    if separator is None:
        return tail
    end = _read_place_words(text, tail.end + separator.end(), needs_capital=tail.has_place)
    if end is None or ("\n" in separator[0] and not _LINE_END.match(text, end)):
        return tail
    province = _PROVINCE.match(text, end)
    return tail._replace(
        end=province.end() if province else end, has_place=True, has_province=province is not None
    )


def _read_place(text: str, tail: Tail, place: int) -> int | None:
    """The end of the name of a place; in small letters only where a state, a code or the end follows."""
    if tail.has_postal_code and (tail.has_state or tail.has_province):
        return None
    gap = text[tail.end : place]
    end = _read_place_words(text, place, needs_capital=True)
    if tail.has_postal_code:
        return end if end and "," in gap and _LINE_END.match(text, end) else None
    if end and ("\n" not in gap or _leads_on(text, end) or _LINE_END.match(text, end)):
        if gap.strip(" \t") or _PART_END.match(text, end) or _leads_on(text, end):
            province = _PROVINCE.match(text, end)
            return province.end() if province and "(" in province[0] else end
        return end if _is_unusual(text[place:end]) else None
    if "\n" in gap:
        return None
    end = _read_place_words(text, place, needs_capital=False)
    while end and end > place:
        if _leads_on(text, end):
            return end
        end = text.rfind(" ", place, end)
    end = _read_place_words(text, place, needs_capital=False)
    return end if end and _LINE_END.match(text, end) and _is_unusual(text[place:end]) else None


def _leads_on(text: str, place: int) -> bool:
    """Whether a state with its code, or a postal code, follows."""
    gap = _SEPARATOR.match(text, place)
    if gap is None or gap.end() == place:
        return False
    state = _STATE.match(text, gap.end())
    if state and (state["name"] or state["code"].lower() in vocabulary.STATE_CODES):
        after = _SEPARATOR.match(text, state.end())
        if (after and _POSTAL_CODE.match(text, after.end())) or (state["code"] and state["code"].isupper()):
            return True
        if state["name"] and (" " in state["name"] or _LINE_END.match(text, state.end())):
            return True
    code = _POSTAL_CODE.match(text, gap.end())
    return code is not None and not (
        code[0].isdigit() and len(code[0]) == 4 and _YEAR.match(code[0]) is not None
    )


def _read_place_words(text: str, place: int, *, needs_capital: bool) -> int | None:
    end, at, before = None, place, ""
    for _ in range(MAX_PLACE_WORDS):
        word = _WORD.match(text, at)
        if word is None:
            break
        gap = _PLACE_GAP.match(text, word.end())
        following = _WORD.match(text, gap.end()) if gap else None
        if not vocabulary.may_be_in_name(word[0], before, following[0] if following else ""):
            break
        lower, is_capital = word[0].lower(), word[0][0].isupper()
        is_link = lower in vocabulary.PARTICLES or lower in vocabulary.LINKING_WORDS
        if needs_capital and not is_capital and not (is_link and end is not None):
            break
        if is_capital or not is_link:
            end = word.end() - (word[0][-1] == "." and len(word[0]) > 4)
        if gap is None:
            break
        at, before = gap.end(), word[0]
    return end


def _is_unusual(words: str) -> bool:
    """Whether no dictionary has these words, or lists them as names above all."""
    return all(look_up_word(word).common < 2 for word in re.findall(r"[^\W\d_]{3,}", words))


# --- before the street -------------------------------------------------------------------------

_UNIT_BEFORE = (
    rf"(?i:(?<![\w@])(?:(?:{vocabulary.UNIT_WORDS})\.?[ :]{{0,2}}(?:(?:n[º°o]?|nr|no)\.?[ ]?)?#?"
    r"(?:\d{1,5}[a-z]?(?:[-/]\d{1,4})?|(?-i:[A-Z])\d{0,4}(?:-\d{1,4})?)"
    r"|\d{1,2}(?:st|nd|rd|th) floor|(?:ground|first|second|third|top|lower) floor|#\d{1,4}(?:-\d{1,4})?"
    r"|h\. ?no\.?(?:[ ]?\d{1,5}(?:[-/]\w{1,5}){0,3})?|plot(?: no\.?)?|door no\.?|house no\.?)"
    r"[ \t]{0,2}(?:[,/–-][ \t]{0,2})?(?:\r?\n[ \t]{0,8})?)"
)
_RECIPIENT = (
    r"(?<!\w)(?i:c/o|℅|attn:?|z\. ?hd\.?)[ \t]{1,2}(?:[^\W\d_][\w.'’-]{0,20}[ \t]?){1,4}"
    r"(?:,[ \t]{0,2}|(?<=[ \t])(?=\d)|\r?\n[ \t]{0,8})"
)
_BUILDING = (
    r"(?:^|(?<=[\n,:(>|]))[ \t]{0,2}(?:[A-Z][\w'’.-]{0,20}[ \t]){1,4}(?:House|Cottage|Building|Bldg"
    r"|Towers?|Court|Mansions?|Lodge"
    r"|Farm|Apartments?|Apts|Residency|Nagar|Complex|Heights|Plaza|Villas?|Manor|Hall|Cent(?:re|er)"
    r"|Society|Enclave|Colony)"
    r"(?:,[ \t]{0,2}|[ \t]?\r?\n[ \t]{0,8})"
)
_PLACE_BEFORE = (
    r"(?:\d{6}, ?)?(?:Россия, ?)?(?:[\w.-]{2,30} (?:обл|край|респ)\w{0,6}\.?, ?)?(?:г|гор|пос|с|дер)\. "
    r"?[\w-]{2,30}(?: [\w-]{2,20})?, ?"
    r"|\d{4} [A-ZÁÉÍÓÖŐÚÜŰ][\w-]{1,25}(?: [IVX]{1,5}\.)?(?: ker(?:ület|\.))?, ?"
)
_BEFORE = re.compile(rf"(?:{_UNIT_BEFORE}|{_RECIPIENT}|{_BUILDING}|{_PLACE_BEFORE})\Z")


def find_start(text: str, start: int) -> int:
    """Where the address begins whose street begins at ``start``: at "Flat 3", at "c/o Jane Doe"."""
    for _ in range(3):
        before = _BEFORE.search(text, max(0, start - 90), start)
        if before is None or before.end() == before.start():
            break
        start = before.start() + (len(before[0]) - len(before[0].lstrip()))
    return start
