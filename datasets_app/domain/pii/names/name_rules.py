"""Names that the words around them announce, within one text: "my name is …", "Dear …", "… here".

Each cue gives the start of a possible name and its reliability; the words there decide how much is taken.
Positions are word indexes, so that a rule can never split a word.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from functools import cache, lru_cache
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.names.gazetteer import WordFacts, look_up_word
from datasets_app.domain.pii.rules.prefilter import make_prefilter

RULE_SCORE = 0.6  # comparable to model probabilities
_TITLES_TEXT = """
mr mrs ms miss mister dr doctor prof professor sir madam mx herr frau señor señora monsieur madame mme
mlle signor signora meneer mevrouw senhor senhora
"""
TITLES = frozenset(_TITLES_TEXT.split())
_PARTICLES_TEXT = """
van von der den de da do dos del della di la le el al bin ibn ben bint st mac mc
"""
PARTICLES = frozenset(_PARTICLES_TEXT.split())
_MAX_NAME_WORDS = 4  # words per name
_JOINERS = frozenset("'’-‐‑")
# Common words where a name could be. The gazetteer knows ordinary words; these are refused even
# if it lists them as names or not at all.
_NON_NAMES_TEXT = """
a about above account accountant actually admin administrator after again agent agents all also an and
answer any anybody anyone anything app april are as asap assistant at august available back bad bank
because before bot boy bro brother buddy but by bye call called calling can cancel card chat check child
christmas clear client come confirm correct could customer dad daughter day dear december did do does
doing done dont dude easter email emailed english error even evening ever every everybody everyone
everything family father february fine first folks for fri friday friend from full fun gentlemen get
getting girl girlfriend give go god going good got great guest guys ha had haha happy has have having he
hello help her here hey hi him his hold home hope how human husband i id if im in info is issue it its
january july june just kid kids know lady ladies last late later let like lol long lost love ma mam maam
ma'am madam man manager march mate may maybe me mine mom mon monday more morning mother much mum my name
never new next nice night no nobody none not nothing november now number october of off ok okay on once
one only open operator or order other our out over owner password perfect person phone please pls
possible problem quick ready really regarding reservation right sad same sat saturday say see self send
september service set she should show sir sister so some somebody someone something son soon sorry
speaking staff still such sun sunday support sure system table team thank thanks that the their them
then there these they thing think this those thu thursday thx time to today together tomorrow tonight
too trouble true trying tue tuesday two u unable under until up ur us user username very wait waiting
want was we wed wednesday week welcome well went were what when where which who why wife will with
wondering work working world would wrong yeah yep yes yesterday yet you your yours
"""
NON_NAMES = frozenset(_NON_NAMES_TEXT.split())


class Trust(IntEnum):
    """The strength of a cue; the weaker, the more the word itself must look like a name."""

    WEAK = 0
    LIKELY = 1
    SURE = 2


class Cue(NamedTuple):
    """A name may begin where ``before`` ends."""

    before: re.Pattern[str]
    trust: Trust
    greets: bool = False


def _make_cue(before: str, trust: Trust, *, greets: bool = False) -> Cue:
    return Cue(lazy_re.compile(before, re.IGNORECASE), trust, greets)


_NAME_QUALIFIERS = r"(?:my|his|her|your|their|our|full|first|last|middle|maiden|real|legal)"
_CUES = (
    _make_cue(
        rf"\b{_NAME_QUALIFIERS}\s{{1,3}}(?:{_NAME_QUALIFIERS}\s{{1,3}})?(?:sur)?name\s{{0,3}}(?:\bis\b|\bwas\b|['’]s\b|[:=-])\s{{0,3}}",
        Trust.SURE,
    ),
    _make_cue(r"\b(?:under|in|on)\s{1,3}the\s{1,3}name\s{1,3}(?:of\s{1,3})?", Trust.LIKELY),
    _make_cue(
        rf"(?:\b{_NAME_QUALIFIERS}\s{{1,3}}(?:sur)?name|\bnamed|\bsame\s{{1,3}}name|(?:^|[,.;]\s{{0,3}})(?:the\s{{1,3}})?name\s{{1,3}}is)"
        r"\s{1,3}",
        Trust.LIKELY,
    ),
    _make_cue(
        r"(?:^|[\n,;|{\"'(])\s{0,8}[\"']?(?:[a-z]{1,12}[ _-])?(?:name|surname|customer|client|attn|cardholder"
        r"|holder|from|to|cc|reporter|reviewer|assignee|owner|author|patient|contact|guest|passenger|agent|by)"
        r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?",
        Trust.LIKELY,
    ),
    _make_cue(r"\bcall(?:s|ed)?\s{1,3}(?:me|myself|him|her)\s{1,3}", Trust.LIKELY),
    _make_cue(
        r"\b(?:booking|reservation|table|account|registered|reserved|room|order|it['’]?s|is)\s{1,3}"
        r"(?:is\s{1,3})?under\s{1,3}",
        Trust.LIKELY,
    ),
    _make_cue(
        r"(?:\bi\s{1,3}am|\bi['’]?m|\bthis\s{1,3}is|\bhere\s{1,3}is|\bit\s{1,3}is|\bit['’]s)\s{1,3}",
        Trust.WEAK,
    ),
    _make_cue(
        r"(?:^|[.!?\n,]\s{0,3})(?:dear|hi|hello|hey|thanks|thank\s{1,3}you|thx|cheers|bye|welcome"
        r"|good\s{1,3}(?:morning|afternoon|evening)|sorry)[,\s]{1,3}",
        Trust.WEAK,
        greets=True,
    ),
    _make_cue(r"(?:^|\n)\s{0,8}dear\s{1,3}", Trust.LIKELY, greets=True),
    _make_cue(
        r"(?:regards|sincerely|best|cheers|thanks|yours|greetings|wishes|faithfully|truly)\s{0,3}[,.!]?"
        r"\s{0,3}\n\s{0,8}[-–—~]{0,3}\s{0,3}",
        Trust.LIKELY,
    ),
    _make_cue(
        r"\b(?:speak|talk|spoke|talked|speaking|talking|chat|chatting|chatted|met|meeting)\s{1,3}(?:to|with)\s{1,3}",
        Trust.WEAK,
    ),
    _make_cue(
        r"\b(?:ask|asked|tell|told|ping|message|cc|invite|pay|paid|(?:assign(?:ed)?|transfer|sent?d?|order|payment"
        r"|paid|money)\s{1,3}to)\s{1,3}",
        Trust.WEAK,
    ),
    _make_cue(
        r"\b(?:transfer(?:s|red|ring)?|payments?|standing\s{1,3}order|direct\s{1,3}debit)\s{1,3}to\s{1,3}",
        Trust.SURE,
    ),
    _make_cue(rf"\b(?:{'|'.join(sorted(TITLES))})\.?\s{{1,3}}", Trust.LIKELY),
    # Other languages.
    _make_cue(
        r"\b(?:ich\shei(?:ß|ss)e|mein\sname\sist|auf\sden\snamen|je\sm['’]appelle|mon\snom\sest|au\snom\sde|me\sllamo"
        r"|mi\snombre\ses|a\snombre\sde|mi\schiamo|a\snome\sdi|me\schamo|meu\snome\sé|em\snome\sde|ik\sheet|mijn\snaam\sis"
        r"|op\snaam\svan|nazywam\ssi[ęe]|famili(?:e|a)|fam[íi]lia|famille|famiglia"
        r"|(?:mein|dein|unser)\s(?:mann|bruder|sohn|vater|chef|freund|kollege)"
        r"|(?:meine|deine|unsere)\s(?:frau|schwester|tochter|mutter|freundin|kollegin|chefin)"
        r"|mon\s(?:mari|(?:beau-)?frère|(?:beau-)?père|fils|chef|collègue)|ma\s(?:femme|sœur|soeur|fille|mère|collègue)"
        r"|mi\s(?:marido|esposa|mujer|herman[oa]|hij[oa]|madre|padre|jef[ea]|amig[oa])"
        r"|mi[oa]\s(?:marito|moglie|fratello|sorella|figli[oa]|madre|padre|amic[oa]|capo)"
        r"|(?:meu|minha)\s(?:marido|mulher|esposa|irmão|irmã|filh[oa]|mãe|pai|chefe|amig[oa])"
        r"|mijn\s(?:man|vrouw|broer|zus|zoon|dochter|moeder|vader|collega))\s",
        Trust.LIKELY,
    ),
    _make_cue(
        r"(?:^|[.!?\n,]\s{0,3})(?:bonjour|bonsoir|salut|merci|hallo|moin|danke|gruß|hola|gracias|ciao|grazie|ol[áa]"
        r"|obrigad[oa]|hoi|bedankt|cześć|dzięk(?:i|uję)|hej|tack)[,\s]{1,3}",
        Trust.WEAK,
        greets=True,
    ),
    _make_cue(
        r"\b(?:frag\s(?:mal|bitte)|laut|vraag|demande(?:z)?\sà|selon|preg[uú]nt[ae](?:le)?\sa|según|chiedi\sa"
        r"|pergunt[ae]\s(?:ao?|pr[ao])|fala\scom\s[oa]|zapytaj|ich\sbin|hier\s(?:ist|spricht)|je\ssuis|c['’]est|soy|ik\sben)\s",
        Trust.WEAK,
    ),
)


@cache
def _load_prefilter() -> Callable[[str], Sequence[int]]:
    return make_prefilter([cue.before for cue in _CUES])


CODE_INTRODUCERS = frozenset("cvv cvc and password pass pwd pswd pin otp is my the id no number code".split())
_MAX_REPLY_WORDS = 8  # words and marks
_INTRODUCTION_WORDS = frozenset({"here", "speaking"})


def find_names(text: str, words: Sequence[str], starts: Sequence[int]) -> list[tuple[int, int]]:
    """Names as the indexes of their first and last word; they may overlap."""
    plain = [word.lower() for word in words]
    # In a text all in capitals, they mean nothing.
    shouted = text.isupper()
    reader = _NameReader(words, plain, shouted)
    found = list(_find_after_cues(text, starts, reader))
    found += reader.find_introduced()
    found += reader.find_whole_reply()
    found += reader.find_name_pairs()
    return found


def find_announced(text: str, words: Sequence[str], starts: Sequence[int]) -> set[int]:
    """The words of names that more than a weak cue announces: "my name is …", "Mr. …", "customer: …"."""
    plain = [word.lower() for word in words]
    reader = _NameReader(words, plain, text.isupper())
    names = _find_after_cues(text, starts, reader, min_trust=Trust.LIKELY)
    return {number for first, last in names for number in range(first, last + 1)}


def follows_cue(text: str, start: int) -> bool:
    """Whether what begins there is announced as a name, or greeted, in one of several languages."""
    return any(True for _ in _find_cues_before(text, start))


def is_greeted(text: str, start: int) -> bool:
    """Whether what begins there is greeted, in one of several languages."""
    return any(cue.greets for cue in _find_cues_before(text, start))


def _find_cues_before(text: str, start: int) -> Iterator[Cue]:
    for cue in map(_CUES.__getitem__, _load_prefilter()(text)):
        if any(match.end() == start for match in cue.before.finditer(text)):
            yield cue


def _find_after_cues(
    text: str, starts: Sequence[int], reader: "_NameReader", min_trust: Trust = Trust.WEAK
) -> Iterator[tuple[int, int]]:
    for cue in map(_CUES.__getitem__, _load_prefilter()(text)):
        if cue.trust < min_trust:
            continue
        for match in cue.before.finditer(text):
            number = bisect_left(starts, match.end())
            if name := reader.find_name_at(number, cue.trust):
                yield name


class Requirement(NamedTuple):
    """The least that must be known of a word (see :class:`WordFacts`), and whether a capital counts."""

    max_common: int
    min_known: int = 0  # as a first or last name
    min_first: int = 0
    min_last: int = 0
    capital: bool = False


# A word after a cue is a name if it meets one of these.
_REQUIREMENTS = {
    Trust.SURE: (Requirement(0), Requirement(1, min_known=1), Requirement(2, min_known=1, capital=True)),
    Trust.LIKELY: (
        Requirement(0, capital=True),
        Requirement(0, min_known=1),
        Requirement(1, min_known=1, capital=True),
    ),
}
_WEAK_FIRST_WORD = (Requirement(0, min_first=1), Requirement(1, min_first=2, capital=True))
_WEAK_LATER_WORD = (Requirement(0, min_last=1), Requirement(0, capital=True))


@cache
def _meets_a_requirement(word: WordFacts, capital: bool, trust: Trust, is_first: bool) -> bool:
    weak = _WEAK_FIRST_WORD if is_first else _WEAK_LATER_WORD
    return any(
        word.common <= least.max_common
        and word.first >= least.min_first
        and word.last >= least.min_last
        and max(word.first, word.last) >= least.min_known
        and (capital or not least.capital)
        for least in _REQUIREMENTS.get(trust, weak)
    )


@lru_cache(maxsize=1 << 14)
def _is_first_name(word: str) -> bool:
    fact = look_up_word(word)
    return fact.first > 0 and fact.common == 0


class _NameReader:
    """The words of one text, and which of them could be names."""

    def __init__(self, words: Sequence[str], plain: Sequence[str], shouted: bool) -> None:
        self.words, self.plain, self.shouted = words, plain, shouted

    def find_name_at(self, number: int, trust: Trust) -> tuple[int, int] | None:
        """The name that begins with this word, if one does."""
        first, last, taken = number, -1, 0
        end = min(number + 3 * _MAX_NAME_WORDS, len(self.words))
        while number < end and taken < _MAX_NAME_WORDS:
            word = self.plain[number]
            if self._could_be_name(number, trust, is_first=last < 0):
                last, taken = number, taken + 1
            elif not (self._is_initial(number) or (last >= 0 and self._continues_name(number))):
                break
            elif word not in PARTICLES and len(word) == 1 and word.isalpha():
                last = max(last, number) if last >= 0 else last
            number += 1
        if taken == 1 and trust > Trust.WEAK and self._is_ordinary_surname(last + 1):
            last += 1
        return (first, last) if last >= 0 else None

    def _is_ordinary_surname(self, number: int) -> bool:
        """After an announced first name: "my name is tim cook", "i paid nyla reason"."""
        if number >= len(self.plain) or not look_up_word(self.plain[number - 1]).first:
            return False
        word, fact = self.plain[number], look_up_word(self.plain[number])
        if len(word) < 3 or word in NON_NAMES or not fact.last:
            return False
        is_last = number + 1 == len(self.plain) or not self.plain[number + 1][0].isalnum()
        return is_last or (fact.last == 2 and self._has_capital(number) == self._has_capital(number - 1))

    def find_introduced(self) -> Iterator[tuple[int, int]]:
        """ "Jane here", "Jane Roe speaking" at the beginning of a text."""
        for number in range(1, min(len(self.plain), 5)):
            if self.plain[number] in _INTRODUCTION_WORDS:
                name = self.find_name_at(0, Trust.WEAK)
                if name and name[1] == number - 1:
                    yield name

    def find_whole_reply(self) -> Iterator[tuple[int, int]]:
        """A text of one to three known names, perhaps with a number or a code
        after them: "jane roe", "rajesh 4021", "jane and password 8812"."""
        if len(self.plain) > _MAX_REPLY_WORDS:
            return
        kept: list[int] = []
        for number, word in enumerate(self.plain):
            if any(map(str.isdigit, word)) or word in CODE_INTRODUCERS:
                if not kept:
                    return
                continue
            if word[0].isalpha():
                kept.append(number)
        if not 1 <= len(kept) <= 3 or kept[-1] - kept[0] > 4 or len(kept) < self._count_words_to(kept[-1]):
            return
        if any(self.plain[number] in NON_NAMES for number in kept):
            return
        known = [look_up_word(self.plain[number]) for number in kept]
        plausible = all(
            (fact.first or fact.last or len(self.plain[number]) == 1) and fact.common < 2
            for fact, number in zip(known, kept, strict=True)
        )
        alone = len(kept) == 1
        if plausible and (known[0].first and not known[0].common if alone else any(f.first for f in known)):
            yield kept[0], kept[-1]

    def _count_words_to(self, number: int) -> int:
        """The number of words up to and including this one, with numbers and codes."""
        return sum(word[0].isalnum() for word in self.plain[: number + 1])

    def find_name_pairs(self) -> Iterator[tuple[int, int]]:
        """A known first name before a known last name."""
        for number, word in enumerate(self.plain[:-1]):
            if (
                _is_first_name(word)
                and self._is_last_name(number + 1)
                and (look_up_word(word).first == 2 or self._has_capital(number))
            ):
                yield number, number + 1

    def _is_last_name(self, number: int) -> bool:
        fact = look_up_word(self.plain[number])
        if not fact.last or fact.common or len(self.plain[number]) < 2:
            return False
        return self._has_capital(number) == self._has_capital(number - 1)

    def _has_capital(self, number: int) -> bool:
        return not self.shouted and self.words[number][:1].isupper()

    def _could_be_name(self, number: int, trust: Trust, is_first: bool) -> bool:
        word = self.plain[number]
        if len(word) < 2 or not word[0].isalpha() or word in NON_NAMES:
            return False
        return _meets_a_requirement(look_up_word(word), self._has_capital(number), trust, is_first)

    def _is_initial(self, number: int) -> bool:
        word = self.plain[number]
        if len(word) == 1 and word.isalpha() and word not in ("i", "a"):
            return True
        return word == "." and number > 0 and self._is_initial(number - 1)

    def _continues_name(self, number: int) -> bool:
        """Particles and hyphens continue a name if more of it follows."""
        return self.plain[number] in PARTICLES or self.plain[number] in _JOINERS
