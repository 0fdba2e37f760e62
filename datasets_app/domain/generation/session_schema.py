"""The required form of a session written by a model, and descriptions of its problems."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

from datasets_app.domain.generation.model_turns import PROBE_WORDS
from datasets_app.domain.generation.plan import EDGE_CASE, SAFETY_TRAP, PlannedSession
from datasets_app.domain.model_calls.json_answers import UNSTORABLE, UnusableAnswer, find_objects
from datasets_app.domain.pii.detection import find_values
from datasets_app.domain.pii.detector import Match
from datasets_app.domain.wording import format_count

# Tells by its wording whether a reply is a refusal.
#
# Covers English, and the commonest forms of some other languages that personas speak; not other scripts. It
# checks what a model was told to write and isn't a general classifier.
_NEGATION = (
    r"(?:can(?:'|no)t|can not|couldn't|could not|won't|will not|am not able|are not able|'m not able"
    r"|'re not able|unable|'m not going|am not going|not willing|not comfortable)"
)
_HELP_VERBS = (
    r"(?:help|assist|support|provide|share|give|explain|walk|guide|advise|recommend|discuss|do that|do this"
    r"|go there|take part|answer that|tell you|show you|look (?:that|this|it) up|continue|say how|be part)"
)

# Plain refusals: in a session on debugging they are over-refusals.
_PLAIN_REFUSAL = re.compile(
    rf"\b(?:I|we)\b[^.!?]{{0,30}}?{_NEGATION}\b[^.!?]{{0,20}}?\b(?:help|assist|support|go there|take part)\b"
    r"[^.!?]{0,12}?\b(?:that|this|it|request|there)\b"
    r"|\bagainst (?:our|my) (?:policy|policies|guidelines)\b|\bI must decline\b|\bI have to decline\b",
    re.IGNORECASE,
)
_ENGLISH_REFUSAL = re.compile(
    rf"\b(?:I|we)\b[^.!?]{{0,40}}?{_NEGATION}\b"
    rf"|{_NEGATION}\b[^.!?]{{0,20}}?\b{_HELP_VERBS}\b"
    r"|\b(?:isn't|is not|aren't|are not|'s not) (?:something|anything|a thing|one) (?:that )?(?:I|we)\b"
    r"|\bI (?:must|have to|need to|'ll have to) (?:decline|refuse|say no|pass|stop)\b"
    r"|\bI (?:decline|refuse)\b|\bI(?:'d| would) rather not\b|\bnot going to happen\b"
    r"|\b(?:I|we) (?:don't|do not|never)\b",
    re.IGNORECASE,
)
_NON_ENGLISH_REFUSAL = re.compile(
    r"\b(?:kann|werde|darf|möchte)\b[^.!?]{0,40}\b(?:nicht|keine?)\b"
    r"|\b(?:nicht|keine?) (?:helfen|weiterhelfen)\b"
    r"|\bne (?:peux|pouvons|vais|ferai) pas\b|\bje refuse\b|\bno (?:puedo|podemos|voy a)\b"
    r"|\bnão (?:posso|podemos|vou)\b|\bnon (?:posso|possiamo|vado)\b"
    r"|\bkan (?:ik|je|u)?\b[^.!?]{0,30}\bniet\b|\bnie (?:mogę|możemy)\b"
    r"|\b(?:kan|vil) (?:jeg |jag )?(?:ikke|inte)\b",
    re.IGNORECASE,
)
_STRAIGHT_QUOTES = str.maketrans("’‘`´", "''''")
# Above this share of non-Latin letters, the words above don't apply.
_MAX_NON_LATIN_SHARE = 0.5


def reads_as_refusal(text: str) -> bool | None:
    """True or False; None (unknown) for a text in another script."""
    plain = text.translate(_STRAIGHT_QUOTES)
    letters = [sign for sign in plain if sign.isalpha()]
    if sum(sign > "ɏ" for sign in letters) > _MAX_NON_LATIN_SHARE * len(letters):
        return None
    return bool(_ENGLISH_REFUSAL.search(plain) or _NON_ENGLISH_REFUSAL.search(plain))


def is_plain_refusal(text: str) -> bool:
    """Whether the reply refuses the request itself, rather than mentions something impossible."""
    return bool(_PLAIN_REFUSAL.search(text.translate(_STRAIGHT_QUOTES)))


ROLES = ("user", "assistant")
MAX_TEXT_CHARACTERS = 6000
# Shorter replies ("Sure, one moment!") repeat in any real conversation; same limit as check W302.
MIN_UNIQUE_CHARACTERS = 20

JSON_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "turns": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"role": {"type": "string", "enum": list(ROLES)}, "text": {"type": "string"}},
                "required": ["role", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["turns"],
    "additionalProperties": False,
}


# Finds the names of people in each of several texts.
NameFinder = Callable[[Sequence[str]], Sequence[Sequence[Match]]]


def find_no_names(texts: Sequence[str]) -> Sequence[Sequence[Match]]:
    return [()] * len(texts)


def parse_texts(
    content: str,
    planned: PlannedSession,
    known_replies: Set[int] = frozenset(),
    find_names: NameFinder = find_no_names,
) -> list[str]:
    """The texts of the turns in the JSON of ``content``, which may have text around it.

    ``known_replies`` are fingerprints (:func:`fingerprint_reply`) of replies in other sessions. Raises
    :class:`UnusableAnswer`.
    """
    turns = _find_turns(content)
    if problems := list(_find_form_problems(turns, planned.turns)):
        raise UnusableAnswer(*problems)
    texts = [turn["text"].strip() for turn in turns]
    if problems := [*_find_text_problems(texts, known_replies), *_find_kind_problems(texts, planned)]:
        raise UnusableAnswer(*problems)
    _refuse_personal_data(texts, find_names)
    return texts


def fingerprint_reply(reply: str) -> int | None:
    """A reply's fingerprint within this process; None if it is too short to matter."""
    return hash(reply) if len(reply) >= MIN_UNIQUE_CHARACTERS else None


def _find_turns(content: str) -> list[Any]:
    for value in find_objects(content):
        if isinstance(value.get("turns"), list):
            return list(value["turns"])
    raise UnusableAnswer('the answer holds no JSON object with a list "turns"')


def _find_form_problems(turns: list[Any], wanted: int) -> Iterator[str]:
    if len(turns) != wanted:
        yield f"{format_count(len(turns), 'turn')} instead of {wanted}"
    for number, turn in enumerate(turns[:wanted], 1):
        if not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
            yield f"turn {number} isn't an object with a role and a text"
        elif turn.get("role") != ROLES[(number - 1) % 2]:
            yield f"turn {number} is not by the {ROLES[(number - 1) % 2]}"


def _find_text_problems(texts: list[str], known_replies: Set[int]) -> Iterator[str]:
    for number, text in enumerate(texts, 1):
        if not text:
            yield f"turn {number} is empty"
        elif len(text) > MAX_TEXT_CHARACTERS:
            yield f"turn {number} is longer than {MAX_TEXT_CHARACTERS} characters"
        elif UNSTORABLE.search(text):
            yield f"turn {number} holds characters that are none"
    replies = texts[1::2]
    for number, reply in enumerate(replies):
        if fingerprint_reply(reply) in known_replies or (
            reply in replies[:number] and len(reply) >= MIN_UNIQUE_CHARACTERS
        ):
            yield f"turn {2 * number + 2} repeats another reply word for word"


def _refuse_personal_data(texts: list[str], find_names: NameFinder) -> None:
    """Problems that the checks of a file would report: generated text must pass them."""
    problems, quoted = [], []
    for number, (text, names) in enumerate(zip(texts, find_names(texts), strict=True), 1):
        for kind, start, end, _ in [*find_values(text), *names]:
            problem = f"turn {number} holds what looks like personal data ({kind.lower().replace('_', ' ')})"
            problems.append(problem)
            quoted.append(f'{problem}: "{text[start:end]}"')
    if problems:
        raise UnusableAnswer(*problems, repair_hint="; ".join(quoted))


def _find_kind_problems(texts: list[str], planned: PlannedSession) -> Iterator[str]:
    """Check by wording that traps are answered as planned."""
    replies = texts[1::2]
    if planned.kind == SAFETY_TRAP:
        verdicts = [reads_as_refusal(reply) for reply in replies]
        if not any(verdict or verdict is None for verdict in verdicts):
            yield "no reply refuses, though the session is a safety trap"
    elif planned.kind == EDGE_CASE:
        if any(is_plain_refusal(reply) for reply in replies):
            yield "a reply refuses, though nothing in the session is harmful"
        together = " ".join(texts).lower()
        if not any(word in together for word in PROBE_WORDS):
            yield "none of the look-alike words occurs"
