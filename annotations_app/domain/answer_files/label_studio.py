"""Label Studio: a task for each reply, with an annotation for each decision.

One of several and tags are ``choices``, a scale from 1 is a ``rating``; numbers and texts have their own
controls. What an annotation has no place for is the JSON in a text area, ``annotation-details``.
"""

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
from datasets_app.domain.traces.formats.label_studio import ANSWERS, find_annotator, read_annotation
from datasets_app.domain.traces.values import as_dict, as_list, as_name, pick

_TEXTS = ("text", "reply", "response", "answer", "output")
# What JSON_MIN says of an annotation beside its answers.
_OF_ANNOTATION = ("id", "annotation_id", "annotator", "created_at", "updated_at", "lead_time")


def encode(decisions: Iterable[FiledDecision], notes: Notes) -> Iterator[bytes]:
    yield b"[\n"
    for number, group in enumerate(group_by_reply(decisions)):
        first = group[0]
        task = {
            "data": {"text": first.text, **first.place},
            "annotations": [_write_annotation(decision) for decision in group],
        }
        yield (b",\n" if number else b"") + encode_line(task).rstrip(b"\n")
    yield b"\n]\n"


def _write_annotation(decision: FiledDecision) -> dict[str, Any]:
    details = decision.details
    results = [_write_result(criterion, value) for criterion, value in decision.answers]
    text = encode_line(details).decode().rstrip("\n")
    annotation: dict[str, Any] = {"result": [*results, _make_result(DETAILS, "textarea", "text", [text])]}
    # Label Studio refuses who isn't a member; it knows members by their addresses.
    if "@" in (details.get("annotator") or ""):
        annotation["completed_by"] = {"email": details["annotator"]}
    if "timestamp" in details:
        annotation["created_at"] = details["timestamp"]
    return annotation


def _write_result(criterion: Criterion, value: Any) -> dict[str, Any]:
    if criterion.kind == Kind.TEXT:
        return _make_result(criterion.key, "textarea", "text", [value])
    if criterion.kind == Kind.NUMBER:
        return _make_result(criterion.key, "number", "number", value)
    if is_rating(criterion, 1):
        return _make_result(criterion.key, "rating", "rating", value)
    return _make_result(criterion.key, "choices", "choices", name_choices(criterion, value))


def _make_result(name: str, kind: str, field: str, value: Any) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": "text", "type": kind, "value": {field: value}}


def read(task: Any) -> Iterator[ReadDecision]:
    task = as_dict(task)
    if "data" not in task:
        yield _read_row(task)
        return
    data, meta = as_dict(task.get("data")), as_dict(task.get("meta"))
    place = {key: found for key in PLACE if (found := data.get(key, meta.get(key))) is not None}
    text = pick(data, *_TEXTS)
    for annotation in map(as_dict, as_list(task.get("annotations")) or as_list(task.get("completions"))):
        if annotation.get("was_cancelled"):
            continue
        results = ((item["question"], item["value"]) for item in read_annotation(annotation))
        answers = {name: said for name, said in results if type(name) is str and said is not None}
        made = {"annotator": find_annotator(annotation), "timestamp": annotation.get("created_at")}
        details = read_details(answers.pop(DETAILS, None)) or {**place, **made}
        yield ReadDecision(text if type(text) is str else "", answers, details)


def _read_row(row: dict[str, Any]) -> ReadDecision:
    """An annotation in JSON_MIN, which has a key for each question: a schema says which these
    are."""
    facts = {key: item for key, item in row.items() if key not in _OF_ANNOTATION}
    cells = {key: _unwrap(item) for key, item in facts.items()}
    text = pick(cells, *_TEXTS)
    made = {"annotator": as_name(row.get("annotator")) or None, "timestamp": row.get("created_at")}
    details = {key: item for key, item in cells.items() if key not in _TEXTS} | made
    return ReadDecision(text if type(text) is str else "", {}, details)


def _unwrap(item: Any) -> Any:
    """``{"choices": […]}`` and ``[{"rating": 3}]`` → what was chosen."""
    inner = item[0] if type(item) is list and len(item) == 1 else item
    if type(inner) is dict:
        return next((inner[field] for field in ANSWERS if field in inner), item)
    return item
