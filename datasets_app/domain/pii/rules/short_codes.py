"""What models take for people, though a code or a blank says otherwise: Torx T25, IPX4, q150, [Your name].

A code is a few capitals, or one letter, with a number. Words that no list has as a name are a thing's before
one, and so are user names and addresses that have no other digits.
"""

import re

from datasets_app.domain.pii.detector import ACCOUNT, ADDRESS, HANDLE, ID_NUMBER, NAME, Match
from datasets_app.domain.pii.network import lexicon

# A model that is surer than this has seen more than the code.
MAX_DOUBTED_SCORE = 0.6
# It holds too little to tell anybody apart; in capitals it may be a postal district (E14).
_NUMBERED_LETTER = re.compile(r"[A-Za-z]\d{1,3}")
_SHORT_CODE = re.compile(r"[A-Z]{1,4}\d{1,3}[A-Z]?")
_LONG_CODE = re.compile(r"[A-Z]{2,4}\d{1,3}[A-Z]?")
_CODE_BEHIND = re.compile(r" (?:[A-Z]{2,4} )?(?:[A-Z]{1,4}\d|\d+/\d)[\w./-]{0,8}(?!\w)")
# From the beginning of a word only: long ones take no longer for it.
_NUMBERED = re.compile(r"\b\w*\d\w*")
# "[Ihr Name] von": what follows a blank belongs to it, as to no name it is joined.
_BLANK_BEFORE = re.compile(r"\[[^\W\d_]{3,}[^\[\]\d\n]{0,40}\]\s\Z")
_WORD = re.compile(r"\b[^\W\d_]+\b")


def is_thing(text: str, match: Match) -> bool:
    """Whether the signs around a judged value say that it belongs to a thing."""
    value = text[match.start : match.end]
    if match.kind in (HANDLE, ID_NUMBER, ACCOUNT) and _NUMBERED_LETTER.fullmatch(value):
        return True
    if match.kind == HANDLE:
        return _SHORT_CODE.fullmatch(value) is not None
    if match.kind == ADDRESS:
        if value[0].islower() and _NUMBERED_LETTER.fullmatch(value):
            return True
        numbers = _NUMBERED.findall(value)
        return bool(numbers) and all(map(_LONG_CODE.fullmatch, numbers)) and not _has_name(value)
    if match.kind != NAME:
        return False
    if value[0].islower() and _BLANK_BEFORE.search(text, max(0, match.start - 50), match.start):
        return not _has_name(value)
    is_doubted = match.score < MAX_DOUBTED_SCORE and _CODE_BEHIND.match(text, match.end) is not None
    return is_doubted and not _has_name(value)


def _has_name(value: str) -> bool:
    """Whether a list of names has a word that begins with a capital."""
    words = [lexicon.fold_word(word) for word in _WORD.findall(value) if word[0].isupper()]
    facts = map(lexicon.read_code, lexicon.look_up(words))
    return any(word.first or word.last for word in facts)
