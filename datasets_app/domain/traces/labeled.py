"""Records of label tools: the conversation or the text that is labeled, with its labels."""

from collections.abc import Iterator
from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.conversations import read_conversation
from datasets_app.domain.traces.messages import are_messages
from datasets_app.domain.traces.records import Call, Conversation, LabeledText, Message, Remark
from datasets_app.domain.traces.values import as_dict, decode_json, drop_empty

Labels = list[dict[str, Any]]
Labeled = Call | Conversation | LabeledText | Remark
TEXTS = "text reply response answer output completion message content body data".split()
_PLACE = ("session_id", "turn_index", "persona_id")


def make_label(question: Any, value: Any, **more: Any) -> dict[str, Any]:
    """Without what isn't known of it."""
    return drop_empty({"question": question, "value": value, **more})


def attach_labels(
    value: Any, labels: Labels, name: str, facts: dict[str, Any], line: int, *beside: Any
) -> Iterator[Conversation | LabeledText | Remark]:
    """The conversation or text of a labeled record; ``beside`` are objects that may name its place."""
    found = read_conversation(value, line) if type(value) in (dict, list) else None
    if found is not None and found.messages:
        found = found._replace(id=found.id or name, facts={**found.facts, **drop_empty(facts)}, labels=labels)
        yield _place_labels(found, as_dict(value).get("messages"))
    else:
        yield make_text(value, labels, line, *beside)


def make_text(value: Any, labels: Labels, line: int, *beside: Any) -> LabeledText | Remark:
    value = as_dict(value)
    text = next((value[key] for key in TEXTS if type(value.get(key)) is str and value[key].strip()), "")
    if not text or not labels:
        return Remark(reasons.UNLABELED, line)
    objects = [value, *map(as_dict, beside)]
    place = {key: next((item[key] for item in objects if item.get(key)), None) for key in _PLACE}
    return LabeledText(text, labels, drop_empty(place), line)


def find_dialogue(data: dict[str, Any], spoken: list[Any] | None = None) -> Any:
    """The list of messages of a task under any key, or the task itself; ``spoken`` goes on with it."""
    if spoken:
        before: list[Any] = next(
            (decode_json(item) for item in data.values() if are_messages(decode_json(item))), []
        )
        return {"messages": [*before, *spoken]}
    for key, item in data.items():
        item = decode_json(item)
        if type(item) is list and item and read_conversation({"messages": item}, 0):
            return {**{name: value for name, value in data.items() if name != key}, "messages": item}
    return data


def hold_labels(found: Conversation) -> Conversation:
    """The labels at the message that they are about: the last reply."""
    if not found.labels or not found.messages:
        return found
    answers = [place for place, message in enumerate(found.messages) if message.role == "assistant"]
    messages = list(found.messages)
    _add(messages, answers[-1] if answers else len(messages) - 1, found.labels)
    return found._replace(messages=messages, labels=[])


def join_by_id(found: Labeled) -> Labeled:
    """As a call, so that records of several annotators about one conversation become one."""
    if not isinstance(found, Conversation) or not found.id:
        return found
    held = hold_labels(found)
    return Call(found.id, "", 0.0, held.messages, [], found.facts, found.line, separate=found.separate)


def _place_labels(found: Conversation, listed: Any) -> Conversation:
    """Labels of one paragraph of a dialogue at its message."""
    if type(listed) is not list or len(listed) != len(found.messages):
        return found
    messages, left = list(found.messages), []
    for label in found.labels:
        place = label.get("place")
        if type(place) is str and place.isdecimal() and int(place) < len(messages):
            _add(messages, int(place), [label])
        else:
            left.append(label)
    return found._replace(messages=messages, labels=left)


def _add(messages: list[Message], place: int, labels: Labels) -> None:
    details = messages[place].details
    known = details.get("labels", [])
    messages[place] = messages[place]._replace(details={**details, "labels": [*known, *labels]})
