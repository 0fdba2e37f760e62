"""Classes of a team's own: labels with regular expressions, run in linear time by RE2.

A hostile or clumsy expression is refused, or slow by no more than the length of the text. RE2 itself
promises that for one search; here it is kept for all matches of a text as well, and for the way from
its offsets (bytes) to ours (code points).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple, Self

from datasets_app.domain.pii.detector import Match
from datasets_app.domain.pii.number_formats import learn_format
from datasets_app.domain.pii.policy import PolicyError, check_label

# What is wrong with a regular expression, and where: RE2 tells the fragment only, without its place.

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


MAX_PATTERN_CHARACTERS = 10_000
# For the program of a pattern and its automaton together; RE2 refuses what needs more.
MAX_MEMORY_BYTES = 8 << 20
# How many instructions a pattern may have: time grows with it where the automaton has no room.
MAX_PROGRAM_SIZE = 10_000
# A match may have been found by looking at all that follows it. So much is looked at in all, match by
# match, before the view is narrowed: short texts and rare matches never come near.
MAX_FREE_SCAN_BYTES = 1 << 26
INITIAL_VIEW_BYTES = 1024

__all__ = ["CustomPatterns", "PatternError"]

Search = Callable[[bytes, int, int], Any]
_PATTERN_LINE = re.compile(r"\s*(?P<label>[^=:]*?)\s*(?P<sign>[=:])\s*(?P<rest>\S.*?)\s*")


class CustomPatterns:
    """A detector of ``(label, regular expression)`` pairs; several may share a label.

    Matches without a character are none. Labels are raised to capital letters. Raises
    :class:`PatternError`, or :class:`PolicyError` for a label, as a sentence for its author.
    """

    def __init__(self, patterns: Iterable[tuple[str, str]]) -> None:
        self._patterns = [
            (normalize_label(label), compile_pattern(label, regex)) for label, regex in patterns
        ]
        self.kinds = frozenset(label for label, _ in self._patterns)

    def find(self, text: str) -> list[Match]:
        if not text or not self._patterns:
            return []
        found = [
            Match(label, start, end)
            for label, search in self._patterns
            for start, end in find_spans(search, text)
        ]
        return sorted(found, key=lambda match: (match.start, -match.end))


def normalize_label(label: str) -> str:
    """The label as it will stand in placeholders. Raises :class:`PolicyError` for what can be none."""
    label = label.strip().upper()
    check_label(label)
    return label


class ParsedPattern(NamedTuple):
    """A pattern as a person wrote it; ``description`` is that of a format that was learned from examples."""

    label: str
    regex: str
    description: str = ""


def parse_pattern(line: str) -> ParsedPattern:
    """``LABEL=REGEX``, or ``LABEL: example, example, example`` for a format of numbers. Raises
    :class:`PolicyError`; the column of a problem is that in the line."""
    written = _PATTERN_LINE.fullmatch(line)
    if written is None:
        raise PolicyError(
            "Expected LABEL=REGEX. To have a format learned, write LABEL: and three examples with commas "
            "between them."
        )
    label, regex = normalize_label(written["label"]), written["rest"]
    if written["sign"] == ":":
        learned = learn_format(regex.split(","))
        return ParsedPattern(label, learned.regex, learned.description)
    try:
        compile_pattern(label, regex)
    except PatternError as error:
        column = error.column + written.start("rest") if error.column else 0
        raise PatternError(label, error.problem, column) from None
    return ParsedPattern(label, regex)


def compile_pattern(label: str, regex: str) -> Search:
    """The search of a pattern. Raises :class:`PatternError`, with the place of what is wrong."""
    return compile_regex(normalize_label(label), regex)


@lru_cache(1000)
def compile_regex(label: str, regex: str) -> Search:
    """The same for a label that may be one of our classes."""
    re2 = _load_re2()
    if len(regex) > MAX_PATTERN_CHARACTERS:
        raise PatternError(label, f"it is longer than {MAX_PATTERN_CHARACTERS:,} characters")
    options = re2.Options()
    options.max_mem = MAX_MEMORY_BYTES
    # It would write patterns and texts to the terminal.
    options.log_errors = False
    try:
        pattern = re2.compile(regex.encode(), options)
    except UnicodeEncodeError as error:
        raise PatternError(label, "no such character", error.start + 1) from None
    except re2.error:
        raise explain_compile_error(label, regex, partial(_get_re2_error, options)) from None
    if pattern.programsize > MAX_PROGRAM_SIZE:
        raise PatternError(
            label,
            f"it is too large ({pattern.programsize:,} steps, at most {MAX_PROGRAM_SIZE:,}); repeat less",
        )
    search: Search = pattern.search
    return search


def _load_re2() -> Any:
    """Load the library only if there are patterns; it has no type hints."""
    import re2

    return re2


def _get_re2_error(options: Any, regex: str) -> str:
    """What RE2 says of an expression that it refuses; else nothing."""
    re2 = _load_re2()
    try:
        re2.compile(regex.encode(), options)
    except re2.error as error:
        said = error.args[0]
        return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return ""


def find_spans(search: Search, text: str) -> Iterator[tuple[int, int]]:
    """Matches one after another, in characters."""
    encoded = text.encode("utf-8", "surrogatepass")
    spans = _find_spans(search, encoded)
    return spans if len(encoded) == len(text) else _convert_to_characters(encoded, spans)


def _find_spans(search: Search, text: bytes) -> Iterator[tuple[int, int]]:
    """Matches one after another, in bytes; those of no length are passed over."""
    at = looked_at = 0
    while at < len(text):
        looked_at += len(text) - at
        found = (
            search(text, at, len(text))
            if looked_at <= MAX_FREE_SCAN_BYTES
            else _search_nearby(search, text, at)
        )
        if found is None:
            return
        start, end = found.span()
        if end > start:
            yield start, end
            at = end
        else:
            at = _next_character(text, start)


def _search_nearby(search: Search, text: bytes, at: int) -> Any:
    """The next match, looked for within a view that grows only as long as it has to.

    So the time goes with the way to the match's end. What is missed is that a match may be longer if
    something stands far behind it.
    """
    view = INITIAL_VIEW_BYTES
    while True:
        end = min(at + view, len(text))
        found = search(text, at, end)
        if end == len(text) or (found is not None and found.end() < end):
            return found
        view *= 2


def _next_character(text: bytes, at: int) -> int:
    at += 1
    while at < len(text) and text[at] & 0xC0 == 0x80:
        at += 1
    return at


def _convert_to_characters(text: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans in bytes → in characters, in one pass. One that cuts a character takes it whole."""
    last = characters = 0
    for start, end in spans:
        while start > last and text[start] & 0xC0 == 0x80:
            start -= 1
        end = _next_character(text, end - 1)
        if start < last:  # the rest of a character that has been taken
            start = last
        if end == start:
            continue
        characters += _count_characters(text[last:start])
        length = _count_characters(text[start:end])
        yield characters, characters + length
        last, characters = end, characters + length


def _count_characters(part: bytes) -> int:
    return len(part.decode("utf-8", "surrogatepass"))
