"""What is wrong with a regular expression, and where: RE2 tells the fragment only, without its place."""

import re
from collections.abc import Callable
from typing import Self

from datasets_app.domain.pii.policy import PolicyError

# Syntax that RE2 lacks, because no linear-time engine supports it or because RE2 writes it differently.
_HINTS = {
    "(?=": "look-ahead is not supported; match what follows too, or leave it out",
    "(?!": "negative look-ahead is not supported; say what may follow instead, as in [^0-9]",
    "(?<=": "look-behind is not supported; match what stands before too, or use \\b",
    "(?<!": "negative look-behind is not supported; say what may stand before instead, or use \\b",
    "(?P=": "back-references are not supported; write the group out again",
    "(?P>": "recursion is not supported; write the group out again",
    "(?>": "atomic groups are not supported, nor needed: a plain group (?:…) is as quick",
    "(?(": "conditions are not supported; write the alternatives with |",
    "(?#": "comments are not supported; leave them out",
    "(?x": "the flag x is not supported; write the expression without spaces",
    "\\k": "back-references are not supported; write the group out again",
    "\\g": "back-references are not supported; write the group out again",
    "\\Z": "\\Z is not supported; write \\z for the end of the text",
    "\\G": "\\G is not supported; leave it out",
    "\\u": "\\u is not supported; write the character itself, or \\x{1234}",
    "\\U": "\\U is not supported; write the character itself, or \\x{1F600}",
    "\\N": "\\N is not supported; write the character itself",
    "\\h": "\\h is not supported; write [ \\t]",
    "\\R": "\\R is not supported; write \\r?\\n",
    "\\K": "\\K is not supported; leave it out",
    **{f"\\{digit}": "back-references are not supported; write the group out again" for digit in "123456789"},
}
_RE2_MESSAGES = {
    "missing )": "a parenthesis is opened and never closed",
    "unexpected )": "a parenthesis is closed that was never opened",
    "missing ]": "a bracket is opened and never closed",
    "no argument for repetition operator": "there is nothing before it to repeat",
    "bad repetition operator": "a repetition can't be repeated; put a group (?:…) around the first",
    "invalid repetition size": "a repetition goes from a smaller to a larger number, at most 1000 in all",
    "invalid escape sequence": "this escape is not known; for the character itself leave out the backslash",
    "invalid perl operator": "this kind of group is not known",
    "invalid character class range": "no such range or class of characters",
    "invalid named capture group": "a named group is written (?P<name>…), the name of letters and digits",
    "trailing \\": "a backslash ends it; write two for the character itself",
    "invalid UTF-8": "is not valid Unicode",
}
# What has parentheses of its own meaning, and the parentheses that are left.
_QUOTED_OR_PARENTHESIS = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|(?P<open>\()|(?P<close>\))", re.DOTALL
)


class PatternError(PolicyError):
    """A pattern that can't be used. ``column`` counts from 1; 0 where no place can be told."""

    def __init__(self, label: str, problem: str, column: int = 0) -> None:
        place = f" at column {column}" if column else ""
        super().__init__(f"The pattern {label} has a mistake{place}: {problem}.")
        self.label, self.problem, self.column = label, problem, column

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, int]]:
        return type(self), (self.label, self.problem, self.column)


def explain_compile_error(label: str, regex: str, get_error: Callable[[str], str]) -> PatternError:
    """Why RE2 refuses ``regex``. ``compile`` gives what it says of an expression, or nothing."""
    said = get_error(regex)
    kind, _, fragment = said.partition(": ")
    if "too large" in kind:
        return PatternError(label, "it is too large; repeat less, or make several patterns of it")
    at = _locate_error(regex, kind, fragment, get_error)
    hint = next((hint for start, hint in _HINTS.items() if regex.startswith(start, at)), "")
    problem = (
        hint if hint and kind.startswith("invalid") else _RE2_MESSAGES.get(kind, "it can't be understood")
    )
    return PatternError(label, problem, at + 1)


def _locate_error(regex: str, kind: str, fragment: str, get_error: Callable[[str], str]) -> int:
    """Where the mistake stands, from 0."""
    if kind.endswith(("missing )", "unexpected )")):
        return _find_odd_parenthesis(regex)
    if kind == "trailing \\":
        return len(regex) - 1
    if not fragment or regex.endswith(fragment):
        return len(regex) - len(fragment) if fragment else 0
    if fragment == "(?P" and (group := re.search(r"\(\?P(?!<)", regex)):
        return group.start()
    # The fragment may stand elsewhere and be right there. Read up to its end, the expression has the same
    # mistake from the place on where it is wrong.
    said = f"{kind}: {fragment}"
    place = regex.find(fragment)
    for found in reversed([match.start() for match in re.finditer(re.escape(fragment), regex)]):
        if get_error(regex[: found + len(fragment)]) != said:
            break
        place = found
    return max(place, 0)


def _find_odd_parenthesis(regex: str) -> int:
    opened: list[int] = []
    for match in _QUOTED_OR_PARENTHESIS.finditer(regex):
        if match["open"]:
            opened.append(match.start())
        elif match["close"]:
            if not opened:
                return match.start()
            opened.pop()
    return opened[-1] if opened else 0
