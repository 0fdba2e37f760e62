"""Words that look like names but aren't in their context.

Codes in capitals, months with a day or a year, drawn-out words, laughter, identifiers and their parts.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from datasets_app.domain.pii.names.gazetteer import look_up_word

_CODES_TEXT = """
aed ai ann anova ansi api apis apr arp asa ascii ast atm aud bert bic bios blas bpmn brl cad cas cbor cd cdn
ceo cfo cgi chf ci ckan cli cny cors cpu crm csrf css csv cto cuda czk dag dags dbms ddos dhcp dkim dkk dmarc
dns dom ebcdic ecc edi epub erp eta eur faas faq fhir ftp gan gbp gcc geo gil glibc glsl gmail gps gpu grpc
gssapi gtk gui hdd hitl hkd hsts html http https huf iana iban ide ides ietf imap imei inr ipsec irc isa iso
iva jar jax jdk jpeg jpy jre json jsonl jsx jwt kml kpi kyc lalr lamp lan latex ldap linq llm llms lora ltsc
mac mfa midi mime mitm mjml mqtt mssql mtu mxn myr nas nat ncbi nfs nlp nok ntlm ntp nvme nzd oauth ocr oidc
openmp ora orm otlp otp pci pcie pdf pdfs php pin pln png pos posix pptx psu qa qos raid ram rbac rdp rds
readme regex rest rfc rgba ron ros rpc rss rsync saas saml sarif sata scp sdk sdks sek seo ses sftp sgd sha
sim sip sla sles slurm smb smtp snmp soap sparql spdx sql ssd ssh ssl ssn sso stt svg swap sysctl tcp thb
tls todo toml tor totp ttl tts tui udp uefi ula ups uri url urls usa usb usd utc utf uuid vat vlan vnc voip
vpn wai wan wasm wifi xhr xlsx xml xmpp xpath xss yaml yara yolo yui zar zip
"""
CODES = frozenset(_CODES_TEXT.split())
_MONTHS_TEXT = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
"""
MONTHS = frozenset(_MONTHS_TEXT.split())
_DATE_JOINERS = frozenset({"of", "the", ",", ".", "-", "/"})  # a month and its day or year
_DAY_OR_YEAR = re.compile(r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?|(?:19|20)\d\d", re.IGNORECASE)
_ELONGATED_WORD = re.compile(
    r"(.)\1\1|^(?:h[aeio]+){2,}h?$|^(?:j[ae]+){3,}$|^(?:l+o+)+l+s?$|^a+(?:w+|h+|r*g+h*)$"
)
_MAX_CODE_CHARACTERS = 7
_MAX_UNKNOWN_CHARACTERS = 3
_CAMEL_CASE = re.compile(r"(?!Ma?c[A-Z])(?:[A-Z]?[a-z]+[A-Z]|[A-Z]{2,}[a-z])")
_CAMEL_CASE_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MIN_PART_CHARACTERS = 3
_ROMAN_NUMERAL = re.compile("[ivx]+")  # Louis XVI
_IDENTIFIER_JOINERS = frozenset("_\\$")
_CODE_SIGNS = frozenset("(=[")


def is_refused(words: Sequence[str], starts: Sequence[int], number: int, shouted: bool) -> bool:
    """Whether this word is not a name; ``shouted``: the text is in capitals."""
    word = words[number]
    plain = word.lower()
    if not shouted and len(word) <= _MAX_CODE_CHARACTERS and _is_code_like(word):
        return True
    if plain in CODES and _is_numbered(words, number):
        return True
    if plain in MONTHS and _is_dated(words, number):
        return True
    if _is_camel_case(word) or (word.islower() and _is_called(words, starts, number)):
        return True
    return _is_elongated(plain) or _is_within_identifier(words, starts, number)


def _is_numbered(words: Sequence[str], number: int) -> bool:
    """sha-1, utf-8"""
    behind = words[number + 1 : number + 3]
    return len(behind) == 2 and behind[0] == "-" and behind[1].isdigit()


@lru_cache(maxsize=1 << 14)
def _is_camel_case(word: str) -> bool:
    """Whether capitals within the word join others, of which the last is ordinary: MinHash, not MaryAnn."""
    if not _CAMEL_CASE.match(word) or any(look_up_word(word)[:2]):
        return False
    last = _CAMEL_CASE_PARTS.findall(word)[-1]
    fact = look_up_word(last)
    return len(last) >= _MIN_PART_CHARACTERS and fact.common > 0 and not fact.first and fact.last < 2


def _is_called(words: Sequence[str], starts: Sequence[int], number: int) -> bool:
    """Whether a sign of code follows without a space: len(…), timeout=60."""
    behind = number + 1
    return (
        behind < len(words)
        and words[behind] in _CODE_SIGNS
        and starts[behind] == starts[number] + len(words[number])
    )


def _is_code_like(word: str) -> bool:
    """A code in capitals, or several: PDF, PDFs."""
    if word.isupper():
        return _is_code(word.lower())
    return word[-1] == "s" and word[:-1].isupper() and word[:-1].lower() in CODES


def _is_code(plain: str) -> bool:
    """Short words in capitals, in a text with lower case, that no list of names has."""
    known = look_up_word(plain)
    if plain in CODES:
        return True
    unknown = 1 < len(plain) <= _MAX_UNKNOWN_CHARACTERS and not known.first and not known.last
    return unknown and not _ROMAN_NUMERAL.fullmatch(plain)


def _is_dated(words: Sequence[str], number: int) -> bool:
    for step in (-1, 1):
        beside = number + step
        if 0 <= beside < len(words) and words[beside].lower() in _DATE_JOINERS:
            beside += step
        if 0 <= beside < len(words) and _DAY_OR_YEAR.fullmatch(words[beside]):
            return True
    return False


@lru_cache(maxsize=1 << 14)
def _is_elongated(plain: str) -> bool:
    """ "hahaha", "awww", "pleaaase", and unpronounceable words."""
    return bool(_ELONGATED_WORD.search(plain)) and not any(look_up_word(plain)[:2])


def _is_within_identifier(words: Sequence[str], starts: Sequence[int], number: int) -> bool:
    """Joined by a sign that connects the parts of an identifier: first_name, pytest.mark.skip."""
    start, end = starts[number], starts[number] + len(words[number])
    if words[number].islower() and (
        _is_between_dots(words, starts, number) or _starts_dotted_path(words, starts, number)
    ):
        return True
    if (
        number
        and starts[number - 1] + len(words[number - 1]) == start
        and words[number - 1] in _IDENTIFIER_JOINERS
    ):
        return True
    return number + 1 < len(words) and starts[number + 1] == end and words[number + 1] in _IDENTIFIER_JOINERS


def _starts_dotted_path(words: Sequence[str], starts: Sequence[int], number: int) -> bool:
    """max.poll.interval, but not "ask max.", and nothing glued before it."""
    path = words[number : number + 5]
    return (
        len(path) == 5
        and path[1] == path[3] == "."
        and path[2].islower()
        and path[4].islower()
        and starts[number + 4] - starts[number] == sum(map(len, path[:4]))
    )


def _is_between_dots(words: Sequence[str], starts: Sequence[int], number: int) -> bool:
    """Whether the word is in the middle of a dotted path."""
    around = range(number - 2, number + 3)
    return (
        number >= 2
        and number + 2 < len(words)
        and words[number - 1] == words[number + 1] == "."
        and all(starts[n] + len(words[n]) == starts[n + 1] for n in around[:-1])
        and words[number - 2][-1].isalnum()
        and words[number + 2][0].isalnum()
    )
