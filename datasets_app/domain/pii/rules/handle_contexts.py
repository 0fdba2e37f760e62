"""User names by their form and the words around them: "player jane77", "jane77 on xbox", "posted by jane_d".

In what people write hardly anything but a user name has letters with digits or underscores; the nearest word
tells it from an order, a file or a machine. Linear in the length of the text: a bounded part around each
such token is looked at.
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.entropy import is_hexadecimal
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.rules import handle_context_words as words
from datasets_app.domain.pii.rules.announced_handles import TECHNICAL, is_free

_TOKEN = re.compile(
    r"(?<![^\W\u0e00-\u9fff\uac00-\ud7af])(?<![@/\\.#$%&+~<-])[A-Za-z_][A-Za-z0-9_.-]{2,38}[A-Za-z0-9_]"
    r"(?![A-Za-z0-9_@/\\(\[+-]|[.:][A-Za-z0-9_/]|[\"']?[ ]?=)"
)
_REACH, _SHORT_REACH = 6, 4
_BEFORE_CHARACTERS, _AFTER_CHARACTERS = 70, 44
_CLAUSE_END = re.compile(r"(?<!\.)[.!?;](?=\s)|\n")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_PHRASE_CHARACTERS = 24
_COPULAS = frozenset("is was are ist est es è é är er = to será am".split())
_ON = frozenset("on auf sur en su på op na in as for".split())
# What may stand between a word and the name itself.
_FILLERS = frozenset(
    "me us him her to on at the a this that user player account for is was are be being been now still "
    "also set used moi mich mir mi up out name id called just new old current here tag changed ist est "
    "es è é är er not currently i use chose".split()
)
# fail2ban, web2py
_DIGIT_FOR_WORD = re.compile(r"[A-Za-z]+[0-9][A-Za-z]+")
_DOTTED = re.compile(r"[a-z]{2,20}\.[a-z]{4,30}|[A-Z]{2,20}\.[A-Z]{4,30}")
_VERSIONED = re.compile(
    r"[A-Za-z_]+[0-9]*[.-]v?[0-9][0-9.]*|[A-Za-z][A-Za-z0-9]*\.[A-Z]\w*|.*(?:__|\.\.|--).*"
)
_CODE_CHARACTERS = 60
_CODE = re.compile(
    r"`|\w\(|::|->|=>|==|[ \t]=[ \t]|[ \t]--?[a-z]|\w\.\w+[.(]\w|</?\w|[{[(]%|%\(|\*\*\w|\b(?:import|def"
    r"|return|lambda|const"
    r"|SELECT|CREATE|GRANT|REASSIGN)[ \t]"
)


def may_hold_context(encoded: bytes, shape: bytes) -> bool:
    """Whether a word of letters is followed by a digit, or has an underscore in it."""
    return b"aaa0" in shape or (b"_" in encoded and (b"a_" in shape or b"_a" in shape))


def find_in_context(text: str) -> Iterator[Span]:
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token.isalpha() or not _may_be_name(token):
            continue
        start, end = match.span()
        rank = _rank(token)
        before = _list_words_before(text, start)
        if (
            _is_announced(before, rank)
            or (rank and _is_subject(_list_words_after(text, end), rank))
            or _is_after_phrase(text, start)
        ) and not _is_in_code(text, start, end):
            yield start, end


def may_be_account_name(token: str) -> bool:
    """Whether a token with digits or signs looks like a user name, and like no thing that has a number."""
    return not token.isalpha() and _may_be_name(token) and _rank(token) > 0


def _may_be_name(token: str) -> bool:
    if (
        not is_free(token)
        or TECHNICAL.fullmatch(token)
        or is_hexadecimal(token)
        or _VERSIONED.fullmatch(token)
    ):
        return False
    if any(map(str.isdigit, token)):
        return True
    return "-" not in token and not token.isupper() and not token.startswith("_")


def _rank(token: str) -> int:
    """How much a token looks like a user name: 2 with a part no dictionary has, 1 of words, 0 not at all."""
    parts = [part.lower() for part in _PART.findall(token)]
    longest = max(map(len, parts), default=0)
    if longest < 3 or ("-" in token and not _is_first_name(parts[0])) or (token.isupper() and longest < 5):
        return 0
    if any(part in words.THINGS or part in words.COUNTERS for part in parts):
        return 0
    has_digit = any(map(str.isdigit, token))
    is_unusual = any(len(part) >= 4 and _is_unusual(part) for part in parts)
    if not has_digit and "_" not in token:
        return int(is_unusual and _DOTTED.fullmatch(token) is not None)
    if "-" in token:
        return 1
    if is_unusual:
        return 2
    return int(has_digit and _DIGIT_FOR_WORD.fullmatch(token) is None)


def _is_in_code(text: str, start: int, end: int) -> bool:
    first = max(text.rfind("\n", max(0, start - _CODE_CHARACTERS), start) + 1, start - _CODE_CHARACTERS, 0)
    last = text.find("\n", end, end + _CODE_CHARACTERS)
    return (
        _CODE.search(text, first, last if last >= 0 else min(len(text), end + _CODE_CHARACTERS)) is not None
    )


def _is_first_name(part: str) -> bool:
    first, _, common = look_up_word(part)
    return first > 0 and common < 2


def _is_unusual(part: str) -> bool:
    first, last, common = look_up_word(part)
    if common == 0 and part.endswith(("s", "d", "ing")):
        common = max(
            look_up_word(part[: -len(ending)]).common
            for ending in ("s", "ed", "d", "ing")
            if part.endswith(ending)
        )
    return common == 0 or (first + last > 0 and common < 2)


def _list_words_before(text: str, start: int) -> list[str]:
    """The words of the clause before ``start``, or of the line above that is a heading, nearest first."""
    window = text[max(0, start - _BEFORE_CHARACTERS) : start].rstrip(" \t\n\"'`*([|")
    ends = [match.end() for match in _CLAUSE_END.finditer(window)]
    return _WORD.findall(window[ends[-1] if ends else 0 :].lower())[: -_REACH - 1 : -1]


def _list_words_after(text: str, end: int) -> list[str]:
    window = text[end : end + _AFTER_CHARACTERS]
    stop = _CLAUSE_END.search(window)
    return _WORD.findall((window[: stop.start()] if stop else window).lower())[:_SHORT_REACH]


def _is_announced(before: list[str], rank: int) -> bool:
    """Whether the nearest of the words before that mean something say that a user name follows."""
    is_direct = True
    for distance, word in enumerate(before[: _REACH if rank == 2 else _SHORT_REACH]):
        further = before[distance + 1 : distance + 5]
        if word in words.COUNTERS:
            return False
        if word in words.NAMES and (rank or (is_direct and word != "handle")):
            return words.COUNTERS.isdisjoint(further[:1])
        if rank and word in words.ACCOUNTS:
            return (rank == 2 or is_direct) and words.COUNTERS.isdisjoint(further[:2])
        if rank and is_direct:
            links = words.LINKED.get(word)
            if links and not links.isdisjoint(further):
                return word == "by" or words.COUNTERS.isdisjoint(further[:2])
            if word in words.ACTIONS and (rank == 2 or word in words.ACTIONS_ON_PEOPLE):
                return words.COUNTERS.isdisjoint(further[:2])
        is_direct = is_direct and word in _FILLERS
    return False


def _is_after_phrase(text: str, start: int) -> bool:
    near = text[max(0, start - _PHRASE_CHARACTERS) : start]
    return words.PHRASES.search(near) is not None or (
        not near.isascii() and words.UNSPACED_NAMES.search(near) is not None
    )


def _is_subject(after: list[str], rank: int) -> bool:
    """Whether the words behind say what a person does, or whose name it is."""
    if not after:
        return False
    verbs = [word for word in after if word not in words.AUXILIARIES]
    if verbs and verbs[0] in words.DOING and len(after) - len(verbs) <= 2:
        return True
    if after[0] in _ON or after[0] in _COPULAS:
        return any(word in words.ACCOUNTS for word in after[1:])
    return rank == 2 and after[0] in words.OWNED
