"""Fills the blanks of phrases for one conversation."""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from datasets_app.domain.generation.chance import SeededRandom
from datasets_app.domain.generation.phrases import load_lines, load_lists

# Refilled each time; all others keep their filling, so that a conversation keeps its subject.
_REFILLED_BLANKS = frozenset({"few", "wait", "days", "hours", "mb", "nth"})
# Ranges of numbers, inclusive.
_NUMBER_RANGES = {"n": (11, 480), "mb": (12, 480)}
_BLANK_OR_CHOICE = re.compile(r"<([^<>]*)>|\{([^{}]*)\}")
# How often a phrase is exchanged for one that means the same.
_VARIANT_SHARE = 0.4
_SENTENCE_START = re.compile(r"(^|[.!?][\"”)]*\s+)([a-z])")
# Exceptions to a/an: vowel letters with consonant sounds, and the reverse.
_CONSONANT_SOUNDS = ("uni", "use", "usu", "eu", "one", "once")
_SILENT_H_WORDS = ("hour", "honest", "honour", "heir")
_MAX_TRIES = 4

AvoidsPhrase = Callable[[str], bool]


class Filler:
    """Fills blanks for one conversation, by its ``rng``; ``avoids`` rejects a filling if there is another."""

    def __init__(self, rng: SeededRandom, avoids: AvoidsPhrase) -> None:
        self.rng, self._lists, self._avoids = rng, load_lists("slots"), avoids
        self._kept_values: dict[str, str] = {}
        self._used_phrases: set[str] = set()

    def set_value(self, blank: str, value: str) -> None:
        self._kept_values[blank] = value

    def pick(self, options: Sequence[str]) -> str:
        """Choose an option not used in this conversation yet, if there is one."""
        for _ in range(_MAX_TRIES):
            phrase = self.rng.choice(options)
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

    def vary(self, text: str) -> str:
        """``text`` with some of its phrases exchanged for others that mean the same."""
        pattern, variants = _load_variants()

        def exchange(found: re.Match[str]) -> str:
            if not self.rng.draw_bool(_VARIANT_SHARE):
                return found[0]
            chosen = self.rng.choice(variants[found[0].lower()])
            return chosen[0].upper() + chosen[1:] if found[0][0].isupper() else chosen

        return pattern.sub(exchange, text)

    def fill(self, phrase: str, *, to_user: bool) -> str:
        """``phrase`` with its choices made and blanks filled. ``to_user``: the assistant says it, so
        "our office" becomes "your office"."""
        return " ".join(self._fill_phrase(phrase, to_user).split())

    def _fill_phrase(self, phrase: str, to_user: bool) -> str:
        made: list[str] = []
        for text, choices, blank in _split_phrase(phrase):
            if text:
                made.append(text)
            elif choices:
                made.append(self._fill_phrase(self.rng.choice(choices), to_user))
            else:
                value = self._get_value(blank, to_user)
                if made and made[-1].endswith((" a ", "A ")) and takes_an(value):
                    made[-1] = made[-1][:-1] + "n "
                made.append(value)
        return "".join(made)

    def _get_value(self, blank: str, to_user: bool) -> str:
        name = blank.partition(".")[0]
        if name in _REFILLED_BLANKS:
            return self._draw_value(name)
        if blank not in self._kept_values:
            self._kept_values[blank] = self._draw_distinct(name, blank)
        value = self._kept_values[blank]
        return _address_user(value) if to_user else value

    def _draw_phrase(self, phrases: Sequence[str]) -> str:
        for _ in range(_MAX_TRIES):
            phrase = self.rng.choice(phrases)
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
            return str(self.rng.randint(*_NUMBER_RANGES[name]))
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


@cache
def _load_variants() -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """A pattern that finds phrases of ``variants.txt``, and what may stand for each of them."""
    variants: dict[str, tuple[str, ...]] = {}
    for line in load_lines("variants"):
        phrase, one_way, other = line.partition(" => ")
        group = (phrase, other) if one_way else tuple(line.split(" | "))
        variants |= {key.lower(): group for key in ((phrase,) if one_way else group)}
    # By first letter, so that most words are told by one comparison each.
    endings: dict[str, list[str]] = {}
    for phrase in sorted(variants, key=lambda phrase: (-len(phrase), phrase)):
        endings.setdefault(phrase[0], []).append(re.escape(phrase[1:]))
    phrases = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in endings.items())
    return re.compile(rf"(?<![\w'-])(?:{phrases})(?![\w'-])", re.IGNORECASE), variants


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
