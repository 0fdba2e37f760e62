"""The words between a cue and a number: whether they lead from the one to the other."""

import re

from datasets_app.domain.pii.word_lists import read_word_lists

_MAX_WORDS_ASIDE = 4  # "the passport of my husband John is …"

_WORDS = read_word_lists(__file__)
_VERBS, _ENTRY_VERBS, _CONJUNCTIONS = _WORDS["verbs"], _WORDS["entry verbs"], _WORDS["conjunctions"]
COUNTING_WORDS, _PREPOSITIONS = _WORDS["counting words"], _WORDS["prepositions"]
FILLERS = _WORDS["fillers"] | _VERBS | _PREPOSITIONS
OTHER_NOUNS = _WORDS["other nouns"]
_DIGIT = re.compile(r"[0-9]")
_POSSESSIVES = (
    "my|our|his|her|their|your|ur|mi|tu|su|mon|ma|votre|mein|meine|meinen|ihr|ihre|meu|minha|seu|sua|mio|tuo"
    "|suo|mia|mój|moja|moje|mijn|mitt|min|benim"
)
# Before a cue: "my ", "the customer's ", "her German ".
OWNER = re.compile(rf"(?:\b(?:{_POSSESSIVES})|['’]s)\s(?:\w{{3,12}}\s)?\Z", re.IGNORECASE)


class Gap:
    """The words between a cue and a value: whether they lead from the one to the other.

    "The passport I have on my account is A1234567" leads there, "my passport. Account 1234567" does not.
    ``is_blocked``: the words name something else that has a number. ``unknown`` counts words that may.
    """

    def __init__(self) -> None:
        self.is_near, self.is_blocked, self.unknown = True, False, 0
        self.last_word = ""
        self._is_aside = self._is_joined = False

    def add(self, word: str) -> None:
        self.last_word = word
        if word in _VERBS and not self._is_joined:
            self.go_on()
        elif word in _ENTRY_VERBS and (self._is_aside or not self.is_blocked):
            self.is_near, self.is_blocked, self.unknown = True, False, 0
        elif word in OTHER_NOUNS:
            self.is_blocked = True
        elif len(word) > 2 and _DIGIT.search(word):
            self.is_near, self.is_blocked = False, True
        elif word in _CONJUNCTIONS:
            self._is_joined = True
        elif word not in FILLERS and not word.isdigit():
            self.unknown += 1
        self._is_aside |= word in _PREPOSITIONS and not self.is_blocked

    def go_on(self) -> None:
        """A verb or a colon: what stood between was about the cue."""
        if self._is_aside:
            self.is_blocked = False
        if self.unknown <= _MAX_WORDS_ASIDE:
            self.unknown = 0

    @property
    def wanders(self) -> bool:
        """Whether some words are strange, and none names another number."""
        return self.is_near and not self.is_blocked and self.unknown <= _MAX_WORDS_ASIDE

    def leads_to(self, *, is_likely: bool) -> bool:
        """Whether the number behind it is the announced one; a likely one may follow a strange word."""
        return self.is_near and not self.is_blocked and self.unknown <= is_likely
