"""Web addresses that carry a value of another class: the whole address is replaced.

"https://example.com/users/jane-doe?email=jane@example.com" is one; public pages, and those of internal
machines, are none. A password before the host (user:password@host) is a credential by itself, as it is in the
address of a database; the rest of such an address stays.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from urllib.parse import unquote_plus

from datasets_app.domain.pii.detector import CREDENTIAL, HOST, IP, NAME, URL, Match, Span, drop_overlaps
from datasets_app.domain.pii.keys import get_kind_by_key
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.rules.internet import url_words
from datasets_app.domain.pii.rules.internet.hosts import PUBLIC_SUFFIXES
from datasets_app.domain.pii.rules.numbers.phone_plans import is_mobile
from datasets_app.domain.pii.rules.users.user_names import is_ordinary, may_be_user_name

FindValues = Callable[[str], list[Match]]

_URL = re.compile(
    r"(?<![^\W_])(?:(?:https?|ftps?|wss?)://|(?<![@.-])www\.(?=[a-z0-9-]{1,63}\.))[^\s<>\"'`"
    r"|\\^\x1c\ufffc]{2,2000}",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?:\w+://)?(?:[^/?]*@)?(?P<host>[^/?#]*)(?P<path>[^?#]*)(?P<rest>.*)", re.DOTALL)
_TRAILING_PUNCTUATION = ".,;:!?*_…”’»"
_PAIR = re.compile(r"[?&;#!]+([\w.\[\]~%-]{1,60})=([^&;#]*)")
SITES_OF_PEOPLE = url_words.SITES_OF_PEOPLE | {f"www.{site}" for site in url_words.SITES_OF_PEOPLE}
_FOLDERS_WITH_NAMES = url_words.PLACES_OF_PEOPLE | url_words.FOREIGN_PEOPLE
# forum.acme.com/u/jane: without a scheme, only where a folder says so.
_FOLDERS_OF_BARE_URLS = "|".join(sorted(url_words.PEOPLE - {"@"} | url_words.FOREIGN_PEOPLE))
_BARE_URL = re.compile(
    rf"(?<![\w@./:-])(?:[a-z0-9-]{{1,63}}\.){{1,4}}(?:{'|'.join(sorted(PUBLIC_SUFFIXES))})"
    rf"/(?:{_FOLDERS_OF_BARE_URLS})/[^\s<>\"'`|\\^\x1c\ufffc]{{2,200}}",
    re.IGNORECASE,
)
_BARE_HINT = re.compile(rf"\.[a-z]{{2,10}}/(?:{_FOLDERS_OF_BARE_URLS})/".encode(), re.IGNORECASE)
_STAND_IN = re.compile(
    r"[{<\[:$*(].*|%[a-z({].*|x{2,}|\.{2,}|-+|(?:your|my|some|the)[-_].*|.*(?:redacted|placeholder|example).*"
    r"|null|none|nil|undefined|true|false|yes|no|[a-z]{0,3}\d?|test|foo|bar|baz",
    re.IGNORECASE,
)
_SECRET_KEYS = frozenset(
    "token auth sig signature session sid jwt code apikey api_key access_token key".split()
)
_WORD = re.compile(r"[^\W\d_]+")
_IDENTIFIER = re.compile(r"(?=.*\d)[\w-]{3,64}")
_MIXED = re.compile(r"(?=.*[a-zA-Z]{3})(?=.*[0-9])\w[\w.-]{3,63}")
_NUMBER_OF_PERSON = re.compile(r"[\w-]{0,8}\d{4,20}")
_CAMEL_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FILE_ENDING = re.compile(r"\.[a-z0-9]{2,5}\Z", re.IGNORECASE)
_PHONE = re.compile(r"\+?(1[2-9]\d{9}|0\d{9,10}|\d{10,13})")


def may_hold(encoded: bytes, shape: bytes) -> bool:
    return (
        b"://" in encoded
        or b"www." in encoded
        or (b"/" in encoded and _BARE_HINT.search(encoded) is not None)
    )


def search_folded(text: str, find_values: FindValues) -> list[Match]:
    """The addresses in a folded text without placeholders that carry a value.

    ``find_values`` finds the values of all other classes in a text.
    """
    return drop_overlaps(
        URL, (span for span in _find_urls(text) if _carries_value(text[slice(*span)], find_values))
    )


def _find_urls(text: str) -> Iterator[Span]:
    for match in chain(_URL.finditer(text), _BARE_URL.finditer(text)):
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
    host, path, rest = parts["host"].lower(), unquote_plus(parts["path"]), unquote_plus(parts["rest"])
    if _is_host_of_person(host):
        return True
    if not path.strip("/") and not rest:
        return False
    # Pages of one-page applications: https://acme.com/#/users/jane.
    folders = path.split("/") + (rest[1:].split("/") if rest[:2] == "#/" else [])
    if _names_person(host, folders) or any(
        _is_personal(key, value, folders, find_values) for key, value in _PAIR.findall(parts["rest"])
    ):
        return True
    found = find_values(f"http://{parts['host']}{path}{rest}")
    start = len("http://") + len(parts["host"])
    return any(match.kind not in (HOST, IP) and match.end > start for match in found)


def _is_host_of_person(host: str) -> bool:
    """jane.wordpress.com, jane-roe.acme.com."""
    label, _, domain = host.removeprefix("www.").partition(".")
    if domain in url_words.DOMAINS_OF_PEOPLE:
        return label not in url_words.PAGES and not is_ordinary(label)
    return ("-" in label or domain in url_words.DOMAINS_OF_PROJECTS) and _mentions_person(label)


def _names_person(host: str, folders: Sequence[str]) -> bool:
    """/users/jane-doe, /customers/4711, /~jane, /team/jane-doe, /jane-doe; /@jane is found among profiles."""
    folders = [folder for folder in folders if folder.lower() not in url_words.VERBS]
    if host in SITES_OF_PEOPLE and _may_be_person("".join(folders[1:2])):
        return True
    if host.endswith("zoom.us") and folders[1:2] == ["my"]:
        return _may_be_person("".join(folders[2:3]))
    return any(_is_folder_of_person(before.lower(), folder) for before, folder in pairwise(folders))


def _is_folder_of_person(before: str, folder: str) -> bool:
    if before in url_words.PEOPLE:
        return _may_be_person(folder)
    if folder[:1] == "~":
        return may_be_user_name(folder[1:])
    if before in url_words.FOREIGN_PEOPLE and (_IDENTIFIER.fullmatch(folder) or is_person(folder)):
        return True
    if before in _FOLDERS_WITH_NAMES and _mentions_person(folder):
        return True
    return before not in url_words.PUBLIC_FOLDERS and (
        _is_full_name(folder) or _is_phone(folder) or (folder[-1:].isdigit() and is_joined_name(folder))
    )


def _may_be_person(folder: str) -> bool:
    lower = folder.lower()
    if (
        not lower
        or lower in url_words.PAGES
        or _STAND_IN.fullmatch(folder)
        or "." in folder
        and lower.rpartition(".")[2] in ("html", "php", "js")
    ):
        return False
    return _IDENTIFIER.fullmatch(folder) is not None or is_person(folder) or not is_ordinary(folder)


def _split_names(value: str) -> list[str]:
    """The words of "JaneRoe", "dr-jane-roe_0424.pdf", without those that say what it is."""
    words = _WORD.findall(_CAMEL_JOINT.sub(" ", _FILE_ENDING.sub("", value)))
    return [word for word in words if word.lower() not in url_words.DOCUMENT_WORDS]


def _is_full_name(value: str) -> bool:
    """Whether a folder or a parameter is a first and a last name, and nothing but the kind of a file."""
    words = _split_names(value)
    return 2 <= len(words) <= 3 and _is_pair(words[0], words[-1]) and is_person(" ".join(words))


def _mentions_person(value: str) -> bool:
    words = _split_names(value)
    return any(_is_pair(*pair) for pair in pairwise(words)) or is_joined_name(value)


def _is_pair(first: str, last: str) -> bool:
    facts, others = look_up_word(first), look_up_word(last)
    return (
        facts.first > 0
        and facts.common < 2
        and others.last > 0
        and others.common == 0
        and min(len(first), len(last)) > 2
        and first.lower() not in url_words.PLACE_STARTS
        and last.lower() not in url_words.PLACE_ENDS
    )


def is_joined_name(value: str) -> bool:
    """Whether a word that no dictionary has is "janeroe", "jharlow" or "janeroe84"."""
    word = value.rstrip("0123456789").lower()
    if not (5 <= len(word) <= 24 and word.isalpha()) or any(look_up_word(word)):
        return False
    return (len(word) > 5 and _is_last_name(word[1:])) or any(
        look_up_word(word[:at]).first and not look_up_word(word[:at]).common and _is_last_name(word[at:])
        for at in range(3, len(word) - 2)
    )


def _is_last_name(word: str) -> bool:
    facts = look_up_word(word)
    return facts.last > 0 and facts.common == 0


def _is_phone(value: str) -> bool:
    """Whether a number alone is a telephone's: of the Americas, with its zero, or mobile."""
    match = _PHONE.fullmatch(value)
    return match is not None and (
        value[0] in "+0" or len(match[1]) == 11 and value[0] == "1" or is_mobile(match[1])
    )


def _is_personal(key: str, value: str, folders: Sequence[str], find_values: FindValues) -> bool:
    """Whether a parameter says something of a person: by its key, or by a value that rules find."""
    key, value = unquote_plus(key).lower(), unquote_plus(value)
    if _STAND_IN.fullmatch(value):
        return False
    kind = get_kind_by_key(key, value)
    if kind == CREDENTIAL or key in _SECRET_KEYS:
        return len(value) >= (4 if kind == CREDENTIAL else 16) and any(map(str.isdigit, value))
    plain = key.replace("_", "").replace("-", "")
    if _is_phone(value) or (plain not in url_words.SUBJECT_KEYS and _is_full_name(value)):
        return True
    if _NUMBER_OF_PERSON.fullmatch(value) and (
        plain in url_words.NUMBERED_KEYS or (key == "id" and _is_page_of_person(folders[-1]))
    ):
        return True
    if plain in url_words.END_KEYS:
        return is_joined_name(value) or (_MIXED.fullmatch(value) is not None and may_be_user_name(value))
    if plain in url_words.USER_KEYS and may_be_user_name(value) and not is_ordinary(value):
        return True
    if kind == NAME or plain in url_words.NAME_KEYS:
        return (
            is_person(value) or is_joined_name(value) or (key == "name" and _is_page_of_person(folders[-1]))
        )
    if kind is not None and kind not in (HOST, IP):
        return True
    return any(match.kind != HOST for match in find_values(f"{key.replace('_', ' ')}: {value}"))


def _is_page_of_person(folder: str) -> bool:
    """profile, member.php, ViewProfile.jspa."""
    return folder.partition(".")[0].lower().removeprefix("view") in url_words.PEOPLE


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
