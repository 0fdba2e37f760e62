"""Numbers of identity documents, tax, licenses, health and vehicles, of some fifty countries.

A number counts behind a word that announces it if it looks like one, mistyped ones too; further away, in the
same or the next line, if its shape is the announced one or its check digits agree. Without a word only forms
count that nothing else has; before its word a number is for the network. Texts come folded to ASCII digits,
their placeholders blanked.
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import HOLE, ID_NUMBER, Match, drop_overlaps
from datasets_app.domain.pii.placeholders import BLANK
from datasets_app.domain.pii.rules.identity.id_checks import is_checked
from datasets_app.domain.pii.rules.identity.id_formats import (
    Cue,
    IdFormat,
    Strength,
    compile_shape,
    find_cues,
    load_tables,
)
from datasets_app.domain.pii.rules.identity.id_gap import COUNTING_WORDS, FILLERS, OTHER_NOUNS, OWNER, Gap
from datasets_app.domain.pii.rules.identity.id_values import (
    COMPACT_DATE,
    DIGIT,
    GROUP,
    MAX_VALUE_CHARACTERS,
    Value,
    looks_like_code,
    read_values,
)

_DIGITS = b"0123456789"
# Letters, also of other scripts; ASCII capitals become small, all else a space.
_LETTERS = bytes(
    byte + 32 if 65 <= byte <= 90 else byte if 97 <= byte <= 122 or byte >= 0x80 else 32
    for byte in range(256)
)
# Every form that counts without a cue has one of these in its shape (finder.py). Most texts have none of the
# parts that several begin with, and are asked no further.
_FORM_SHAPES = {
    b"000000": b"0000000a|00000000-a|-0000000-a|a-0000000|aaaa000000|a000000000a|a000000 |000000-0|000000+0|"
    b"000000a0|00 000000 a|aa 000000a|aa 000000 a|000000/0000|-00000000|0000000000000".split(b"|"),
    b".00": b".000.000|.00.00-0|00.0000.0000.00".split(b"|"),
    b"-00": b"000-000-000|-00000-00-".split(b"|"),
    b" 00": b"aa 00 00|0 00 00 |aaa aaa 00a00".split(b"|"),
    b"a00": b"-aa00|00a00a0|aaaaa0000a".split(b"|"),
}
_LONG_CODE = re.compile(rb"[A-HJ-NPR-Z0-9]{17}")
# The lines of digits and signs at the foot of a passport, which a machine reads.
_MACHINE_READABLE = re.compile(r"(?<![A-Z0-9<])(?=[A-Z0-9]{0,40}<<?[A-Z0-9<])[A-Z0-9<]{28,44}(?![A-Z0-9<])")

# Capitals and digits with the signs between them; the last may be in brackets: A123456(7).
_CODE_RUN = re.compile(r"(?<![^\W_])[A-Z0-9]+(?:[-./+ (]{1,2}[A-Z0-9]+)*(?:\)|-?[kx]\b)?")
_MIN_FORM_CHARACTERS, _MIN_FORM_DIGITS = 9, 4
_LAST_WORD = re.compile(r"([^\W_]+)[\s:#]{0,3}\Z")
_MAX_GROUPS = 10
_REACH = 60  # characters between a cue and the value
_MAX_WORDS_BETWEEN = 7

_LIST_LINK = re.compile(r"\s?(?:[,;/&+]|\b(?:and|or|y|e|und|et|en|och|og|i|a)\b){1,2}\s?", re.IGNORECASE)


def may_hold(encoded: bytes, shape: bytes) -> bool:
    """Whether a text (UTF-8) and its shape can hold a number of these: see ``finder.py``."""
    if b"<<" in encoded:
        return True
    digits = len(encoded) - len(encoded.translate(None, _DIGITS))
    if digits < 2:
        return False
    if _may_have_cue(encoded):
        return True
    if digits >= 4 and (
        any(part in shape and any(map(shape.__contains__, forms)) for part, forms in _FORM_SHAPES.items())
        or (digits >= 5 and b"0000" in shape and _LONG_CODE.search(encoded) is not None)
    ):
        return True
    return b"a.a.a" in shape


def _may_have_cue(encoded: bytes) -> bool:
    tables = load_tables()
    return not tables.rare_words.isdisjoint(encoded.translate(_LETTERS).split()) or (
        not encoded.isascii() and any(map(encoded.__contains__, tables.undivided))
    )


def search_folded(text: str) -> list[Match]:
    spans = [span for cue in find_cues(text) for span in _find_announced(text, cue)]
    spans += _find_distinct_forms(text)
    if "<<" in text:
        spans += (match.span() for match in _MACHINE_READABLE.finditer(text))
    return drop_overlaps(ID_NUMBER, spans)


def _is_of_something_else(text: str, start: int, since: int = 0) -> bool:
    """Whether the word before a number, or the label of its line ("Born: …"), is that of another one."""
    before = text[max(since, start - _REACH) : start]
    last = _LAST_WORD.search(before)
    if last and last[1].lower() in OTHER_NOUNS:
        return True
    label = before.rpartition("\n")[2].rpartition(":")[0]
    return any(word.lower() not in FILLERS for word in GROUP.findall(label))


def _find_distinct_forms(text: str) -> Iterator[tuple[int, int]]:
    for run in _CODE_RUN.finditer(text):
        if len(run[0]) < _MIN_FORM_CHARACTERS or len(DIGIT.findall(run[0])) < _MIN_FORM_DIGITS:
            continue
        before = _LAST_WORD.search(text, max(0, run.start() - _REACH), run.start())
        if before is None or before[1].lower() not in OTHER_NOUNS:
            yield from _find_forms_in_run(text, run.start(), run.end())


def _find_forms_in_run(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for form in load_tables().forms:
        pattern = compile_shape(rf"(?<![\w@#])(?<![^\W_][-./])(?:{form.shape})(?![\w@]|[-./]\w)")
        for match in pattern.finditer(text, start, end + 2):
            if not form.checks or is_checked(form.checks, match[0]):
                yield match.span()


# --- announced ---------------------------------------------------------------------------------


def _find_announced(text: str, cue: Cue) -> Iterator[tuple[int, int]]:
    if _is_spent(text, cue):
        return
    found = _find_after(text, cue, cue.end, is_list=False)
    count = 0
    while found is not None and count < _MAX_GROUPS:
        yield found
        link = _LIST_LINK.match(text, found[1])
        found = _find_after(text, cue, link.end(), is_list=True) if link else None
        count += 1


def _find_after(text: str, cue: Cue, at: int, *, is_list: bool) -> tuple[int, int] | None:
    """The first number after a cue; with ``is_list`` what stands at ``at``, or nothing."""
    gap, first = Gap(), at
    for group in GROUP.finditer(text, at, at + _REACH + MAX_VALUE_CHARACTERS):
        between = text[first : group.start()]
        if group.start() - at > _REACH or _ends_cue(between) or gap.unknown > _MAX_WORDS_BETWEEN:
            return None
        if first > at and between[-1:].isspace() and any(sign in between for sign in ".?!"):
            gap.is_near = False
        if ":" in between:
            gap.go_on()
        is_count = between == " " and gap.last_word in COUNTING_WORDS  # "a license for 100000 users"
        for value in read_values(text, group):
            if is_count and value.plain.isdigit():
                break
            if any(_is_announced(text, value, form, cue, gap) for form in cue.formats):
                return value.start, value.end
        if is_list:
            return None
        gap.add(group[0].lower())
        first = group.end()
    return None


def _is_spent(text: str, cue: Cue) -> bool:
    """Whether the announced value has been taken out."""
    rest = text[cue.end : cue.end + _REACH]
    place = max(rest.find(BLANK), rest.find(HOLE))
    return place >= 0 and not DIGIT.search(rest, 0, place)


def _ends_cue(between: str) -> bool:
    """A value that has been taken out was the announced one; blank lines begin something else."""
    return BLANK in between or HOLE in between or "://" in between or between.count("\n") > 2


def _is_announced(text: str, value: Value, form: IdFormat, cue: Cue, gap: Gap) -> bool:
    fits, is_code = form.fits(value.plain), looks_like_code(text, value, form)
    is_mixed = not value.plain.isdigit() and not value.is_spaced
    is_near = gap.leads_to(is_likely=fits and is_mixed and (not form.is_wide or _is_long(value)))
    if (
        is_near
        and is_code
        and (cue.strength >= Strength.DOCUMENT or (fits and _is_meant(text, value, form, cue)))
    ):
        return True
    if cue.strength == Strength.NUMBER and form.is_wide and fits and gap.wanders and _is_long(value):
        return is_code
    if not fits or form.is_wide or gap.is_blocked or (cue.strength < Strength.DOCUMENT and not is_near):
        return False
    if cue.strength == Strength.NUMBER and is_code and not COMPACT_DATE.fullmatch(value.plain):
        return True
    return (
        is_code
        and not _is_of_something_else(text, value.start, cue.end)
        and is_checked(form.checks, text[value.start : value.end])
    )


def _is_long(value: Value) -> bool:
    return len(value.plain) >= 8 and len(DIGIT.findall(value.plain)) >= 5


def _is_meant(text: str, value: Value, form: IdFormat, cue: Cue) -> bool:
    """Whether an ambiguous word before a value of the right shape means its number."""
    if _is_possessed(text, cue) or not (form.is_wide or value.plain.isdigit()):
        return True
    if text[cue.end : value.start] == " " and len(value.plain) >= _MIN_FORM_CHARACTERS and form.checks:
        return is_checked(form.checks, text[value.start : value.end])
    return cue.strength == Strength.CAPITALS and (
        not form.checks or text[cue.end : cue.end + 1] in (":", "=")
    )


def _is_possessed(text: str, cue: Cue) -> bool:
    """Makes an ordinary word a number: "my sin is …", or alone in its line, "sin: …"."""
    before = text[max(0, cue.start - 20) : cue.start]
    return bool(OWNER.search(before)) or (
        text[cue.end : cue.end + 1] in ("=", ":") and not before.rpartition("\n")[2].strip(" \t\"'{-*")
    )
