"""Names of people under keys that say so: ``Sender Name: Kim``, ``agent: Robert``, ``Bearbeiter: Jonas``.

A model that reads sentences can't tell such a value, which may also be a team, a bot or a role.
"""

import re
from functools import lru_cache

from datasets_app.domain.pii.names.gazetteer import look_up_word

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
_NOBODY = frozenset(
    "admin agent ai all anonymous anon assistant auto automated bot caller chat chatbot client company "
    "contact customer default desk employee false guest human internal member me model n na nil no nobody "
    "none null operator other owner partner public redacted robot sales self sender service staff support "
    "system team test tester true unassigned unknown user visitor web yes you".split()
)


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
