"""Conversations as lists of messages: OpenAI, Anthropic, Gemini, LangChain, LlamaIndex, AI SDK,
pairs.

Also messages, and questions with their answers, one by one, joined by the id of their conversation; messages
without one are read as one conversation.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from datasets_app.domain.conversations.jsonl import make_field_error
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.conversations import (
    CONVERSATION_IDS,
    IDS,
    LISTS,
    are_alternating,
    find_list,
    has_preference,
    read_conversation,
    read_other,
    read_pair,
)
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.marked_texts import find_problem, read_text
from datasets_app.domain.traces.messages import (
    are_messages,
    find_node,
    find_role,
    find_time,
    read_message,
    read_messages,
    unwrap_message,
)
from datasets_app.domain.traces.pairs import find_pair, find_unasked, name_pairs
from datasets_app.domain.traces.records import NODE, Call, Conversation, Message, Remark
from datasets_app.domain.traces.rounded_ids import may_be_rounded
from datasets_app.domain.traces.table_columns import guess_columns
from datasets_app.domain.traces.turns import split_facts
from datasets_app.domain.traces.values import (
    as_dict,
    as_list,
    as_name,
    decode_json,
    is_boolean,
    pick,
)
from datasets_app.domain.wording import format_count

_RECORDS = tuple(
    "conversations chats data items sessions threads dialogues dialogs samples rows results records "
    "examples transcripts logs history entries".split()
)
# What pages of an API list under one key, of several conversations.
_PAGES = ("data", "items", "entries", "log", "events")
_UNNAMED = "{} without the ID of a conversation, while others of the file have one; give all of them one"


def matches(value: Any) -> bool:
    if type(value) is list:
        return are_messages(value)
    if type(value) is str:
        return read_text(value) is not None
    if type(value) is not dict:
        return False
    if find_list(value) is not None or _is_message(value) or find_pair(value) is not None:
        return True
    return bool(_find_store(value)) or bool(_list_records(value)) or read_other(value, "", 0) is not None


def read(
    documents: Iterable[Document], *, join_rows: bool = True
) -> Iterator[Conversation | Call | Remark | LineError]:
    """``join_rows`` puts questions and answers of one conversation together."""
    loose: list[Message] = []
    first, others = 0, False
    times: dict[str, float] = {}  # of the message before, behind which one without a time stays
    for number, value in _list_rows(documents):
        if type(value) is dict and _is_message(value) and find_list(value) is None:
            message = read_message(value)
            raw = _find_session(value)
            if is_boolean(raw) or (type(raw) in (dict, list) and raw and not as_name(raw)):
                yield LineError(
                    number, "E110", reasons.BOOLEAN_ID if is_boolean(raw) else reasons.UNREADABLE_ID
                )
                continue
            if may_be_rounded(raw):
                yield Remark(reasons.ROUNDED_IDS, number)
            if name := as_name(raw):
                others = True
                times[name] = message.details.get("timestamp") or times.get(name, float(number))
                yield Call(name, "", times[name], [], [message], {}, number, separate=True)
                continue
            first = first or number
            loose.append(message)
            continue
        others = True
        for name, messages in _find_store(value).items():
            yield Conversation(name, read_messages(messages), {}, number)
        if _find_store(value):
            continue
        if state := _read_state(value, number):
            yield state
            continue
        if records := _list_records(value):
            for record in records:
                yield read_conversation(record, number) or Remark(reasons.NO_MESSAGES, number)
            continue
        if join_rows and (exchange := _read_exchange(value, number)):
            yield exchange
            continue
        found = read_conversation(value, number)
        if found:
            yield from _remark_guesses(value, found, number)
        yield found or find_problem(value, number) or _find_missing(value, number)
    if loose and others:
        yield LineError(first, "E110", _UNNAMED.format(format_count(len(loose), "message")))
    elif loose:
        yield Remark(reasons.ONE_CONVERSATION, first, len(loose))
        yield Conversation("", loose, {}, first)


def read_answers(
    documents: Iterable[Document], mapping: Mapping[str, str]
) -> Iterator[Conversation | Call | Remark | LineError]:
    """Rows of which the mapping names the answer, and the question unless the answer holds it as well."""
    return read(Document(number, _name_answer(row, mapping)) for number, row in documents)


def _name_answer(row: dict[str, Any], mapping: Mapping[str, str]) -> dict[str, Any]:
    rest = dict(row)
    answer, question = (rest.pop(mapping.get(field, ""), None) for field in ("answer", "question"))
    answer = decode_json(str(answer) if type(answer) in (int, float) else answer)
    session = mapping.get("session_id") or next((key for key in IDS if as_name(rest.get(key))), "")
    named, key = rest.pop(session, None), "session_id"
    if session not in (mapping.get("session_id"), *CONVERSATION_IDS):
        key = "id"  # of the row
    if "question" in mapping:
        said = {"question": question, "answer": answer}
    else:
        said = {"messages" if type(answer) is list else "transcript": answer}
    return {key: named, **said, "metadata": rest}


def _list_rows(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents; of a page that lists questions with their answers, each that names its conversation."""
    for number, value in documents:
        key, rows = (find_list(value) if type(value) is dict else None) or ("", [])
        if key in _PAGES and any(_names_conversation(row) for row in rows) and not _names_conversation(value):
            yield from (Document(number, row) for row in rows)
        else:
            yield Document(number, value)


def _names_conversation(value: Any) -> bool:
    return bool(as_name(pick(value, *CONVERSATION_IDS))) and find_pair(value) is not None


def _find_missing(value: Any, line: int) -> LineError | Remark:
    """What a record without messages lacks, if it says something all the same."""
    value = as_dict(value)
    if unasked := find_unasked(value):
        one, two = unasked
        return make_field_error(one, f"the question that {two!r} answers", None).to_line_error(line, None)
    for key in LISTS:
        if type(value.get(key)) is str and value[key].strip():
            return make_field_error(key, "a list of messages", value[key]).to_line_error(line, None)
    return Remark(reasons.NO_MESSAGES, line)


def _count_unnamed(value: Any) -> int:
    """How many questions with an answer a page lists, none of which names its conversation."""
    if type(value) is not dict or as_name(pick(value, *IDS)):
        return 0
    key, rows = find_list(value) or ("", [])
    return len(rows) if key in _PAGES and len(rows) > 1 and are_alternating(rows) else 0


def _is_logged(value: Any) -> bool:
    """Whether this is a question with its answer from a log, whose conversation isn't named."""
    if type(value) is not dict or find_list(value) is not None or find_pair(value) is None:
        return False
    return bool(find_time(value)) and not _names_conversation(value)


def _read_exchange(value: Any, line: int) -> Call | None:
    """A question with its answer, which names its conversation: what each knows stays with its turn."""
    if not _names_conversation(value) or find_list(value) is not None or has_preference(value):
        return None
    messages, facts = read_pair(value, *(find_pair(value) or ("", "")))
    if [message.role for message in messages] != ["user", "assistant"]:
        return None
    question, answer = messages
    of_question, of_answer = split_facts(facts)
    time = find_time(value)
    if node := find_node(value):
        name, parent, order = node
        of_question[NODE], of_answer[NODE] = [f"{name} asked", parent, order], [name, f"{name} asked", order]
    said = [
        message._replace(details={**facts, "timestamp": time, **message.details})
        for message, facts in ((question, of_question), (answer, of_answer))
    ]
    name, start = as_name(pick(value, *CONVERSATION_IDS)), time or float(line)
    return Call(name, "", start, [], said, {}, line, separate=True)


def _find_session(value: dict[str, Any]) -> Any:
    """The id of the conversation of a message that stands alone, under any name that says so."""
    found = pick(value, *CONVERSATION_IDS)
    found = value.get(_guess_session_key(frozenset(value))) if found is None else found
    return found["id"] if type(found) is dict and "id" in found else found


@lru_cache(maxsize=256)
def _guess_session_key(keys: frozenset[str]) -> str:
    return guess_columns(sorted(keys)).get("session_id", "")


def _read_state(value: Any, line: int) -> Call | None:
    """A state of a LangGraph thread: of many, each longer than the one before, one conversation is made."""
    value = as_dict(value)
    state = as_dict(value.get("values")) or as_dict(value.get("channel_values"))
    config = as_dict(as_dict(value.get("config")).get("configurable"))
    name = as_name(pick(config, "thread_id") or pick(value, "thread_id"))
    if not name or not are_messages(state.get("messages")):
        return None
    messages = read_messages(state["messages"])
    return Call(name, "", float(len(messages)), messages, [], {}, line)


def _list_records(value: Any) -> list[Any]:
    """The conversations of an object that lists them, such as archived ones apart, or has each under its
    name."""
    value = as_dict(value)
    if find_list(value) is not None:
        return []
    lists = [as_list(decode_json(item)) for key, item in value.items() if key.lower().endswith(_RECORDS)]
    of_conversations = (found for found in lists if found and type(found[0]) is dict)
    if records := [one for found in of_conversations if read_conversation(found[0], 0) for one in found]:
        return records
    items = list(value.values())
    if items and all(type(item) is dict and find_list(item) is not None for item in items):
        return [{"id": name, **item} for name, item in value.items()]
    return []


def _remark_guesses(value: Any, found: Conversation, number: int) -> Iterator[Remark]:
    texts = [message.text for message in found.messages]
    if rows := _count_unnamed(value):
        yield Remark(reasons.ONE_CONVERSATION_OF_PAIRS, number, rows)
    elif len(texts) > 1 and any(as_dict(value).get(key) == texts for key in LISTS):
        yield Remark(reasons.READ_IN_TURN, number)
    elif _is_logged(value):
        yield Remark(reasons.EACH_A_CONVERSATION, number)


def _find_store(value: Any) -> dict[str, Any]:
    """{"conversation": [messages], …}: lists of messages by the id of their conversation."""
    value = as_dict(as_dict(value).get("chat_store")) or as_dict(value)
    store = as_dict(value.get("store"))
    if not store:
        store = {} if name_pairs(value) or any(key in LISTS for key in value) else value
    if not store:
        return {}
    return store if all(type(item) is list and are_messages(item) for item in store.values()) else {}


def _is_message(value: dict[str, Any]) -> bool:
    inner = unwrap_message(value)
    says = any(
        inner.get(key) is not None for key in ("content", "parts", "text", "value", "tool_calls", "blocks")
    )
    if find_role(inner) or find_role(value):
        return says or inner.get("type") in ("function_call", "reasoning")
    # The curator says what an unknown role is; a pair of a question and its answer has none.
    named = inner.get("role")
    return says and type(named) is str and bool(named.strip()) and find_pair(value) is None
