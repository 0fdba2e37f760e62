"""Numbers of orders, parcels, tickets and bookings, behind the word that says so: "order no. A-20431".

They tell nobody who somebody is but the company that gave them, so that a scrub replaces them only if it is
told to. Formats of a company's own are better: see custom_patterns.py.
"""

import re

from datasets_app.domain.pii.detector import ORDER_NUMBER, Match
from datasets_app.domain.pii.rules.numbers.labels import find_labeled, make_label
from datasets_app.domain.pii.word_lists import read_word_lists

_VALUE = re.compile(
    r"(?<![A-Za-z0-9_@./$€£¥-])(?=[A-Za-z0-9/_-]{5})(?=(?:[A-Za-z/_-]*[0-9]){3})"
    r"[A-Za-z0-9]+(?:[-/_][A-Za-z0-9]+){0,6}(?![A-Za-z0-9_@]|[.,][0-9]| ?[%€£$¥])"
)
_DATE = re.compile(r"(?:19|20)\d\d[-/]\d\d?[-/]\d\d?|\d\d?[-/]\d\d?[-/](?:19|20)?\d\d|(?:19|20)\d\d")
_MAX_CHARACTERS = 40


_LABEL = make_label(
    ORDER_NUMBER,
    "|".join(sorted(read_word_lists(__file__)["things"])),
    _VALUE,
    lambda value: len(value) <= _MAX_CHARACTERS and not _DATE.fullmatch(value),
)


class OrderNumbers:
    """A detector of these numbers."""

    kinds = frozenset({ORDER_NUMBER})

    def find(self, text: str) -> list[Match]:
        return list(find_labeled(text, [_LABEL]))
