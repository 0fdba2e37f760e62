"""Tools for labels: Argilla, doccano, Prodigy. Labels go with their question to the conversation."""

from collections.abc import Iterable, Iterator
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.labeled import (
    Labeled,
    Labels,
    attach_labels,
    find_dialogue,
    join_by_id,
    make_label,
    make_text,
)
from datasets_app.domain.traces.messages import read_messages
from datasets_app.domain.traces.records import Conversation, Remark
from datasets_app.domain.traces.values import as_dict, as_list, as_name, drop_empty, pick

# --- Argilla -----------------------------------------------------------------------------------


def matches_argilla(value: Any) -> bool:
    if type(value) is not dict:
        return False
    if type(value.get("fields")) is dict and any(
        key in value for key in ("responses", "suggestions", "metadata", "status")
    ):
        return True
    return any(key.endswith((".responses", ".responses.users", ".suggestion")) for key in value)


def read_argilla(documents: Iterable[Document]) -> Iterator[Labeled]:
    for number, value in documents:
        if not matches_argilla(value):
            yield Remark(reasons.NOT_CONVERSATIONS, number)
            continue
        fields = find_fields(value)
        discarded = [
            item for item in as_list(value.get("responses")) if as_dict(item).get("status") == "discarded"
        ]
        yield Remark(reasons.CANCELED, number, len(discarded))
        facts = {"metadata": value.get("metadata")}
        yield from attach_labels(
            find_dialogue(fields),
            list(map(drop_empty, read_responses(value))),
            as_name(pick(value, "id", "external_id", "_server_id")),
            facts,
            number,
            value.get("metadata"),
        )


def find_fields(value: dict[str, Any]) -> dict[str, Any]:
    """Those of a record; exported to the Hugging Face hub, they are columns like the answers."""
    if type(fields := value.get("fields")) is dict:
        return fields
    return {
        key: item
        for key, item in value.items()
        if "." not in key and key not in ("id", "status", "_server_id")
    }


def read_responses(value: dict[str, Any]) -> Labels:
    """What people have submitted."""
    labels: Labels = []
    responses = value.get("responses")
    if type(responses) is dict:  # version 2: {"question": [{"value": …, "user_id": …}]}
        for question, answers in responses.items():
            labels += [
                _make_label(question, answer)
                for answer in map(as_dict, as_list(answers))
                if answer.get("status") not in ("discarded", "draft")
            ]
    for response in map(as_dict, as_list(responses)):
        if response.get("status") not in ("discarded", "draft"):
            for question, answer in as_dict(response.get("values")).items():
                labels.append(_make_label(question, {"user_id": response.get("user_id"), **as_dict(answer)}))
    for key, answers in value.items():  # exported to the Hugging Face hub: one column each
        question, _, kind = key.partition(".")
        if kind == "responses":
            users = as_list(value.get(f"{question}.responses.users"))
            states = as_list(value.get(f"{question}.responses.status"))
            for place, answer in enumerate(as_list(answers)):
                if place >= len(states) or states[place] not in ("discarded", "draft"):
                    user = users[place] if place < len(users) else None
                    labels.append(_make_label(question, {"value": answer, "user_id": user}))
    return labels


def _make_label(question: str, answer: dict[str, Any]) -> dict[str, Any]:
    return {"question": question, "value": answer.get("value"), "annotator": answer.get("user_id")}


# --- doccano and Prodigy -----------------------------------------------------------------------


def matches_doccano(value: Any) -> bool:
    if type(value) is not dict or not (type(value.get("text")) is str or type(value.get("data")) is str):
        return False
    return (
        any(type(value.get(key)) is list for key in ("label", "labels", "cats", "annotations", "entities"))
        and "role" not in value
    )


def read_doccano(documents: Iterable[Document]) -> Iterator[Labeled]:
    for number, value in documents:
        value = as_dict(value)
        found: Any = next(
            (value[key] for key in ("label", "labels", "cats", "annotations") if value.get(key)), []
        )
        labels = [
            _make_doccano_label(item, as_name(pick(value, "username", "user", "annotator")))
            for item in as_list(found)
        ]
        yield from _attach_text(value.get("text") or value.get("data"), labels, value, number)


def _make_doccano_label(item: Any, annotator: str) -> dict[str, Any]:
    """Numbers are ids of labels, which only the project's own list explains."""
    value = pick(item, "label", "text") if type(item) is dict else item
    question = "label id" if type(value) is int else "label"
    by = as_name(pick(item, "user")) or annotator or None
    return make_label(question, value, annotator=by)


def matches_prodigy(value: Any) -> bool:
    return type(value) is dict and ("_task_hash" in value or "_input_hash" in value or (
        value.get("answer") in ("accept", "reject", "ignore") and "text" in value))  # fmt: skip


def read_prodigy(documents: Iterable[Document]) -> Iterator[Labeled]:
    for number, value in documents:
        value = as_dict(value)
        answer = value.get("answer")
        if answer == "ignore":
            yield Remark(reasons.CANCELED, number)
            continue
        label = (
            value.get("label")
            or value.get("accept")
            or [as_dict(span).get("label") for span in as_list(value.get("spans"))]
        )
        annotator = as_name(pick(value, "_annotator_id", "_session_id")) or None
        labels = [
            make_label("label", item, applies=answer != "reject", annotator=annotator)
            for item in (label if type(label) is list else [label])
            if item
        ] or [make_label("answer", answer, annotator=annotator)]
        yield from _attach_text(value.get("text"), labels, value, number)


def _attach_text(text: Any, labels: Labels, value: dict[str, Any], number: int) -> Iterator[Labeled]:
    """A text that is a transcript ("user: …"), or a record that has messages beside it."""
    messages = read_messages(text) if type(text) is str else []
    meta = as_dict(value.get("meta"))
    name = as_name(pick(meta, "session_id") or pick(value, "session_id", "id", "_input_hash", "_task_hash"))
    if len(messages) > 1:
        facts = drop_empty({"metadata": meta})
        yield join_by_id(Conversation(name, messages, facts, number, labels=labels))
    else:
        rest = {key: item for key, item in value.items() if key not in ("text", "label", "labels", "data")}
        for found in attach_labels(rest, labels, name, {}, number):
            yield (
                join_by_id(found)
                if isinstance(found, Conversation)
                else make_text(value, labels, number, meta)
            )
