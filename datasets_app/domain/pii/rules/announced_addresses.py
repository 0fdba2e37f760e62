"""Addresses that the words before them announce: "my address is …", "we live on …", "zip code 62704"."""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.rules import address_words as vocabulary
from datasets_app.domain.pii.rules.cue_words import find_cue_starts, make_cue_starts, make_cues

MAX_WORDS = 18

ADDRESS_CUES = make_cues(
    """
    address adress addr live lives living reside resides residing ship deliver delivered send mail located
    zip zipcode postcode
    postal plz cep corner intersection adresse anschrift wohne wohnhaft wohnen postleitzahl dirección
    domicilio vivo indirizzo abito
    residente endereço endereco moro morada adres mieszkam woon wohnort adress bor bosatt adressen j'habite
    habite demeurant
    osoite asun cím lakcím lakom adresa bydlím bydliště адрес проживаю живу adresi alamat pincode codepostal
    code codice código индекс postnummer postinumero kod psč irányítószám irányító 郵便番号 邮编 邮政编码
    郵遞區號 우편번호
    """
)
_CUE_STARTS = make_cue_starts(
    """
    address adress addr lives live living resid stay located moved ship deliver send sent mail forward bring
    post dispatch
    courier move moving come came taxi cab ride pick situated is_at are_at was_at anschrift adresse wohn adres
    indirizzo direcci domicilio endere morada osoite lakc adresa адрес alamat habit j'habit demeurant vivo
    vivimos abito moro
    mieszkam woon bor bosatt asun bydl lakom прожива живу zip plz code código codigo codice cep pin_code
    pincode kod psč индекс
    irányító postnummer postinumero 郵便番号 邮编 邮政编码 郵遞區號 우편번호
    corner intersection cross_street junction
    """
)
_CUE = re.compile(
    r"(?:(?:address(?:es)?|adress|addr)(?:[ _]?(?:line ?[12]|1|2))?[\"']?[ \t]{0,2}"
    r"(?:[:=–-]|\b(?:is|was|will be|would be|now|to)(?:[ \t](?:now|at))?\b|\n)"
    r"|(?:liv(?:e|es|ing|ed)|resid(?:e|es|ing)|stay(?:ing)?|located|situated|moved)[ \t](?:now )?(?:at|on"
    r"|in|to)"
    r"|(?:ship|deliver|send|sent|mail|forward|bring|post|dispatch|courier|move|moving|come|came|taxi|cab"
    r"|ride|pick(?:ed)?)(?:ed|ing|s)?\b"
    r"(?:[ \t][\w'’]{1,14}){0,4}?[ \t](?:to|at)\b"
    r"|(?:is|are|was)[ \t]at\b"
    r"|(?:anschrift|adresse|wohnhaft in|adres(?:em|im)?|adress(?:en)?|indirizzo|direcci[óo]n|domicilio"
    r"|endere[çc]o|morada|osoite(?:eni)?"
    r"|lakc[íi]m(?:em)?|adresa|адрес|adresi(?:m)?|alamat)[ \t]?(?:[:=]|\b(?:ist|lautet|est|es|è|é|är|er|is"
    r"|to|on)\b)"
    r"|(?:wohnen?|j?['’]?habite|demeurant|vivo|vivimos|abito|moro|mieszkam|woon|bor|bosatt|asun|bydl[íi]m"
    r"|lakom|проживаю|живу)"
    r"[ \t](?:in der|in|im|am|au|à|en la|en el|en|in via|a|na|no|przy|på|i|v|по адресу|на|op de|op|aan de)?"
    r")[ \t:\"'=]{0,4}(?:\n[ \t]{0,4})?",
    re.IGNORECASE,
)
# "live" and "located" say so of people and places only; an address may be one of the net.
_NO_POSTAL_ADDRESS = re.compile(
    r"(?:mail|ip|mac|web|wallet|site|url|host|memory|bind|listen|network|server|internet|base|start"
    r"|physical|virtual|return)[ \t-]\Z",
    re.IGNORECASE,
)
_CODE_CUE = re.compile(
    r"(?:zip(?:[ -]?code)?s?|post(?:al)?[ -]?codes?|postleitzahl|plz|code postal|c[óo]digo postal|codice "
    r"postale|cep|pin ?code|postnummer|postinumero"
    r"|kod pocztowy|psč|индекс|irányítószám|郵便番号|邮编|邮政编码|郵遞區號|우편번호)[\"'*_]{0,3}"
    r"(?:[ \t]{0,2}|[?.]?\s{0,3}\n\s{0,3}|\? {0,3}(?:>>|-)?)(?:[:=#：*_-]{0,3}"
    r"|\b(?:is|was|ist|est|es|è|é|är|er|to|jest|now)\b|\(){0,2}[ \t\"'*_]{0,4}"
    r"(?P<code>(?:[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[A-Z]{2}|[A-Z]\d[A-Z][ -]?\d[A-Z]\d|\d{5}-\d{3,4}|\d{2}-\d{3}"
    r"|\d{3}-\d{4}|\d{3} \d{2,3}|\d{4} ?[A-Z]{2}|\d{4,6}))(?![\w@]|[.,:/-]\d)",
    re.IGNORECASE,
)
_CORNER = re.compile(
    r"(?:corner|intersection|cross streets?|junction) (?:of|is|are|at) (?P<streets>(?:[\w.'’]{1,20} "
    r"){1,4}?(?:and|&|at|/) (?:[\w.'’]{1,20} ?){1,3})",
    re.IGNORECASE,
)
_STREET_NEAR = re.compile(
    r"\b(?:st|street|ave|avenue|rd|road|blvd|boulevard|ln|lane|dr|drive|\d{1,3}(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<number>#?\d{1,6}[A-Za-z]?(?:[-/]\d{1,5}[A-Za-z]?)*(?!\w))|(?P<word>[^\W\d_][^\W_]*"
    r"(?:['’.&/-][^\W_]+)*|\d{1,3}(?:st|nd|rd|th)\b)"
    r"|(?P<sign>[,.#/–-]|[º°ª])"
)
_GAP = re.compile(r"[ \t]{0,3}(?:\r?\n[ \t]{0,20})?")


def find_announced_addresses(text: str) -> Iterator[Span]:
    for start in find_cue_starts(_CUE_STARTS, text):
        cue = _CUE.match(text, start)
        if cue and not _NO_POSTAL_ADDRESS.search(text, max(0, start - 12), start):
            span = read_address(text, cue.end())
            if span:
                yield span
        code = _CODE_CUE.match(text, start)
        if code:
            yield code.span("code")
        corner = _CORNER.match(text, start)
        if corner and _STREET_NEAR.search(corner["streets"]):
            first, last = corner.span("streets")
            yield first, first + len(text[first:last].rstrip())


_ANSWER = re.compile(
    r"(?:\s|[,.:;!\-–]|\b(?:yes|yeah|yep|sure|ok|okay|of course|hi|hello|it'?s|it is|its|my (?:\w{2,12} "
    r"){0,2}(?:is|=)|that'?s|is|the|address"
    r"|i live|we live|live|at|in|on|zip|code|postcode|ship|send|deliver|it|to|please|here|house|no"
    r"|number)\b)*",
    re.IGNORECASE,
)
_CODE_ALONE = re.compile(
    r"(?<![\w.,/:$€£-])(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z][ -]?\d[A-Z]\d|\d{5}-\d{3,4}"
    r"|\d{2}-\d{3}|\d{4} ?[A-Z]{2}\b|\d{5,6})(?![\w%]|[.,:/-]\d)",
    re.IGNORECASE,
)
_MAX_WORDS_WITH_CODE = 6


def find_answered_addresses(reply: str) -> Iterator[Span]:
    """The address, or the postal code, in the answer to a question for one."""
    start = _ANSWER.match(reply)
    span = read_address(reply, start.end() if start else 0)
    if span:
        yield span
    elif len(reply.split()) <= _MAX_WORDS_WITH_CODE and (code := _CODE_ALONE.search(reply)):
        yield code.span()


def read_address(text: str, start: int) -> Span | None:
    """The words from ``start`` on that may be an address, if a street, a unit or a code is among them."""
    kept: list[re.Match[str]] = []
    place = start
    for _ in range(2 * MAX_WORDS):
        gap = _GAP.match(text, place)
        token = _TOKEN.match(text, gap.end() if gap else place)
        if token is None or not _continues(text, kept, token):
            break
        kept.append(token)
        place = token.end()
    while kept and (
        kept[-1].lastgroup == "sign"
        or kept[-1][0] in vocabulary.PARTICLES
        or kept[-1][0] in vocabulary.LINKING_WORDS
    ):
        kept.pop()
    if not kept or not _is_address(kept):
        return None
    return kept[0].start(), kept[-1].end()


def _continues(text: str, kept: list[re.Match[str]], token: re.Match[str]) -> bool:
    """Whether the address goes on with this token; what stands in front of it is ``kept``."""
    if token.lastgroup == "number":
        return True
    if token.lastgroup == "sign":
        if token[0] == "." and kept:
            # The point of an abbreviation; else the sentence ends.
            return (
                kept[-1].lastgroup == "word"
                and len(kept[-1][0]) <= 4
                and text[token.end() : token.end() + 1] == " "
            )
        return bool(kept) or token[0] == "#"
    gap = _GAP.match(text, token.end())
    following = _TOKEN.match(text, gap.end()) if gap else None
    return vocabulary.may_be_in_name(token[0], kept[-1][0] if kept else "", following[0] if following else "")


def _is_address(kept: list[re.Match[str]]) -> bool:
    words = [token[0] for token in kept if token.lastgroup == "word"]
    lowers = [word.lower() for word in words]
    has_number = any(token.lastgroup == "number" for token in kept)
    has_street = any(
        lower in vocabulary.STREET_TYPES or (lower.endswith(vocabulary.SUFFIX_TYPES) and len(lower) > 5)
        for lower in lowers[1:] or lowers
    ) or (len(lowers) > 1 and lowers[0] in vocabulary.PREFIX_TYPES)
    if has_street and len(words) > 1 or (has_street and lowers[0].endswith(vocabulary.SUFFIX_TYPES)):
        return True
    if not has_number or not words:
        return False
    return (
        any(word[0].isupper() for word in words)
        or any(look_up_word(word).common == 0 and len(word) > 2 for word in words)
        or any(lower in vocabulary.PLACE_TYPES for lower in lowers[1:])
    )
