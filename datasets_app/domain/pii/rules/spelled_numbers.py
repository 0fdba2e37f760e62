"""Telephone and account numbers spelled out, as people dictate them: "call five five five oh one two"."""

import re

from datasets_app.domain.pii.detector import ACCOUNT, PHONE, Match
from datasets_app.domain.pii.rules.accounts import NO_CUE, rate_account_words
from datasets_app.domain.pii.rules.cues import Window
from datasets_app.domain.pii.rules.phone_cues import announces_phone

_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
# Spelled-out digits, with a few figures among them perhaps, and "double" or "triple" before one.
SPELLED_DIGITS = re.compile(
    rf"\b(?:(?:(?:double|triple) )?{_DIGIT}|\d)"
    rf"(?:(?:, |[ ,.\-]){{1,2}}(?:(?:double|triple) {_DIGIT}|{_DIGIT}\b|\d(?!\d))){{6,24}}",
    re.IGNORECASE,
)


def may_hold(encoded: bytes, _shape: bytes) -> bool:
    """One of these is among nearly any seven digits."""
    return b"seven" in encoded or b"eight" in encoded or b"three" in encoded or b"five" in encoded


def search_folded(text: str) -> list[Match]:
    found = []
    for match in SPELLED_DIGITS.finditer(text):
        window = Window(text, *match.span())
        if rate_account_words(window) > NO_CUE:
            found.append(Match(ACCOUNT, *match.span()))
        elif announces_phone(window):
            found.append(Match(PHONE, *match.span()))
    return found
