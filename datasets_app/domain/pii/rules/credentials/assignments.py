"""Passwords and keys that are told by the word before them: ``DB_PASSWORD=…``, "my password is …".

How much is asked of a value depends on the word and on what stands between. Nothing but a password
follows ``password=``; but "token" and "key" mean many things, and a sentence goes on after "the
password is".
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.entropy import UUID_PATTERN, is_hexadecimal, is_mixed, is_random
from datasets_app.domain.pii.rules.credentials.provider_tokens import NAMED_PROVIDERS
from datasets_app.domain.pii.word_lists import read_word_lists

Span = tuple[int, int]

_PASSWORD = (
    r"passwor[dt]|passwd|passphrase|passcode|passwrd|pwd|pswd|contrase[nñ]a|kennwort|mot de passe|wachtwoord"
    r"|senha|(?<![a-z])(?:pass|pw)(?![a-z])"
)
_SECRET = (
    r"secret|token|credential|bearer|authorization|api[_ -]?key|apikey|jwt|passkey|otp"
    r"|(?:access|account|auth|app|encrypt\w{0,5}|private|shared|signing|master|licen[cs]e|subscription"
    r"|storage|consumer|client|deploy|webhook|hmac|aes|service|session|security|function|host|root|admin|user"
    r"|write|read)[_ -]?key"
)
_SESSION = (
    r"cookie|(?:php|j|asp\.net_)?sess(?:ion)?[_ -]?(?:id)?|(?<![a-z])sid|csrf|xsrf|(?<![a-z])sig(?:nature)?"
)
_ANY_KEY = r"(?<![a-z])(?:key|auth|pin|code)s?(?![a-z])"
_PROVIDER_NAMES = rf"{'|'.join(sorted(NAMED_PROVIDERS, key=len, reverse=True))}"

# What may stand between the word and the value: _prod"]  =>
_KEY_SUFFIX = r"""s?[\w.-]{0,24}?(?:["'`\])]{0,2}"""
_COPULAS = r"is|was|=|are|ist|es|est|é|será|should be|must be|has been|will be|might be|would be"
_ADVERBS = (
    r"(?:[ \t](?:now|still|just|currently|simply|actually|set|changed|reset|to|probably|the|same|only)){0,3}"
)
_SEPARATOR = (
    _KEY_SUFFIX
    + r"(?P<sign>[ \t]{0,3}(?:=>|:=|={1,3}|:|->|→|>)[ \t]{0,3}|\s-\s|\x20{0,2}:\s{1,4})"
    + r"|(?P<verb>(?:[ \t](?:for|of|on|to|at|in)(?:[ \t][^\s.!?;,:=]{1,30}){1,4}?)?[ \t](?:"
    + _COPULAS
    + r")"
    + _ADVERBS
    + r"[ \t]{0,2}:?[ \t]|[ \t](?:to|as|with|by|into)[ \t]{1,2})|(?P<space>[ \t]{1,2}))"
)
_WORD_CHARACTER = r"[^\s\"'`“”‘’<>]"
_BARE_WORD = rf"{_WORD_CHARACTER}{{1,400}}(?:(?<=\w)'(?=\w){_WORD_CHARACTER}{{1,100}}){{0,2}}"
_VALUE = (
    r"(?:(?P<quote>\\?[\"'`])(?P<quoted>[^\r\n]{1,200}?)(?P=quote)"
    rf"|[“‘«](?P<curly>[^”’»\r\n]{{1,200}})[”’»]|[\"'`“‘«]?(?P<bare>{_BARE_WORD}))"
)
_ASSIGNMENT = lazy_re.compile(
    rf"(?:(?P<password>{_PASSWORD})|(?P<secret>{_SECRET})|(?P<session>{_SESSION})"
    rf"|(?P<named>(?<![a-z])(?:{_PROVIDER_NAMES}))|(?P<key>{_ANY_KEY}))(?:{_SEPARATOR}){_VALUE}",
    re.IGNORECASE,
)
_AUTH_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|digest|key|negotiate)[ \t:=]{1,3}", re.IGNORECASE)
_WORD_AFTER = re.compile(r"[ \t]+[^\W\d_]")
_BARE_WORD_PATTERN = re.compile(_BARE_WORD)
_TRAILING_PUNCTUATION = ".,;:)]}|\\"
_NEXT_PAIR = re.compile(r"[;&,|](?=[\w .-]{1,40}[=:]|$|[;&,|])")


# Where one of the words may begin, in a text in lower case: to try _ASSIGNED at every letter of a
# text would take a hundred times as long.
_KEYWORD_START = re.compile(
    r"pass|pw|pswd|contrase|kennwort|mot de passe|wachtwoord|senha|secret|token|credential|bearer|authori"
    r"|api|jwt|otp|access|account|auth|app|encr|private|shared|signing|master|licen|subscr|storage|consumer"
    r"|client|deploy"
    r"|webhook|hmac|aes|service|sess|security|function|host|root|admin|user|write|read|cookie|php|asp"
    r"|j_?sess|sid|csrf|xsrf|sig|key|pin|code"
)
_PASSWORD_WORDS = ("pass", "pw", "pswd", "contrase", "wort", "wachtwoord", "senha")
_SECRET_WORDS = ("secret token key auth cred bearer sess cookie sid sig jwt csrf xsrf otp").split()


def may_hold_assignment(text: str) -> bool:
    """Whether one of the words stands in ``text`` that short values need before them."""
    lower = text.lower()
    return any(word in lower for word in _PASSWORD_WORDS) or any(word in lower for word in _SECRET_WORDS)


def find_assigned_values(text: str, has_long_words: bool = True) -> Iterator[Span]:
    """The values that a word before them makes credentials; providers are named for long ones only."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(sign.lower() if sign < "\x80" else sign for sign in text)
    place = 0
    begins = _KEYWORD_OR_PROVIDER_START if has_long_words else _KEYWORD_START
    for beginning in begins.finditer(lower):
        if beginning.start() < place:
            continue
        match = _ASSIGNMENT.match(text, beginning.start())
        if match is None:
            continue
        word = next(name for name in _RULES if match[name] is not None)
        span = _find_value(text, match)
        # What isn't a value may be the word that matters: "token: password is …".
        if span and _is_credential(_RULES[word], match, text, span):
            yield span
            place = span[1]


_KEYWORD_OR_PROVIDER_START = re.compile(rf"{_KEYWORD_START.pattern}|{_PROVIDER_NAMES}")


def _find_value(text: str, match: re.Match[str]) -> Span | None:
    for quoted in ("quoted", "curly"):
        if match[quoted] is not None:
            return match.span(quoted)
    start, end = match.span("bare")
    scheme = _AUTH_SCHEME.match(text, start)
    if scheme:
        start, end = scheme.end(), scheme.end()
        follows = _BARE_WORD_PATTERN.match(text, start)
        if follows:
            end = follows.end()
    pair = _NEXT_PAIR.search(text, start, end)
    if pair and pair.start() > start:
        end = pair.start()
    while end > start and text[end - 1] in _TRAILING_PUNCTUATION:
        end -= 1
    return (start, end) if end > start else None


def _is_credential(rule: "_Rule", match: re.Match[str], text: str, span: Span) -> bool:
    value = text[slice(*span)]
    if _is_placeholder_value(value):
        return False
    ends = match["bare"] is None or not _WORD_AFTER.match(text, span[1])
    if match["sign"] is not None:
        return rule.after_sign(value, ends)
    return rule.after_verb(value, ends) if match["verb"] is not None else rule.after_space(value, ends)


# --- what isn't a value -------------------------------------------------------------------------

_PLACEHOLDER_VALUE = re.compile(
    r"[*•·.xX#?_\-=]+|<.*|\$\{?[\w.:-]*\}?|\$\(.*|\{+.*|%[\w.]+%?|\[.*|@\w+@?|.{0,2}|change[-_ ]?me"
    r"|(?:your|my|our|the|some|new|old|this|that|insert|enter|example|sample|dummy|placeholder|todo)"
    r"[-_ ]?(?:own|app)?[-_ ]?(?:api|auth|access|secret|db|user|root|admin)?"
    r"[-_ ]?(?:password|passwd|pass|pwd|secret|token|key)(?:[-_ ]?here)?"
    r"|.{0,12}(?:redacted|placeholder|masked|removed|hidden|censored).{0,12}",
    re.IGNORECASE | re.DOTALL,
)
# get_password(), os.environ[…, config.db.password, str | None
_CODE_EXPRESSION = re.compile(
    r"[A-Za-z_][\w.]*[(\[{].*|[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+|(?:https?|ftp):?(?://.*)?|/[\w./-]*",
    re.DOTALL,
)
# Words with digits that people do write.
_TECHNICAL_TERM = re.compile(
    r"v?\d+(?:[.,:/-]\d+)*\w{0,3}|\w{0,4}\d(?:fa|d|g|k|x|st|nd|rd|th)|sha-?\d+|md5|base\d\d|utf-?\d+"
    r"|oauth-?2?(?:\.\d)?"
    r"|http/?\d|ipv[46]|bcrypt\w*|argon2\w*|pbkdf2|scrypt|rs\d+|hs\d+|es\d+|aes-?\d*\w*|rsa-?\d*|ed25519"
    r"|x\.?509|pkcs\S*"
    r"|windows-?\d+|win\d+|office-?365|microsoft365|o365|web3|s3|ec2|k8s|log4j|php\d|python\d\S*|sql\d*"
    r"|level-?\d+|step-?\d+",
    re.IGNORECASE,
)
_NON_PASSWORD_WORDS = read_word_lists(__file__)["no passwords"]
_ADJECTIVE = re.compile(r".{2,}(?:ed|ing|able|ible|less|ful|ly|ious|ally|ant|ent)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*[!?.]?")
_ODD_CASE = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]")  # QWErty, and neither Sunflower nor SUNFLOWER
_LOWER_UPPER = re.compile(r"[a-z][A-Z]")
_SIGNS = re.compile(r"[!@#$%^&*+=~?\\/|]")


def _is_placeholder_value(value: str) -> bool:
    return _PLACEHOLDER_VALUE.fullmatch(value) is not None or _CODE_EXPRESSION.fullmatch(value) is not None


def _is_common_word(value: str) -> bool:
    """A word that is said of passwords; "sunflower" is none."""
    bare = value.rstrip("!?.").lower()
    return bare in _NON_PASSWORD_WORDS or _ADJECTIVE.fullmatch(bare) is not None


# --- how much is asked of the value -----------------------------------------------------------


def _is_password_after_sign(value: str, ends: bool) -> bool:
    """After ``password=``: whatever is not a word about passwords."""
    return _may_be_password(value, ends, min_letters=4, max_term=4)


def _is_password_after_verb(value: str, ends: bool) -> bool:
    """After "my password is": it may as well be "wrong"."""
    return _may_be_password(value, ends, min_letters=5, max_term=len(value))


def _may_be_password(value: str, ends: bool, *, min_letters: int, max_term: int) -> bool:
    """``min_letters``: of a word; ``max_term``: the length up to which a technical term is none."""
    if " " in value:
        return is_mixed(value) and value.count(" ") <= 5
    if _LETTERS.fullmatch(value) and not _ODD_CASE.search(value):
        return ends and len(value) >= min_letters and not _is_common_word(value)
    if len(value) < 4 or value.isdigit():
        return len(value) >= 4
    is_term = len(value) <= max_term and _TECHNICAL_TERM.fullmatch(value)
    return not is_term and not _is_common_word(value)


def _is_password_after_space(value: str, ends: bool) -> bool:
    """After "password" alone: only what isn't a word at all."""
    if " " in value or _TECHNICAL_TERM.fullmatch(value):
        return False
    if len(value) < 6 or len(_LOWER_UPPER.findall(value)) >= 3:
        return len(value) >= 6
    return is_mixed(value) or (_SIGNS.search(value[:-1]) is not None and not _is_common_word(value))


def _is_secret_after_sign(value: str, ends: bool) -> bool:
    """After ``api_key=``: eight characters with a digit among them, or drawn at random."""
    if " " in value or _TECHNICAL_TERM.fullmatch(value) or not value.isascii():
        return False
    return (len(value) >= 8 and is_mixed(value)) or is_random(value)


def _is_secret_after_space(value: str, ends: bool) -> bool:
    return " " not in value and len(value) >= 10 and (is_random(value) or is_hexadecimal(value))


def _is_key_after_sign(value: str, ends: bool) -> bool:
    """After "key:", which may be that of a cache or a piano."""
    return " " not in value and len(value) >= 16 and (is_random(value) or is_hexadecimal(value))


def _is_session_after_sign(value: str, ends: bool) -> bool:
    if " " in value:
        return False
    return UUID_PATTERN.fullmatch(value) is not None or _is_key_after_sign(value.split("=", 1)[-1], ends)


def _is_provider_key_after_sign(value: str, ends: bool) -> bool:
    """After the name of a provider, as in ``algolia: …``."""
    if UUID_PATTERN.fullmatch(value):
        return True
    return 14 <= len(value) <= 120 and (is_random(value) or is_hexadecimal(value))


def _accept_none(value: str, ends: bool) -> bool:
    return False


class _Rule(NamedTuple):
    after_sign: Callable[[str, bool], bool]
    after_verb: Callable[[str, bool], bool]
    after_space: Callable[[str, bool], bool]


# By the names of the groups in _ASSIGNED.
_RULES = {
    "password": _Rule(_is_password_after_sign, _is_password_after_verb, _is_password_after_space),
    "secret": _Rule(_is_secret_after_sign, _is_secret_after_sign, _is_secret_after_space),
    "session": _Rule(_is_session_after_sign, _is_session_after_sign, _accept_none),
    "named": _Rule(_is_provider_key_after_sign, _is_provider_key_after_sign, _accept_none),
    "key": _Rule(_is_key_after_sign, _is_key_after_sign, _is_secret_after_space),
}
