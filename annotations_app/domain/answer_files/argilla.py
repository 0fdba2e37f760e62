"""Argilla: a record for each reply, with the responses of each annotator.

One of several is a label, tags are a multi-label question, a scale within 0 to 10 is a rating; numbers, of
which Argilla has no question, are texts. What a response has no place for is the JSON in a text question,
``annotation-details``.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from annotations_app.domain.answer_files.decisions import (
    DETAILS,
    PLACE,
    FiledDecision,
    Notes,
    ReadDecision,
    group_by_reply,
    is_rating,
    name_choices,
    read_details,
)
from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.traces.formats.labels import find_fields, read_responses
from datasets_app.domain.traces.values import as_dict, as_name, pick

MAX_RATING = 10
AS_TEXT = "numbers are texts: Argilla has no question for them"
_USERS = uuid.UUID("5a0f6d0e-3f5c-4a56-9d7e-6b6f2f0c9a51")


def encode(decisions: Iterable[FiledDecision], notes: Notes) -> Iterator[bytes]:
    """Lines of records, as ``rg.Record.from_dict`` takes them."""
    for group in group_by_reply(decisions):
        # A record has one response of each user.
        rounds: dict[int, list[tuple[str, FiledDecision]]] = defaultdict(list)
        seen: dict[str, int] = defaultdict(int)
        for decision in group:
            user = str(uuid.uuid5(_USERS, decision.details.get("annotator") or ""))
            rounds[seen[user]].append((user, decision))
            seen[user] += 1
        for one in rounds.values():
            yield encode_line(_write_record(one, notes))


def _write_record(given: list[tuple[str, FiledDecision]], notes: Notes) -> dict[str, Any]:
    responses: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for user, decision in given:
        for criterion, value in decision.answers:
            notes[AS_TEXT] += criterion.kind == Kind.NUMBER
            responses[criterion.key].append({"value": _write_value(criterion, value), "user_id": user})
        details = encode_line(decision.details).decode().rstrip("\n")
        responses[DETAILS].append({"value": details, "user_id": user})
    first = given[0][1]
    return {
        "fields": {"text": first.text},
        "metadata": first.place,
        "suggestions": {},
        "responses": responses,
    }


def _write_value(criterion: Criterion, value: Any) -> Any:
    if criterion.kind == Kind.TEXT or is_rating(criterion, 0, MAX_RATING):
        return value
    if criterion.kind == Kind.NUMBER:
        return repr(value)
    names = name_choices(criterion, value)
    return names if criterion.kind == Kind.TAGS else names[0]


def read(record: Any) -> Iterator[ReadDecision]:
    record = as_dict(record)
    fields = find_fields(record)
    text = pick(fields, "text", "reply", "response", "answer", "output")
    facts = {**fields, **as_dict(record.get("metadata"))}
    place = {key: facts[key] for key in PLACE if facts.get(key) is not None}
    found: dict[str | None, dict[str, Any]] = defaultdict(dict)
    # The details first: everybody has some, so that people come in the order in which they were written.
    for label in sorted(read_responses(record), key=lambda label: label["question"] != DETAILS):
        found[as_name(label["annotator"]) or None][label["question"]] = label["value"]
    for user, answers in found.items():
        details = read_details(answers.pop(DETAILS, None)) or {**place, "annotator": user}
        yield ReadDecision(text if type(text) is str else "", answers, details)
