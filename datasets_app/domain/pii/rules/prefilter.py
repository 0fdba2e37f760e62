"""Which of many regular expressions can match a text at all, told in one pass over it.

Each expression is loosened: without its assertions (``\\b``, ``(?!…)``), which only forbid, and with wider
classes of characters, so that the loose one matches wherever the strict one does. RE2 runs all of them as
one automaton, which takes a hundredth of the time of Python's engine over a list of alternatives.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

MAX_MEMORY_BYTES = 64 << 20
# Two levels of parentheses inside are enough for ours; RE2 refuses what is left of a deeper one.
_ASSERTION = r"\(\?<?!(?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\\[bB]"
_CLASS = r"\[(?:\\.|[^\]\\])+\]"
_PART = re.compile(rf"(?P<assertion>{_ASSERTION})|(?P<class>{_CLASS})|\\.", re.DOTALL)
# RE2 means ASCII by these, and what they exclude can't be widened.
_NARROWER = re.compile(r"\\[WdDS]|\[\^[^\]]*\\[ws]")
_SPACES = r"\s\pZ\x0b\x1c-\x1f\x{85}"
# Python takes these for letters i when it ignores case, RE2 doesn't.
_DOTLESS = str.maketrans("İı", "ii")


def make_prefilter(patterns: Sequence[re.Pattern[str]]) -> Callable[[str], Sequence[int]]:
    """The positions, in order, of the patterns that may match a text; all others can't. Each ignores case."""
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = MAX_MEMORY_BYTES
    options.log_errors = False
    library: Any = re2.Set  # it has no type hints
    loose = library.SearchSet(options)
    for pattern in patterns:
        loose.Add(_loosen(pattern))
    loose.Compile()

    def find_possible(text: str) -> Sequence[int]:
        if not text.isascii():
            text = text.translate(_DOTLESS)
        return sorted(loose.Match(text.encode("utf-8", "surrogatepass")) or ())

    return find_possible


def _loosen(pattern: re.Pattern[str]) -> str:
    if not pattern.flags & re.IGNORECASE or _NARROWER.search(pattern.pattern):
        raise ValueError(f"This pattern has no looser form: {pattern.pattern[:80]}")
    return _PART.sub(_loosen_part, pattern.pattern)


def _loosen_part(part: re.Match[str]) -> str:
    if part["assertion"]:
        return ""
    spaces = _SPACES if part["class"] else f"[{_SPACES}]"
    return part[0].replace(r"\w", r"\S").replace(r"\s", spaces)
