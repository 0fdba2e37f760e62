"""Attributes of a span, of any convention → its kind, its messages, what is known of it.

Sources: OpenTelemetry's semantic conventions for generative AI (messages as attributes since 1.37, as events
before), OpenLLMetry (gen_ai.prompt.N), OpenInference, Vercel's AI SDK, Google ADK, Langfuse, MLflow.
"""

import re
from typing import Any

from datasets_app.domain.traces.exchanges import read_input, read_output
from datasets_app.domain.traces.messages import has_text, read_messages
from datasets_app.domain.traces.records import Message
from datasets_app.domain.traces.values import as_dict, as_list, as_name, decode_json, drop_empty, pick

KINDS = {
    "llm": "model", "chat": "model", "generate_content": "model", "text_completion": "model", "completion":
    "model",
    "generation": "model", "chat_model": "model", "responses": "model", "messages": "model",
    "agent": "agent", "invoke_agent": "agent", "invoke_workflow": "agent",
    "tool": "tool", "execute_tool": "tool",
    "embedding": "aside", "embeddings": "aside", "retriever": "aside", "reranker": "aside", "guardrail":
    "aside",
    "evaluator": "aside", "rerank": "aside", "create_agent": "aside", "agent_handoff": "aside", "parser":
    "aside",
    "chain": "other", "workflow": "other", "task": "other", "span": "other", "event": "aside",
}  # fmt: skip
_KIND_KEYS = tuple(
    "openinference.span.kind gen_ai.operation.name gen_ai.span.kind traceloop.span.kind "
    "langfuse.observation.type langsmith.span.kind mlflow.spanType llm.request.type "
    "aws.genai.span_kind".split()
)
_CONVERSATION_KEYS = tuple(
    "gen_ai.conversation.id session.id langfuse.session.id gcp.vertex.agent.session_id "
    "mlflow.trace.session gen_ai.session.id thread_id conversation_id conversation.id session_id".split()
)
_ID_NAMES = tuple(
    "session_id thread_id conversation_id chat_id sessionId threadId conversationId chatId".split()
)
_ID_PREFIXES = ("traceloop.association.properties.", "ai.telemetry.metadata.", "langsmith.metadata.",
                "metadata.",
                "langfuse.trace.metadata.")  # fmt: skip
_FACTS = {
    "model": ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.response.model",
              "ai.model.id",
              "llm.response.model", "llm.request.model", "langfuse.observation.model.name"),
    "provider": ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider"),
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
                     "ai.usage.inputTokens", "ai.usage.promptTokens", "llm.usage.prompt_tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens",
                      "llm.token_count.completion",
                      "ai.usage.outputTokens", "ai.usage.completionTokens", "llm.usage.completion_tokens"),
    "cost": ("gen_ai.usage.cost", "llm.cost.total", "gen_ai.usage.total_cost"),
    "finish_reason": ("gen_ai.response.finish_reasons", "ai.response.finishReason",
                      "gen_ai.completion.0.finish_reason",
                      "llm.response.finish_reason"),
    "temperature": ("gen_ai.request.temperature", "ai.settings.temperature", "llm.temperature"),
}  # fmt: skip
_USER_KEYS = tuple(
    "user.id enduser.id langfuse.user.id ai.telemetry.metadata.userId user_id "
    "traceloop.association.properties.user_id gen_ai.user.id mlflow.trace.user".split()
)
# All of these, by rank.
_ALL_CONVERSATION_KEYS = {
    key: rank
    for rank, key in enumerate(
        [*_CONVERSATION_KEYS, *(prefix + name for prefix in _ID_PREFIXES for name in _ID_NAMES)]
    )
}
# What :func:`find_conversation` reads.
CONVERSATION_ATTRIBUTES = frozenset([*_ALL_CONVERSATION_KEYS, "metadata"])
_MESSAGE_KEYS = tuple(
    "gen_ai. llm. ai. input output events gcp. langfuse. traceloop.entity mlflow. request_data response_data "
    "pydantic_ai all_messages final_result".split()
)
# What telemetry says of itself, and the messages.
_NOT_KEPT = re.compile(
    r"(gen_ai|llm|input|output|ai|openinference|http|https|url|net|network|server|rpc|otel|telemetry|tool|code|process"
    r"|thread|aws|PlatformType|internal|span|event|events|operation|resource|message|messages|gcp|langfuse"
    r"|exception|db|peer|mlflow|logfire|all_messages|pydantic_ai|final_result|graph|agent|request_data"
    r"|response_data|traceloop\.(span|entity|workflow)|langsmith\.(span|trace)|embedding|retrieval|service|metadata"
    r"|session|prompt|completion|system_instructions|async|deployment|error|scope)(\..*|_.*)?"
)
_EVENT_NAME = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message|gen_ai\.choice")
_INDEXED = re.compile(
    r"(llm\.input_messages|llm\.output_messages|gen_ai\.prompt|gen_ai\.completion|llm\.prompts|llm\.choices|llm\.completions"
    r"|gen_ai\.input\.messages|gen_ai\.output\.messages|ai\.prompt\.messages)\.(\d+\..+|\d+)"
)
MAX_KEPT_CHARACTERS = 4000
MAX_INDEX = 10_000

Messages = tuple[list[Message], list[Message], bool]
Exchange = tuple[list[Message], list[Message]]


def flatten_attributes(value: Any, prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """{"llm": {"model_name": …}} → {"llm.model_name": …}; what is flat stays so, lists stay lists."""
    flat: dict[str, Any] = {}
    for key, item in value.items():
        if type(item) is dict and item and depth < 6 and set(item) != {"values"}:
            flat[f"{prefix}{key}"] = item
            flat |= flatten_attributes(item, f"{prefix}{key}.", depth + 1)
        else:
            flat[f"{prefix}{key}"] = item
    return flat


def find_kind(attributes: dict[str, Any]) -> str:
    """model, agent, tool, aside (embeddings and such), other; empty if nothing says."""
    operation = attributes.get("ai.operationId") or attributes.get("operation.name")
    if type(operation) is str and operation.startswith("ai."):
        return "tool" if "toolCall" in operation else "aside" if "embed" in operation else "model"
    for key in _KIND_KEYS:
        kind = attributes.get(key)
        if type(kind) is str and kind.lower() in KINDS:
            return KINDS[kind.lower()]
    return ""


def read_span_messages(attributes: dict[str, Any], events: list[dict[str, Any]]) -> Messages:
    """(input, output, whether they stood there as messages), from the best place that has any."""
    if not events and not any(key.startswith(_MESSAGE_KEYS) for key in attributes):
        return [], [], False
    indexed = _collect_indexed(attributes)
    merged = {**attributes, **indexed} if indexed else attributes
    for reader in (_read_conventions, _read_event_details, _read_message_events, _read_indexed, _read_sdk):
        given, produced = reader(merged, events)
        if given or produced:
            given, produced = _complete(given, produced, merged)
            return _add_instructions(given, merged), produced, True
    return _read_values(merged)


def _complete(given: list[Message], produced: list[Message], attributes: dict[str, Any]) -> Exchange:
    """What only the span's value says: the question, and which of several texts is the answer."""
    answers = [message for message in produced if message.role == "assistant" and message.text.strip()]
    if has_text(given, "user") and len(answers) < 2:
        return given, produced
    value_given, value_produced, _ = _read_values(attributes)
    if not has_text(given, "user"):
        given = value_given or given
    if len(answers) > 1 and len(value_produced) == 1 and value_produced[0].text == answers[-1].text:
        produced = [message if message is answers[-1] else message._replace(text="") for message in produced]
    return given, produced


def _read_conventions(attributes: dict[str, Any], events: list[dict[str, Any]]) -> Exchange:
    return (
        read_messages(attributes.get("gen_ai.input.messages"), "user"),
        read_messages(attributes.get("gen_ai.output.messages"), "assistant"),
    )


def _read_event_details(attributes: dict[str, Any], events: list[dict[str, Any]]) -> Exchange:
    for event in events:
        for place in (event, as_dict(event.get("body"))):
            given = read_messages(place.get("gen_ai.input.messages"), "user")
            produced = read_messages(place.get("gen_ai.output.messages"), "assistant")
            if given or produced:
                return _add_instructions(given, place), produced
            given, produced = read_input(place.get("input"))[0], read_output(place.get("output"))[0]
            if (given or produced) and type(place.get("input")) is dict:
                return _unfold(given, "user"), _unfold(produced, "assistant")
    return [], []


def _unfold(messages: list[Message], role: str) -> list[Message]:
    """Messages whose text is itself the JSON of messages."""
    found: list[Message] = []
    for message in messages:
        value = decode_json(message.text)
        if type(value) is dict and ("messages" in value or "type" in value):
            if "remaining_steps" in value:  # the state that LangGraph passes between its own steps
                continue
            inner = read_input(value)[0] if role == "user" else read_output(value)[0]
            found += inner
        else:
            found.append(message)
    return found


def _read_message_events(attributes: dict[str, Any], events: list[dict[str, Any]]) -> Exchange:
    given: list[Message] = []
    produced: list[Message] = []
    for event in [*events, *as_list(decode_json(attributes.get("events")))]:
        if type(event) is not dict:
            continue
        name = pick(event, "event.name", "name", "event_name")
        places = (event.get("body"), event.get("gen_ai.event.content"), event.get("attributes"))
        body = next((found for place in places if (found := as_dict(decode_json(place)))), {})
        if name == "gen_ai.content.prompt":
            given += read_messages(event.get("gen_ai.prompt"), "user")
        elif name == "gen_ai.content.completion":
            produced += read_messages(event.get("gen_ai.completion"), "assistant")
        elif type(name) is str and _EVENT_NAME.fullmatch(name):
            value = {**event, **body, "event.name": name}
            if name == "gen_ai.choice":
                value.setdefault("role", "assistant")
                produced += read_output(value)[0]
            else:
                given += read_messages(value)
    return given, produced


def _read_indexed(attributes: dict[str, Any], events: list[dict[str, Any]]) -> Exchange:
    for given_key, produced_key in (
        ("gen_ai.prompt", "gen_ai.completion"),
        ("llm.input_messages", "llm.output_messages"),
    ):
        given = read_input(_nest_keys(attributes.get(given_key)))[0]
        produced = read_output(_nest_keys(attributes.get(produced_key)))[0]
        if given or produced:
            return given, produced
    given = read_messages(_texts(attributes.get("llm.prompts"), "prompt"), "user")
    completions = attributes.get("llm.choices") or attributes.get("llm.completions")
    return given, read_messages(_texts(completions, "completion"), "assistant")


def _texts(value: Any, key: str) -> list[Any]:
    found = []
    for item in value if type(value) is list else [value] if value else []:
        inner = as_dict(item).get(key, item)
        found.append(pick(inner, "text", "content") if type(inner) is dict else inner)
    return [item for item in found if type(item) is str]


def _read_sdk(attributes: dict[str, Any], events: list[dict[str, Any]]) -> Exchange:
    """Vercel's AI SDK and Google's ADK."""
    given = read_input(attributes.get("ai.prompt.messages"))[0] or read_input(attributes.get("ai.prompt"))[0]
    text = pick(attributes, "ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")
    calls = decode_json(pick(attributes, "ai.response.toolCalls", "ai.result.toolCalls"))
    if given or text:
        value = drop_empty({"role": "assistant", "content": text, "tool_calls": calls})
        reasoning = attributes.get("ai.response.reasoning")
        if type(reasoning) is str:
            value["reasoning"] = reasoning
        return given, read_messages(value) if text or calls else []
    request = decode_json(attributes.get("gcp.vertex.agent.llm_request"))
    if type(request) is dict and request:
        return read_input(request)[0], read_output(attributes.get("gcp.vertex.agent.llm_response"))[0]
    return [], []


def _read_values(attributes: dict[str, Any]) -> Messages:
    for given_key, produced_key in (
        ("input.value", "output.value"),
        ("langfuse.observation.input", "langfuse.observation.output"),
        ("traceloop.entity.input", "traceloop.entity.output"),
        ("mlflow.spanInputs", "mlflow.spanOutputs"),
        ("request_data", "response_data"),
        ("langfuse.trace.input", "langfuse.trace.output"),
        ("input", "output"),
        ("pydantic_ai.all_messages", "final_result"),
        ("all_messages_events", "final_result"),
    ):
        if given_key not in attributes and produced_key not in attributes:
            continue
        given, explicit = read_input(attributes.get(given_key))
        produced, _ = read_output(attributes.get(produced_key))
        if given or produced:
            return given, produced, explicit
    return [], [], False


def _add_instructions(given: list[Message], attributes: dict[str, Any]) -> list[Message]:
    found = attributes.get("gen_ai.system_instructions")
    if not found or any(message.role == "system" for message in given):
        return given
    return read_messages({"role": "system", "content": decode_json(found)}) + given


def _collect_indexed(attributes: dict[str, Any]) -> dict[str, Any]:
    """ "llm.input_messages.0.message.role" and its like → lists of nested values, by prefix."""
    trees: dict[str, Any] = {}
    for key, value in attributes.items():
        match = _INDEXED.fullmatch(key)
        if match:
            place = trees.setdefault(match[1], {})
            *path, last = match[2].split(".")
            for step in path:
                inner = place.get(step)
                if type(inner) is not dict:
                    inner = place[step] = {}
                place = inner
            place[last] = value
    return {prefix: _make_lists(tree) for prefix, tree in trees.items()}


def _nest_keys(value: Any) -> Any:
    """[{"message.role": …}] → [{"message": {"role": …}}], as data frames of spans have it."""
    if type(value) is list:
        return [_nest_keys(item) for item in value]
    if type(value) is not dict:
        return value
    nested: dict[str, Any] = {}
    for key, item in value.items():
        start, dot, rest = key.partition(".")
        if dot and type(nested.setdefault(start, {})) is dict:
            nested[start][rest] = item
        else:
            nested[key] = _nest_keys(item)
    return {key: _nest_keys(item) if type(item) is dict else item for key, item in nested.items()}


def _make_lists(value: Any) -> Any:
    if type(value) is not dict:
        return value
    if value and all(key.isdigit() and int(key) < MAX_INDEX for key in value):
        return [_make_lists(value[key]) for key in sorted(value, key=int)]
    return {key: _make_lists(item) for key, item in value.items()}


def find_conversation(attributes: dict[str, Any]) -> str:
    """The id of the conversation that a span belongs to; empty if it names none."""
    named = attributes.keys() & _ALL_CONVERSATION_KEYS.keys()
    for key in sorted(named, key=_ALL_CONVERSATION_KEYS.__getitem__):
        if name := as_name(attributes[key]):
            return name
    if "metadata" not in attributes:
        return ""
    metadata = as_dict(decode_json(attributes["metadata"]))
    return as_name(pick(metadata, *_ID_NAMES))


def describe_reply(attributes: dict[str, Any]) -> dict[str, Any]:
    """Metadata of the reply: model, tokens, finish reason."""
    found = {name: pick(attributes, *keys) for name, keys in _FACTS.items()}
    reason = decode_json(found["finish_reason"])
    if type(reason) is dict and "values" in reason:
        reason = reason["values"]
    reason = reason[0] if type(reason) is list and reason else reason
    found["finish_reason"] = pick(reason, "stringValue") if type(reason) is dict else reason
    return drop_empty(found)


def describe_conversation(attributes: dict[str, Any]) -> dict[str, Any]:
    """Metadata of the conversation: who, tags, the application's own attributes."""
    metadata = dict(as_dict(decode_json(attributes.get("metadata"))))
    for key, value in attributes.items():
        if type(value) in (dict, list) and not (type(value) is list and len(value) < 20):
            continue
        prefix = next((prefix for prefix in _ID_PREFIXES if key.startswith(prefix)), None)
        if prefix:
            metadata[key.removeprefix(prefix)] = value
        elif not _NOT_KEPT.fullmatch(key) and (type(value) is not str or len(value) <= MAX_KEPT_CHARACTERS):
            metadata[key] = value
    tags = decode_json(pick(attributes, "tag.tags", "langfuse.trace.tags", "langsmith.span.tags"))
    facts = {"user_id": pick(attributes, *_USER_KEYS), "tags": tags, "metadata": metadata}
    return drop_empty(facts)
