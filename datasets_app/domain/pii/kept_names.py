"""Terms that stay where names of people are found: brands, products, and the words of personas.

A term stays as a whole, with other signs or spaces between its words, and as a possessive. What a name
holds besides it is still a person: of "Acme Jane" the second word goes. A term that is a name of people
itself stays only alone: of "Wendy Miller" nothing stays, whatever the brand. Where it is one of a persona's
terms, the words around it can tell that it is a person nevertheless: "Mrs. Casper", "my wife Casper".
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from datasets_app.domain.pii.detector import Match
from datasets_app.domain.pii.folding import fold
from datasets_app.domain.pii.names.gazetteer import look_up_word, strip_accents
from datasets_app.domain.pii.names.person_cues import RELATIVES
from datasets_app.domain.pii.names.said_of import Said, read_cues

MIN_JOINED_CHARACTERS = 5
_MAX_TERM_CHARACTERS = 120  # the window around a match in which a term is looked for
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_GAP = re.compile(r"[\s&.'’_/+\-–]{0,3}")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n\"“(*•-])\s*$")
_MAX_CUE_CHARACTERS = 60
_MIN_CHARACTERS_AROUND = 6
_LABELS = "customer|client|guest|passenger|patient|holder|cardholder|recipient|attn|signed|contact"
_PERSON_BEFORE = re.compile(
    r"(?:\b(?:full|first|last|middle|maiden|real|whose|his|her|their|customer'?s?)\s+name(?:\s+is|['’]s)?[\s:]+"
    r"|\b(?:mr|mrs|ms|miss|mister|dr|prof)\.?\s+"
    rf"|\b(?:{_LABELS})(?:\s+name)?\s*[:=]\s*"
    rf"|\b(?:my|his|her|our|their|your)\s+(?:\w+\s+)?(?:{RELATIVES}),?\s+"
    r"|\bcall(?:s|ed)?\s+(?:him|her)\s+)[\"'“]?$",
    re.IGNORECASE,
)

# Whether the session has a word as part of a person's name.
IsPerson = Callable[[str], bool]


class Term(NamedTuple):
    """``is_name``: people are called so. ``is_persona``: nobody has said that it stays in any context.
    ``is_lower``: the term is written in lower case, so that a capital means something else."""

    words: tuple[str, ...]
    is_name: bool
    is_persona: bool
    is_lower: bool


class _Place(NamedTuple):
    """``tokens[first:end]`` are the words of a term."""

    first: int
    end: int
    term: Term


class KeptNames:
    """``terms`` were listed by people; ``persona_terms`` are those of :mod:`persona_terms`."""

    def __init__(self, terms: Iterable[str], persona_terms: Iterable[str] = ()) -> None:
        self._terms: dict[str, list[Term]] = defaultdict(list)
        seen: set[tuple[str, ...]] = set()
        for is_persona, group in ((False, terms), (True, persona_terms)):
            for term in group:
                for words in _list_forms(term):
                    if words not in seen:
                        seen.add(words)
                        made = Term(words, _is_name(words, term), is_persona, term.islower())
                        self._terms[words[0]].append(made)

        own = {term.words for group in self._terms.values() for term in group if term.is_persona}
        # Words that alone may mean a persona's term: Carl, of Cargo Carl.
        self._short_forms = _list_short_forms(words for words in own if _has_ordinary_word(words))

    def __bool__(self) -> bool:
        return bool(self._terms)

    def cut_terms(self, text: str, match: Match, is_person: IsPerson) -> list[Match]:
        """The parts of a name in ``text`` that aren't terms to keep; the match itself if none is."""
        return [
            part
            for part in self._cut_terms(text, match, is_person)
            if not (self._short_forms and _is_short_form(text, part, is_person, self._short_forms))
        ]

    def _cut_terms(self, text: str, match: Match, is_person: IsPerson) -> list[Match]:
        tokens = _split_around(text, match)
        inside = [n for n, t in enumerate(tokens) if t.start() < match.end and match.start < t.end()]
        if not inside:
            return [match]
        # Those in the match, and the one directly before it.
        near = [
            p for p in _find_places(self._terms, text, tokens) if p.end >= inside[0] and p.first <= inside[-1]
        ]
        kept = [place for place in near if self._stays(text, tokens, place, is_person)]
        if not kept:
            return [match]
        covered = {number for place in kept for number in range(place.first, place.end)}
        rest = [n for n in inside if n not in covered and not _is_ordinary(tokens[n][0])]
        if covered.isdisjoint(inside):
            rest = inside
        if not rest or (len(rest) == 1 and any(_names_product(text, tokens, p, rest[0]) for p in kept)):
            return []
        parts = {n for place in kept if not place.term.is_name for n in range(place.first, place.end)}
        return list(_split_match(match, tokens, inside, parts))

    @staticmethod
    def _stays(text: str, tokens: list[re.Match[str]], place: _Place, is_person: IsPerson) -> bool:
        term = place.term
        if not (term.is_name and term.is_persona):
            return True
        start, end = tokens[place.first].start(), tokens[place.end - 1].end()
        before, said = text[max(0, start - _MAX_CUE_CHARACTERS) : start], text[start:end]
        if _PERSON_BEFORE.search(before):
            return False
        if term.is_lower:
            return said.islower() or said.isupper() or bool(_SENTENCE_START.search(before))
        return not any(map(is_person, term.words))


def _is_short_form(text: str, match: Match, is_person: IsPerson, short_forms: Collection[str]) -> bool:
    """Whether a match is such a form, with an ordinary word before or behind it at most."""
    found = _WORD.findall(text[match.start : match.end])
    forms = [word for word in found if _list_word_forms(word)[-1] in short_forms]
    return (
        bool(forms)
        and (len(found) == 1 or all(word in forms or _is_ordinary(word) for word in found))
        and not any(is_person(_list_word_forms(word)[-1]) for word in forms)
        and len(text) - (match.end - match.start) >= _MIN_CHARACTERS_AROUND
        and read_cues(text, match.start, match.end) is Said.NOTHING
    )


def _find_places(
    terms: Mapping[str, Sequence[Term]], text: str, tokens: list[re.Match[str]]
) -> Iterator[_Place]:
    forms = [_list_word_forms(token[0]) for token in tokens]
    for first, words in enumerate(forms):
        for word in words:
            for term in terms.get(word, ()):
                end = first + len(term.words)
                if end <= len(tokens) and all(
                    wanted in forms[first + number]
                    and (
                        not number
                        or _GAP.fullmatch(
                            text, tokens[first + number - 1].end(), tokens[first + number].start()
                        )
                    )
                    for number, wanted in enumerate(term.words)
                ):
                    yield _Place(first, end, term)


def _names_product(text: str, tokens: list[re.Match[str]], place: _Place, number: int) -> bool:
    """Whether a word directly behind a persona's brand is a product of it: the Max of Luma Max. No person is
    called so, if the brand isn't a first name."""
    term = place.term
    if not term.is_persona or place.end != number or look_up_word(term.words[0]).first:
        return False
    return text[tokens[number - 1].end() : tokens[number].start()] == " "


def _is_ordinary(word: str) -> bool:
    """Whether a word beside a brand isn't a surname: the Sleep of Casper Sleep."""
    fact = look_up_word(word)
    return fact.common > 0 and not fact.first and fact.last < 2


def _split_around(text: str, match: Match) -> list[re.Match[str]]:
    """The words around a match, far enough for the longest term; none that the window cuts."""
    first, last = max(0, match.start - _MAX_TERM_CHARACTERS), match.end + _MAX_TERM_CHARACTERS
    if first and text[first - 1].isalnum():
        while first < match.start and text[first].isalnum():
            first += 1
    while match.end < last < len(text) and text[last - 1].isalnum() and text[last].isalnum():
        last -= 1
    return list(_WORD.finditer(text, first, min(last, len(text))))


def _split_match(
    match: Match, tokens: list[re.Match[str]], inside: list[int], kept: set[int]
) -> Iterator[Match]:
    """The runs of words of a match that are not kept."""
    run: list[int] = []
    for number in [*inside, -1]:
        if number >= 0 and number not in kept:
            run.append(number)
        elif run:
            start, end = tokens[run[0]].start(), tokens[run[-1]].end()
            yield match._replace(start=max(start, match.start), end=min(end, match.end))
            run = []


# --- words -------------------------------------------------------------------------------------------


def _list_forms(term: str) -> Iterator[tuple[str, ...]]:
    """The words of a term; and the term in one word, as in tags and addresses: chickfila."""
    words = tuple(_normalize(word[0]) for word in _WORD.finditer(term))
    if words:
        yield words
    joined = "".join(words)
    if len(words) > 1 and len(joined) >= MIN_JOINED_CHARACTERS:
        yield (joined,)


def _has_ordinary_word(words: Sequence[str]) -> bool:
    return any((fact := look_up_word(word)).common or not (fact.first or fact.last) for word in words)


def _list_short_forms(phrases: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """The words of several that a phrase has, and their plurals."""
    return frozenset(
        form for words in phrases if len(words) > 1 for word in words for form in (word, f"{word}s")
    )


def list_term_words(text: str, wanted: Set[str] | None = None) -> tuple[str, ...]:
    """The words of a term or a text, without possessives; none if no word is ``wanted``."""
    found = _WORD.findall(text)
    # Most words of a long text come again.
    plain = {word: _list_word_forms(word)[-1] for word in set(found)}
    if wanted is not None and wanted.isdisjoint(plain.values()):
        return ()
    return tuple([plain[word] for word in found])


def _list_word_forms(word: str) -> tuple[str, ...]:
    """A word as terms have it, and without a possessive: wendys and wendy for Wendy's."""
    plain = _normalize(word)
    stem, sign, ending = word.replace("’", "'").rpartition("'")
    return (plain, _normalize(stem)) if sign and stem and ending.lower() in ("s", "") else (plain,)


def _normalize(word: str) -> str:
    plain = fold(word).casefold().replace("'", "").replace("’", "")
    return plain if plain.isascii() else strip_accents(plain)


def _is_name(words: tuple[str, ...], term: str) -> bool:
    """Whether people are called so; a possessive is a brand."""
    if re.search(r"['’]s?\b", term):
        return False
    facts = [look_up_word(word) for word in words]
    return all(fact.first or fact.last for fact in facts)
