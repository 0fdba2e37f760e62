"""Fills the blanks of phrases for one conversation."""

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from datasets_app.domain.generation.chance import SeededRandom
from datasets_app.domain.generation.phrases import PhraseLists

# Refilled each time; all others keep their filling, so that a conversation keeps its subject.
_REFILLED_BLANKS = frozenset({"few", "wait", "days", "hours", "mb", "nth"})
# Ranges of numbers, inclusive.
_NUMBER_RANGES = {"n": (11, 480), "mb": (12, 480)}
_BLANK_OR_CHOICE = re.compile(r"<([^<>]*)>|\{([^{}]*)\}")
_SENTENCE_START = re.compile(r"(^|[.!?][\"”)]*\s+)([a-z])")
# Exceptions to a/an: vowel letters with consonant sounds, and the reverse.
_CONSONANT_SOUNDS = ("uni", "use", "usu", "eu", "one", "once")
_SILENT_H_WORDS = ("hour", "honest", "honour", "heir")
_MAX_DEPTH = 4

AvoidsPhrase = Callable[[str], bool]


class Filler:
    """Fills blanks for one conversation from ``lists``; ``avoids`` rejects a filling if there is another."""

    def __init__(
        self, rng: SeededRandom, lists: PhraseLists, avoids: AvoidsPhrase = lambda text: False
    ) -> None:
        self._rng, self._lists, self._avoids = rng, lists, avoids
        self._kept_values: dict[str, str] = {}
        self._used_phrases: set[str] = set()
        self.topics: dict[str, Sequence[str]] = {}

    def set_topics(self, **phrases: Sequence[str]) -> None:
        """Set the phrases that fill the blanks topic, action … from now on."""
        for name in phrases:
            self._kept_values.pop(name, None)
        self.topics.update(phrases)

    def pick(self, options: Sequence[str]) -> str:
        """Choose an option not used in this conversation yet, if there is one."""
        for _ in range(_MAX_DEPTH):
            phrase = self._rng.choice(options)
            if phrase not in self._used_phrases:
                return phrase
        return next((option for option in options if option not in self._used_phrases), phrase)

    def fill_unused(self, options: Sequence[str]) -> str:
        """Fill one of ``options`` as the user says it."""
        phrase = self.pick(options)
        self.mark_used(phrase)
        return self.fill(phrase, to_user=False)

    def mark_used(self, phrase: str) -> None:
        self._used_phrases.add(phrase)

    def estimate_chance_bits(self, text: str) -> float:
        """Roughly the bits of randomness in ``text``, from the kept fillings that occur in it."""
        found = 0.0
        for blank, value in self._kept_values.items():
            name = blank.partition(".")[0]
            if name not in self.topics and _address_user(value) in text:
                low, high = _NUMBER_RANGES.get(name, (1, len(self._lists.get(name, "."))))
                found += math.log2(high - low + 1)
        return found

    def fill(self, phrase: str, *, to_user: bool) -> str:
        """``phrase`` with its choices made and blanks filled. ``to_user``: the assistant says it, so
        "our office" becomes "your office"."""
        return " ".join(self._fill_phrase(phrase, to_user, 0).split())

    def _fill_phrase(self, phrase: str, to_user: bool, depth: int) -> str:
        made: list[str] = []
        for text, choices, blank in _split_phrase(phrase):
            if text:
                made.append(text)
            elif choices:
                made.append(self._fill_phrase(self._rng.choice(choices), to_user, depth))
            else:
                value = self._get_value(blank, to_user, depth)
                if made and made[-1].endswith((" a ", "A ")) and takes_an(value):
                    made[-1] = made[-1][:-1] + "n "
                made.append(value)
        return "".join(made)

    def _get_value(self, blank: str, to_user: bool, depth: int) -> str:
        name = blank.partition(".")[0]
        if name in self.topics:
            if depth >= _MAX_DEPTH:
                raise ValueError(f"{{{name}}} stands for itself")
            if name != "topic":
                return self._fill_phrase(self._draw_phrase(self.topics[name]), to_user, depth + 1)
            kept = self._kept_values.setdefault(blank, self._rng.choice(self.topics[name]))
            return self._fill_phrase(kept, to_user, depth + 1)
        if name in _REFILLED_BLANKS:
            return self._draw_value(name)
        if blank not in self._kept_values:
            self._kept_values[blank] = self._draw_distinct(name, blank)
        value = self._kept_values[blank]
        return _address_user(value) if to_user else value

    def _draw_phrase(self, phrases: Sequence[str]) -> str:
        for _ in range(_MAX_DEPTH):
            phrase = self._rng.choice(phrases)
            if not self._avoids(phrase):
                return phrase
        return next((phrase for phrase in phrases if not self._avoids(phrase)), phrase)

    def _draw_distinct(self, name: str, blank: str) -> str:
        """A value that no other blank of the list has: {doc} and {doc.2} differ."""
        taken = {value for other, value in self._kept_values.items() if other.partition(".")[0] == name}
        for _ in range(8):
            value = self._draw_value(name)
            if value not in taken:
                break
        return value

    def _draw_value(self, name: str) -> str:
        if name in _NUMBER_RANGES:
            return str(self._rng.randint(*_NUMBER_RANGES[name]))
        return self._draw_phrase(self._lists[name])


@lru_cache(maxsize=8192)
def _split_phrase(phrase: str) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """(text, (), "") or ("", choices, "") or ("", (), blank), in order."""
    found: list[tuple[str, tuple[str, ...], str]] = []
    end = 0
    for match in _BLANK_OR_CHOICE.finditer(phrase):
        if match.start() > end:
            found.append((phrase[end : match.start()], (), ""))
        choices, blank = match.groups()
        found.append(("", tuple(choices.split("|")), "") if blank is None else ("", (), blank))
        end = match.end()
    if end < len(phrase):
        found.append((phrase[end:], (), ""))
    return tuple(found)


def capitalize_sentences(text: str) -> str:
    """Capitalize each sentence."""
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)


def takes_an(word: str) -> bool:
    lower = word.lower()
    if lower.startswith(_SILENT_H_WORDS):
        return True
    return lower[:1] in tuple("aeiou") and not lower.startswith(_CONSONANT_SOUNDS)


def _address_user(value: str) -> str:
    return "your " + value.partition(" ")[2] if value.startswith(("our ", "my ")) else value
