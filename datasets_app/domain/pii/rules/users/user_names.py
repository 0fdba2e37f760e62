"""Whether a value that stands where a user name does can be one: in an address, under a key, in a reply."""

import re

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.things import is_software
from datasets_app.domain.pii.word_lists import read_word_lists

_WORDS = read_word_lists(__file__)
CODE_WORDS, GROUP_WORDS, UNITS = _WORDS["code"], _WORDS["groups"], _WORDS["units"]

_STANDARD_ACCOUNTS, _THINGS = _WORDS["standard accounts"], _WORDS["things"]
MAX_USER_NAME = 64
_WORD = re.compile(r"[^\W\d_]+")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_TECHNICAL = lazy_re.compile(
    r"v?\d+(?:[.,:/-]\d+)*\w{0,3}|\w{0,3}\d(?:fa|d|g|k|st|nd|rd|th|x)|[\w.-]{1,30}\.(?:js|py|ts|net|io|com"
    r"|org|php|html?|json|ya?ml"
    r"|xml|txt|md|exe|png|jpe?g|csv|log|de|co|uk|fr|in)|utf-?\d+|oauth\d?|api\d?|ipv[46]|[a-z]+_(?:id|name"
    r"|key|token|type|list|model)s?"
    r"|\d{1,2}[:.]\d\d\w{0,2}|[a-z]+_[a-z_]+\.[a-z_]+|[a-z_]+\.[a-z]+_[a-z_]+|(?-i:[A-Z]{2,5})-\d{1,6}",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(r"@?[A-Za-z][\w.-]{2,38}\w")


def may_be_user_name(value: str) -> bool:
    """No group, no account that all machines have, no number."""
    lower = value.lstrip("@$").lower()
    return (
        2 <= len(lower) <= MAX_USER_NAME
        and not lower.isdigit()
        and any(map(str.isalnum, lower))
        and lower not in GROUP_WORDS
        and lower not in _STANDARD_ACCOUNTS
    )


def is_ordinary(value: str) -> bool:
    """Whether it consists of words that a dictionary has: no name by itself."""
    if is_mixed(value):
        return False
    words = _WORD.findall(value)
    return not words or all(len(word) < 3 or look_up_word(word).common for word in words)


def is_account_name(value: str) -> bool:
    """Whether a value of its own, as under a key of an object, looks like a user name only: letters with
    digits or signs among them, and a word that no dictionary has."""
    if not _ACCOUNT.fullmatch(value) or not may_be_user_name(value):
        return False
    words = _WORD.findall(value)
    return is_mixed(value) and any(len(word) > 2 and not look_up_word(word).common for word in words)


def is_numbered_thing(value: str) -> bool:
    """Whether it is software or a thing with its number: gcc13, release_2024."""
    stem = value.rstrip("0123456789.-_").lower()
    return stem != value.lower() and (is_software(stem) or stem in _THINGS)


def is_mixed(value: str) -> bool:
    """Letters with digits or signs among them: jane_77, j.doe, jane#1234, JaneDoe."""
    bare = value.lstrip("@$")
    if bare != value and len(bare) > 1:
        return True
    if _TECHNICAL.fullmatch(bare) or not any(map(str.isalpha, bare)):
        return False
    return not bare.replace("-", "").isalpha() or _INNER_CAPITAL.search(bare) is not None
