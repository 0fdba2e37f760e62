"""A team's own recognizers, as presidio's YAML describes them: expressions, deny-lists, context, scores.

They find what presidio's engine finds with them, but under RE2, in linear time. Their scores mean the same:
that of a pattern, raised where a context word stands before the value. Files are read in
``recognizer_files.py``.
"""

import re
from collections.abc import Iterable

from datasets_app.domain.pii.custom_patterns import compile_regex, find_spans
from datasets_app.domain.pii.detector import (
    CREDIT_CARD,
    CRYPTO_WALLET,
    EMAIL,
    IBAN,
    IP,
    MAC,
    NAME,
    PHONE,
    SSN,
    Match,
)
from datasets_app.domain.pii.policy import Recognizer

# What presidio calls our classes.
ENTITY_BY_KIND = {
    CREDIT_CARD: "CREDIT_CARD",
    CRYPTO_WALLET: "CRYPTO",
    EMAIL: "EMAIL_ADDRESS",
    IBAN: "IBAN_CODE",
    IP: "IP_ADDRESS",
    MAC: "MAC_ADDRESS",
    NAME: "PERSON",
    PHONE: "PHONE_NUMBER",
    SSN: "US_SSN",
}
KIND_BY_ENTITY = {entity: kind for kind, entity in ENTITY_BY_KIND.items()}

# As presidio's context enhancer has it, which counts five words and leaves out the commonest.
CONTEXT_BONUS, MIN_SCORE_IN_CONTEXT = 0.35, 0.4
MAX_CONTEXT_WORDS, MAX_CONTEXT_CHARACTERS = 8, 200

_WORD = re.compile(r"\w+")


class RecognizerDetector:
    """A detector for recognizers. Raises :class:`PatternError` for an expression that can't be used."""

    def __init__(self, recognizers: Iterable[Recognizer]) -> None:
        self._searches = [(item, compile_regex(item.kind, item.regex)) for item in recognizers]
        self.kinds = frozenset(item.kind for item, _ in self._searches)

    def find(self, text: str) -> list[Match]:
        if not text:
            return []
        found = []
        for item, search in self._searches:
            for start, end in find_spans(search, text):
                score = _compute_score(item, text, start, end)
                if score and score >= item.threshold:
                    found.append(Match(item.kind, start, end, score))
        return sorted(found, key=lambda match: (match.start, -match.end))


def _compute_score(item: Recognizer, text: str, start: int, end: int) -> float:
    if not item.context or item.score >= 1:
        return item.score
    before = _WORD.findall(text[max(0, start - MAX_CONTEXT_CHARACTERS) : start])[-MAX_CONTEXT_WORDS:]
    nearby = f"{' '.join(before)} {text[start:end]}".lower()
    if not any(word in nearby for word in item.context):
        return item.score
    return min(max(item.score + CONTEXT_BONUS, MIN_SCORE_IN_CONTEXT), 1.0)
