"""Values that only the conversation reveals: a turn answers the question before it.

"kavisri" alone isn't a name that any list has; after "May I have your name, please?" it is one. The
same goes for numbers, addresses and passwords that a turn requests. Of telephone and identity numbers the
network decides, which reads the question as well.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detection import ANSWER_SCORE
from datasets_app.domain.pii.detector import (
    ACCOUNT,
    CREDENTIAL,
    CREDIT_CARD,
    CRYPTO_WALLET,
    EMAIL,
    IBAN,
    MAC,
    NAME,
    SSN,
    Match,
)
from datasets_app.domain.pii.rules.prefilter import make_prefilter
from datasets_app.domain.pii.word_lists import read_word_lists

MAX_QUESTION_CHARACTERS = 600
MAX_ANSWER_CHARACTERS = 200

_REQUEST = lazy_re.compile(
    r"\?|\b(?:please|pls|provide|share|tell|give|enter|confirm|verify|need|know|have|get|type|spell|require"
    r"|help me with|mention|specify|state|send|bitte|nennen|angeben|s['’]il|indique[rz]?|por favor"
    r"|per favore|puede"
    r"|alstublieft|graag|(?:po)?proszę|vänligen)\b|пожалуйста|请|請|ください|お願い|부탁|주세요|알려",
    re.IGNORECASE,
)
_NOT_A_PERSON = (
    r"(?:company|business|organi[sz]ation|file|product|brand|restaurant|domain|street|project|city|movie|song"
    r"|album|event|hotel|store|shop|model|device|server|database|table|bank|airline|theat(?:re|er)|dish|item"
    r"|plan|service|software|app|application|network|wifi|host|show|team|school|group|channel|field|user)"
)
_PEOPLE = r"(?:passenger|guest|travell?er|customer|(?:card|account )?holder|patient|member|person|recipient)"
_QUESTION_PATTERNS: dict[str, re.Pattern[str]] = {
    NAME: lazy_re.compile(
        rf"\b(?:your|ur|yr|full|first|last|sur|maiden|{_PEOPLE}'?s?|whose|which|what|good|sweet|nice)\s+"
        rf"(?!{_NOT_A_PERSON}\b)(?:\w+\s+){{0,2}}names?\b(?!\s+of\s+(?:the|your|ur)\b)"
        rf"|\bsurname\b|\bname,? please\b|\bnames? of (?:the )?{_PEOPLE}"
        r"|\bwho am i (?:speaking|talking|chatting)\b|\bwhom? (?:do i have|i am|i'm)\b|\bmay i know who\b"
        r"|\A(?:(?:and|ok|okay|the),? ){0,3}names? ?\?"
        r"|\bname on (?:the|your) (?:account|card|booking|reservation|order|policy|ticket)\b",
        re.IGNORECASE,
    ),
    SSN: re.compile(
        r"\bssn\b|\bsoc(?:ial)?\.? sec|\b(?:your|ur|the|his|her|my) social\b(?! (?:media|net))|\bsocial ?\?",
        re.IGNORECASE,
    ),
    CREDIT_CARD: re.compile(
        r"\bcard(?:'s)? (?:number|no\b|num|details)|\b(?:digits|number) (?:of|on) (?:the|your) (?:\w+ )?card",
        re.IGNORECASE,
    ),
    IBAN: re.compile(r"\biban\b", re.IGNORECASE),
    ACCOUNT: lazy_re.compile(
        r"\b(?:account|acct|a/c|bank|customer|client|member(?:ship)?|subscriber|policy|insurance|loyalty"
        r"|rewards?|frequent[ -]fl[iy]er|mileage|routing|sort|bsb)(?: account| card)? ?"
        r"(?:numbers?|no\b|num\b|#|id\b|code|details)"
        r"|\bnumber (?:of|for|on) (?:the|your) (?:\w+ )?(?:account|policy|membership)\b|\Aaccount ?\?"
        r"|(?:konto|kunden|mitglieds|vertrags|rekening|klant|kund|kunde)nummer"
        r"|num[ée]ro (?:de |d')?(?:compte|client|adh[ée]rent)"
        r"|n[úu]mero (?:de|da) (?:cuenta|conta|cliente|socio)"
        r"|numero (?:di )?(?:conto|cliente)|numer (?:konta|klienta)\b|номер (?:сч[её]та|клиента)"
        r"|账号|会员号|口座番号|会員番号|계좌번호",
        re.IGNORECASE,
    ),
    CRYPTO_WALLET: re.compile(
        r"\bwallet\b|\b(?:btc|bitcoin|eth|ethereum|crypto|usdt|deposit|payout) (?:wallet|address)\b",
        re.IGNORECASE,
    ),
    MAC: re.compile(r"\b(?:mac|hardware|physical|ethernet) address\b|\bmac id\b", re.IGNORECASE),
    EMAIL: re.compile(r"\be-?mail\b", re.IGNORECASE),
    CREDENTIAL: re.compile(
        r"\b(?:your|ur|the|current|new|old) (?:\w+ )?(?:password|passcode|passphrase|pin|otp|security code"
        r"|verification code|access code|cvv|cvc)\b",
        re.IGNORECASE,
    ),
}
_ASKED_KINDS = tuple(_QUESTION_PATTERNS)


@cache
def _load_prefilter() -> Callable[[str], Sequence[int]]:
    """Of all questions, and last of what makes a turn a request."""
    return make_prefilter([*_QUESTION_PATTERNS.values(), _REQUEST])


def find_requested_kinds(question: str, kinds: Collection[str]) -> tuple[str, ...]:
    """What a turn asks the other side for, of the classes in ``kinds``: as :func:`find_answers` is told."""
    return tuple(kind for kind in _find_asked_kinds(question[-MAX_QUESTION_CHARACTERS:]) if kind in kinds)


@lru_cache(maxsize=4096)
def _find_asked_kinds(question: str) -> list[str]:
    possible = _load_prefilter()(question)
    if len(_ASKED_KINDS) not in possible or not _REQUEST.search(question):
        return []
    return [
        kind
        for kind in map(_ASKED_KINDS.__getitem__, possible[:-1])
        if _QUESTION_PATTERNS[kind].search(question)
    ]


def find_answers(kinds: tuple[str, ...], reply: str) -> list[Match]:
    """The values in ``reply`` that answer a question for ``kinds``, but for names, which models find anyway;
    none in a long reply."""
    if len(reply) > MAX_ANSWER_CHARACTERS:
        return []
    return [
        Match(kind, start, end, ANSWER_SCORE)
        for kind in kinds
        if kind != NAME
        for start, end in _ANSWER_FINDERS[kind](reply)
        if end > start
    ]


def may_answer(question: str, reply: str) -> bool:
    """Whether the network should read the reply behind what was said before: a short one with a number, or to
    a question."""
    if not question or not 0 < len(reply) <= MAX_ANSWER_CHARACTERS:
        return False
    return any(map(str.isdigit, reply)) or _REQUEST.search(question) is not None


# Of a reply of one word: no password.
_NON_SECRETS = read_word_lists(__file__)["no secrets"]

# --- what answers look like --------------------------------------------------------------------

_DIGITS = re.compile(r"\+?\(?\d(?:[\d ().\-/]*\d)?")
_SPOKEN_DIGITS = re.compile(
    r"\b(?:(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)[\s,\-]+){3,}"
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"[^\s,;<>]*(?:@|gmail|yahoo|hotmail|outlook|icloud|aol|proton)[^\s,;<>]*[^\s,;<>.!?]", re.IGNORECASE
)
_TOKEN = re.compile(r"[^\s\"'<>]+[^\s\"'<>.,;:!?]")


def _make_digit_finder(min_digits: int) -> Callable[[str], Iterator[tuple[int, int]]]:
    def find(reply: str) -> Iterator[tuple[int, int]]:
        for run in _DIGITS.finditer(reply):
            if sum(map(str.isdigit, run[0])) >= min_digits:
                yield run.span()
        for run in _SPOKEN_DIGITS.finditer(reply):
            yield run.span()

    return find


_CODE_WORD = re.compile(r"(?<!\w)[A-Za-z0-9](?:[A-Za-z0-9]|[\-/.](?=[A-Za-z0-9])){3,60}(?!\w)")
_LONG_WORD = re.compile(r"(?<!\w)[A-Za-z0-9]{20,120}(?!\w)")
_IBAN_LIKE = re.compile(
    r"(?<!\w)[A-Za-z]{2} ?\d{2}"
    r"(?:[A-Za-z0-9]{8,30}|(?:[ .\-][A-Za-z0-9]{4}){2,7}(?:[ .\-][A-Za-z0-9]{1,3})?)(?!\w)"
)
_HEX_DIGITS = re.compile(r"(?<!\w)[0-9A-Fa-f](?:[:.\- ]?[0-9A-Fa-f]){11,15}(?!\w)")
_MIN_ACCOUNT_DIGITS, _MIN_IBAN_DIGITS = 4, 10


def _make_code_finder(
    pattern: re.Pattern[str], min_digits: int
) -> Callable[[str], Iterator[tuple[int, int]]]:
    """Numbers, and what the pattern matches if it has as many digits."""
    find_digits = _make_digit_finder(min_digits)

    def find(reply: str) -> Iterator[tuple[int, int]]:
        yield from find_digits(reply)
        for word in pattern.finditer(reply):
            if sum(map(str.isdigit, word[0])) >= min_digits:
                yield word.span()

    return find


def _find_secrets(reply: str) -> Iterator[tuple[int, int]]:
    """A word that no dictionary has, or with a digit or a sign in it; or the only word there is."""
    tokens = list(_TOKEN.finditer(reply))
    for token in tokens:
        odd = not token[0].isalpha() and not set(token[0].lower()) <= set("abcdefghijklmnopqrstuvwxyz'’-")
        if len(token[0]) >= 3 and (odd or (len(tokens) == 1 and token[0].lower() not in _NON_SECRETS)):
            yield token.span()


_ANSWER_FINDERS: dict[str, Callable[[str], Iterator[tuple[int, int]]]] = {
    SSN: _make_digit_finder(4),
    CREDIT_CARD: _make_digit_finder(4),
    IBAN: _make_code_finder(_IBAN_LIKE, _MIN_IBAN_DIGITS),
    ACCOUNT: _make_code_finder(_CODE_WORD, _MIN_ACCOUNT_DIGITS),
    CRYPTO_WALLET: lambda reply: (match.span() for match in _LONG_WORD.finditer(reply)),
    MAC: lambda reply: (match.span() for match in _HEX_DIGITS.finditer(reply)),
    EMAIL: lambda reply: (match.span() for match in _ADDRESS.finditer(reply)),
    CREDENTIAL: _find_secrets,
}
