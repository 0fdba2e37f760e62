"""Label Studio: tasks with annotations (JSON), or one row for each annotation (JSON_MIN, CSV)."""

from collections.abc import Iterable, Iterator
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.conversations import read_conversation
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.html_text import strip_html
from datasets_app.domain.traces.label_rules import MAX_VALUE_CHARACTERS
from datasets_app.domain.traces.labeled import (
    TEXTS,
    Labels,
    attach_labels,
    find_dialogue,
    hold_labels,
    make_label,
)
from datasets_app.domain.traces.pairs import find_pair
from datasets_app.domain.traces.rebuild import list_spoken
from datasets_app.domain.traces.records import Call, Conversation, LabeledText, Message, Remark
from datasets_app.domain.traces.values import as_dict, as_list, as_name, decode_json, drop_empty, pick

_HTML_KEYS = ("dialogs", "dialog", "html", "conversation")
# Where a result has its answer.
ANSWERS = ("choices", "rating", "text", "taxonomy", "number", "labels")
# What JSON_MIN writes after the answers.
_OF_ANNOTATION = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")


def matches(value: Any) -> bool:
    if type(value) is not dict:
        return False
    if type(value.get("data")) is dict and any(
        key in value for key in ("annotations", "predictions", "completions", "id")
    ):
        return not any(key in value for key in ("type", "object", "trace", "role"))
    return "annotation_id" in value or ("lead_time" in value and "annotator" in value)


def read(documents: Iterable[Document]) -> Iterator[Call | Conversation | LabeledText | Remark]:
    pieces = _Pieces()
    for number, value in documents:
        if not matches(value):
            yield read_conversation(value, number) or Remark(reasons.NOT_CONVERSATIONS, number)
            continue
        labels: Labels = []
        for annotation in as_list(value.get("annotations")) or as_list(value.get("completions")):
            annotation = as_dict(annotation)
            if annotation.get("was_cancelled"):
                yield Remark(reasons.CANCELED, number)
            else:
                labels += map(drop_empty, read_annotation(annotation))
        data = as_dict(value.get("data"))
        if not data:
            data, labels = _read_row(value)
        name = as_name(pick(value, "id"))
        facts = {"metadata": value.get("meta")}
        messages = _read_html(data)
        if messages:
            yield Conversation(name, messages, facts, number, separate=True, labels=labels)
            continue
        dialogue = find_dialogue(data, _read_chat(value))
        for found in attach_labels(dialogue, labels, name, facts, number, value.get("meta"), data):
            yield from pieces.join(_add_written_answer(found, data, labels, name), own="session_id" in data)


def _read_row(value: dict[str, Any]) -> tuple[dict[str, Any], Labels]:
    """(data, labels) of a row of JSON_MIN: the answers stand between the task's id and the annotator, unless
    a table has sorted its columns."""
    keys = list(value)
    start = keys.index("id") + 1 if "id" in value else 0
    end = min((keys.index(key) for key in _OF_ANNOTATION if key in value), default=len(keys))
    texts = {"id", "session_id", *TEXTS, *_OF_ANNOTATION, *(find_pair(value) or ())}
    labels: Labels = []
    by = as_name(value.get("annotator")) or None
    for key in keys[start:end] or keys:
        if key in texts:
            continue
        answer = decode_json(value[key])
        answer = as_dict(answer).get("choices", answer)
        answers = [
            as_dict(item).get("rating", item) for item in (answer if type(answer) is list else [answer])
        ]
        if not all(type(item) in (int, float) or _is_short(item) for item in answers):
            continue
        labels += [make_label(key, item, annotator=by, timestamp=value.get("created_at")) for item in answers]
    asked = {label["question"] for label in labels if "value" in label}
    data = {key: item for key, item in value.items() if key not in asked and key not in _OF_ANNOTATION}
    return data, [label for label in labels if "value" in label]


def _is_short(answer: Any) -> bool:
    return type(answer) is str and len(answer) <= MAX_VALUE_CHARACTERS


class _Pieces:
    """Tasks about parts of one dialogue, each with all that was said until then, are one conversation."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}

    def join(
        self, found: Conversation | LabeledText | Remark, *, own: bool
    ) -> Iterator[Call | Conversation | LabeledText | Remark]:
        """``own``: the conversation has an id of its own, not only that of a task."""
        if not isinstance(found, Conversation) or not found.id:
            yield found
            return
        spoken = list_spoken(found.messages)
        beginnings = [hash(tuple(spoken[:size])) for size in range(2, len(spoken) + 1)]
        name = next((self.names[start] for start in reversed(beginnings) if start in self.names), found.id)
        for start in beginnings:
            self.names.setdefault(start, name)
        messages = hold_labels(found).messages
        name = found.id if own else name
        yield Call(name, "", float(len(spoken)), messages, [], found.facts, found.line, separate=own)


def _read_chat(value: dict[str, Any]) -> list[Any]:
    """The messages of the tag <Chat>, which stand in the annotation."""
    annotations = as_list(value.get("annotations")) or as_list(value.get("predictions"))
    results = as_list(as_dict(next(iter(annotations), None)).get("result"))
    values = [as_dict(as_dict(item).get("value")) for item in results]
    return [found["chatmessage"] for found in values if type(found.get("chatmessage")) is dict]


def _add_written_answer(
    found: Conversation | LabeledText | Remark, data: dict[str, Any], labels: Labels, name: str
) -> Conversation | LabeledText | Remark:
    """The record with the answer that an annotator wrote, if it has none."""
    written = _read_written_answer(labels)
    if not written:
        return found
    if isinstance(found, Conversation):
        answered = any(message.role == "assistant" for message in found.messages)
        return found if answered else found._replace(messages=[*found.messages, *written])
    question = pick(data, "prompt", "question", "text", "input")
    given = [Message("user", question)] if type(question) is str else []
    return Conversation(name, [*given, *written], {}, found.line, labels=labels)


def read_annotation(annotation: dict[str, Any]) -> Labels:
    labels: Labels = []
    for item in map(as_dict, as_list(annotation.get("result"))):
        value = as_dict(item.get("value"))
        answer = next((value[key] for key in (*ANSWERS, str(item.get("type"))) if key in value), None)
        labels.append(
            {
                "question": item.get("from_name"),
                "value": answer[0] if type(answer) is list and len(answer) == 1 else answer,
                "annotator": find_annotator(annotation),
                "about": item.get("to_name"),
                "place": value.get("start"),
                "timestamp": annotation.get("created_at"),
            }
        )
    return labels


def find_annotator(annotation: dict[str, Any]) -> str | None:
    by = annotation.get("completed_by")
    return as_name(pick(by, "email", "username", "id") if type(by) is dict else by) or None


def _read_written_answer(labels: Labels) -> list[Message]:
    for label in labels:
        if (
            label.get("question") in ("answer", "response", "completion", "reply", "instruction")
            and type(label.get("value")) is str
        ):
            return [Message("assistant", label["value"])]
    return []


def _read_html(data: dict[str, Any]) -> list[Message]:
    """A dialogue drawn as HTML, one box for each message, the person's on the right."""
    for key in _HTML_KEYS:
        value = data.get(key)
        if type(value) is str and "<div" in value:
            messages = []
            for box in value.split("<div")[1:]:
                text = strip_html(f"<div{box}")
                if text:
                    side = box.partition(">")[0]
                    messages.append(Message("user" if "left" in side else "assistant", text))
            return messages
    return []
