"""Products, companies and languages that look like names of people: Kafka, McDonald's, Raspberry Pi.

The packaged list has entries that are never people, and entries that are names as well (Julia, Jenkins,
Wendy's). The latter count only beside words that speak of a product: "written in Julia", "the Jenkins
server", "at Wendy's". What a rule announces as a name ("my name is Julia") or is part of a name (Julia Roe)
is a person.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from datasets_app.domain.pii.names.gazetteer import fold_word, look_up_word
from datasets_app.domain.pii.names.person_cues import has_cue_before, has_cue_behind, has_person_cue
from datasets_app.domain.pii.names.product_list import Certainty, find_entries
from datasets_app.domain.pii.names.product_words import (
    ASSISTANTS,
    CONNECTORS,
    CUES_BEFORE,
    CUES_IN_PAIRS,
    DEEDS,
    FUNCTION_WORDS,
    HEADS,
    KEPT_DOING,
    MACHINE_LABELS,
    MACHINE_NOUNS,
    METHODS,
    NOUNS,
    PLACE_CUES,
    REFUSED,
    REQUESTS,
    SHOP_NOUNS,
    STATES,
)
from datasets_app.domain.pii.names.technical_texts import MIN_SIGNS, count_signs, is_unlisted
from datasets_app.domain.pii.names.thing_cues import weigh_thing

_POSSESSIVE = "'s"

_OWNERS = frozenset({"our", "your"})
_LAST_WORD, _NEXT_WORD = re.compile(r"([\w-]+)\s+$"), re.compile(r"(?:['’]s)?\s+([\w-]+)")
_MAX_CUE_CHARACTERS = 30
_VERSION = re.compile(r"v?\d+")


_COMPARISONS = frozenset({"vs", "versus"})
_WORDS_PER_SIGN = 40  # a long text has some by chance
_MIN_PROBABILITY = 0.35  # of a name that no list has as a first name, in a text about technology
# What is said of software as of people: "Intune says no".
_SAID_OF_SOFTWARE = re.compile(
    r",?\s(?:says|saying|wants?|needs?|thinks?|knows?|likes?|hates?|prefers?|is \d|confirmed|answered|replied"
    r"|noticed|picked|opened|asks?|(?:wo|ca|did|does|is|has)n['’]?t)\b",
    re.IGNORECASE,
)


def find_product_words(
    text: str,
    words: Sequence[str],
    starts: Sequence[int],
    hits: Mapping[int, float],
    find_announced: Callable[[], Collection[int]],
) -> set[int]:
    """Which of ``hits`` (word indexes, with probabilities) are products. ``find_announced`` tells those that
    a rule announces as people; it is called only if it matters."""
    reader = _ProductReader(text, words, starts, hits, find_announced)
    reader.find_listed()
    reader.find_owners_of_machines()
    if not reader.products.issuperset(hits):
        reader.find_technical()
    return reader.products.intersection(hits)


class _ProductReader:
    """The words of one text, and which of them are products so far."""

    def __init__(
        self,
        text: str,
        words: Sequence[str],
        starts: Sequence[int],
        hits: Mapping[int, float],
        find_announced: Callable[[], Collection[int]],
    ) -> None:
        self.text, self.starts, self.hits = text, starts, hits
        self.plain = [fold_word(word).replace("’", "'") for word in words]
        self.words = words
        self.products: set[int] = set()
        self._find_announced = find_announced
        self._announced: Collection[int] | None = None

    def find_listed(self) -> None:
        """Entries of the lists."""
        plain = self.plain
        places = sorted(
            {place for number in self.hits for place in find_entries(plain, number)}, reverse=True
        )
        for place in places:
            first, last = place.first, place.last
            if place.certainty < Certainty.SURE and self.is_person(first, last):
                continue
            if (
                place.certainty == Certainty.LIKELY
                and self._is_first_name(first, last)
                and self.has_person_cue(first, last)
            ):
                continue
            if place.certainty == Certainty.SURE and first == last and self._is_part_of_name(first):
                continue
            if (
                place.certainty > Certainty.DOUBTFUL
                or _is_product_here(plain, self.words, first, last, self.products)
                or (_works_like_software(plain, last) and not has_cue_before(self.text, self.starts[first]))
            ):
                has_noun = plain[last + 1 : last + 2] and plain[last + 1] in HEADS
                self.products.update(range(first, last + (2 if has_noun else 1)))

    def find_owners_of_machines(self) -> None:
        """Words behind which stands what only products have: the Acme API."""
        plain = self.plain
        for number in self.hits:
            owns_machine = plain[number + 1 : number + 2] and plain[number + 1] in MACHINE_NOUNS
            is_labeled = number > 0 and plain[number - 1] in MACHINE_LABELS
            if (
                (owns_machine or is_labeled)
                and number not in self.products
                and not self.is_person(number, number)
            ):
                self.products.add(number)

    def find_technical(self) -> None:
        """In a text about technology: entries that are names as well, words that no list of names has, and of
        which the model isn't sure."""
        rest = sorted(set(self.hits) - self.products)
        named = _find_named(self.plain, rest)
        signs = count_signs(self.text, self.words, named)
        is_technical = signs > 0
        ambiguous = self._count_ambiguous()
        is_compared = signs > 0 or not _COMPARISONS.isdisjoint(self.plain)
        signs += ambiguous > (1 if is_compared else 2)
        signs -= len(self.words) // _WORDS_PER_SIGN
        if signs <= 0:
            return
        for first, last in _group(rest):
            if self.is_person(first, last) or self._is_said_of_person(first, last):
                continue
            is_entry = any(place.last >= last for place in find_entries(self.plain, first))
            can_be_unlisted = bool(named) or signs >= MIN_SIGNS
            if (
                is_entry
                or (can_be_unlisted and is_unlisted(self.plain[first : last + 1]))
                or (is_technical and self._is_guessed(first, last))
                or (signs >= MIN_SIGNS and self._is_thing(first, last, signs))
            ):
                self.products.update(range(first, last + 1))

    def _is_said_of_person(self, first: int, last: int) -> bool:
        """Whether the words around speak of a person, and not as one speaks of software."""
        start, end = self.starts[first], self.starts[last] + len(self.words[last])
        if has_cue_before(self.text, start):
            return True
        if not has_cue_behind(self.text, start, end):
            return False
        is_first_name = any(look_up_word(word).first for word in self.plain[first : last + 1])
        return is_first_name or not _SAID_OF_SOFTWARE.match(self.text, end)

    def _is_guessed(self, first: int, last: int) -> bool:
        """Whether the model is not sure of a word, and no list has it as a first name."""
        return (
            first == last
            and self.hits[first] < _MIN_PROBABILITY
            and not look_up_word(self.plain[first]).first
        )

    def _count_ambiguous(self) -> int:
        """How many different entries a text has that may be something else: two say more than one."""
        is_lower = self.text.islower()
        return len(
            {
                word
                for number, word in enumerate(self.plain)
                if number in self.hits
                or (number and self.words[number][0].isupper())
                or (is_lower and not look_up_word(word).common)
                if any(place.is_technical for place in find_entries(self.plain, number))
            }
        )

    def is_person(self, first: int, last: int) -> bool:
        """Whether a rule announces a name here, or more of a name follows or precedes."""
        own = set(range(first, last + 1))
        return not own.isdisjoint(self._get_announced()) or _is_beside_name(
            self.words, self.plain, own, set(self.hits) - self.products
        )

    def _is_thing(self, first: int, last: int, signs: int) -> bool:
        """Whether the words around speak of a thing; the more technical a text, the less they need to, unless
        they are of a first name."""
        start, end = self.starts[first], self.starts[last] + len(self.words[last])
        is_first_name = any(look_up_word(word).first for word in self.plain[first : last + 1])
        needed = 0 if is_first_name else MIN_SIGNS - signs
        return weigh_thing(self.text, start, end) > needed

    def has_person_cue(self, first: int, last: int) -> bool:
        return has_person_cue(self.text, self.starts[first], self.starts[last] + len(self.words[last]))

    def _is_first_name(self, first: int, last: int) -> bool:
        return first == last and look_up_word(self.plain[first]).first > 0

    def _is_part_of_name(self, number: int) -> bool:
        """Whether the word is next to a known name, or a rule announces both: "Jabra Nicola"."""
        others = [
            other
            for other in (number - 1, number + 1)
            if other in self.hits
            and self.plain[other][0].isalpha()
            and not any(find_entries(self.plain, other))
        ]
        if not others:
            return False
        return number in self._get_announced() or any(
            look_up_word(self.plain[other]).first for other in others
        )

    def _get_announced(self) -> Collection[int]:
        if self._announced is None:
            self._announced = self._find_announced()
        return self._announced


def _find_named(plain: Sequence[str], doubted: Collection[int]) -> set[str]:
    """The products of technology that a text names, without ordinary words."""
    return {
        word
        for number, word in enumerate(plain)
        if number not in doubted
        and not look_up_word(word).common
        and any(
            place.is_technical and place.certainty > Certainty.DOUBTFUL
            for place in find_entries(plain, number)
        )
    }


def _group(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of adjacent numbers, as the first and the last."""
    first = last = -2
    for number in numbers:
        if number > last + 1:
            if last >= 0:
                yield first, last
            first = number
        last = number
    if last >= 0:
        yield first, last


def _is_beside_name(words: Sequence[str], plain: Sequence[str], own: set[int], hits: Collection[int]) -> bool:
    """Whether more of a name follows or precedes, in the same letter case: Julia Roe."""
    capital = words[min(own)][0].isupper()
    return any(
        number in hits
        and number not in own
        and plain[number][0].isalpha()
        and words[number][0].isupper() == capital
        and not (number > max(own) and plain[number] in HEADS)
        for number in (min(own) - 1, max(own) + 1)
    )


def _is_product_here(
    plain: Sequence[str], words: Sequence[str], first: int, last: int, products: Collection[int]
) -> bool:
    before = plain[first - 1] if first else ""
    behind = plain[last + 1] if last + 1 < len(plain) else ""
    if _is_listed_with(plain, words, first, last, products):
        return True
    if plain[last] == _POSSESSIVE:
        if behind in SHOP_NOUNS:
            return True
        return before in PLACE_CUES and (not behind[:1].isalpha() or behind in FUNCTION_WORDS)
    if behind == _POSSESSIVE and plain[last + 2 : last + 3] and plain[last + 2] in METHODS:
        return True
    if behind in NOUNS or behind in METHODS or behind in DEEDS or _is_version(plain, last + 1):
        return True
    if plain[first] in ASSISTANTS and before in REQUESTS and behind == "to":
        return True
    if behind == "is" and plain[last + 2 : last + 3] and plain[last + 2] in STATES:
        return True
    return before in CUES_BEFORE or (first > 1 and plain[first - 2] in CUES_IN_PAIRS.get(before, ()))


def _works_like_software(plain: Sequence[str], last: int) -> bool:
    """Whether it can't do, or keeps doing, what only software does: "Luigi won't compile"."""
    behind = plain[last + 1 : last + 4]
    if len(behind) == 3 and behind[1] == "'t":
        return behind[2] in REFUSED
    return len(behind) > 1 and behind[0] in ("keep", "keeps") and behind[1] in KEPT_DOING


def _is_listed_with(
    plain: Sequence[str], words: Sequence[str], first: int, last: int, products: Collection[int]
) -> bool:
    """Whether another product stands before or behind, with "and", a comma or both between them."""
    for number, step in ((first, -1), (last, 1)):
        for _ in range(2):
            number += step
            if not (0 <= number < len(plain) and plain[number] in CONNECTORS):
                break
            other = number + step
            if other in products or (0 <= other < len(plain) and _is_surely_product(plain, words, other)):
                return True
    return False


def _is_surely_product(plain: Sequence[str], words: Sequence[str], number: int) -> bool:
    if look_up_word(plain[number]).common and not words[number][0].isupper():
        return False
    return any(place.certainty == Certainty.SURE for place in find_entries(plain, number))


def _is_version(plain: Sequence[str], number: int) -> bool:
    """3.1 (which is three words), v2; a bare number may be of anything."""
    version = plain[number : number + 3]
    if not version or not _VERSION.fullmatch(version[0]):
        return False
    return version[0][0] == "v" or (len(version) == 3 and version[1] == "." and version[2].isdigit())


def build_cue_patterns() -> tuple[str, str]:
    """What :func:`has_product_cue` looks for before and behind a term, as expressions of PostgreSQL."""
    behind = "|".join(sorted(NOUNS | DEEDS))
    return rf"\m({'|'.join(sorted(CUES_BEFORE | _OWNERS))})\s+$", rf"^(['’]s)?\s+({behind})\M"


def has_product_cue(text: str, start: int, end: int) -> bool:
    """Whether the words directly before or behind ``text[start:end]`` speak of a product."""
    before = _LAST_WORD.search(text[max(0, start - _MAX_CUE_CHARACTERS) : start])
    behind = _NEXT_WORD.match(text[end : end + _MAX_CUE_CHARACTERS])
    if before and before[1].lower() in CUES_BEFORE | _OWNERS:
        return True
    return behind is not None and (behind[1].lower() in NOUNS or behind[1].lower() in DEEDS)
