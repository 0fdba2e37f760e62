"""A phrase with blanks → a sentence, for one conversation."""

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from datasets_app.domain.generation.chance import Chance
from datasets_app.domain.generation.phrases import Lists

# Filled anew each time; all others keep their filling, so that a conversation stays with its subject.
_ANEW = frozenset({"few", "wait", "days", "hours", "mb", "nth", "screen"})
# Numbers: from, to.
_NUMBERS = {"n": (11, 480), "mb": (12, 480)}
_PIECE = re.compile(r"<([^<>]*)>|\{([^{}]*)\}")
_SENTENCE_START = re.compile(r"(^|[.!?][\"”)]*\s+)([a-z])")
# Written with a vowel, spoken with a consonant, and the other way about.
_NOT_AN = ("uni", "use", "usu", "eu", "one", "once")
_BUT_AN = ("hour", "honest", "honour", "heir")
_DEPTH = 4

Avoids = Callable[[str], bool]


class Filler:
    """Fills blanks for one conversation. ``lists`` are the words for them; ``avoids`` says of a filling
    that it should not be taken, if there is another."""

    def __init__(self, chance: Chance, lists: Lists, avoids: Avoids = lambda text: False) -> None:
        self._chance, self._lists, self._avoids = chance, lists, avoids
        self._kept: dict[str, str] = {}
        self._said: set[str] = set()
        self.about: dict[str, Sequence[str]] = {}

    def set_about(self, **phrases: Sequence[str]) -> None:
        """What the blanks topic, action … stand for from now on: each is filled by one of its phrases."""
        for name in phrases:
            self._kept.pop(name, None)
        self.about.update(phrases)

    def pick(self, options: Sequence[str]) -> str:
        """One that has not been said in this conversation, as long as there is one."""
        for _ in range(_DEPTH):
            phrase = self._chance.choice(options)
            if phrase not in self._said:
                return phrase
        return next((option for option in options if option not in self._said), phrase)

    def say(self, options: Sequence[str]) -> str:
        """As the user says one of ``options``."""
        phrase = self.pick(options)
        self.mark(phrase)
        return self.fill(phrase, to_user=False)

    def mark(self, phrase: str) -> None:
        self._said.add(phrase)

    def chances(self, text: str) -> float:
        """Roughly how many bits of chance are in ``text``: those of the kept fillings that stand in it."""
        found = 0.0
        for blank, value in self._kept.items():
            name = blank.partition(".")[0]
            if name not in self.about and _yours(value) in text:
                low, high = _NUMBERS.get(name, (1, len(self._lists.get(name, "."))))
                found += math.log2(high - low + 1)
        return found

    def fill(self, phrase: str, *, to_user: bool) -> str:
        """``phrase`` with its choices made and blanks filled. ``to_user``: the assistant says it, to
        whom "our office" is "your office"."""
        return " ".join(self._filled(phrase, to_user, 0).split())

    def _filled(self, phrase: str, to_user: bool, depth: int) -> str:
        made: list[str] = []
        for text, choices, blank in _pieces(phrase):
            if text:
                made.append(text)
            elif choices:
                made.append(self._filled(self._chance.choice(choices), to_user, depth))
            else:
                value = self._value(blank, to_user, depth)
                if made and made[-1].endswith((" a ", "A ")) and takes_an(value):
                    made[-1] = made[-1][:-1] + "n "
                made.append(value)
        return "".join(made)

    def _value(self, blank: str, to_user: bool, depth: int) -> str:
        name = blank.partition(".")[0]
        if name in self.about:
            if depth >= _DEPTH:
                raise ValueError(f"{{{name}}} stands for itself")
            if name != "topic":
                return self._filled(self._drawn(self.about[name]), to_user, depth + 1)
            kept = self._kept.setdefault(blank, self._chance.choice(self.about[name]))
            return self._filled(kept, to_user, depth + 1)
        if name in _ANEW:
            return self._new(name)
        if blank not in self._kept:
            self._kept[blank] = self._other(name, blank)
        value = self._kept[blank]
        return _yours(value) if to_user else value

    def _drawn(self, phrases: Sequence[str]) -> str:
        for _ in range(_DEPTH):
            phrase = self._chance.choice(phrases)
            if not self._avoids(phrase):
                return phrase
        return next((phrase for phrase in phrases if not self._avoids(phrase)), phrase)

    def _other(self, name: str, blank: str) -> str:
        """A value that no blank of the same list has: {doc} and {doc.2} are two things."""
        taken = {value for other, value in self._kept.items() if other.partition(".")[0] == name}
        for _ in range(8):
            value = self._new(name)
            if value not in taken:
                break
        return value

    def _new(self, name: str) -> str:
        if name in _NUMBERS:
            return str(self._chance.between(*_NUMBERS[name]))
        return self._drawn(self._lists[name])


@lru_cache(maxsize=8192)
def _pieces(phrase: str) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """(text, (), "") or ("", choices, "") or ("", (), blank), in order."""
    found: list[tuple[str, tuple[str, ...], str]] = []
    end = 0
    for match in _PIECE.finditer(phrase):
        if match.start() > end:
            found.append((phrase[end : match.start()], (), ""))
        choices, blank = match.groups()
        found.append(("", tuple(choices.split("|")), "") if blank is None else ("", (), blank))
        end = match.end()
    if end < len(phrase):
        found.append((phrase[end:], (), ""))
    return tuple(found)


def capitalised(text: str) -> str:
    """Sentences begin with a capital."""
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)


def takes_an(word: str) -> bool:
    lower = word.lower()
    if lower.startswith(_BUT_AN):
        return True
    return lower[:1] in tuple("aeiou") and not lower.startswith(_NOT_AN)


def _yours(value: str) -> str:
    return "your " + value.partition(" ")[2] if value.startswith(("our ", "my ")) else value
