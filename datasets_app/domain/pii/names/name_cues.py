"""Words that announce a name in several languages ("my name is …", "Dear …"), and titles."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.rules.prefilter import make_prefilter

_TITLES_TEXT = """
mr mrs ms miss mister dr doctor prof professor sir madam mx herr frau señor señora monsieur madame mme
mlle signor signora meneer mevrouw senhor senhora
"""
TITLES = frozenset(_TITLES_TEXT.split())
_PARTICLES_TEXT = """
van von der den de da do dos del della di la le el al bin ibn ben bint st mac mc
"""
PARTICLES = frozenset(_PARTICLES_TEXT.split())


class Cue(NamedTuple):
    """A name may begin where ``before`` ends."""

    before: re.Pattern[str]
    greets: bool = False


def _make_cue(before: str, *, greets: bool = False) -> Cue:
    return Cue(lazy_re.compile(before, re.IGNORECASE), greets)


_NAME_QUALIFIERS = r"(?:my|his|her|your|their|our|full|first|last|middle|maiden|real|legal)"
_CUES = (
    _make_cue(
        rf"\b{_NAME_QUALIFIERS}\s{{1,3}}(?:{_NAME_QUALIFIERS}\s{{1,3}})?(?:sur)?name\s{{0,3}}(?:\bis\b|\bwas\b|['’]s\b|[:=-])\s{{0,3}}",
    ),
    _make_cue(r"\b(?:under|in|on)\s{1,3}the\s{1,3}name\s{1,3}(?:of\s{1,3})?"),
    _make_cue(
        rf"(?:\b{_NAME_QUALIFIERS}\s{{1,3}}(?:sur)?name|\bnamed|\bsame\s{{1,3}}name|(?:^|[,.;]\s{{0,3}})(?:the\s{{1,3}})?name\s{{1,3}}is)"
        r"\s{1,3}",
    ),
    _make_cue(
        r"(?:^|[\n,;|{\"'(])\s{0,8}[\"']?(?:[a-z]{1,12}[ _-])?(?:name|surname|customer|client|attn|cardholder"
        r"|holder|from|to|cc|reporter|reviewer|assignee|owner|author|patient|contact|guest|passenger|agent|by)"
        r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?",
    ),
    _make_cue(r"\bcall(?:s|ed)?\s{1,3}(?:me|myself|him|her)\s{1,3}"),
    _make_cue(
        r"\b(?:booking|reservation|table|account|registered|reserved|room|order|it['’]?s|is)\s{1,3}"
        r"(?:is\s{1,3})?under\s{1,3}",
    ),
    _make_cue(
        r"(?:\bi\s{1,3}am|\bi['’]?m|\bthis\s{1,3}is|\bhere\s{1,3}is|\bit\s{1,3}is|\bit['’]s)\s{1,3}",
    ),
    _make_cue(
        r"(?:^|[.!?\n,]\s{0,3})(?:dear|hi|hello|hey|thanks|thank\s{1,3}you|thx|cheers|bye|welcome"
        r"|good\s{1,3}(?:morning|afternoon|evening)|sorry)[,\s]{1,3}",
        greets=True,
    ),
    _make_cue(r"(?:^|\n)\s{0,8}dear\s{1,3}", greets=True),
    _make_cue(
        r"(?:regards|sincerely|best|cheers|thanks|yours|greetings|wishes|faithfully|truly)\s{0,3}[,.!]?"
        r"\s{0,3}\n\s{0,8}[-–—~]{0,3}\s{0,3}",
    ),
    _make_cue(
        r"\b(?:speak|talk|spoke|talked|speaking|talking|chat|chatting|chatted|met|meeting)\s{1,3}(?:to|with)\s{1,3}",
    ),
    _make_cue(
        r"\b(?:ask|asked|tell|told|ping|message|cc|invite|pay|paid|(?:assign(?:ed)?|transfer|sent?d?|order|payment"
        r"|paid|money)\s{1,3}to)\s{1,3}",
    ),
    _make_cue(
        r"\b(?:transfer(?:s|red|ring)?|payments?|standing\s{1,3}order|direct\s{1,3}debit)\s{1,3}to\s{1,3}",
    ),
    _make_cue(rf"\b(?:{'|'.join(sorted(TITLES))})\.?\s{{1,3}}"),
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
    ),
    _make_cue(
        r"(?:^|[.!?\n,]\s{0,3})(?:bonjour|bonsoir|salut|merci|hallo|moin|danke|gruß|hola|gracias|ciao|grazie|ol[áa]"
        r"|obrigad[oa]|hoi|bedankt|cześć|dzięk(?:i|uję)|hej|tack)[,\s]{1,3}",
        greets=True,
    ),
    _make_cue(
        r"\b(?:frag\s(?:mal|bitte)|laut|vraag|demande(?:z)?\sà|selon|preg[uú]nt[ae](?:le)?\sa|según|chiedi\sa"
        r"|pergunt[ae]\s(?:ao?|pr[ao])|fala\scom\s[oa]|zapytaj|ich\sbin|hier\s(?:ist|spricht)|je\ssuis|c['’]est|soy|ik\sben)\s",
    ),
)


@cache
def _load_prefilter() -> Callable[[str], Sequence[int]]:
    return make_prefilter([cue.before for cue in _CUES])


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
