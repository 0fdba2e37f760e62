"""How people say personal data: what they call it, and the sentences they put it in.

Texts that are planted in a dataset use the nouns that its own texts use, where they use some.
"""

import re
from collections.abc import Iterable
from functools import cache

from datasets_app.domain.pii import detector

DEFAULT_LANGUAGE = "en"

_NOUNS = {
    "en": {
        detector.PHONE: "phone number|mobile number|contact number|mobile|cell|phone",
        detector.EMAIL: "email address|email|e-mail",
        detector.SSN: "social security number|ssn|social",
        detector.CREDIT_CARD: "card number|credit card|debit card|card",
        detector.IP: "ip address|ip",
        detector.MAC: "mac address|hardware address",
        detector.ADDRESS: "home address|delivery address|shipping address|billing address|address",
        detector.IBAN: "iban|bank account",
        detector.ACCOUNT: "account number|customer number|member number|acct number|account no",
        detector.DATE_OF_BIRTH: "date of birth|birth date|dob|birthday",
        detector.CRYPTO_WALLET: "wallet address|wallet",
        detector.NAME: "full name|name",
    },
    "de": {
        detector.PHONE: "Telefonnummer|Handynummer|Rufnummer|Nummer",
        detector.EMAIL: "E-Mail-Adresse|E-Mail",
        detector.CREDIT_CARD: "Kartennummer|Kreditkarte",
        detector.ADDRESS: "Lieferadresse|Anschrift|Adresse",
        detector.IBAN: "IBAN|Bankverbindung",
        detector.ACCOUNT: "Kundennummer|Kontonummer",
        detector.DATE_OF_BIRTH: "Geburtsdatum|Geburtstag",
        detector.NAME: "Name",
    },
    "fr": {
        detector.PHONE: "numéro de téléphone|téléphone|portable",
        detector.EMAIL: "adresse e-mail|e-mail",
        detector.CREDIT_CARD: "numéro de carte|carte bancaire",
        detector.ADDRESS: "adresse de livraison|adresse",
        detector.IBAN: "IBAN",
        detector.ACCOUNT: "numéro de client|numéro de compte",
        detector.DATE_OF_BIRTH: "date de naissance",
        detector.NAME: "nom",
    },
    "es": {
        detector.PHONE: "número de teléfono|teléfono|móvil",
        detector.EMAIL: "correo electrónico|correo",
        detector.CREDIT_CARD: "número de tarjeta|tarjeta",
        detector.ADDRESS: "dirección de entrega|dirección",
        detector.IBAN: "IBAN",
        detector.ACCOUNT: "número de cliente|número de cuenta",
        detector.DATE_OF_BIRTH: "fecha de nacimiento",
        detector.NAME: "nombre",
    },
}
# {noun} is what the value is called. Of classes whose values speak for themselves some need none.
_SENTENCES = {
    "en": (
        "my {noun} is {value}",
        "my {noun} is {value}",
        "{noun}: {value}",
        "the {noun} is {value}",
        "here is my {noun} {value}",
        "my {noun} {value}",
        "{value} is my {noun}",
    ),
    "de": ("meine {noun} ist {value}", "{noun}: {value}", "hier die {noun} {value}"),
    "fr": ("mon {noun} est {value}", "{noun} : {value}", "voici mon {noun} {value}"),
    "es": ("mi {noun} es {value}", "{noun}: {value}", "aquí mi {noun} {value}"),
}
_ASSISTANT_SENTENCES = {
    "en": ("your {noun} is {value}, right?", "I have {value} as your {noun}", "we noted your {noun} {value}"),
    "de": ("Ihre {noun} ist {value}, richtig?", "notiert ist die {noun} {value}"),
    "fr": ("votre {noun} est {value} ?", "nous avons noté votre {noun} {value}"),
    "es": ("su {noun} es {value}, ¿verdad?", "tenemos su {noun} {value}"),
}
_SENTENCES_BY_KIND = {
    detector.NAME: (
        "my name is {value}",
        "this is {value}",
        "I'm {value} by the way",
        "ask for {value}",
        "the booking is under the name {value}",
        "I spoke with {value} yesterday",
        "my colleague {value} told me so",
    ),
    detector.PHONE: ("call me on {value}", "you can reach me at {value}", "please text {value}"),
    detector.EMAIL: ("write to {value}", "send it to {value}", "{value} is where I read mail"),
    detector.ADDRESS: ("I live at {value}", "please deliver it to {value}", "we moved to {value}"),
    detector.DATE_OF_BIRTH: ("I was born on {value}", "born {value}"),
    detector.IP: ("I'm connecting from {value}", "{value} is blocked", "my router is at {value}"),
    detector.MAC: ("the device {value} is offline",),
    detector.URL: ("I clicked {value}", "see {value}", "{value} shows my data"),
    detector.PATH: ("it's in {value}", "I saved it to {value}"),
    detector.HOST: ("I can't reach {value}", "{value} is down again"),
    detector.HANDLE: ("follow me, I'm {value}", "{value} told me about it", "you can message {value}"),
    detector.CREDIT_CARD: ("I paid with {value}",),
    detector.IBAN: ("refund it to {value}", "please transfer the money to {value}"),
    detector.CRYPTO_WALLET: ("I sent it to {value}",),
}
_ANSWERS = ("{value}", "{value}", "it's {value}", "sure, {value}", "{value} thanks")
_STOP_WORDS = {
    "en": "the and you is to my for of it that have with this not",
    "de": "der die das und ich ist nicht sie mit für ein auf zu bitte",
    "fr": "le la les et je est vous pas pour une dans mon avec que",
    "es": "el la los y es que no por una para con mi en gracias",
}
_WORD = re.compile(r"[^\W\d_]+")


def guess_language(texts: Iterable[str]) -> str:
    """The language of :data:`_STOP_WORDS` whose words are the most frequent."""
    counts = dict.fromkeys(_STOP_WORDS, 0)
    known = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
    for text in texts:
        for word in _WORD.findall(text.lower()):
            for language, words in known.items():
                counts[language] += word in words
    return max(counts, key=lambda language: counts[language])


def list_nouns(kind: str, language: str) -> tuple[str, ...]:
    """What people call values of a class; none for those that nobody announces."""
    nouns = _NOUNS[language].get(kind) or _NOUNS[DEFAULT_LANGUAGE].get(kind, "")
    return tuple(nouns.split("|")) if nouns else ()


def list_sentences(kind: str, language: str, *, by_assistant: bool, with_noun: bool) -> tuple[str, ...]:
    """Sentences with ``{value}``, and with ``{noun}`` if there is one."""
    general = (_ASSISTANT_SENTENCES if by_assistant else _SENTENCES)[language] if with_noun else ()
    own = _SENTENCES_BY_KIND.get(kind, ()) if language == DEFAULT_LANGUAGE and not by_assistant else ()
    return (*general, *own) or _SENTENCES_BY_KIND.get(kind, ("{value}",))


def list_answers() -> tuple[str, ...]:
    return _ANSWERS


@cache
def compile_question_pattern(kind: str, language: str) -> re.Pattern[str] | None:
    """Matches a turn that asks for values of a class: "may I have your phone number?"."""
    nouns = list_nouns(kind, language)
    if not nouns or language != DEFAULT_LANGUAGE:
        return None
    named = "|".join(map(re.escape, nouns))
    return re.compile(rf"\b(?:your|the) (?:\w+ ){{0,3}}(?:{named})\b[^?.\n]{{0,60}}\?", re.IGNORECASE)


@cache
def compile_mention_pattern(kind: str, language: str) -> re.Pattern[str] | None:
    """Matches where people speak of their own: "my phone number"."""
    nouns = list_nouns(kind, language)
    if not nouns or language != DEFAULT_LANGUAGE or kind == detector.NAME:
        return None
    return re.compile(rf"\bmy (?:{'|'.join(map(re.escape, nouns))})\b(?! (?:of|on|for)\b)", re.IGNORECASE)
