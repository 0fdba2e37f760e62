"""Sorts scrubbed texts by how likely something personal is left in them, for a sample that people read."""

import re
from collections import Counter
from collections.abc import Sequence

from datasets_app.domain.pii.network.languages import tell_main_languages
from datasets_app.domain.pii.placeholders import blank_placeholders

# Strata by number, the least risky first; what a text of each has.
STRATUM_LABELS = (
    "none of these",
    "digits, an @, or more than 300 characters",
    "a capital within a sentence",
    "a word that the name model doubted",
)
PLAIN, NUMBERS, CAPITALS, DOUBTED = range(len(STRATUM_LABELS))
# How a sample is shared out: most to where most is expected, some to where nothing is.
SHARES = (0.2, 0.2, 0.25, 0.35)
MIN_PER_STRATUM = 10
# What is left is estimated by language for those that more than this share of conversations are in.
MIN_LANGUAGE_SHARE = 0.05
# A name that a scrub let stand had a lower probability than it takes, but seldom one below this.
MIN_DOUBT = 0.03

_LONG = 300
_NUMBERS = re.compile(r"[0-9@]")
_CAPITAL = re.compile(r"(?<=[\w,;:)] )[A-Z\u00c0-\u00de][\w'’-]+")


def classify_text(text: str, name_probability: float) -> int:
    """The stratum of a scrubbed text. ``name_probability`` is the highest among its words."""
    if name_probability >= MIN_DOUBT:
        return DOUBTED
    rest = blank_placeholders(text)
    if _CAPITAL.search(rest):
        return CAPITALS
    return NUMBERS if len(rest) > _LONG or _NUMBERS.search(rest) else PLAIN


def tell_frequent_languages(conversations: Sequence[Sequence[str]]) -> list[str]:
    """The language of each scrubbed conversation; empty for those in languages of few, and for all if only
    one is frequent."""
    told = tell_main_languages(map(blank_placeholders, texts) for texts in conversations)
    counts = Counter(told)
    frequent = {language for language in counts if counts[language] > MIN_LANGUAGE_SHARE * len(told)}
    return [language if language in frequent and len(frequent) > 1 else "" for language in told]


def allocate_sample(sizes: Sequence[int], wanted: int) -> list[int]:
    """How many texts to draw from each stratum of these sizes: ``wanted`` in all, or all there are.

    Each stratum gets a minimum, so that none is left unknown, then its share; what a small one can't give
    goes to the others.
    """
    drawn = [min(size, MIN_PER_STRATUM, wanted // len(sizes)) for size in sizes]
    while (left := min(wanted, sum(sizes)) - sum(drawn)) > 0:
        open_shares = [
            share if size > had else 0.0 for share, size, had in zip(SHARES, sizes, drawn, strict=True)
        ]
        total = sum(open_shares)
        before = sum(drawn)
        drawn = [
            min(size, had + int(left * share / total))
            for share, size, had in zip(open_shares, sizes, drawn, strict=True)
        ]
        if sum(drawn) == before:  # less than one each: one more where the risk is highest
            highest = max(number for number, share in enumerate(open_shares) if share)
            drawn[highest] += 1
    return drawn
