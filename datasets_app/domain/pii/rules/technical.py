"""Technical text that isn't a person's: told by its form alone, in any language, before anything is judged.

Template variables, masked values, digests, public ids of API objects, user agents and versions, product
codes behind the word that announces them, identifiers in backquotes. What a checksum or a format decides (an
e-mail address, a secret key) is found in code as anywhere.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import (
    ADDRESS,
    CREDENTIAL,
    DATE_OF_BIRTH,
    EMAIL,
    HANDLE,
    IBAN,
    KINDS,
    NAME,
    PHONE,
    URL,
    Match,
)
from datasets_app.domain.pii.placeholders import BLANK

_ALL = frozenset(KINDS)
_IN_CODES = _ALL - {EMAIL, IBAN, URL, CREDENTIAL}
_IN_QUOTES = frozenset({HANDLE, NAME, ADDRESS, DATE_OF_BIRTH})

_BLANK_WORDS = (
    "your|my|insert|enter|add|name|first|last|full|user|customer|client|agent|company|email|e-mail|phone|address|date"
    "|city|street|number|id|order|product|title|vorname|nachname|kunde|nom|nombre|nome"
)
# What stands behind the version of a package or kernel: 4.18.0-553.el8_10.x86_64, 1.0.0-beta.11.
_BUILD = (
    r"(?:\d{1,6}|(?:alpha|beta|rc|pre|preview|dev|nightly|snapshot|canary|hotfix|build|post|final|release|lts|el"
    r"|fc|deb|ubuntu|pgdg|generic|aws|azure|gcp|amd|arm|aarch|x86|i[36]86|noarch|rpm)\d{0,4}(?:u\d{1,2})?)"
)
_NOTHING_STANDS_IN_IT = lazy_re.compile(
    # Variables of templates: {{ user.name }}, ${USER}, {% if x %}, {name}, %(name)s, %NAME%, $USER_NAME.
    r"\{\{[^{}\n]{1,80}\}\}|\$\{[^{}\n]{1,80}\}|\{%[^%\n]{1,80}%\}|\{[A-Za-z_][\w.|:\[\]-]{0,40}\}"
    r"|%\(\w{1,40}\)[sdrf]|%[A-Z][A-Z0-9_]{1,30}%|\$[A-Z][A-Z0-9_]{2,40}\b"
    # Blanks to fill in: <PERSON>, <<EMAIL:1>>, <user_name>, [Your Name], [INSERT DATE].
    r"|<{1,2}[A-Z][A-Z0-9_]{1,40}(?::\d{1,6})?>{1,2}|<[a-z]+(?:[_-][a-z0-9]+){1,6}>"
    rf"|[<\[](?:{_BLANK_WORDS})(?:[ _-][\w'-]{{1,20}}){{0,5}}[>\]]"
    r"|\[[A-Z]{2,20}(?:[ _][A-Z0-9]{1,20}){0,5}\]"
    # Masked values: j***@…, **** 4242, XXX-XX-6789, xxxxxxxx.
    r"|(?:\+?\d{1,4}[ -]){0,2}[\w.+-]{0,20}\*{3,}[\w.*@-]{0,40}(?:[ -]\*{3,}){0,4}(?:[ -]\d{2,4}\b)?"
    r"|\b(?:[Xx]{3,}|[Xx]{2}(?=-))(?:[-. ]?(?:[Xx]{2,}|\d{2,4})){0,4}\b"
    r"|(?<![\w-])\(?\d{3}\)?[-. ]?\d{2,3}[-. ][Xx]{4}\b|\b000-00-0000\b|\b0{8}(?:-0{4}){3}-0{12}\b"
    # Digests and check sums: sha512-…, sha256:…, h1:….
    r"|\b(?:sha-?(?:1|224|256|384|512)|md5|blake\w{1,4}|h1)[-:=] ?[A-Za-z0-9+/_-]{16,}={0,2}"
    # Public ids of API objects: a short word and many letters and digits. Keys begin otherwise (sk-, rk_,
    # pat-).
    r"|(?<![\w-])(?:chatcmpl|cmpl|msg|run|thread|call|toolu|srvtoolu|asst|resp|step|file|batch|req|ftjob|evt|conv|item|fc|gen"
    r"|vs|rs|modr|emb|snap|trace|span|obs|sess|session|evalrun|eval|ses|img|price|prod|plan|proj|org|prompt)[-_](?=[A-Za-z0-9]*\d)[A-Za-z0-9]{12,80}\b"
    # Ids that say what they are, and those that their alphabet tells (ULID).
    r"|\b(?i:ulid|uuid|guid|nanoid|cuid|etag|(?:trace|request|span|commit)[ _-]?id|commit|sha)\b[\"':= ]{1,3}"
    r"(?=[\w-]*\d)[\w-]{8,64}|\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"
    # Public ids of vulnerabilities and updates.
    r"|\b(?:CVE-\d{4}-\d{4,7}|CWE-\d{1,4}|GHSA(?:-[a-z0-9]{4}){3}|KB\d{6,7}|MS\d\d-\d{3})\b"
    # User agents, and names with a version: Mozilla/5.0 (X11; …), Chrome/121.0.0.0.
    r"|\bMozilla/\d\.\d(?: \([^()\n]{0,160}\)| [A-Za-z.]{2,24}/[\w.]{1,24}| (?:Mobile|like Gecko)){1,16}"
    r"|(?<![/\w])[A-Za-z][\w.-]{1,30}/\d{1,5}(?:\.\d{1,6}){1,4}\b"
    rf"|(?<![^\W_]|[.@+])(?=[\w.+~-]{{0,80}}[a-z])v?\d{{1,4}}(?:\.\d{{1,5}}){{1,2}}[a-z]?"
    rf"(?:[-+~_.]{_BUILD}){{1,8}}(?![\w@])"
)
_CODE = r"(?=[\w./-]{0,30}\d)[A-Za-z0-9][\w./-]{2,40}(?: \d{2,9}\b){0,4}"
_PRODUCT_CODE = re.compile(
    r"\b(?:EANs?|GTIN(?:-1[234])?|UPC|ISBN(?:-1[03])?|ISSN|SKU|MPN|ASIN|HSN|P/N|PN|OID|RFC"
    # Standards, and orders of a purchase.
    r"|(?-i:ISO|IEC|DIN|EN|IEEE|ANSI|ASTM|NIST|ITU-T|BS|NF|JIS|GB/T|ГОСТ|RAL|Pantone|UL|SAE|NEMA|CEE|VDE|P\.?O\.?)"
    r"(?:[ /](?-i:IEC|EN|ISO|TS))?(?![^\W\d_])"
    r"|(?:part|model)(?: (?:no\.?|number))?|(?:item|article) (?:no\.?|number)"
    r"|product (?:code|id|no\.?|number)|Art(?:ikel)?\.?-?(?:Nr\.?|nummer)|Teile-?(?:Nr\.?|nummer)"
    r"|Modell(?:nummer)?|réf\.? (?:produit|article)|ref\.? (?:de )?producto|artikelnummer|varenummer"
    r"|código de (?:producto|barras)|codice (?:articolo|prodotto)|numer katalogowy|артикул"
    r"|型番|品番|货号|商品编号|상품번호)"
    rf"(?:\s?(?:is|=|:|#|no\.?|:=))?[\s\"'(]{{0,3}}{_CODE}"
    rf"(?:(?:,? (?:and|und|et|y|or|/) |, )(?:part |MPN |SKU )?{_CODE}){{0,3}}",
    re.IGNORECASE,
)
_PHONES = frozenset({PHONE})
_SIX_PAIRS = re.compile(r"(?<!\d)\d\d(?: \d\d){5,}(?!\d)")
_QUOTED_CODE = re.compile(r"```[^`]{1,4000}```|`[^`\n]{1,120}`")
_IDENTIFIER = re.compile(r"`[\w.$@:/\\<>\[\](){}=+*,'\"-]{1,120}`|```.*", re.DOTALL)
# Signs and words without which there is none of all this.
_MAY_HOLD = re.compile(
    r"\d\d \d\d \d\d \d\d \d\d \d\d|[`{*<%$]|\[(?!\w+\])|\[[A-Za-z]{2}|[Xx]{3}|X-X|[A-Za-z]/\d|sha\d"
    r"|\.\d{1,5}[a-z]?[-+~_]\w|0-0000"
    r"|(?:[a-z\d]|md5|h1)[-:_=][A-Za-z0-9+/]{12}"
    r"|\b(?:ULID|UUID|GUID|[A-Z]{2,4}N|UPC|SKU|OID|RFC|P/N|P\.?O\b|ISO|IEC|DIN|EN|IEEE|ANSI|ASTM|NIST|ITU|BS|NF|JIS|GB|RAL|Pantone|UL|SAE|NEMA|CEE|VDE|KB\d|CVE|CWE|GHSA|MS\d|[Pp]art|PART|[Mm]od[eè]l|[Ii]tem|[Aa]rt|[Pp]rod|[Tt]eile|[Rr]éf|[Rr]ef|[Cc][óo]d"
    r"|[Vv]aren|[Nn]umer|[Uu]lid|[Uu]uid|[Gg]uid|[Nn]anoid|NANOID|[Cc]uid|[Ee][Tt]ag|E-?TAG|[Tt]race|[Rr]equest|[Ss]pan|COMMIT|SHA\b|[Cc]ommit|sha\b|[0-7][0-9A-HJ-NP-TV-Z]{25}|ГОСТ|арт|Арт)|[型品货商상]"
)


class Protected(NamedTuple):
    """``text[start:end]`` isn't a value of these ``kinds``."""

    start: int
    end: int
    kinds: frozenset[str]


def find_protected(text: str) -> list[Protected]:
    """The technical parts of a text."""
    if not _MAY_HOLD.search(text):
        return []
    found = [Protected(*match.span(), _ALL) for match in _NOTHING_STANDS_IN_IT.finditer(text)]
    found += (Protected(*match.span(), _IN_CODES) for match in _PRODUCT_CODE.finditer(text))
    # A telephone number has five pairs at most; six and more are drawn, counted or scored.
    found += (Protected(*match.span(), _PHONES) for match in _SIX_PAIRS.finditer(text))
    if "`" in text:
        found += (
            Protected(*match.span(), _IN_QUOTES)
            for match in _QUOTED_CODE.finditer(text)
            if _IDENTIFIER.fullmatch(match[0])
        )
    return found


def blank_protected(text: str, protected: Sequence[Protected]) -> str:
    """``text`` with what holds nothing at all as blanks of the same length, so that offsets stay."""
    for start, end, kinds in protected:
        if kinds is _ALL:
            text = f"{text[:start]}{BLANK * (end - start)}{text[end:]}"
    return text


def drop_protected(matches: list[Match], protected: Sequence[Protected]) -> list[Match]:
    """The matches that don't lie in technical text, by more than half of them."""
    if not matches or not protected:
        return matches
    return [match for match in matches if 2 * _count_shared(match, protected) <= match.end - match.start]


def _count_shared(match: Match, protected: Sequence[Protected]) -> int:
    """How many characters of a match lie in technical text. Its parts seldom overlap."""
    return sum(
        max(0, min(match.end, end) - max(match.start, start))
        for start, end, kinds in protected
        if match.kind in kinds
    )
