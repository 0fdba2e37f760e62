"""Adds words that a persona prefers to sentences, and removes words it avoids."""

import re
from collections.abc import Sequence
from functools import lru_cache, partial

from datasets_app.domain.generation import phrases
from datasets_app.domain.generation.chance import SeededRandom
from datasets_app.domain.generation.filling import capitalize_sentences
from datasets_app.domain.generation.style import build_matcher, split_words
from datasets_app.domain.pii.rules.finder import find_all

MIN_NUMBER_DIGITS = 7
# Replies also put a word where no frame does: a user name is told by standing in any sentence.
_PLAIN_SENTENCE = "Well, hey. {}, it is, as it was."
# Guessed from the ending, mostly right; frames for "other" take any word, quoted.
_SUFFIXES = (
    ("adverb", re.compile(r"[a-z]{3,}ly")),
    ("noun", re.compile(r"[a-z]{3,}(tion|ment|ness|ity|ance|ence|ship|ism|craft|ure|tions|ments)")),
    ("adjective", re.compile(r"[a-z]{3,}(ful|able|ible|ive|ous|ical|less|ish)")),
)
_WORDS_BY_KIND = {
    "noun": "clarity focus insight insights detail details context evidence quality craft results progress "
    "confidence honesty joy comfort momentum balance alignment metrics trends growth impact purpose comfort "
    "people community partners privacy facts reasons choice patience kindness calm",
    "adjective": "calm fair open honest direct friendly warm fresh bright gentle practical precise careful "
    "smooth plain transparent consistent sustainable kind light tidy solid crisp local fun",
    "verb": "breathe pause listen compare reflect focus review ask wonder discover notice confirm verify "
    "improve grow plan imagine consider relax unwind think connect",
    "adverb": "gently calmly slowly step-by-step carefully steadily",
}
_KIND_BY_WORD = {word: kind for kind, listed in _WORDS_BY_KIND.items() for word in listed.split()}


class Lexicon:
    """A list of a persona's words; it may be empty."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = tuple(dict.fromkeys(entry.strip() for entry in entries if entry.strip()))
        # What nobody writes into a conversation that has to pass the checks.
        self.spoken = tuple(entry for entry in self.entries if not _carries_personal_data(entry))
        self._pattern = build_matcher(self.entries)
        self._instead = [
            _read_instead(line)
            for entry in self.spoken
            for line in phrases.load_lists("instead").get(entry.lower(), ())
        ]
        # Nearly all entries are single words, which a set lookup finds faster.
        single = {entry.lower() for entry in self.entries if split_words(entry) == [entry.lower()]}
        self._single = single if len(single) == len(self.entries) else None

    def count(self, text: str) -> int:
        """How often words of the list occur in ``text``."""
        if self._pattern is None:
            return 0
        if self._single is not None:
            return sum(map(self._single.__contains__, split_words(text)))
        return len(self._pattern.findall(text))

    def build_phrases(self, rng: SeededRandom, place: str = "") -> list[str]:
        """Phrases with one spoken word of the list each, in random order. ``place``: "?" before a question,
        "." at the end of a conversation, ".i" after answers about the product, "i" in such an answer, "off"
        for an off-brand reply. Words without a sentence for the place are left out."""
        built = (self._build_phrase(word, rng, place) for word in rng.shuffle_copy(self.spoken))
        return [phrase for phrase in built if phrase]

    def _build_phrase(self, word: str, rng: SeededRandom, place: str) -> str:
        known = phrases.load_lists("words")
        key = "" if word.startswith("~") else word.lower()
        for at in (place, place[:1]):
            if f"{key} {at}" in known:
                return rng.choice(known[f"{key} {at}"])
        if place == "off":
            return _fill_frame(rng.choice(known["~off"]), word)
        if key in known and place[:1] != "?":
            return rng.choice(known[key])
        kind = f"~{classify_word(word)}"
        frames = known.get(f"{kind} {place[:1]}") or known.get("" if place[:1] == "?" else kind, ())
        return _fill_frame(rng.choice(frames), word) if frames else ""

    def prefer_words(self, text: str) -> str:
        """Put the words of this list where the text says the same in another way: "gonna" for "going to"."""
        for pattern, fitting in self._instead:
            text = pattern.sub(partial(_match_case, fitting), text)
        return text

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


def _read_instead(line: str) -> tuple[re.Pattern[str], str]:
    usual, _, fitting = line.partition(" => ")
    return re.compile(rf"(?<![\w'-]){re.escape(usual)}(?![\w'-])", re.IGNORECASE), fitting


def _match_case(fitting: str, found: re.Match[str]) -> str:
    return fitting[0].upper() + fitting[1:] if found[0][0].isupper() else fitting


def _fill_frame(frame: str, word: str) -> str:
    """Braces and choice marks in a persona's word are literal."""
    return frame.replace("{word}", re.sub(r"[<>{}|]", "", word))


@lru_cache(maxsize=4096)
def _carries_personal_data(word: str) -> bool:
    """Whether a check takes a word, alone or in a phrase that carries it, for an address, a number or a
    credential; an article number beside other words may be one, too."""
    if sum(map(str.isdigit, word)) >= MIN_NUMBER_DIGITS:
        return True
    frames = [
        frame for key, frames in phrases.load_lists("words").items() if key[0] == "~" for frame in frames
    ]
    forms = {word, word[:1].upper() + word[1:]}
    return any(
        find_all(text)
        for form in forms
        for text in (
            form,
            _PLAIN_SENTENCE.format(form),
            *(_fill_frame(each, form) for each in frames),
        )
    )


def classify_word(word: str) -> str:
    """ "noun", "adjective", "adverb", "verb", "proper" (a name) or "other" (unknown)."""
    lower = word.lower()
    if lower != word or any(map(str.isdigit, word)):
        return "proper"
    if lower in _KIND_BY_WORD:
        return _KIND_BY_WORD[lower]
    if len(split_words(lower)) != 1:
        return "other"
    return next((kind for kind, ending in _SUFFIXES if ending.fullmatch(lower)), "other")
