"""The content of a message, in the parts of any provider → text, tool calls, results, reasoning."""

import re
from typing import Any

import msgspec

from datasets_app.domain.traces.values import as_list, decode_json, drop_empty, pick

_TEXT = frozenset("text output_text input_text markdown summary_text refusal message_text".split())
_TOOL_CALLS = frozenset(
    "tool_use tool_call tool-call function_call functionCall server_tool_use toolUse mcp_tool_use "
    "toolCall custom_tool_call mcp_call computer_call web_search_call file_search_call "
    "code_interpreter_call image_generation_call shell_call local_shell_call".split()
)
_TOOL_RESULTS = frozenset(
    "tool_result tool_call_response tool-result function_response functionResponse toolResult "
    "function_call_output mcp_tool_result tool_response custom_tool_call_output tool_call_result "
    "computer_call_output shell_call_output local_shell_call_output".split()
)
_REASONING = frozenset(
    "thinking reasoning redacted_thinking reasoning_content reasoningContent thought".split()
)
# Parts of Amazon's and Google's APIs have no type, but one key.
_BEDROCK_KEYS = frozenset("text toolUse toolResult image document video reasoningContent cachePoint".split())
_SILENT = {"step-start", "source", "source-url", "source-document", "mcp_list_tools", "mcp_approval_request"}
_MEDIA = {"image": "[image]", "audio": "[audio]", "video": "[video]", "file": "[file]", "document": "[file]"}
_PYTHON_OBJECT = re.compile(r"\s*\[?(?:[A-Za-z_]\w*\.)*[A-Z]\w+\((?:[a-z_]\w*=.*)\)\]?\s*", re.DOTALL)
_PYTHON_CONTENT = re.compile(r"\b(?:content|text)=(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")", re.DOTALL)
# Texts that frameworks write where there is no answer.
_NO_TEXT = {"__end__", "None", "null"}


class Content:
    """What the parts of one message add up to; ``unread`` names those in a form that nobody knows. What a
    person wrote is text, whatever it looks like."""

    def __init__(self, *, by_person: bool = False) -> None:
        self.by_person = by_person
        self.texts: list[str] = []
        self.tool_calls: list[dict[str, Any]] = []
        self.tool_results: list[dict[str, Any]] = []
        self.reasoning: list[str] = []
        self.unread: list[str] = []

    @property
    def text(self) -> str:
        joined = ""
        for text in self.texts:
            if joined and text and not (joined[-1].isspace() or text[0].isspace() or text[0] in ".,;:!?)"):
                joined += "\n"
            joined += text
        return joined


def read_content(value: Any, content: Content) -> None:
    """Add ``value``, a text, a part or a list of them, to ``content``."""
    if type(value) is str:
        _read_text(value, content)
    elif type(value) is list:
        for part in value:
            decoded = decode_json(part)
            read_content(decoded if _are_parts([decoded]) else part, content)
    elif type(value) is dict:
        _read_part(value, content)
    elif type(value) in (int, float):
        content.texts.append(str(value))


def _read_text(text: str, content: Content) -> None:
    if text[:1] == "[" or text[:1] == "{":
        decoded = decode_json(text)
        if _are_parts(decoded):
            read_content(decoded, content)
            return
        if type(decoded) is dict and type(decoded.get("generations")) is list:
            read_content(_first_generation(decoded), content)
            return
    if content.by_person:
        content.texts.append(text)
        return
    if text.strip() in _NO_TEXT:
        return
    if _PYTHON_OBJECT.fullmatch(text):
        _read_python_object(text, content)
        return
    content.texts.append(text)


def _read_python_object(text: str, content: Content) -> None:
    """What Python prints for an object: of a message its content, of everything else nothing."""
    name = text.strip(" \n[").partition("(")[0].rpartition(".")[2]
    found = _PYTHON_CONTENT.search(text) if "Tool" not in name and "Call" not in name else None
    if found:
        spoken = found[1] if found[1] is not None else found[2]
        content.texts.append(spoken.replace("\\n", "\n").replace("\\'", "'").replace('\\"', '"'))
    else:
        content.tool_calls.append({"name": name, "arguments": text.strip()})


def _first_generation(value: dict[str, Any]) -> Any:
    first: Any = value["generations"]
    while type(first) is list and first:
        first = first[0]
    if type(first) is not dict:
        return ""
    message = first.get("message")
    if type(message) is dict:
        message = message.get("kwargs") or message
        return [first.get("text") or message.get("content") or "", *_name_calls(message.get("tool_calls"))]
    return first.get("text") or ""


def _name_calls(calls: Any) -> list[Any]:
    return [{**call, "type": "tool_call"} for call in as_list(calls) if type(call) is dict]


def _are_parts(value: Any) -> bool:
    if type(value) is not list or not value or not all(type(part) is dict and part for part in value):
        return False
    if all(type(part.get("type")) is str for part in value):
        return any(_is_known_part(part["type"]) for part in value)
    return all(_BEDROCK_KEYS.issuperset(part) for part in value)


def _is_known_part(kind: str) -> bool:
    return kind in _TEXT or kind in _TOOL_CALLS or kind in _TOOL_RESULTS or kind in _REASONING


def _read_part(part: dict[str, Any], content: Content) -> None:
    kind = part.get("type") or part.get("part_kind") or part.get("block_type") or part.get("content_type")
    if type(kind) is not str:
        kind = next((key for key in part if key in _TOOL_CALLS or key in _TOOL_RESULTS), "")
    if kind in _SILENT:
        return
    if kind in _TEXT:
        _read_text_part(part, content)
    elif kind in _REASONING or part.get("thought") is True:
        _add_reasoning(part, content)
    elif kind in _TOOL_CALLS or kind == "tool-invocation" or kind == "dynamic-tool" or kind[:5] == "tool-":
        _add_tool_call(part, kind, content)
    elif kind in _TOOL_RESULTS or kind.endswith("_tool_result"):
        _add_tool_result(part, content)
    elif placeholder := _find_placeholder(kind, part):
        content.texts.append(_find_transcript(kind, part) or placeholder)
    elif "message_content" in part:
        read_content(part["message_content"], content)
    else:
        text = pick(part, "text", "content", "value", "parts", "result", "html")
        if type(text) is str:
            content.texts.append(text)
        elif text is not None:
            read_content(text, content)
        elif part:
            content.unread += [] if _is_told_empty(part) else [kind or next(iter(part))]


def _is_told_empty(part: dict[str, Any]) -> bool:
    """Whether a part has a key for its text, in which nothing is."""
    return any(key in part for key in ("text", "content", "value", "parts", "result", "html"))


def _read_text_part(part: dict[str, Any], content: Content) -> None:
    text = pick(part, "text", "content", "refusal", "value")
    if type(text) is dict:  # OpenAI assistants: {"value": …, "annotations": […]}
        text = text.get("value")
    if type(text) is list:
        read_content(text, content)
    elif type(text) is str:
        _read_text(text, content)


def _find_placeholder(kind: str, part: dict[str, Any]) -> str:
    kind = kind.removeprefix("input_").removesuffix("_url").removesuffix("_asset_pointer")
    if kind in ("blob", "uri", "media") or "inline_data" in part or "inlineData" in part:
        data = pick(part, "inline_data", "inlineData") or part
        kind = str(pick(data, "mime_type", "mimeType", "modality", "media_type") or "file").partition("/")[0]
    if kind == "file" and str(part.get("mediaType", "")).startswith("image"):
        kind = "image"
    for name, placeholder in _MEDIA.items():
        if kind == name or kind.startswith(name) or (not kind and name in part):
            return placeholder
    return ""


def _find_transcript(kind: str, part: dict[str, Any]) -> str:
    """What is said in an audio part, if somebody has written it down."""
    holders = (part, *(part.get(key) for key in ("audio", "input_audio", "file")))
    found = [holder.get("transcript") for holder in holders if type(holder) is dict]
    found += [part.get("text")] if "transcri" in kind else []
    return next((text for text in found if type(text) is str and text.strip()), "")


def _add_reasoning(part: dict[str, Any], content: Content) -> None:
    found = pick(part, "thinking", "reasoning", "text", "content", "reasoningText", "summary", "thoughts")
    inner = Content()
    read_content(found, inner)
    if inner.text:
        content.reasoning.append(inner.text)


def _add_tool_call(part: dict[str, Any], kind: str, content: Content) -> None:
    inner = part.get("toolInvocation") or part.get("function") or part.get(kind)
    inner = inner if type(inner) is dict else part
    name = pick(inner, "name", "toolName", "tool_name") or part.get("name")
    if not name:
        name = kind.removeprefix("tool-") if kind[:5] == "tool-" else kind.removesuffix("_call")
    arguments = pick(inner, "arguments", "args", "input", "action", "parameters", "query")
    call_id = pick(part, "call_id", "id", "toolCallId", "tool_call_id") or pick(
        inner, "id", "toolUseId", "toolCallId", "tool_call_id"
    )
    content.tool_calls.append(drop_empty({"id": call_id, "name": name, "arguments": decode_json(arguments)}))
    result = pick(inner, "output", "result") if kind != "function_call" else None
    if result is not None:
        content.tool_results.append(drop_empty({"id": call_id, "content": result}))


def _add_tool_result(part: dict[str, Any], content: Content) -> None:
    inner = next((part[key] for key in _TOOL_RESULTS if type(part.get(key)) is dict), part)
    call_id = pick(inner, "tool_use_id", "tool_call_id", "toolCallId", "toolUseId", "call_id", "id")
    result = pick(inner, "content", "response", "result", "output", "text")
    content.tool_results.append(
        drop_empty({"id": call_id, "name": pick(inner, "name", "toolName"), "content": flatten_text(result)})
    )


def flatten_text(value: Any) -> Any:
    """The text of a value if it is nothing but texts, else the value."""
    if type(value) is str or value is None:
        return value
    inner = Content()
    if type(value) is list or (type(value) is dict and value.get("type") in _TEXT):
        read_content(value, inner)
        if inner.texts and not inner.tool_calls:
            return inner.text
    return value


def encode_text(value: Any) -> str:
    """A value as a text: itself, or its JSON."""
    return value if type(value) is str else msgspec.json.encode(value).decode()
