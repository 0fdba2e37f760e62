"""Postal codes behind a word that announces them: "the ZIP is **75001**", "PLZ 10115", "郵便番号 150-0001".

Alone they look like any other number, so the network that finds addresses leaves them.
"""

import re

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import ADDRESS, Match, drop_overlaps

_LATIN_WORDS = (
    r"zip(?:[ -]?codes?)?|post(?:al)?[ -]?codes?|post ?kode|postalnummer|plz|postleitzahl|codes? postal"
    r"|c[óo]digos? posta(?:l|is)|codice postale|(?-i:CEP|CAP)"
    r"|post(?:nummer|nr\.?|inumero)|kodu? poczto\w{2,3}|psč"
    r"|ir[áa]ny[íi]t[óo]sz[áa]m|poštanski broj|cod(?:ul)? po[șs]tal|posta kodu|kode ?pos"
    r"|mã bưu (?:điện|chính)|pin ?code(?=\W{1,6}[0-9]{6}\b)|eircode"
)
_OTHER_WORDS = (
    r"почтовый индекс|поштовий індекс|індекс|индекс|ταχυδρομικός κώδικας|τ\.?κ\.?|पिन कोड|รหัสไปรษณีย์"
    r"|الرمز البريدي|מיקוד|邮政编码|邮编|郵遞區號|郵便番号|우편번호|〒"
)
_BETWEEN = (
    r"(?:[ :=#*_\"'(]|\b(?:is|are|no|number|nr|was|ist|lautet|est|es|é|è|er|är|on|jest|to|je|adalah)\b\.?"
    r"|[はが은는是为為]){0,8}"
)
# Four digits at least, or the district and the unit of the British: 10115, 02139-4307, 114 55, SW1A 1AA.
_CODE = (
    r"(?:[0-9]{2}-[0-9]{3}|[0-9]{5}-[0-9]{3,4}|[0-9]{3}[ -][0-9]{2,4}|[0-9]{4} ?[A-Za-z]{2}|[0-9]{4,7}"
    r"|[A-Za-z][0-9][A-Za-z] ?[0-9][A-Za-z][0-9]|[A-Za-z]{1,2}[0-9][0-9A-Za-z]? ?[0-9][A-Za-z]{2}"
    r"|[A-Za-z][0-9]{2} ?[A-Za-z0-9]{4})"
)
_ANNOUNCED = lazy_re.compile(
    rf"(?:\b(?:{_LATIN_WORDS})(?![^\W\d_])|(?:{_OTHER_WORDS})){_BETWEEN}"
    rf"(?P<code>{_CODE})(?![\w-]|[.,][0-9]| ?(?:%|kb|mb|gb|files?\b|error))",
    re.IGNORECASE,
)
_MARKS = tuple(
    word.encode()
    for word in (
        "zip ZIP Zip ost OST plz PLZ CEP CAP pocz psč PSČ szám pin PIN Pin eircode Eircode kod Kod "
        "ндекс κώδ Τ.Κ ΤΚ τ.κ पिन รหัส البريدي מיקוד 邮 郵 우편 〒"
    ).split()
)


def may_hold(encoded: bytes, shape: bytes) -> bool:
    return b"0" in shape and any(mark in encoded for mark in _MARKS)


def search_folded(text: str) -> list[Match]:
    return drop_overlaps(ADDRESS, (match.span("code") for match in _ANNOUNCED.finditer(text)))
