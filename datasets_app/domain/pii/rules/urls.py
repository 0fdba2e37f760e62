"""Web addresses that carry a value of another class: the whole address is replaced.

"https://example.com/users/jane-doe?email=jane@example.com" is one; public pages, and those of internal
machines, are none. A password before the host (user:password@host) is a credential by itself, as it is in the
address of a database; the rest of such an address stays.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from urllib.parse import unquote_plus

from datasets_app.domain.pii.detector import CREDENTIAL, HOST, IP, NAME, URL, Match, Span, drop_overlaps
from datasets_app.domain.pii.keys import get_kind_by_key
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.rules.announced_handles import is_ordinary, may_be_user_name

FindValues = Callable[[str], list[Match]]

_URL = re.compile(
    r"(?<![^\W_])(?:(?:https?|ftps?|wss?)://|(?<![@.-])www\.(?=[a-z0-9-]{1,63}\.))[^\s<>\"'`"
    r"|\\^\x1c\ufffc]{2,2000}",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?:\w+://)?(?:[^/?]*@)?(?P<host>[^/?#]*)(?P<path>[^?#]*)(?P<rest>.*)", re.DOTALL)
_TRAILING_PUNCTUATION = ".,;:!?*_…”’»"
_PAIR = re.compile(r"[?&;#!]+([\w.\[\]~%-]{1,60})=([^&;#]*)")
# Behind one of these folders stands somebody's name or number.
_PEOPLE_TEXT = """
    user users u profile profiles people person persons member members customer customers client clients
    patient
    patients employee employees student students account accounts author authors contact contacts candidate
    candidates subscriber subscribers staff guest guests owner owners attendee attendees applicant
    applicants agent agents
    driver drivers player players by-email
"""
_PEOPLE_FOLDERS = frozenset(_PEOPLE_TEXT.split())
PEOPLE_FOLDER_PATTERN = re.compile(
    rf"/(?:{'|'.join(sorted(_PEOPLE_FOLDERS, key=len, reverse=True))})/|%40", re.I
)
_PAGES_TEXT = """
    login logout signin signup sign-in sign-up sign_in sign_up register registration new me self edit update
    delete create
    add remove list search all index settings profile password reset forgot recover verify confirm activate
    help faq docs
    doc guide guides quickstart quick-start tutorial tutorials overview about home dashboard invite invites
    invitations
    roles groups permissions current online count export import bulk batch active inactive pending top
    popular featured
    v1 v2 v3 api faqs manage manager management admin preferences notifications billing orders subscriptions
    security
    token tokens sessions page pages default example sample demo stats statistics reports report
"""
_PAGES = frozenset(_PAGES_TEXT.split())
_STAND_IN = re.compile(
    r"[{<\[:$*(].*|%[a-z({].*|x{2,}|\.{2,}|-+|(?:your|my|some|the)[-_].*|.*(?:redacted|placeholder|example).*"
    r"|null|none|nil|undefined|true|false|yes|no|[a-z]{0,3}\d?|test|foo|bar|baz",
    re.IGNORECASE,
)
# Keys of parameters besides those of JSON objects.
_USER_KEYS = frozenset(
    "user u usr member customer client author owner account acct login to from for".split()
)
_NAME_KEYS = frozenset("name n fname lname fn ln first last person contact recipient sender".split())
_SECRET_KEYS = frozenset(
    "token auth sig signature session sid jwt code apikey api_key access_token key".split()
)
_WORD = re.compile(r"[^\W\d_]+")
_IDENTIFIER = re.compile(r"(?=.*\d)[\w-]{3,64}")


def may_hold(encoded: bytes, shape: bytes) -> bool:
    return b"://" in encoded or b"www." in encoded


def search_folded(text: str, find_values: FindValues) -> list[Match]:
    """The addresses in a folded text without placeholders that carry a value.

    ``find_values`` finds the values of all other classes in a text.
    """
    return drop_overlaps(
        URL, (span for span in _find_urls(text) if _carries_value(text[slice(*span)], find_values))
    )


def _find_urls(text: str) -> Iterator[Span]:
    for match in _URL.finditer(text):
        end = match.end()
        while end > match.start() and _is_punctuation_at_end(text, match.start(), end):
            end -= 1
        yield match.start(), end


def _is_punctuation_at_end(text: str, start: int, end: int) -> bool:
    last = text[end - 1]
    if last in ")]}":
        opening = {")": "(", "]": "[", "}": "{"}[last]
        return text.count(opening, start, end) < text.count(last, start, end)
    return last in _TRAILING_PUNCTUATION


def _carries_value(url: str, find_values: FindValues) -> bool:
    parts = _PARTS.match(url)
    if parts is None:
        return False
    path, rest = unquote_plus(parts["path"]), unquote_plus(parts["rest"])
    if not path.strip("/") and not rest:
        return False
    if _names_person(path.split("/")) or any(
        _is_personal(key, value, find_values) for key, value in _PAIR.findall(parts["rest"])
    ):
        return True
    found = find_values(f"http://{parts['host']}{path}{rest}")
    start = len("http://") + len(parts["host"])
    return any(match.kind not in (HOST, IP) and match.end > start for match in found)


def _names_person(folders: Sequence[str]) -> bool:
    """/users/jane-doe, /customers/4711, /~jane; /@jane is found among profiles."""
    return any(
        (before.lower() in _PEOPLE_FOLDERS and _may_be_person(folder))
        or (folder[:1] == "~" and may_be_user_name(folder[1:]))
        for before, folder in pairwise(folders)
    )


def _may_be_person(folder: str) -> bool:
    lower = folder.lower()
    if (
        lower in _PAGES
        or _STAND_IN.fullmatch(folder)
        or "." in folder
        and lower.rpartition(".")[2] in ("html", "php", "js")
    ):
        return False
    return _IDENTIFIER.fullmatch(folder) is not None or is_person(folder) or not is_ordinary(folder)


def _is_personal(key: str, value: str, find_values: FindValues) -> bool:
    """Whether a parameter says something of a person: by its key, or by a value that rules find."""
    key, value = unquote_plus(key).lower(), unquote_plus(value)
    if _STAND_IN.fullmatch(value):
        return False
    kind = get_kind_by_key(key, value)
    if kind == CREDENTIAL or key in _SECRET_KEYS:
        return len(value) >= (4 if kind == CREDENTIAL else 16) and any(map(str.isdigit, value))
    if kind == NAME or key in _USER_KEYS:
        return is_person(value) if kind == NAME else may_be_user_name(value) and not is_ordinary(value)
    if key in _NAME_KEYS:
        return is_person(value)
    if kind is not None and kind not in (HOST, IP):
        return True
    return any(match.kind != HOST for match in find_values(f"{key.replace('_', ' ')}: {value}"))


def is_person(value: str) -> bool:
    """Whether a value is the name of a person: a first name among its words, and no ordinary one."""
    words = [word for word in _WORD.findall(value) if len(word) > 1]
    facts = [look_up_word(word) for word in words]
    return (
        0 < len(words) <= 4
        and any(fact.first for fact in facts)
        and all(fact.common < 2 and fact.first + fact.last for fact in facts)
        and any(fact.common == 0 for fact in facts)
    )
