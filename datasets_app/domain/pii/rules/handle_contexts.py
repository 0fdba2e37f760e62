"""User names by their form and the words around them: "player jane77", "jane77 on xbox", "posted by jane_d".

In what people write hardly anything but a user name has letters with digits or underscores; the nearest word
tells it from an order, a file or a machine. Linear in the length of the text: a bounded part around each
such token is looked at.
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.entropy import is_hexadecimal
from datasets_app.domain.pii.rules import handle_context_words as words
from datasets_app.domain.pii.rules.announced_handles import TECHNICAL, is_free
from datasets_app.domain.pii.rules.cue_words import PlainWords, split_letters
from datasets_app.domain.pii.rules.handle_shapes import (
    NAMED,
    NO_NAME,
    OF_NAMES,
    OF_SIGNED_WORDS,
    OF_WORDS,
    UNMISTAKABLE,
    rank,
)

_TOKEN = re.compile(
    r"(?<![^\W\u0e00-\u9fff\uac00-\ud7af])(?<![@/\\.#$%&+~<-])(?:[0-9]{1,4}(?=[A-Za-z]{3}))?[A-Za-z_][A-Za-z0-9_.-]{2,38}[A-Za-z0-9_]"
    r"(?![A-Za-z0-9_@/\\(\[+-]|[.:][A-Za-z0-9_/]|[\"']?[ ]?=)"
)
_REACH, _SHORT_REACH, _COUNTER_REACH = 6, 4, 3
_BEFORE_CHARACTERS, _AFTER_CHARACTERS = 70, 44
_CLAUSE_END = re.compile(r"(?<!\.)[.!?;](?=\s)|\n")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_ELIDED = re.compile(r"\A(?:[ld]|un|(?:de|a|ne|su)ll)['’](?=\w{3})")
_PHRASE_CHARACTERS = 32
_DETERMINERS = frozenset("the a an this that these those my your our their his her its no any".split())
_ARTICLES = frozenset("the a an this".split())
# Behind the function in which a program failed.
_LINE_NUMBER = ", line "
_COPULAS = frozenset("is was are ist est es è é är er = to será am".split())
_ON = frozenset("on auf sur en su på op na no in as for".split())
# What may stand between a word and the name itself.
_FILLERS = frozenset(
    "me us him her to on at the a this that user player account for is was are be being been now still "
    "also set used moi mich mir mi up out name id called just new old current here tag changed ist est "
    "es è é är er not currently i use chose".split()
)
_LOWER_WITH_NUMBER = re.compile(r"[a-z]{3,16}-[0-9]{2,4}")
_CODE_CHARACTERS = 60
_MAX_SHORT_ANSWER = 30
_CODE = re.compile(
    r"`|\w\(|::|\w->\w|\w=>\w|==|[ \t]=[ \t]|[ \t]--?[a-z]|\w{2}\.\w+[.(]\w|</?\w|[{[(]%|%\(|\*\*\w"
    r"|\b(?:import|def"
    r"|return|lambda|const"
    r"|SELECT|CREATE|GRANT|REASSIGN)[ \t]"
)


_PAIR_CUES = frozenset(
    word.encode()
    for word in (words.ACCOUNTS | words.ACTIONS_ON_PEOPLE | {"dear", "banned"})
    - {"line", "signal", "medium", "game"}
)


def may_hold_context(encoded: bytes, shape: bytes) -> bool:
    """Whether letters are followed by a digit, or joined by a sign: by a hyphen in a text about accounts."""
    return (
        b"aaa0" in shape
        or b"a.a" in shape
        or (b"_" in encoded and (b"a_" in shape or b"_a" in shape))
        or (b"aaa-aaa" in shape and not _PAIR_CUES.isdisjoint(split_letters(encoded)))
    )


def _has_no_name(part: str) -> bool:
    """Whether no token in a part of a text between spaces may be a name, whatever stands around the part."""
    return all(
        rank(match[0]) == NO_NAME and not _may_be_announced(match[0]) for match in _TOKEN.finditer(part)
    )


_NO_NAMES = PlainWords(_has_no_name)


def find_in_context(text: str) -> Iterator[Span]:
    if not _NO_NAMES.find_others(frozenset(text.split())):
        return
    for match in _TOKEN.finditer(text):
        looks = rank(match[0])
        start, end = match.span()
        if looks == NO_NAME and not _may_be_announced(match[0]):
            continue
        before = _list_words_before(text, start)
        if _is_thing(match[0], looks, before) or text.startswith(_LINE_NUMBER, end):
            continue
        if (
            _is_announced(before, looks)
            or (looks and _is_subject(_list_words_after(text, end), looks))
            or _is_after_phrase(text, start)
            or (
                (looks >= UNMISTAKABLE or (looks == OF_NAMES and _is_numbered(match[0])))
                and _is_plain(before, text, end, is_named=looks == NAMED)
            )
        ) and not _is_in_code(text, start, end):
            yield start, end


def _is_thing(token: str, looks: int, before: list[str]) -> bool:
    """Of "from the workspace page", "my CashNest", "datasheet of the ina219", the last word."""
    if looks == OF_WORDS and token.isalpha():
        return not _DETERMINERS.isdisjoint(before[:1])
    return looks <= OF_SIGNED_WORDS and not _ARTICLES.isdisjoint(before[:1])


def find_answered_accounts(reply: str) -> Iterator[Span]:
    """The first token of a reply that looks like a user name: of the answer to "which player?"."""
    is_short = len(reply) <= _MAX_SHORT_ANSWER
    for match in _TOKEN.finditer(reply):
        if rank(match[0]) >= (OF_WORDS if is_short else OF_NAMES) and is_free(match[0]):
            yield match.span()
            return


def _may_be_announced(token: str) -> bool:
    """Whether a token that looks like a thing may be a user name behind "username"."""
    if _LOWER_WITH_NUMBER.fullmatch(token):
        return True
    return (
        any(map(str.isdigit, token))
        and is_free(token)
        and not TECHNICAL.fullmatch(token)
        and not is_hexadecimal(token)
    )


def _is_plain(before: list[str], text: str, end: int, *, is_named: bool) -> bool:
    """Whether it is used in a sentence, and nothing near says that a thing is meant. A lone word before it
    may be its key: "trap:self_harm"."""
    after = _list_words_after(text, end)
    if is_named and words.COUNTERS.isdisjoint((*before[:1], *after[:1])):
        return words.MACHINE_WORDS.isdisjoint((*before[:1], *after[:1])) or before[:1] == ["session"]
    near = {*before, *after}
    return (
        len(near) > 1
        and words.COUNTERS.isdisjoint((*before[:_COUNTER_REACH], *after[:1]))
        and near.isdisjoint(words.MACHINE_WORDS)
    )


def _is_in_code(text: str, start: int, end: int) -> bool:
    first = max(text.rfind("\n", max(0, start - _CODE_CHARACTERS), start) + 1, start - _CODE_CHARACTERS, 0)
    last = text.find("\n", end, end + _CODE_CHARACTERS)
    return (
        _CODE.search(text, first, last if last >= 0 else min(len(text), end + _CODE_CHARACTERS)) is not None
    )


def _list_words_before(text: str, start: int) -> list[str]:
    """The words of the clause before ``start``, or of the line above that is a heading, nearest first."""
    window = text[max(0, start - _BEFORE_CHARACTERS) : start].rstrip(" \t\n\"'`*([|")
    ends = [match.end() for match in _CLAUSE_END.finditer(window)]
    found = _WORD.findall(window[ends[-1] if ends else 0 :].lower())[: -_REACH - 1 : -1]
    return [_ELIDED.sub("", word) for word in found] if "'" in window or "’" in window else found


def _list_words_after(text: str, end: int) -> list[str]:
    window = text[end : end + _AFTER_CHARACTERS]
    stop = _CLAUSE_END.search(window)
    return _WORD.findall((window[: stop.start()] if stop else window).lower())[:_SHORT_REACH]


def _is_announced(before: list[str], looks: int) -> bool:
    """Whether the nearest of the words before that mean something say that a user name follows."""
    if looks >= OF_SIGNED_WORDS and _is_introduced(before, looks):
        return True
    is_direct = True
    for distance, word in enumerate(before[: _REACH if looks >= OF_NAMES else _SHORT_REACH]):
        further = before[distance + 1 : distance + 5]
        if word in words.COUNTERS:
            return False
        if word in words.NAMES and (looks or (is_direct and word != "handle")):
            return words.COUNTERS.isdisjoint(further[:1])
        if looks and word in words.ACCOUNTS:
            return (looks >= OF_NAMES or is_direct) and words.COUNTERS.isdisjoint(further[:2])
        if looks and is_direct:
            links = words.LINKED.get(word)
            if links and not links.isdisjoint(further):
                return word == "by" or words.COUNTERS.isdisjoint(further[:2])
            if word in words.ACTIONS and (
                looks >= OF_SIGNED_WORDS or word in words.ACTIONS_ON_PEOPLE or "me" in before[:distance]
            ):
                return words.COUNTERS.isdisjoint(further[:2])
        is_direct = is_direct and word in _FILLERS
    return False


def _is_numbered(token: str) -> bool:
    return "-" not in token and not token.isupper() and any(map(str.isdigit, token))


def _is_introduced(before: list[str], looks: int) -> bool:
    """Whether somebody says who they are: "I'm jane77", "it's me, jane77"."""
    if not before:
        return False
    if before[0] in words.I_AM or (looks >= UNMISTAKABLE and before[0] in words.IT_IS):
        return True
    return " ".join(before[1::-1]) in words.INTRODUCTIONS


def _is_after_phrase(text: str, start: int) -> bool:
    near = text[max(0, start - _PHRASE_CHARACTERS) : start]
    return words.PHRASES.search(near) is not None or (
        not near.isascii() and words.UNSPACED_NAMES.search(near) is not None
    )


def _is_subject(after: list[str], looks: int) -> bool:
    """Whether the words behind say what a person does, or whose name it is."""
    if not after:
        return False
    verbs = [word for word in after if word not in words.AUXILIARIES]
    if verbs and verbs[0] in words.DOING and len(after) - len(verbs) <= 2:
        return True
    if after[0] in _ON or after[0] in _COPULAS:
        return any(word in words.ACCOUNTS or word in words.TAKEN for word in after[1:])
    return looks >= OF_NAMES and after[0] in words.OWNED
