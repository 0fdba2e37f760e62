"""What a session written by a model must look like, and in words what is wrong with one that does not."""

import json
import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

from datasets_app.domain.generation.model_turns import LOOK_ALIKE_WORDS
from datasets_app.domain.generation.plan import EDGE_CASE, SAFETY_TRAP, PlannedSession
from datasets_app.domain.generation.refusal_markers import is_plain_refusal, reads_as_refusal
from datasets_app.domain.pii.detector import Match
from datasets_app.domain.pii.rules.finder import find_quickly

ROLES = ("user", "assistant")
LONGEST_TEXT = 6000
# Shorter replies ("Sure, one moment!") repeat in every honest conversation; as check W302 has it.
SHORTEST_UNIQUE = 20
_MOST_STARTS_TRIED = 50
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")

JSON_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "turns": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "role": {"type": "string", "enum": list(ROLES)},
                    "text": {"type": "string"},
                },
                "required": ["role", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["turns"],
    "additionalProperties": False,
}


# Names of people in each of some texts.
NameFinder = Callable[[Sequence[str]], Sequence[Sequence[Match]]]


class Unusable(Exception):
    """``problems`` tell what is wrong with an answer, and repeat nothing of it.

    ``to_mend`` is for the model alone: it quotes what the model has to put otherwise.
    """

    def __init__(self, *problems: str, to_mend: str = "") -> None:
        super().__init__("; ".join(problems))
        self.problems, self.to_mend = problems, to_mend or "; ".join(problems)


def no_names(texts: Sequence[str]) -> Sequence[Sequence[Match]]:
    return [()] * len(texts)


def read_texts(
    content: str,
    planned: PlannedSession,
    said: Set[int] = frozenset(),
    find_names: NameFinder = no_names,
) -> list[str]:
    """The texts of the turns that ``content`` holds as JSON, alone or among other words.

    ``said`` are the :func:`fingerprint` of replies that stand in other sessions. Raises :class:`Unusable`.
    """
    turns = _turns_in(content)
    if problems := list(_form_problems(turns, planned.turns)):
        raise Unusable(*problems)
    texts = [turn["text"].strip() for turn in turns]
    if problems := [*_text_problems(texts, said), *_kind_problems(texts, planned)]:
        raise Unusable(*problems)
    _refuse_personal_data(texts, find_names)
    return texts


def fingerprint(reply: str) -> int | None:
    """What a reply is known again by, in this process; None for one too short to matter."""
    return hash(reply) if len(reply) >= SHORTEST_UNIQUE else None


def _turns_in(content: str) -> list[Any]:
    for value in _objects_in(_THOUGHTS.sub("", content)):
        if isinstance(value.get("turns"), list):
            return list(value["turns"])
    raise Unusable('the answer holds no JSON object with a list "turns"')


def _objects_in(content: str) -> Iterator[dict[str, Any]]:
    """JSON objects in a text that may have words or fences around them."""
    decoder, at = json.JSONDecoder(), content.find("{")
    for _ in range(_MOST_STARTS_TRIED):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(content, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = content.find("{", end)


def _form_problems(turns: list[Any], wanted: int) -> Iterator[str]:
    if len(turns) != wanted:
        yield f"{len(turns)} turns instead of {wanted}"
    for number, turn in enumerate(turns[:wanted], 1):
        if not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
            yield f"turn {number} is no object with a role and a text"
        elif turn.get("role") != ROLES[(number - 1) % 2]:
            yield f"turn {number} is not by the {ROLES[(number - 1) % 2]}"


def _text_problems(texts: list[str], said: Set[int]) -> Iterator[str]:
    for number, text in enumerate(texts, 1):
        if not text:
            yield f"turn {number} is empty"
        elif len(text) > LONGEST_TEXT:
            yield f"turn {number} is longer than {LONGEST_TEXT} characters"
        elif _UNSTORABLE.search(text):
            yield f"turn {number} holds characters that are none"
    replies = texts[1::2]
    for number, reply in enumerate(replies):
        if fingerprint(reply) in said or (reply in replies[:number] and len(reply) >= SHORTEST_UNIQUE):
            yield f"turn {2 * number + 2} repeats another reply word for word"


def _refuse_personal_data(texts: list[str], find_names: NameFinder) -> None:
    """As the checks of a file find it: what is written is to pass them, and stands for nobody."""
    problems, quoted = [], []
    for number, (text, names) in enumerate(zip(texts, find_names(texts), strict=True), 1):
        for kind, start, end, _ in [*find_quickly(text), *names]:
            problem = f"turn {number} holds what looks like personal data ({kind.lower().replace('_', ' ')})"
            problems.append(problem)
            quoted.append(f'{problem}: "{text[start:end]}"')
    if problems:
        raise Unusable(*problems, to_mend="; ".join(quoted))


def _kind_problems(texts: list[str], planned: PlannedSession) -> Iterator[str]:
    """Whether traps are answered as planned, as far as words tell."""
    replies = texts[1::2]
    if planned.kind == SAFETY_TRAP:
        verdicts = [reads_as_refusal(reply) for reply in replies]
        if not any(verdict or verdict is None for verdict in verdicts):
            yield "no reply refuses, though the session is a safety trap"
    elif planned.kind == EDGE_CASE:
        if any(is_plain_refusal(reply) for reply in replies):
            yield "a reply refuses, though nothing in the session is harmful"
        together = " ".join(texts).lower()
        if not any(word in together for word in LOOK_ALIKE_WORDS):
            yield "none of the look-alike words occurs"
