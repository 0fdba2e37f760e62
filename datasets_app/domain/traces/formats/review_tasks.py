"""Tasks of Alignmenter's `review-export`: the conversations that people are to judge.

A task is one reply and one criterion, and brings the conversation up to the reply. What a machine said of it
stays behind: people judge without having seen it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.records import Conversation, Message, Remark
from datasets_app.domain.traces.table_rows import TURN_TAGS
from datasets_app.domain.traces.values import as_dict, as_list, as_name, decode_json

# The tag of replies that a criterion asks about, and where their metadata has the key of the task.
TAG_PREFIX = "review:"
REVIEW_KEYS = "review_keys"
_FIELDS = {"review_key", "criterion", "input", "annotation"}


class ReviewTask(NamedTuple):
    """``messages`` are (role, text), the reply to judge last; [] if there is none."""

    review_key: str
    criterion: str
    session_id: str
    messages: list[tuple[str, str]]
    tags: list[str]
    split_group: str


def matches(value: Any) -> bool:
    return type(value) is dict and value.keys() >= _FIELDS and type(value["input"]) is dict


def read_task(value: dict[str, Any]) -> ReviewTask:
    asked = as_dict(value["input"])
    stream = as_name(asked.get("stream"))
    suffix = "" if stream in ("", "primary") else f"-{stream}"
    return ReviewTask(
        as_name(value["review_key"]),
        as_name(as_dict(value["criterion"]).get("id")),
        as_name(asked.get("session_id")) + suffix,
        _read_messages(asked),
        [tag for tag in as_list(asked.get("tags")) if type(tag) is str],
        as_name(asked.get("split_group")),
    )


def find_key(metadata: Any, criterion: str) -> str:
    """The key of the task that asks about a reply with this metadata, which may say anything; "" without
    one."""
    key = as_dict(as_dict(metadata).get(REVIEW_KEYS)).get(criterion)
    return key if type(key) is str else ""


def read(documents: Iterable[Document]) -> Iterator[Conversation | Remark]:
    """A conversation for each session: the longest of its tasks has all that the others have."""
    sessions: dict[str, list[tuple[int, ReviewTask]]] = {}
    for number, value in documents:
        task = read_task(value) if matches(value) else None
        if task is None or not task.messages:
            yield Remark(reasons.NO_CONVERSATION, number)
            continue
        sessions.setdefault(task.session_id, []).append((number, task))
    for session_id, tasks in sessions.items():
        longest = max((task for _, task in tasks), key=lambda task: len(task.messages))
        details: dict[int, dict[str, Any]] = {}
        for _, task in tasks:
            reply = details.setdefault(len(task.messages) - 1, {REVIEW_KEYS: {}, TURN_TAGS: []})
            reply[REVIEW_KEYS][task.criterion] = task.review_key
            tags = [*task.tags, f"{TAG_PREFIX}{task.criterion}"]
            reply[TURN_TAGS] = list(dict.fromkeys([*reply[TURN_TAGS], *tags]))
        messages = [
            Message(role, text, details.get(place, {})) for place, (role, text) in enumerate(longest.messages)
        ]
        yield Conversation(session_id, messages, {"split_group": longest.split_group}, tasks[0][0])


def _read_messages(asked: dict[str, Any]) -> list[tuple[str, str]]:
    """Where it lies depends on how the machine judged: in its prompt, its payload, or its evidence."""
    prompt = as_dict(asked.get("request")).get("prompt")
    said = as_dict(decode_json(prompt)) or as_dict(asked.get("payload"))
    messages = [
        (as_name(message.get("role")), _read_text(message.get("content")))
        for message in map(as_dict, as_list(said.get("conversation")))
    ]
    data = as_dict(asked.get("data"))
    if not messages and data:
        messages = [("user", _read_text(data.get("question"))), ("assistant", _read_text(data.get("answer")))]
    return messages if messages and messages[-1][0] == "assistant" else []


def _read_text(value: Any) -> str:
    return value if type(value) is str else ""
