"""Prodigy: a task for each answer, of the interface ``choice`` or ``text_input``; the rest is ``meta``."""

from collections.abc import Iterable, Iterator
from typing import Any

from annotations_app.domain.answer_files.decisions import FiledDecision, Notes, ReadDecision, name_choices
from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.traces.values import as_dict, as_name, pick

# What a task says an answer is to.
QUESTION = "criterion"
_INPUT = "user_input"


def encode(decisions: Iterable[FiledDecision], notes: Notes) -> Iterator[bytes]:
    for decision in decisions:
        details = decision.details
        for criterion, value in decision.answers:
            task = {
                "text": decision.text,
                **_write_answer(criterion, value),
                "answer": "accept",
                "meta": {QUESTION: criterion.key, **details},
            }
            if details.get("annotator"):
                task["_annotator_id"] = details["annotator"]
            yield encode_line(task)


def _write_answer(criterion: Criterion, value: Any) -> dict[str, Any]:
    if not criterion.levels:
        text = value if criterion.kind == Kind.TEXT else repr(value)
        return {_INPUT: text, "_view_id": "text_input"}
    return {
        "options": [{"id": str(level.value), "text": level.name} for level in criterion.levels],
        "accept": name_choices(criterion, value),
        "config": {"choice_style": "multiple" if criterion.kind == Kind.TAGS else "single"},
        "_view_id": "choice",
    }


def read(task: Any) -> Iterator[ReadDecision]:
    task = as_dict(task)
    if task.get("answer") not in (None, "accept"):
        return
    details = dict(as_dict(task.get("meta")))
    question = details.pop(QUESTION, "label")
    answer = next((task[key] for key in ("accept", _INPUT, "label") if key in task), None)
    if "annotator" not in details:
        details["annotator"] = as_name(pick(task, "_annotator_id", "_session_id")) or None
    text = task.get("text")
    if answer is not None:
        yield ReadDecision(text if type(text) is str else "", {str(question): answer}, details)
