"""User names that are names run together: jdoe, annalee, xjdoex. No dictionary has them, lists of names do.

Linear in the length of the text. In languages other than English many a word falls apart into names, so there
only those count that a word beside them announces.
"""

import re
from functools import lru_cache

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.names.gazetteer import UNKNOWN_WORD, look_up_word

_MIN_CHARACTERS, _MAX_CHARACTERS = 5, 24
_MIN_PART = 3
_FREQUENT = 2
_BOTH_COMMON = 3  # works and pace, of workspace
# Of words, no initials: bakers, joinery, colombian, rebalance.
_WORD_ENDINGS = frozenset("sydre")
_ENGLISH = frozenset(b"the my is and you with this was are it please to have i me your not".split())
# Words that fall apart into names, too, and one that the list of words spells otherwise.
WORDS = frozenset(
    "mistyped heathrow cappella draymond alborada bretagne alicante skypoints sceptical".split()
)
# xxannaxx, itsanna, therealanna, mrsdoe, annaofficial, notanna
_AROUND = lazy_re.compile(
    r"(?P<open>x{1,2}|i?tsz?|im|iam|the(?:real)?|real|mr|mrs|ms|dr|miss|hey|just|only|not|official|lil|king"
    r"|queen|lady|team|captain|sir|simply|ask)?"
    r"(?P<name>[a-z]{4,}?)"
    r"(?P<close>x{1,2}|official|real|hd|tv|yt|xo|xoxo|gam(?:er|ing)|plays|music|art|photo|photos|foto|pics"
    r"|books|blog|writes|irl|live|online|life|world|land|designs?|vlogs|streams|fit|codes|dev|fam|boi|girl|lover|things)?"
)
_TOKEN = lazy_re.compile(
    r"(?<![^\W\u0e00-\u9fff\uac00-\ud7af])(?<![@/\\.#$%&+~<`-])(?:[a-z]{6,24}"
    r"|[A-Z]{6,24})(?![\w@/\\(\[+`-]|[.:]\w)"
)


_SHORT_WORDS = frozenset("i a of in my me is to no be so we it im mr ms dr xo xx dj mc jr by on or".split())
_MIN_OF_WORDS, _MAX_WORDS = 8, 4


_TITLED = re.compile(r"(?:mr|mrs|dr|xx|lil|its?|the|iam)(?P<word>[a-z]{4,})")
# Of compounds that aren't names: self-service, read-only, sign-up, multi-factor.
_PREFIXES = frozenset(
    "self multi non pre post anti semi auto cyber sub super inter intra trans counter cross over under half "
    "full all any re co bi tri micro macro mini mid meta pseudo quasi ultra infra check follow read".split()
)
_COMPOUND_ENDING = re.compile(
    r".*(?:ed|ing|able|ible|ly|ive|al|ary|ic|ous|less|ful|ment|tion|sion|ness|ance|ence|ity)"
    r"|free|based|wide|ready|friendly|only|side|level|time|term|wise|like|proof|through|down|back|over|away"
    r"|name|page|code|number|mail|list|line|site|room|rate|size|type|case|note|test|check|date|year|week|day"
)
_PAIR = re.compile(r"[A-Za-z]{3,16}-[A-Za-z]{3,16}")


@lru_cache(maxsize=4096)
def is_of_words(word: str) -> bool:
    """Whether a word that no dictionary has is several ordinary ones: nightowl, karinlovesdogs, mrowl."""
    if _MIN_OF_WORDS <= len(word) <= _MAX_CHARACTERS and _consists_of_words(word, _MAX_WORDS):
        return True
    titled = _TITLED.fullmatch(word)
    return titled is not None and look_up_word(titled["word"]).common > 0


@lru_cache(maxsize=4096)
def is_word_pair(token: str) -> bool:
    """Whether two words with a hyphen between them make no usual compound: silver-fox, otter-banjo."""
    if not _PAIR.fullmatch(token):
        return False
    left, right = token.lower().split("-")
    facts = look_up_word(left), look_up_word(right)
    if left in _PREFIXES or any(
        _COMPOUND_ENDING.fullmatch(part) and look_up_word(part).common for part in (left, right)
    ):
        return False
    return min(fact.common for fact in facts) < 2


def _consists_of_words(word: str, most: int) -> bool:
    if not word:
        return True
    if not most:
        return False
    for end in range(len(word), 0, -1):
        part = word[:end]
        facts = look_up_word(part) if end >= _MIN_PART else UNKNOWN_WORD
        is_word = part in _SHORT_WORDS or facts.common > 1 or (end > _MIN_PART and facts != UNKNOWN_WORD)
        if is_word and _consists_of_words(word[end:], most - 1):
            return True
    return False


@lru_cache(maxsize=4096)
def is_run_together(token: str) -> bool:
    """The same of names of any frequency, for where a user name is announced."""
    if not _MIN_CHARACTERS <= len(token) <= _MAX_CHARACTERS or not (token.islower() or token.isupper()):
        return False
    lower = token.lower()
    if look_up_word(lower) != UNKNOWN_WORD:
        return False
    around = _AROUND.fullmatch(lower)
    if around and (around["open"] or around["close"]):
        inner = look_up_word(around["name"])
        if (inner.first + inner.last and inner.common < 2) or _is_pair(around["name"]):
            return True
    return _is_pair(lower)


def _is_pair(word: str) -> bool:
    rest, all_but_last = look_up_word(word[1:]), look_up_word(word[:-1])
    if len(word) > 4 and rest.last and not rest.common:
        return True
    least = 1 if len(word) > _MIN_CHARACTERS else _FREQUENT
    if (
        max(all_but_last.first, all_but_last.last) >= least
        and not all_but_last.common
        and word[-1] not in _WORD_ENDINGS
    ):
        return True  # karinh, holmk
    for place in range(_MIN_PART, len(word) - _MIN_PART + 1 if len(word) >= 8 else 0):
        left, right = look_up_word(word[:place]), look_up_word(word[place:])
        if (
            left.first + left.last
            and right.first + right.last
            and left.first + right.first
            and left.common + right.common < _BOTH_COMMON
        ):
            return True
    return False
