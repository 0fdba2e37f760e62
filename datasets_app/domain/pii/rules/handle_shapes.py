"""How much a token looks like a user name: of names and words run together, with digits, signs and capitals.

What people write has next to nothing else of these forms; technical texts have files, parts and variables.
"""

import re
from functools import lru_cache

from datasets_app.domain.pii.entropy import is_hexadecimal
from datasets_app.domain.pii.names.gazetteer import UNKNOWN_WORD, look_up_word
from datasets_app.domain.pii.names.things import is_software
from datasets_app.domain.pii.rules import handle_context_words as words
from datasets_app.domain.pii.rules.announced_handles import TECHNICAL, is_free
from datasets_app.domain.pii.rules.handle_names import is_of_words, is_run_together, is_word_pair

# Of words, of words with digits or signs, of names or with a word that no dictionary has, and one that needs
# no word beside it, even alone.
NO_NAME, OF_WORDS, OF_SIGNED_WORDS, OF_NAMES, UNMISTAKABLE, NAMED = range(6)

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_AROUND = re.compile(r"(?P<frame>[xX]{1,2}_?|[oO]_)(?P<inner>[A-Za-z][\w.]{2,}?)(?:_?[xX]{1,2}|_[oO])")
# fail2ban, web2py
_DIGIT_FOR_WORD = re.compile(
    r"[A-Za-z]+(?:[24][A-Za-z]+|[0-9][A-Za-z]{1,3}|(?<=\A[A-Za-z]{3})[0-9][A-Za-z]+)"
)
_VERSIONED = re.compile(
    r"[A-Za-z_]+(?:[0-9]+[.-]v?[0-9]|[.-]v?[0-9][.]|[.-]v?[0-9]\Z|-[0-9]+\Z)[0-9.]*"
    r"|[A-Za-z][A-Za-z0-9]*\.[A-Z]{2,}"
    r"|.*(?:\.\.|--).*|__[a-z]+__|.*[a-z]\.[A-Z][a-z]*"
)
_FILE_ENDING = re.compile(
    r".*\.(?:jsonl?|onnx|parquet|toml|lock|cfg|ini|conf|sh|bat|dll|so|zip|gz|tar|pdf|docx?|xlsx?|pptx?"
    r"|mp[34])"
)
_CAMEL = re.compile(r"[a-z]{2,20}[A-Z][a-z]{1,20}[0-9]{2,6}")
_WORD_AND_NUMBER = re.compile(r"[A-Za-z]{2,20}_[0-9]{2,6}|[a-z]{2,20}[A-Z][a-z]{1,20}[0-9]{2,6}")
_NUMBERED = re.compile(r"[0-9]{1,4}_?(?P<after>[A-Za-z]{4,24})|(?P<before>[a-z]{4,24})-[0-9]{2,4}")
# The beginning of a commit: 7dedf53e.
_COMMIT = re.compile(r"(?=\D*\d\D*\d)(?!.*[a-f]{5})[0-9a-f]{7,12}")
_MAX_TOKEN = 30
_DIGIT_RUN = re.compile(r"[0-9]+")
_MIN_NAME, _MAX_NAME = 4, 7


@lru_cache(maxsize=4096)
def rank(token: str) -> int:
    """One of the constants above."""
    if token.isalpha() and (token.islower() or token.isupper()):
        return _rank_word(token)
    numbered = _NUMBERED.fullmatch(token)
    if numbered:  # 22jane, jane-22
        return OF_SIGNED_WORDS if is_name((numbered["after"] or numbered["before"]).lower()) else NO_NAME
    if token.istitle() and token.isalpha() or not _may_be_name(token):
        return NO_NAME
    around = _AROUND.fullmatch(token)
    parts = [part.lower() for part in _PART.findall(around["inner"] if around else token)]
    longest = max(map(len, parts), default=0)
    if longest < 3 or (token.isupper() and longest < _MIN_NAME + 1):
        return NO_NAME
    things = sum(part in words.THINGS or part in words.COUNTERS or part in words.ACCOUNTS for part in parts)
    if things and (things == sum(len(part) > 2 for part in parts) or not _CAMEL.fullmatch(token)):
        # friend.annalee, annalee_team
        return OF_NAMES if any(len(part) > _MAX_NAME and is_run_together(part) for part in parts) else NO_NAME
    return _rank_parts(token, parts, is_framed=around is not None)


def _rank_word(token: str) -> int:
    if not is_free(token):
        return NO_NAME
    if is_run_together(token):
        return OF_NAMES
    lower = token.lower()
    if look_up_word(lower) != UNKNOWN_WORD or lower in words.THINGS:
        return NO_NAME
    return OF_WORDS if is_of_words(lower) else NO_NAME


def _rank_parts(token: str, parts: list[str], *, is_framed: bool) -> int:
    digits = sum(map(str.isdigit, token))
    signs = digits or "_" in token or is_framed
    names = [part for part in parts if is_name(part)]
    if "-" in token:  # Hartsfield-Jackson is an airport
        if names and token.islower():
            return OF_NAMES
        return OF_WORDS if token.islower() and is_word_pair(token) else NO_NAME
    if names and (digits > 1 or "_" in token or is_framed or _are_first_and_last(parts)):
        return NAMED if digits > 1 else UNMISTAKABLE
    if not signs and "." not in token:
        return OF_WORDS  # DaCosta, CashNest
    if names or (signs and any(len(part) >= _MIN_NAME and _is_unusual(part) for part in parts)):
        return UNMISTAKABLE if digits > 1 and _measure_unusual(parts) >= 7 else OF_NAMES
    if _WORD_AND_NUMBER.fullmatch(token):
        return UNMISTAKABLE
    if _DIGIT_FOR_WORD.fullmatch(token):
        return NO_NAME
    return OF_SIGNED_WORDS if signs else OF_WORDS


def _measure_unusual(parts: list[str]) -> int:
    return max((len(part) for part in parts if _is_unusual(part) and not is_of_words(part)), default=0)


def _may_be_name(token: str) -> bool:
    if (
        not is_free(token)
        or is_hexadecimal(token)
        or _COMMIT.fullmatch(token)
        or _VERSIONED.fullmatch(token)
        or _FILE_ENDING.fullmatch(token)
    ):
        return False
    # Keys, hashes and wallets change from letters to digits many times.
    if token.lower() in words.THINGS or len(token) > _MAX_TOKEN or len(_DIGIT_RUN.findall(token)) > 2:
        return False
    if TECHNICAL.fullmatch(token) and not (
        "." in token and "_" in token and is_name(token.partition(".")[0].lower())
    ):
        return False
    return any(map(str.isdigit, token)) or not token.isupper()


@lru_cache(maxsize=4096)
def is_name(part: str) -> bool:
    """Whether a part is a name that isn't a word: a first name, a last name, or two together."""
    if len(part) < _MIN_NAME:
        return False
    first, last, common = look_up_word(part)
    return (first > 0 and common < 2) or (last > 0 and not common) or is_run_together(part)


def _are_first_and_last(parts: list[str]) -> bool:
    """Of "Karin.Holm", "KarinHolm", "karin-holm": one is a frequent first name, or stands for one."""
    for left, right in zip(parts, parts[1:], strict=False):
        one, other = look_up_word(left), look_up_word(right)
        if min(len(left), len(right)) < _MIN_NAME:
            longer = one if len(left) > len(right) else other
            if min(len(left), len(right)) == 1 and longer.last > 1 and not longer.common:
                return True  # k.holm, holm.k
        elif (one.first > 1 and not one.common and other.last and other.common < 2) or (
            other.first > 1 and not other.common and one.last and one.common < 2
        ):
            return True
    return False


def _is_unusual(part: str) -> bool:
    first, last, common = look_up_word(part)
    if common == 0 and part.endswith(("s", "d", "ing")):
        endings = [ending for ending in ("s", "ed", "d", "ing") if part.endswith(ending)]
        common = max(look_up_word(part[: -len(ending)]).common for ending in endings)
    return common == 0 or (first + last > 0 and common < 2)


def is_account_shape(token: str) -> bool:
    """Whether a token with digits, signs or capitals looks like a user name, and like no numbered thing."""
    return not (token.isalpha() and (token.islower() or token.isupper())) and rank(token) > NO_NAME


def is_numbered_thing(token: str) -> bool:
    """Whether it is software or a thing with its number: gcc13, release_2024."""
    stem = token.rstrip("0123456789.-_").lower()
    return stem != token.lower() and (is_software(stem) or stem in words.THINGS or stem in words.COUNTERS)


_WHOLE = re.compile(r"[A-Za-z][\w.-]{2,38}\w")


def is_account_name(value: str) -> bool:
    """Whether a value of its own, as under a key of an object, looks like a user name only."""
    bare = value.lstrip("@")
    if not _WHOLE.fullmatch(bare):
        return False
    if is_run_together(bare) or (bare != value and is_free(bare)) or is_account_shape(bare):
        return True
    return "-" in bare and rank(bare) >= OF_WORDS
