"""Style rules for any text: contractions, sentence length, emoji, words."""

import re
from collections.abc import Iterable

WORD_PATTERN = re.compile(r"[\w']+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”)]*\s+")

_LONG_FORMS = {
    "can't": "cannot",
    "won't": "will not",
    "shan't": "shall not",
    "let's": "let us",
    "i'm": "I am",
    "wanna": "want to",
    "gonna": "going to",
    "gotta": "have to",
    "kinda": "rather",
    "ain't": "is not",
}
_CONTRACTION_SUFFIXES = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
# Elsewhere 's may be a genitive.
_SUBJECTS_BEFORE_IS = frozenset(
    "it that there here what who where how this he she everything nothing".split()
)
_CONTRACTION_PATTERN = re.compile(r"\b[A-Za-z]+(?:'[a-z]+)|\b(?:wanna|gonna|gotta|kinda)\b", re.IGNORECASE)

# Where a sentence can be split: the text between the parts, and the start of the second.
_CLAUSE_BREAKS = (("; ", ""), (", and ", ""), (", but ", "But "), (", so ", "So "), (", which ", "This "))
_MAX_CUTS = 16
_SUBJECTS = frozenset(
    "you it they the that this we i there your she he each nothing everything all what some then".split()
)


def split_words(text: str) -> list[str]:
    """As Alignmenter counts them, in lower case."""
    return [match.lower() for match in WORD_PATTERN.findall(text)]


def split_sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def average_sentence_length(text: str) -> float:
    """Average words per sentence; 0 without words."""
    lengths = [len(split_words(sentence)) for sentence in split_sentences(text)]
    lengths = [length for length in lengths if length]
    return sum(lengths) / len(lengths) if lengths else 0.0


def expand_contractions(text: str) -> str:
    """ "It's done, don't worry" → "It is done, do not worry"."""
    return _CONTRACTION_PATTERN.sub(lambda match: _expand_contraction(match[0]), text)


def _expand_contraction(word: str) -> str:
    lower = word.lower()
    long = _LONG_FORMS.get(lower)
    if long is None:
        stem, _, ending = lower.rpartition("'")
        if ending == "s" and stem in _SUBJECTS_BEFORE_IS:
            long = f"{stem} is"
        else:
            suffixes = _CONTRACTION_SUFFIXES.items()
            long = next((lower[: -len(end)] + full for end, full in suffixes if lower.endswith(end)), None)
    if long is None:
        return word
    if long.startswith("i "):
        return "I" + long[1:]
    return long[0].upper() + long[1:] if word[0].isupper() else long


def shorten_sentences(text: str, max_average: float) -> str:
    """Split sentences where possible, longest first, until the average fits."""
    parts = split_sentences(text)
    for _ in range(_MAX_CUTS):
        if average_sentence_length(" ".join(parts)) <= max_average:
            break
        for index in sorted(range(len(parts)), key=lambda at: -len(split_words(parts[at]))):
            halves = _split_sentence(parts[index])
            if halves:
                parts[index : index + 1] = halves
                break
        else:
            break
    return " ".join(parts)


def _split_sentence(sentence: str) -> list[str] | None:
    for between, begins in _CLAUSE_BREAKS:
        left, found, right = sentence.partition(between)
        following = split_words(right)
        if not found or len(split_words(left)) < 2 or len(following) < 3:
            continue
        if not begins and following[0] not in _SUBJECTS and between != "; ":
            continue
        if sentence.endswith("?") and between != "; ":
            continue
        right = begins + right if begins else right[0].upper() + right[1:]
        return [left.rstrip(",;") + ".", right]
    return None


def build_matcher(entries: Iterable[str]) -> re.Pattern[str] | None:
    """A case-insensitive pattern for these words and phrases; None without any."""
    found = sorted(
        {entry.strip().lower() for entry in entries if entry.strip()}, key=lambda item: (-len(item), item)
    )
    if not found:
        return None
    # An entry with a non-letter at its edge ("!!") matches anywhere.
    return re.compile("|".join(_bound_entry(entry) for entry in found), re.IGNORECASE)


def _bound_entry(entry: str) -> str:
    left = r"(?<![\w'])" if re.match(r"[\w']", entry) else ""
    right = r"(?![\w'])" if re.search(r"[\w']$", entry) else ""
    return left + re.escape(entry).replace(r"\ ", r"\s+") + right
