"""Values right behind a label that says what they are: "phone: 40217765", "acct. no. 12345678", "DOB 3/5/80".

Between a label and its value stand signs, and words such as "number" and "is". Alone in a cell of a table's
heading, a label announces the cells below; in JSON, a key its value. What all other words say of a value is
for the network. Linear in the length of the text: a label and what follows it are bounded.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import ACCOUNT, ADDRESS, DATE_OF_BIRTH, PHONE, Match
from datasets_app.domain.pii.keys import get_kind_by_key
from datasets_app.domain.pii.rules.numbers.dates import DATE as WRITTEN_DATE
from datasets_app.domain.pii.rules.numbers.dates import is_in_calendar
from datasets_app.domain.pii.rules.numbers.phones import DATE, EXTENSION, count_digits
from datasets_app.domain.pii.rules.prefilter import make_prefilter
from datasets_app.domain.pii.word_lists import read_word_lists


class Label(NamedTuple):
    """``words`` announce a ``value``, whose digits and signs it ``accepts``."""

    kind: str
    words: re.Pattern[str]
    value: re.Pattern[str]
    accepts: Callable[[str], bool]


def make_label(
    kind: str, words: str, value: re.Pattern[str], accepts: Callable[[str], bool] = lambda value: True
) -> Label:
    """``words`` are alternatives of an expression, none of them part of a longer word but "mobileNo"."""
    whole = rf"(?<![a-z0-9à-ÿά-ώа-ё])(?:{words})(?:numbers?|no|num|id)?(?![a-zà-ÿά-ώа-ё])"
    return Label(kind, lazy_re.compile(whole, re.IGNORECASE), value, accepts)


_BETWEEN = "|".join(sorted(read_word_lists(__file__)["between"], key=len, reverse=True))
_GAP = lazy_re.compile(
    rf"(?:\",|[\s:=#*_\"'`’|>{{№-]|n[°º]|(?<![^\W_])(?:{_BETWEEN})(?![^\W_]|[-/]\w)\.?"
    r"|号码?|號碼?|番号|번호|[はが은는是为為]){0,12}",
    re.IGNORECASE,
)
_AND = re.compile(r",? (?:and|or|und|oder|et|ou|y|o|e|en|of|och|og|eller) ")
_MAX_VALUES = 5
_AMOUNT_BEHIND = (
    r"[.,:][0-9]|[@_]| ?[%€$£]| ?(?i:eur|usd|gbp|dollars?|euros?|pounds|rupees|rs|points|miles|km|days|years"
    r"|users|[kmg]b|files?|error)\b"
)

# --- what values look like ---------------------------------------------------------------------

_PHONE = re.compile(
    rf"\+?\(?[0-9][0-9 ().\-/]{{4,20}}[0-9]{EXTENSION}(?![A-Za-z0-9_]|-[0-9]|{_AMOUNT_BEHIND})"
)
# Fifteen are of the telephone itself: "the IMEI of my phone".
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 6, 14
_DATE_OR_DECIMAL = re.compile(
    r"(?:19|20)\d\d[-./]?\d\d?[-./]?\d\d?|\d\d?[-./]\d\d?[-./](?:19|20)\d\d|(?!0\d)\d+\.\d+"
    r"|(?:19|20)\d\d ?- ?(?:19|20)\d\d"
)
_VERSION = re.compile(r"(?!\d\d\.\d\d\.\d\d\.\d\d)\d{1,2}(?:\.\d{1,5}){3}")


def _is_phone(value: str) -> bool:
    number = re.split("[ex#]", value)[0].strip(" ,")
    if DATE.match(number) or _DATE_OR_DECIMAL.fullmatch(number) or _VERSION.fullmatch(number):
        return False
    return _MIN_PHONE_DIGITS <= count_digits(number) <= _MAX_PHONE_DIGITS


_ACCOUNT = re.compile(
    r"(?:[A-Z]{1,4} |[A-Za-z]{1,8}[-/]?)?[0-9][A-Za-z0-9]{0,33}(?:[-/. ][0-9][A-Za-z0-9]{0,24}){0,6}"
    rf"(?![A-Za-z0-9]|{_AMOUNT_BEHIND})"
)
_MIN_ACCOUNT_DIGITS, _MAX_ACCOUNT_DIGITS = 5, 34


def _is_account(value: str) -> bool:
    digits = count_digits(value)
    return _MIN_ACCOUNT_DIGITS <= digits <= _MAX_ACCOUNT_DIGITS and not _DATE_OR_DECIMAL.fullmatch(value)


_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
# Digits as people dictate them, with a few figures among them perhaps, and "double" or "triple" before one.
_SPELLED_DIGITS = re.compile(
    rf"\b(?:(?:double|triple) )?{_DIGIT}"
    rf"(?:(?:, |[ ,.\-]){{1,2}}(?:(?:double|triple) {_DIGIT}|{_DIGIT}\b|\d(?!\d))){{6,24}}",
    re.IGNORECASE,
)
# Four digits at least, or the district and the unit of the British: 10115, 02139-4307, 114 55, SW1A 1AA.
_POSTAL_CODE = re.compile(
    r"(?:[0-9]{2}-[0-9]{3}|[0-9]{5}-[0-9]{3,4}|[0-9]{3}[ -][0-9]{2,4}|[0-9]{4} ?[A-Za-z]{2}|[0-9]{4,7}"
    r"|[A-Za-z][0-9][A-Za-z] ?[0-9][A-Za-z][0-9]|[A-Za-z]{1,2}[0-9][0-9A-Za-z]? ?[0-9][A-Za-z]{2}"
    rf"|[A-Za-z][0-9]{{2}} ?[A-Za-z0-9]{{4}})(?![A-Za-z0-9-]|{_AMOUNT_BEHIND})"
)

# --- the labels --------------------------------------------------------------------------------

_PHONES = (
    r"(?:tele|cell)?phones?|phonenumber|mobiles?|mobil(?:e[nt]?|ní|szám|funk|telefon)?(?:nummer|nr)?"
    r"|mobiel\w{0,3}|cells?|landline|tels?\.?|ph|mob\.?|fax(?:nummer|es)?|hotline|help(?:line|desk)|toll"
    r"|reception|switchboard|handset|voice(?:mail)?|pager|sims?|sms|msisdn|ani|cli|dnis|whatsapp|telegram"
    r"|viber|wechat|robocalls?|callers?|callbacks?|contact|dial|handys?(?:nummer|nr)?|telefon\w{0,9}"
    r"|telefón\w{0,4}|teléfonos?|telefax|telnr|fon[oe]?|rufnummer|durchwahl|festnetz(?:nummer)?"
    r"|rückruf(?:nummer)?|t[ée]l|t[ée]l[ée]phone|télécopieu?r?|portable|fixe|m[óo]vil(?:es)?|celular(?:es)?"
    r"|telem[óo]vel|ramal|cellular[ei]|centralino|recapito|telefoon(?:nummer)?|tlf\.?|tfn|puh(?:elin)?"
    r"|puhelinnumero|matkapuhelin|komórk\w{1,5}|kom|gsm|cep(?:ten)?|telepon|ponsel|τηλ\.?|τηλεφώνου"
    r"|τηλέφωνο|κινητ(?:ό|ού)|φαξ|тел\.?|телефон\w{0,4}|(?:мобильн|сотов)\w{2,3}|моб\.?|факс"
    r"|(?:my|our|his|her|contact|callback) number"
    r"|(?:call|text|ring|reach|phone) (?:\w{2,12} ){1,3}(?:on|at|under)"
    r"|电话|電話|手机|手機|座机|传真|傳真|携帯|ファッ?クス|전화|휴대폰|핸드폰|연락처|هاتفي?|جوالي?|موبايل|تلفن|همراه|טלפון|נייד|फ़ोन|फोन|मोबाइल|โทรศัพท์|เบอร์|โทร"
)
_ACCOUNTS = (
    r"(?:bank|checking|savings|customer|client|member(?:ship)?|policy|loyalty)?[ _]?(?:account|acct?)|a/c"
    r"|(?:customer|client|member(?:ship)?)(?: code)?|policy(?:/member)?|policyholder|loyalty"
    r"|(?:club|bonus) ?card|insurance (?:no|number|policy)|subscriber|frequent[ -]?fl[iy]er|fl[iy]er"
    r"|skymiles|avios|routing|rtn|sort[ -]?code|bsb|aba|clabe|cbu|rib|nib|ffn|ffp|payee|beneficiary"
    r"|(?:bank|giro|spar|vertrags)?konto|kto|blz|bankleitzahl|bankverbindung|bankgiro|plusgiro|kunde|klient"
    r"|klienta|klant|(?:kto|konto|kunden?|kd|mitglieds|vertrags|versicherungs(?:schein)?|versicherten|personal"
    r"|matrikel|policen|karten|depot|rekening|klant|lid(?:maatschaps)?|polis|kund|medlems|clearing)(?:nummer|nr)"
    r"|(?:tili|asiakas|jäsen)numero|compte|adhérent|cuenta|cliente|socio|p[óo]li[zs]a|polizza|ap[óo]lice"
    r"|conto|conta|konta|rachun(?:ku|ek)|rekening|(?:bank)?számlaszám(?:om)?|ügyfélszám|hesap|müşteri|účtu"
    r"|účet|λογαριασμός|сч[её]та?|клиента|账号|賬號|帐号|帳號|账户|帳戶|卡号|口座|会員|계좌|(?:ال)?حساب|חשבון"
)
_POSTAL_CODES = (
    r"zip(?:[ -]?codes?)?|post(?:al)?[ -]?codes?|post ?kode|postalnummer|plz|postleitzahl|codes? postal"
    r"|c[óo]digos? posta(?:l|is)|codice postale|(?-i:CEP|CAP)"
    r"|post(?:nummer|nr\.?|inumero)|kodu? poczto\w{2,3}|psč"
    r"|ir[áa]ny[íi]t[óo]sz[áa]m|poštanski broj|cod(?:ul)? po[șs]tal|posta kodu|kode ?pos"
    r"|mã bưu (?:điện|chính)|eircode|почтовый индекс|поштовий індекс|індекс|индекс|ταχυδρομικός κώδικας"
    r"|τ\.?κ\.?|पिन कोड|รหัสไปรษณีย์|الرمز البريدي|מיקוד|邮政编码|邮编|郵遞區號|郵便番号|우편번호|〒"
)
_BIRTHS = (
    r"d[./]? ?o[./]? ?b\.?|(?:date|day)s?[ _]of[ _]birth|birth[ _-]?(?:date|day|dt)s?"
    r"|geburts(?:datum|tag)|geb\.(?: ?am)?|date de naissance|fecha de nac(?:imiento|\.)?|data di nascita"
    r"|data de nasc(?:imento|\.)?|geboortedatum|födelse(?:datum|dag)|fødselsdato|syntymäaika|data urodzenia"
    r"|дата рождения|生年月日|出生日期|생년월일"
)
# "My account number with you, as of last year, …": so far only behind the word for a number.
_ACCOUNT_NUMBERS = (
    r"(?:account|customer|client|member(?:ship)?|policy)[ _]?(?:numbers?|no\.?|id)"
    r"(?: (?!order|ticket|case|invoice|ref|phone|transaction|booking|pin|balance)"
    r"[a-zà-ÿ'’]{1,12}(?![a-z0-9])){1,4},?"
)
LABELS = (
    make_label(PHONE, _PHONES, _PHONE, _is_phone),
    make_label(PHONE, _PHONES, _SPELLED_DIGITS),
    make_label(ACCOUNT, _ACCOUNTS, _ACCOUNT, _is_account),
    make_label(ACCOUNT, _ACCOUNT_NUMBERS, _ACCOUNT, _is_account),
    make_label(ACCOUNT, _ACCOUNTS, _SPELLED_DIGITS),
    make_label(ADDRESS, _POSTAL_CODES, _POSTAL_CODE),
    make_label(ADDRESS, r"pin ?code", re.compile("[0-9]{6}(?![0-9])")),
    make_label(DATE_OF_BIRTH, _BIRTHS, WRITTEN_DATE, is_in_calendar),
)
KINDS = frozenset(label.kind for label in LABELS)
_PAIR = re.compile(
    r"(?P<quote>[\"'])(?P<key>[A-Za-z][\w .-]{1,40})(?P=quote)\s{0,2}:\s{0,2}"
    r"(?:(?P=quote)(?P<value>[\w+(][\w +()./-]{3,38}\w)(?P=quote)|(?P<number>[0-9]{5,20})(?![\w.]))"
)
_KINDS_OF_KEYS = frozenset({PHONE, ACCOUNT, DATE_OF_BIRTH})


@cache
def _load_prefilter() -> Callable[[str], Sequence[int]]:
    return make_prefilter([label.words for label in LABELS])


def may_hold(encoded: bytes, shape: bytes) -> bool:
    if b"0" not in shape and b"three" not in encoded and b"five" not in encoded and b"seven" not in encoded:
        return False
    is_pair = b":" in encoded and (b'"' in encoded or b"'" in encoded)
    return is_pair or bool(_load_prefilter()(encoded.decode("utf-8", "surrogatepass")))


def search_folded(text: str) -> list[Match]:
    """The values behind labels in a folded text without placeholders."""
    found = list(find_labeled(text, [LABELS[number] for number in _load_prefilter()(text)]))
    if '"' in text or "'" in text:
        found += _find_under_keys(text)
    return found


def _find_under_keys(text: str) -> Iterator[Match]:
    """What stands under keys in JSON, which mean there what they mean in metadata."""
    for pair in _PAIR.finditer(text):
        value = pair["number"] or pair["value"]
        kind = get_kind_by_key(pair["key"], value)
        if kind in _KINDS_OF_KEYS and count_digits(value) >= _MIN_ACCOUNT_DIGITS:
            yield Match(kind, *pair.span("number" if pair["number"] else "value"))


def find_labeled(text: str, labels: Sequence[Label]) -> Iterator[Match]:
    """The values right behind the labels, and in the columns of the first table that one of them heads."""
    heading = -1
    for label in labels:
        for found in label.words.finditer(text):
            gap = _GAP.match(text, found.end())
            yield from _match_value(text, gap.end() if gap else found.end(), label)
            line = text.rfind("\n", 0, found.start()) + 1
            if heading in (-1, line) and (column := _find_column(text, line, found)):
                heading = line
                yield from chain.from_iterable(_match_value(text, at, label) for at in column)


def _match_value(text: str, at: int, label: Label) -> Iterator[Match]:
    """The value at a place, and others to which "and" or "or" leads from there."""
    for _ in range(_MAX_VALUES):
        value = label.value.match(text, at)
        if not (value and label.accepts(value[0])):
            return
        yield Match(label.kind, *value.span())
        link = _AND.match(text, value.end())
        if not link:
            return
        at = link.end()


# --- in tables -------------------------------------------------------------------------------

_DELIMITERS = ("|", "\t", ";", ",")
_MAX_HEADING, _MAX_ROWS = 400, 500
_AROUND_CELL = " \t\"'*"


def _find_column(text: str, line: int, found: re.Match[str]) -> list[int]:
    """Where the cells below a label begin, if it is a cell of the line that begins at ``line``."""
    end = text.find("\n", found.end())
    heading = text[line:end]
    delimiter = next((sign for sign in _DELIMITERS if sign in heading), None)
    if end < 0 or len(heading) > _MAX_HEADING or delimiter is None:
        return []
    column = text.count(delimiter, line, found.start())
    if heading.split(delimiter)[column].strip(_AROUND_CELL) != found[0]:
        return []
    places = []
    for _ in range(_MAX_ROWS):
        start, end = end + 1, text.find("\n", end + 1)
        cells = text[start : end if end >= 0 else len(text)].split(delimiter)
        if column < len(cells):
            before = sum(len(cell) + 1 for cell in cells[:column])
            indent = len(cells[column]) - len(cells[column].lstrip(_AROUND_CELL))
            places.append(start + before + indent)
        if end < 0:
            break
    return places


# --- the bank beside an account ----------------------------------------------------------------

_BANK_CODE = re.compile(
    r"\b(?:bic|swift)(?:[ /-]{1,2}(?:bic|swift|code|no))?[\s:=#.\-]{1,4}(?:is[ :]{1,2})?"
    r"(?P<code>(?-i:[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?))\b",
    re.IGNORECASE,
)


def find_bank_codes(text: str) -> Iterator[Match]:
    """A BIC after its name, for a text in which an account stands as well."""
    for match in _BANK_CODE.finditer(text):
        yield Match(ACCOUNT, *match.span("code"))
