"""doccano: a record for each decision; its labels are ``criterion: answer``.

Numbers, texts and an empty choice of tags can't be labels of its text classification. They are with what else
a record has no place for in the metadata, which doccano keeps.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from annotations_app.domain.answer_files.decisions import (
    PLACE,
    FiledDecision,
    Notes,
    ReadDecision,
    name_choices,
)
from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.domain.traces.values import as_dict, as_list, as_name, pick

_SEPARATOR = ": "
NO_LABEL = "numbers, texts and empty choices of tags are metadata: doccano has no labels for them"


def encode(decisions: Iterable[FiledDecision], notes: Notes) -> Iterator[bytes]:
    for decision in decisions:
        labels, others = [], {}
        for criterion, value in decision.answers:
            if not criterion.levels or value == []:
                others[criterion.key] = value
                notes[NO_LABEL] += 1
                continue
            labels += [criterion.key + _SEPARATOR + name for name in name_choices(criterion, value)]
        details = decision.details
        record = {"text": decision.text, "label": labels, "annotation": details}
        if details.get("annotator"):
            record["username"] = details["annotator"]
        yield encode_line({**record, "answers": others} if others else record)


def read(record: Any) -> Iterator[ReadDecision]:
    record = as_dict(record)
    answers: dict[str, Any] = {}
    for label in as_list(pick(record, "label", "labels", "cats")):
        if type(label) is str and _SEPARATOR in label:
            question, _, answer = label.partition(_SEPARATOR)
            answers.setdefault(question, []).append(answer)
        elif type(label) is str:
            # A project about one question: its labels are the answers.
            answers.setdefault("label", []).append(label)
    answers |= as_dict(record.get("answers"))
    objects = [record, as_dict(record.get("meta")), as_dict(record.get("metadata"))]
    place = {key: next((one[key] for one in objects if key in one), None) for key in PLACE}
    made = {**place, "annotator": as_name(pick(record, "username", "user", "annotator")) or None}
    details = as_dict(record.get("annotation")) or made
    text = pick(record, "text", "data")
    yield ReadDecision(text if type(text) is str else "", answers, details)
