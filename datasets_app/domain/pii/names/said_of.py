"""What the words around a name say of it: that it is a person, that it may be a firm, or nothing."""

import re
from enum import Enum

from datasets_app.domain.pii.names.person_cues import has_cue_before, has_cue_behind

_CUE_CHARACTERS = 60
# What firms and goods do and are done to as people are: "asked Acme the same", "Acme is so good".
_FIRM_BEFORE = re.compile(
    r"\b(?:ask(?:ed|ing)?|t(?:ell|old|elling)|contact(?:ed)?|e-?mailed|messaged|called|by|from|looking for"
    r"|(?:gift ?)?cards? for|vouchers? for|coupons? for)\s$",
    re.IGNORECASE,
)
_FIRM_BEHIND = re.compile(
    r",?\s(?:(?:also|just|already|still|then|never) )?(?:said|says?|told|asks?|asked|wants?|promised"
    r"|confirmed|replied|answered|sent|paid|likes?|loves?|bought|acquired|announced|apologi[sz]ed|refused"
    r"|helped|needs?|left|opened|won|came|gave|took|lets?|made|(?:is|was) (?:very|so|super|out|working)"
    r"|has been (?:very|so)|on (?:the|my|our) \w+)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?:the|an?|another|one|two|three|four|more|\d{1,2})\s$", re.IGNORECASE)
# Before one of many, and never before a person's name.
_ITEM = re.compile(
    r"\b(?:an?|another|the|these|those|each|every|two|three|four|five|six|\d{1,2}|un|une|deux|dos|tres|ein|eine|einen"
    r"|zwei|drei|een|twee)\s(?:(?:new|next|old|second|big|small|large|mini|original|free|whole|nouveau|nouvelle"
    r"|nuevo|neue[rns]?)\s)?$",
    re.IGNORECASE,
)
_REQUESTED = re.compile(r",?\s(?:please|pls)\b", re.IGNORECASE)
# "Best,\nAna", "- Ana": nothing but a line follows.
_SIGNED = re.compile(r"(?:\n\s*|[-–—~]\s?)$")
_END = re.compile(r"[\s.!)\]]*(?:\n.{0,80})?$")
# "Let me check that for you, Ana."
_ADDRESSED_BEFORE, _ADDRESSED_BEHIND = re.compile(r"[\w’'],\s$"), re.compile(r"\s?(?:[.!?]|$)")
_PRONOUN = re.compile(r"\b(?:s?he|him|hers?|his|herself|himself|who)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?\n]")
# Announced, or behind what only people are: "your agent Ana", "you're chatting with Ana".
_ANNOUNCED = re.compile(
    r"\b(?:agent|advisor|adviser|representative|rep|specialist|operator|consultant|associate|technician|coach"
    r"|chef|dr|doctor|nurse|team ?mate|colleague|supervisor|manager|stylist|trainer|driver|host|hostess"
    r"|therapist|(?:chatting|speaking|talking|connected|assisted|helped|session|appointment|class|call"
    r"|meeting) (?:with|by|to)|(?:belongs?|kudos|props|shout-?out|thanks) to|(?:placed|paid|booked) by"
    r"|on behalf of|i['’]?m|i am|my name(?:['’]s| is)|this is|signed|yours)[,:]?\s[\"“]?$",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(
    r",?\s(?:here|speaking|from|with|at) (?:the )?\w{1,20}(?: \w{1,20})? ?(?:support|team|desk|care"
    r"|service)\b|,?\s(?:will|['’]ll|can|would|has|is) (?:joined|fully booked|be happy|gladly|assist|help"
    r"|take (?:over|care)|contact|call|reply|e-?mail|get back|reach out|look into|take a look|join"
    r"|follow up|assigned|on (?:the line|leave|vacation|holiday|lunch))\b",
    re.IGNORECASE,
)


class Said(Enum):
    """``DOUBTFUL`` is what is said of people and of firms."""

    NOTHING = 0
    DOUBTFUL = 1
    PERSON = 2


def read_cues(text: str, start: int, end: int) -> Said:
    """What the words around ``text[start:end]`` speak of."""
    before, behind = text[max(0, start - _CUE_CHARACTERS) : start], text[end : end + _CUE_CHARACTERS]
    is_addressed = _ADDRESSED_BEFORE.search(before) and _ADDRESSED_BEHIND.match(behind)
    if (
        is_addressed
        or is_signature(text, start, end)
        or _ANNOUNCED.search(before)
        or _INTRODUCED.match(behind)
    ):
        return Said.PERSON
    has_article = _ARTICLE.search(before) is not None or _ITEM.search(before) is not None
    behind_person = has_cue_behind(text, start, end) and not (has_article and _REQUESTED.match(behind))
    before_person = has_cue_before(text, start)
    if (before_person and not _FIRM_BEFORE.search(before)) or (
        behind_person and not (has_article or _FIRM_BEHIND.match(behind))
    ):
        return Said.PERSON
    if before_person or behind_person or _PRONOUN.search(_SENTENCE_END.split(behind, maxsplit=1)[0]):
        return Said.DOUBTFUL
    return Said.NOTHING


def is_signature(text: str, start: int, end: int) -> bool:
    """Whether a text is a name, or ends in one on a line of its own."""
    if not _END.match(text, end):
        return False
    return start == 0 or _SIGNED.search(text, max(0, start - _CUE_CHARACTERS), start) is not None
