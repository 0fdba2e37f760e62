"""What went into a model or an application, and what came out, as messages, whatever its shape."""

from typing import Any

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.messages import (
    are_messages,
    find_role,
    mark_cut,
    read_messages,
    unwrap_message,
)
from datasets_app.domain.traces.records import Message, Span, leave_out
from datasets_app.domain.traces.values import as_list, decode_cut, decode_json, pick

_MESSAGE_LISTS = tuple(
    "messages input_messages contents chat_messages conversation conversations new_messages "
    "chat_history_messages llm.input_messages input.messages output_messages dialog dialogue turns".split()
)
HISTORIES = ("chat_history", "history", "previous_messages", "conversation_history")
_QUESTIONS = tuple(
    "input prompt prompts question query user_input user_message task text user_query human_input "
    "user_prompt instruction request message content inputs inputText str goal".split()
)
_ANSWERS = tuple(
    "output output_text answer response completion final_output generated_text generation reply result "
    "text content message messages final_answer return_value outputText completions generations outputs "
    "data str assistant value".split()
)
_SYSTEM = tuple(
    "system instructions system_instruction systemInstruction system_instructions systemPrompt "
    "system_prompt gen_ai.system_instructions".split()
)
MAX_DEPTH = 6


def make_span(kind: str, given: Any, produced: Any, **known: Any) -> Span:
    """A step with its input and output as a tool stores them; what tools and searches say isn't read."""
    if kind in ("tool", "aside"):
        return Span(kind=kind, **known)
    said, explicit = read_input(given)
    return Span(kind=kind, input=said, output=read_output(produced)[0], explicit=explicit, **known)


def read_input(value: Any, depth: int = 0) -> tuple[list[Message], bool]:
    """(messages, whether they stood there with their roles)."""
    value, is_cut = decode_cut(value)
    if is_cut:
        found, explicit = read_input(value, depth + 1)
        return mark_cut(found, "user"), explicit
    if type(value) is str:
        found = read_messages(value, "user")
        return found, len(found) > 1
    if type(value) is list:
        return read_messages(value, "user"), are_messages(value)
    if type(value) is not dict or depth > MAX_DEPTH:
        return [], False
    system = _read_system(value)
    for key in _MESSAGE_LISTS:
        found_list, is_cut = decode_cut(value.get(key))
        if is_cut or (
            type(found_list) is list
            and found_list
            and (are_messages(found_list) or key in ("messages", "contents"))
        ):
            return system + read_messages(value[key], "user"), are_messages(found_list)
    if _is_message(value):
        return system + read_messages(value), True
    history: Any = next((value[key] for key in HISTORIES if are_messages(decode_cut(value.get(key))[0])), [])
    for key in filter(value.get, _QUESTIONS):
        found, explicit = read_input(value[key], depth + 1)
        if found:
            return system + read_messages(history) + found, explicit or bool(history)
    for key in ("kwargs", "args"):
        found, explicit = read_input(value.get(key), depth + 1)
        if found:
            return system + found, explicit
    return [], False


def read_output(value: Any, depth: int = 0) -> tuple[list[Message], bool]:
    value, is_cut = decode_cut(value)
    if is_cut:
        found, explicit = read_output(value, depth + 1)
        return mark_cut(found, "assistant"), explicit
    if type(value) is str:
        return read_messages(value, "assistant"), False
    if type(value) is list:
        if (
            value
            and all(type(item) is dict and item.get("type") for item in value)
            and not are_messages(value)
        ):
            return read_messages({"role": "assistant", "content": value}), True
        return read_messages(value, "assistant"), are_messages(value)
    if type(value) is not dict or depth > MAX_DEPTH:
        return [], False
    for key in ("choices", "candidates", "generations"):
        choices = _list_choices(decode_json(value.get(key)))
        if choices:
            return [leave_out(reasons.OTHER_BRANCHES)] * (len(choices) - 1) + _read_choice(choices[0]), True
    if value.get("object") == "response" or (type(value.get("output")) is list and "model" in value):
        return read_messages(value.get("output"), "assistant"), True
    if "stopReason" in value and type(value.get("output")) is dict:
        return read_output(value["output"], depth + 1)
    for key in ("messages", "output_messages"):
        if are_messages(decode_cut(value.get(key))[0]):
            return read_messages(value[key], "assistant"), True
    if _is_message(value) or _has_tool_calls(value):
        return read_messages(value, "assistant"), True
    for key in filter(value.get, _ANSWERS):
        found, explicit = read_output(value[key], depth + 1)
        if found:
            return found, explicit
    return [], False


def _read_choice(choice: dict[str, Any]) -> list[Message]:
    message = choice.get("message") or choice.get("delta") or choice.get("content")
    if type(message) is dict:
        if type(message.get("kwargs")) is dict or type(message.get("data")) is dict:
            message = unwrap_message(message)
        found = read_messages({**message, "role": find_role(message) or "assistant"})
        if found and (found[0].text or found[0].details):
            return found
    if type(message) is str and message:
        return read_messages({"role": "assistant", "content": message})
    text = pick(choice, "text", "output")
    return [Message("assistant", text)] if type(text) is str else []


def _list_choices(value: Any) -> list[dict[str, Any]]:
    """The answers that a model gave at once, in a list or in lists of lists."""
    if type(value) is dict:
        return [value]
    return [choice for item in as_list(value) for choice in _list_choices(item)]


def _has_tool_calls(value: dict[str, Any]) -> bool:
    return bool(as_list(value.get("tool_calls"))) or bool(as_list(value.get("toolCalls")))


def _is_message(value: dict[str, Any]) -> bool:
    inner = unwrap_message(value)
    return bool(find_role(inner)) and any(
        key in inner for key in ("content", "parts", "text", "value", "blocks")
    )


def _read_system(value: dict[str, Any]) -> list[Message]:
    for place in (value, value.get("config"), value.get("kwargs")):
        found = pick(place, *_SYSTEM)
        if found is not None:
            found = decode_json(found)
            if type(found) is dict and "parts" in found:
                found = found["parts"]
            return read_messages({"role": "system", "content": found})
    return []
