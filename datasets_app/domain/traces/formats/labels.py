"""Tools for labels: Label Studio, Argilla, doccano, Prodigy. Labels go with their question to the
conversation."""

from collections.abc import Iterable, Iterator
from typing import Any

from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.formats.messages import read_conversation
from datasets_app.domain.traces.formats.tickets import strip_html
from datasets_app.domain.traces.messages import are_messages, read_messages
from datasets_app.domain.traces.rebuild import list_spoken
from datasets_app.domain.traces.records import (
    CANCELED,
    NOT_CONVERSATIONS,
    Call,
    Conversation,
    LeftOut,
    Message,
)
from datasets_app.domain.traces.values import as_dict, as_list, as_name, decode_json, drop_empty, pick

Labels = list[dict[str, Any]]
_HTML_KEYS = ("dialogs", "dialog", "html", "conversation")


def _attach(
    value: Any, labels: Labels, name: str, facts: dict[str, Any], line: int
) -> Iterator[Conversation | LeftOut]:
    """The conversation that a labeled record holds, with its labels."""
    found = read_conversation(value, line) if type(value) in (dict, list) else None
    if found is None or not found.messages:
        yield LeftOut(NOT_CONVERSATIONS, line, max(1, len(labels)))
        return
    yield found._replace(id=found.id or name, facts={**found.facts, **drop_empty(facts)}, labels=labels)


# --- Label Studio ------------------------------------------------------------------------------


def matches_label_studio(value: Any) -> bool:
    if type(value) is not dict:
        return False
    if type(value.get("data")) is dict and any(
        key in value for key in ("annotations", "predictions", "completions", "id")
    ):
        return not any(key in value for key in ("type", "object", "trace", "role"))
    return "annotation_id" in value or ("lead_time" in value and "annotator" in value)


def read_label_studio(documents: Iterable[Document]) -> Iterator[Call | Conversation | LeftOut]:
    pieces = _Pieces()
    for number, value in documents:
        if not matches_label_studio(value):
            yield read_conversation(value, number) or LeftOut(NOT_CONVERSATIONS, number)
            continue
        labels: Labels = []
        for annotation in as_list(value.get("annotations")) or as_list(value.get("completions")):
            annotation = as_dict(annotation)
            if annotation.get("was_cancelled"):
                yield LeftOut(CANCELED, number)
            else:
                labels += _read_annotation(annotation)
        data = as_dict(value.get("data")) or value
        name = as_name(pick(value, "id"))
        facts = {"metadata": value.get("meta")}
        messages = _read_html(data)
        if messages:
            yield Conversation(name, messages, drop_empty(facts), number, separate=True, labels=labels)
            continue
        for found in _attach(_find_dialogue(data, _read_chat(value)), labels, name, facts, number):
            yield from pieces.join(_add_written_answer(found, data, labels, name))


class _Pieces:
    """Tasks about parts of one dialogue, each with all that was said until then, are one conversation."""

    def __init__(self) -> None:
        self.names: dict[tuple[tuple[str, str], ...], str] = {}

    def join(self, found: Conversation | LeftOut) -> Iterator[Call | Conversation | LeftOut]:
        if not isinstance(found, Conversation) or not found.id:
            yield found
            return
        spoken = list_spoken(found.messages)
        beginnings = [tuple(spoken[:size]) for size in range(2, len(spoken) + 1)]
        name = next((self.names[start] for start in reversed(beginnings) if start in self.names), found.id)
        for start in beginnings:
            self.names.setdefault(start, name)
        last = found.messages[-1]
        details = {**(last.details or {}), **({"labels": found.labels} if found.labels else {})}
        messages = [*found.messages[:-1], last._replace(details=details or None)]
        yield Call(name, "", float(len(spoken)), messages, [], found.facts, found.line)


def _read_chat(value: dict[str, Any]) -> list[Any]:
    """The messages of the tag <Chat>, which stand in the annotation."""
    annotations = as_list(value.get("annotations")) or as_list(value.get("predictions"))
    results = as_list(as_dict(next(iter(annotations), None)).get("result"))
    values = [as_dict(as_dict(item).get("value")) for item in results]
    return [found["chatmessage"] for found in values if type(found.get("chatmessage")) is dict]


def _add_written_answer(
    found: Conversation | LeftOut, data: dict[str, Any], labels: Labels, name: str
) -> Conversation | LeftOut:
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


def _find_dialogue(data: dict[str, Any], spoken: list[Any] | None = None) -> Any:
    """The list of messages of a task under any key, or the task itself; ``spoken`` goes on with it."""
    if spoken:
        before: list[Any] = next(
            (decode_json(item) for item in data.values() if are_messages(decode_json(item))), []
        )
        return {"messages": [*before, *spoken]}
    for item in data.values():
        item = decode_json(item)
        if type(item) is list and item and read_conversation({"messages": item}, 0):
            return {**data, "messages": item}
    return data


def _read_annotation(annotation: dict[str, Any]) -> Labels:
    by = annotation.get("completed_by")
    by = pick(by, "email", "username", "id") if type(by) is dict else by
    labels = []
    for item in map(as_dict, as_list(annotation.get("result"))):
        value = as_dict(item.get("value"))
        answer = next(
            (
                value[key]
                for key in ("choices", "rating", "text", "taxonomy", "number", "labels")
                if key in value
            ),
            None,
        )
        if answer is None:
            answer = value.get(str(item.get("type")))
        answer = answer[0] if type(answer) is list and len(answer) == 1 else answer
        labels.append(
            drop_empty(
                {
                    "question": item.get("from_name"),
                    "value": answer,
                    "annotator": as_name(by) if type(by) in (int, str) else None,
                    "about": item.get("to_name"),
                    "place": value.get("start"),
                    "timestamp": annotation.get("created_at"),
                }
            )
        )
    return labels


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


# --- Argilla -----------------------------------------------------------------------------------


def matches_argilla(value: Any) -> bool:
    if type(value) is not dict:
        return False
    if type(value.get("fields")) is dict and any(
        key in value for key in ("responses", "suggestions", "metadata", "status")
    ):
        return True
    return any(key.endswith((".responses", ".responses.users", ".suggestion")) for key in value)


def read_argilla(documents: Iterable[Document]) -> Iterator[Conversation | LeftOut]:
    for number, value in documents:
        if not matches_argilla(value):
            yield LeftOut(NOT_CONVERSATIONS, number)
            continue
        fields = value["fields"] if type(value.get("fields")) is dict else _flat_fields(value)
        discarded = [
            item for item in as_list(value.get("responses")) if as_dict(item).get("status") == "discarded"
        ]
        if discarded:
            yield LeftOut(CANCELED, number, len(discarded))
        facts = {"metadata": value.get("metadata")}
        yield from _attach(
            _find_dialogue(fields),
            _read_responses(value),
            as_name(pick(value, "id", "external_id", "_server_id")),
            facts,
            number,
        )


def _flat_fields(value: dict[str, Any]) -> dict[str, Any]:
    return {
        key: item
        for key, item in value.items()
        if "." not in key and key not in ("id", "status", "_server_id")
    }


def _read_responses(value: dict[str, Any]) -> Labels:
    labels: Labels = []
    responses = value.get("responses")
    if type(responses) is dict:  # version 2: {"question": [{"value": …, "user_id": …}]}
        for question, answers in responses.items():
            labels += [_make_label(question, as_dict(answer)) for answer in as_list(answers)]
    for response in map(as_dict, as_list(responses)):
        if response.get("status") not in ("discarded", "draft"):
            for question, answer in as_dict(response.get("values")).items():
                labels.append(_make_label(question, {"user_id": response.get("user_id"), **as_dict(answer)}))
    for key, answers in value.items():  # exported to the Hugging Face hub: one column each
        question, _, kind = key.partition(".")
        if kind == "responses":
            users = as_list(value.get(f"{question}.responses.users"))
            for place, answer in enumerate(as_list(answers)):
                labels.append(
                    _make_label(
                        question, {"value": answer, "user_id": users[place] if place < len(users) else None}
                    )
                )
    return labels


def _make_label(question: str, answer: dict[str, Any]) -> dict[str, Any]:
    return drop_empty(
        {"question": question, "value": answer.get("value"), "annotator": answer.get("user_id")}
    )


# --- doccano and Prodigy -----------------------------------------------------------------------


def matches_doccano(value: Any) -> bool:
    if type(value) is not dict or not (type(value.get("text")) is str or type(value.get("data")) is str):
        return False
    return (
        any(type(value.get(key)) is list for key in ("label", "labels", "cats", "annotations", "entities"))
        and "role" not in value
    )


def read_doccano(documents: Iterable[Document]) -> Iterator[Conversation | LeftOut]:
    for number, value in documents:
        value = as_dict(value)
        found: Any = next(
            (value[key] for key in ("label", "labels", "cats", "annotations") if value.get(key)), []
        )
        labels = [
            drop_empty(
                {
                    "question": "label",
                    "value": pick(item, "label", "text") if type(item) is dict else item,
                    "annotator": as_name(pick(item, "user")) or None,
                }  # fmt: skip
            )
            for item in as_list(found)
        ]
        yield from _attach_text(value.get("text") or value.get("data"), labels, value, number)


def matches_prodigy(value: Any) -> bool:
    return type(value) is dict and ("_task_hash" in value or "_input_hash" in value or (
        value.get("answer") in ("accept", "reject", "ignore") and "text" in value))  # fmt: skip


def read_prodigy(documents: Iterable[Document]) -> Iterator[Conversation | LeftOut]:
    for number, value in documents:
        value = as_dict(value)
        answer = value.get("answer")
        if answer == "ignore":
            yield LeftOut(CANCELED, number)
            continue
        label = (
            value.get("label")
            or value.get("accept")
            or [as_dict(span).get("label") for span in as_list(value.get("spans"))]
        )
        annotator = as_name(pick(value, "_annotator_id", "_session_id")) or None
        labels = [
            drop_empty(
                {"question": "label", "value": item, "applies": answer != "reject", "annotator": annotator}
            )
            for item in (label if type(label) is list else [label])
            if item
        ]
        yield from _attach_text(value.get("text"), labels, value, number)


def _attach_text(
    text: Any, labels: Labels, value: dict[str, Any], number: int
) -> Iterator[Conversation | LeftOut]:
    """A text that is a transcript ("user: …"), or a record that has messages beside it."""
    messages = read_messages(text) if type(text) is str else []
    name = as_name(pick(value, "id", "_task_hash"))
    if len(messages) > 1:
        yield Conversation(name, messages, drop_empty({"metadata": value.get("meta")}), number, labels=labels)
    else:
        rest = {key: item for key, item in value.items() if key not in ("text", "label", "labels", "data")}
        yield from _attach(rest, labels, name, {}, number)
