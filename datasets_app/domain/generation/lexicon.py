"""Puts words of a persona's lexicon in the place of others, and the reverse."""

import re
from collections.abc import Sequence
from functools import lru_cache, partial

from datasets_app.domain.generation import phrases
from datasets_app.domain.generation.chance import SeededRandom
from datasets_app.domain.generation.filling import capitalize_sentences, takes_an
from datasets_app.domain.generation.style import build_matcher, split_words
from datasets_app.domain.pii.detection import find_values

MIN_NUMBER_DIGITS = 7
# Replies also put a word where no frame does: a user name is told by standing in any sentence.
_PLAIN_SENTENCE = "Well, hey. {}, it is, as it was."


class Lexicon:
    """A list of a persona's words; it may be empty."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = tuple(dict.fromkeys(entry.strip() for entry in entries if entry.strip()))
        # What nobody writes into a conversation that has to pass the checks.
        self.spoken = tuple(entry for entry in self.entries if not _carries_personal_data(entry))
        self._pattern = build_matcher(self.entries)
        # Nearly all entries are single words, which a set lookup finds faster.
        single = {entry.lower() for entry in self.entries if split_words(entry) == [entry.lower()]}
        self._single = single if len(single) == len(self.entries) else None
        self._instead = tuple(
            line
            for entry in self.spoken
            for line in phrases.load_lists("instead").get(entry.lower(), ())
            if not self.count(line.partition(" => ")[0])
        )

    def count(self, text: str) -> int:
        """How often words of the list occur in ``text``."""
        if self._pattern is None:
            return 0
        if self._single is not None:
            return sum(map(self._single.__contains__, split_words(text)))
        return len(self._pattern.findall(text))

    def build_asides(self, rng: SeededRandom, category: str) -> list[str]:
        """Phrases with one spoken word of the list each, for the tone of a brand trap: first the words that
        belong to it, then those said in any tone, then the others."""
        lists = phrases.load_lists("asides")
        ranked: list[tuple[int, str]] = []
        for word in rng.shuffle_copy(self.spoken):
            keys = (f"{word.lower()} {category}", word.lower(), "~")
            rank = next(rank for rank, key in enumerate(keys) if key in lists)
            ranked.append((rank, fill_frame(rng.choice(lists[keys[rank]]), word)))
        return [phrase for _, phrase in sorted(ranked, key=lambda each: each[0])]

    def prefer_words(self, text: str) -> str:
        """Put the words of this list where the text says the same in another way: "gonna" for "going to"."""
        return replace_phrases(self._instead, text)

    def replace_words(self, text: str) -> str:
        """Replace words of this list by synonyms that are not in it, if there are any."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._find_synonym(match[0]), text)

    def remove_words(self, text: str) -> str:
        """Remove these words from ``text``, even where the sentence suffers."""
        if self._pattern is None:
            return text
        left = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(self._pattern.sub(" ", text).split()))
        left = re.sub(r"^[\s.,;:!?]+", "", re.sub(r"([,;])[,;.]", r"\1", left))
        return capitalize_sentences(left)

    def _find_synonym(self, word: str) -> str:
        for candidate in phrases.load_lists("synonyms").get(word.lower(), ()):
            if not self.count(candidate):
                return candidate[0].upper() + candidate[1:] if word[0].isupper() else candidate
        return word


def replace_phrases(lines: tuple[str, ...], text: str) -> str:
    """``lines`` are "what is replaced => what is said instead"."""
    for pattern, fitting in _read_instead(lines):
        changed = pattern.sub(partial(_match_case, fitting), text)
        if changed != text:
            article = r"\1n " if takes_an(fitting) else r"\1 "
            text = re.sub(rf"\b(a)n? (?={re.escape(fitting)}\b)", article, changed, flags=re.IGNORECASE)
    return text


@lru_cache(maxsize=64)
def _read_instead(lines: tuple[str, ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    pairs = (line.partition(" => ") for line in lines)
    return tuple((_compile_phrase(usual), fitting) for usual, _, fitting in pairs)


def _compile_phrase(usual: str) -> re.Pattern[str]:
    start = r"(?:^|(?<=[.!?] ))" if usual.startswith("^") else r"(?<![\w'-])"
    return re.compile(rf"{start}{re.escape(usual.removeprefix('^'))}(?![\w'-])", re.IGNORECASE)


def _match_case(fitting: str, found: re.Match[str]) -> str:
    return fitting[0].upper() + fitting[1:] if found[0][0].isupper() else fitting


def fill_frame(frame: str, word: str) -> str:
    """Braces and choice marks in a persona's word are literal."""
    return frame.replace("{word}", re.sub(r"[<>{}|]", "", word))


@lru_cache(maxsize=4096)
def _carries_personal_data(word: str) -> bool:
    """Whether a check takes a word, alone or in a phrase that carries it, for an address, a number or a
    credential; an article number beside other words may be one, too."""
    if sum(map(str.isdigit, word)) >= MIN_NUMBER_DIGITS:
        return True
    forms = {word, word[:1].upper() + word[1:]}
    return any(
        find_values(text)
        for form in forms
        for text in (
            form,
            _PLAIN_SENTENCE.format(form),
            *(fill_frame(each, form) for each in phrases.load_lists("asides")["~"]),
        )
    )
