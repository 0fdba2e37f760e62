"""Keys under which a person is named, whatever the value looks like: ``user_id``, ``email``, ``ip``."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from datasets_app.domain.pii.detector import (
    ADDRESS,
    CREDENTIAL,
    CRYPTO_WALLET,
    DATE_OF_BIRTH,
    HANDLE,
    ID_NUMBER,
    MAC,
    NAME,
)
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.policy import ID
from datasets_app.domain.pii.rules.identity.id_formats import names_number
from datasets_app.domain.pii.rules.users.user_names import is_account_name
from datasets_app.domain.pii.word_lists import read_word_lists

# Names of people under keys that say so: `Sender Name: Kim`, `agent: Robert`, `Bearbeiter: Jonas`.
#
# A model that reads sentences can't tell such a value, which may also be a team, a bot or a role.
MAX_WORDS = 4
_PEOPLE = (
    "agent|sender|receiver|recipient|customer|client|contact|caller|callee|user|employee|staff|operator|author|owner"
    "|requester|requestor|reporter|assignee|creator|editor|reviewer|approver|submitter|handler|advisor|adviser|rep"
    "|representative|consultant|specialist|technician|manager|supervisor|lead|teacher|student|doctor|patient|nurse"
    "|guest|passenger|traveler|traveller|tenant|landlord|buyer|seller|member|visitor|speaker|participant|respondent"
    "|subscriber|applicant|candidate|signer|payer|payee|cardholder|holder|beneficiary|driver|rider|courier|parent"
    "|child|person|people|human|by|absender|empf(?:ä|ae)nger|kunden?|bearbeiter|mitarbeiter|ansprechpartner|benutzer"
)
_PERSON_NAME = re.compile(
    rf"(?<!useragent)(?:(?:{_PEOPLE})s?(?:full|first|last|display|real|sur|given|family|legal)?name"
    r"|vorname|nachname|familienname|prenom|prénom|nomdefamille|apellidos?|cognome|sobrenome|voornaam|achternaam"
    r"|imi[eę]|nazwisko|f[oö]rnamn|fornavn|e(?:f|t)ternavn|efternamn)\Z"
)
# Under these stands a person as well as a team.
_PERSON = re.compile(
    r"(?:(?:sach)?bearbeiter(?:in)?|ansprechpartner(?:in)?|mitarbeiter(?:in)?|betreuer(?:in)?|absender|kunde|kundin"
    r"|afzender|medewerker|klant|expediteur|interlocuteur|conseiller|agente|remitente|mittente|operatore"
    r"|customer|client|contact|caller|employee|staff|manager|supervisor|advisor|adviser|rep|representative|consultant"
    r"|specialist|technician|doctor|patient|nurse|guest|passenger|student|teacher|tenant|signer|respondent|handledby"
    r"|takenby|servedby|writtenby|sentby|signedby|interviewer|interviewee)(?:s|name)?\Z"
)
_WORD = re.compile(r"[^\W\d_]+(?:[.'’-][^\W\d_]+)*\.?")


def is_person_under(key: str, value: str, *, is_sender: bool) -> bool:
    """Whether a person's name stands under ``key``, which is in lower case without separators.

    ``is_sender``: the key is known to be of somebody, by whatever name.
    """
    names, persons = _read_key(key)
    return _is_name(value) and (names or ((is_sender or persons) and _begins_with_a_name(value)))


def is_person_key(key: str) -> bool:
    """Whether a person may stand under ``key``, which is in lower case without separators."""
    return _read_key(key)[1]


@lru_cache(maxsize=4096)
def _read_key(key: str) -> tuple[bool, bool]:
    """Whether the value is a name by its key, and whether it may be a person's."""
    return _PERSON_NAME.search(key) is not None, _PERSON.fullmatch(key) is not None


def _is_name(value: str) -> bool:
    """Whether these are a few words with letters only, and some of them no ordinary ones."""
    words = value.replace(",", " ").split()
    if not 0 < len(words) <= MAX_WORDS or not all(map(_WORD.fullmatch, words)):
        return False
    if any(word.lower() in _NOBODY for word in words):
        return False
    return any(known.first or known.last or not known.common for known in map(look_up_word, words))


def _begins_with_a_name(value: str) -> bool:
    word = value.split()[0].rstrip(",")
    known = look_up_word(word)
    return word[0].isupper() and (known.first == 2 or (known.first > 0 and known.common < 2))


_WORDS = read_word_lists(__file__)
_NOBODY = _WORDS["nobody"]
_SENDER_KEYS = _WORDS["senders"]
_WITH_DIGITS = frozenset({ID_NUMBER, DATE_OF_BIRTH})
# customer_username, forum_nick, insured_dob
_ENDINGS = {
    HANDLE: "username screenname nickname gamertag userhandle socialhandle loginname discordtag callsign "
    "playertag",
    DATE_OF_BIRTH: "dob birthdate dateofbirth birthday geburtsdatum geboortedatum datenaissance",
}
# instagram_user, ighandle, steam_account: the platform, and what the name on it is called.
_PLATFORMS = (
    "twitter|x|instagram|insta|ig|discord|telegram|tg|snapchat|snap|tiktok|tt|github|gitlab|bitbucket|reddit|steam|psn"
    "|playstation|xbox|xbl|nintendo|twitch|youtube|yt|skype|kik|wechat|mastodon|bluesky|bsky|facebook|fb|linkedin"
    "|pinterest|venmo|cashapp|slack|epic|riot|battlenet|bnet|minecraft|roblox|strava|soundcloud|spotify|patreon"
    "|tumblr|medium|threads|keybase|kaggle|huggingface|stackoverflow|forum|chat|irc|game|portal|web|social|login|member"
)
_NAMES_ON_PLATFORMS = "user|username|handle|nick|nickname|tag|login|alias|acct|loginname|screenname|usr|uname"
_PLATFORM_KEY = re.compile(rf"(?:\w{{1,12}})?(?:{_PLATFORMS})(?:{_NAMES_ON_PLATFORMS})")
_KIND_BY_KEY = {key: title for title, keys in _WORDS.items() if title.isupper() for key in keys}
_KIND_BY_ENDING = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}
# A tag is often a key and a value: agent:maria.
_KIND_BY_TAG_KEY = _KIND_BY_KEY | {
    "user": HANDLE,
    "customer": ID,
    "client": ID,
    "agent": NAME,
    "annotator": NAME,
    "assignee": NAME,
    "owner": NAME,
}
_PLACE_KEYS = _WORDS["places"]
PLACE_OF_ADDRESS = "address_city"
_STREET_KEYS = _WORDS["streets"]
_NO_POSTAL_ADDRESS = re.compile(r"@|://|\d\.\d{1,3}\.\d|0[xX][0-9a-fA-F]|[/\\][\w.]|\A[\d.,:;() +-]{11,}\Z")
_CODE = re.compile(r"[0-9A-Za-z:.\-_]{12,200}")
_OWN_NAMES = frozenset({"name", "fullname", "displayname", "realname"})
# A name directly in metadata, or among the unknown keys of a line, is read like that of a guest.
_OF_A_TURN, _SOMEBODY = ("", "metadata"), "guest"
_SEPARATORS = re.compile(r"[\s_.\-]+")


def get_kind_by_key(key: str, value: Any) -> str | None:
    """The class of whatever stands under ``key``, if the key alone tells it.

    ``value`` is the string or whole number there: a number is never a password, and a wallet may hold money;
    without digits it isn't an identity number.
    """
    kind = _find_kind(key)
    if kind is None:
        return _find_person(_normalize_key(key), value) if isinstance(value, str) else None
    if kind in _WITH_DIGITS and not any(map(str.isdigit, str(value))):
        return None  # {"passport": "required"}, {"birth": "unknown"}
    if kind == CREDENTIAL:
        return None if isinstance(value, int) else kind
    if kind == ADDRESS and not _may_be_address(_normalize_key(key), str(value)):
        return None  # {"address": "required"}, {"via": "e-mail"}
    if kind in (CRYPTO_WALLET, MAC):
        return kind if isinstance(value, str) and _CODE.fullmatch(value) else None
    return kind


def _find_person(key: str, value: str) -> str | None:
    is_sender = _is_sender(key)
    if is_sender and is_account_name(value):
        return HANDLE
    return NAME if is_person_under(key, value, is_sender=is_sender) else None


def _is_sender(key: str) -> bool:
    return key in _SENDER_KEYS or key.removesuffix("s") in _SENDER_KEYS


def get_owner_key(owner: str, key: str) -> str:
    """The key that tells what stands under ``key`` in the object under ``owner``: the name of a requester is
    as if it stood under "requester" itself, and a name beside a text may be its writer's."""
    normalized = _normalize_key(owner)
    is_name = _normalize_key(key) in _OWN_NAMES
    if is_name and normalized in _OF_A_TURN:
        return _SOMEBODY
    is_person = (
        is_name and _find_kind(owner) is None and (_is_sender(normalized) or is_person_key(normalized))
    )
    return owner if is_person else key


def find_place_keys(keys: Iterable[str]) -> frozenset[str]:
    """The keys of an object under which the place of an address stands: those beside its street."""
    keys = list(keys)
    places = frozenset(key for key in keys if _normalize_key(key) in _PLACE_KEYS)
    return places if places and any(_find_kind(key) == ADDRESS for key in keys) else frozenset()


def _may_be_address(key: str, value: str) -> bool:
    if _NO_POSTAL_ADDRESS.search(value):
        return False
    return key in _STREET_KEYS or " " in value.strip() or any(map(str.isdigit, value))


def parse_tag_kind(tag: str) -> tuple[str, int] | None:
    """``customer:4711`` → the class of the value and where it begins."""
    key, sign, value = tag.partition(":")
    normalized = _normalize_key(key)
    kind = (_KIND_BY_TAG_KEY.get(normalized) or _find_kind_by_parts(normalized)) if sign and value else None
    return (kind, len(key) + 1) if kind else None


@lru_cache(maxsize=4096)
def _find_kind(key: str) -> str | None:
    normalized = _normalize_key(key)
    kind = _KIND_BY_KEY.get(normalized) or (ID_NUMBER if names_number(normalized) else None)
    return kind or _find_kind_by_parts(normalized)


def _find_kind_by_parts(key: str) -> str | None:
    """The class of a key such as "forum_nick" or "insured_dob"."""
    if _PLATFORM_KEY.fullmatch(key):
        return HANDLE
    return next((kind for ending, kind in _KIND_BY_ENDING.items() if key.endswith(ending)), None)


@lru_cache(maxsize=4096)
def _normalize_key(key: str) -> str:
    return _SEPARATORS.sub("", key).lower()
