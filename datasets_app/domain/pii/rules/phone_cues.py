"""How far the words around a number say that it is a telephone number."""

from collections.abc import Sequence

from datasets_app.domain.pii.rules.account_words import SUBJECTS
from datasets_app.domain.pii.rules.cues import NEWLINE, PHONE_SIGN, Window
from datasets_app.domain.pii.rules.phone_words import (
    ENDINGS,
    FILLERS,
    HINTS,
    LABEL_LETTERS,
    NOUNS,
    NUMBER_WORDS,
    OTHERS,
    OWNERS,
    PLACES,
    VERBS,
)

# A weak cue stands in the neighborhood: then the number itself must look like a telephone number.
BLOCKED, NO_CUE, WEAK_CUE, STRONG_CUE = -1, 0, 1, 2

_MAX_WORDS_FROM_NOUN, _MAX_WORDS_FROM_VERB, _MAX_WORDS_FROM_NUMBER = 5, 3, 3
_AT = frozenset("at on under".split())  # "call customer service at"
_MAX_LINES = 2
_SENTENCE_ENDS = frozenset("!?;.")
_PURPOSES = frozenset("to for where i you we on".split())  # "is the best number to reach me"
_BEFORE_NAME = OWNERS | frozenset("( ) [ ] - – — : , | / = \" ' the is was are ist est es è".split())
_OBJECT_OF = frozenset("on for of in to with from".split())
_OWNER_OF = frozenset({"of"})
_ARTICLES = frozenset("the my our this your that".split())


def rate_phone_words(window: Window) -> int:
    """One of the four."""
    before = _rate_before(window.list_tokens_before())
    tokens = window.list_tokens_after()
    after = _rate_after(tokens)
    if before == BLOCKED or (after == BLOCKED and before < STRONG_CUE):
        return after if after == STRONG_CUE and tokens[0] in ("is", "was") else NO_CUE
    return max(before, after)


def _rate_before(tokens: Sequence[str]) -> int:
    """``tokens`` come the nearest first."""
    unknown = lines = 0
    is_sentence_over = is_of_account = is_of_phone = False
    rating = WEAK_CUE if _is_label_letter(tokens[:3]) else NO_CUE
    number_at = -1
    for place, token in enumerate(tokens):
        if token in OTHERS and not _is_object(tokens, place) or (token.isdigit() and len(token) > 1):
            return rating or (BLOCKED if unknown <= 2 and not lines else NO_CUE)
        if token in NOUNS:
            if _is_object(tokens, place, _OWNER_OF):
                is_of_phone = True  # its number, or its serial number
                continue
            is_near = unknown <= _MAX_WORDS_FROM_NOUN and not is_sentence_over
            return STRONG_CUE if is_near else WEAK_CUE
        if token in VERBS or token == PHONE_SIGN:
            is_label = place > 0 and tokens[place - 1] == ":" and unknown <= _MAX_WORDS_FROM_NOUN
            is_near = unknown == 0 or is_label or (unknown <= _MAX_WORDS_FROM_VERB and tokens[0] in _AT)
            return STRONG_CUE if is_near and not is_sentence_over else WEAK_CUE
        if number_at >= 0 and (token in OWNERS or is_of_phone):
            return STRONG_CUE
        if token == NEWLINE:
            lines += 1
            if lines > _MAX_LINES:
                return rating
        elif token in _SENTENCE_ENDS:
            is_sentence_over = is_sentence_over or unknown > 0 or token not in ".?"
        elif token in NUMBER_WORDS:
            if is_of_account:
                return rating
            if number_at < 0 and unknown <= _MAX_WORDS_FROM_NUMBER:
                number_at = place
        elif token in HINTS or (token in PLACES and place > 0 and tokens[place - 1] == ":"):
            rating = WEAK_CUE
        elif token not in FILLERS:
            unknown += 1
            is_of_account = is_of_account or (token in SUBJECTS and not _is_object(tokens, place))
            if 0 <= number_at == place - 1:
                return rating  # the number of something: a flight, a room
    return STRONG_CUE if number_at >= 0 and is_of_phone else rating


def _is_label_letter(tokens: Sequence[str]) -> bool:
    """As in "T: 030 1234567", at the beginning of a line or behind a sign."""
    return (
        len(tokens) > 1
        and tokens[0] in ":.)"
        and tokens[1] in LABEL_LETTERS
        and (len(tokens) == 2 or not tokens[2].isalnum())
    )


def _is_object(tokens: Sequence[str], place: int, prepositions: frozenset[str] = _OBJECT_OF) -> bool:
    """Whether a word only places what is said: "the phone number on the account is …".

    The word right before a number is none: that may be its name.
    """
    further = tokens[place + 1 : place + 3]
    return place > 0 and len(further) == 2 and further[0] in _ARTICLES and further[1] in prepositions


def _rate_after(tokens: Sequence[str]) -> int:
    lines, unknown = 0, 0
    for place, token in enumerate(tokens):
        if token in OTHERS and place == 0:
            return BLOCKED  # 033001053499 orders
        if token in OTHERS or token.isdigit():
            return NO_CUE
        is_noun = token in NOUNS
        if is_noun or token in PLACES or (token in NUMBER_WORDS and place > 1):
            following = tokens[place + 1] if place + 1 < len(tokens) else NEWLINE
            if is_noun and following.isdigit():
                return NO_CUE  # it names the number behind it
            ends = following in (NEWLINE, ")") if lines else following in ENDINGS
            if unknown == 0 and (ends or (token in NUMBER_WORDS and following in _PURPOSES)):
                return STRONG_CUE
            if is_noun:
                return NO_CUE if lines else WEAK_CUE
            unknown += 1
        elif token in VERBS or token in HINTS:
            return NO_CUE if lines else WEAK_CUE
        elif token == NEWLINE:
            lines += 1
            if lines == _MAX_LINES or unknown:
                return NO_CUE
        elif token in _SENTENCE_ENDS and unknown:
            return NO_CUE
        elif token not in _BEFORE_NAME and token not in FILLERS:
            unknown += 1
    return NO_CUE
