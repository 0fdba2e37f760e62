"""The formats that are converted, in the order in which a file is tried against them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.assemble import Record
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.formats import (
    agent_logs,
    calls,
    chat_apps,
    label_studio,
    labels,
    langfuse,
    langsmith,
    messages,
    messengers,
    observations,
    otlp,
    platforms,
    review_tasks,
    tickets,
    whatsapp,
)
from datasets_app.domain.traces.records import Remark

Reader = Callable[..., Iterator[Record]]


class Format(NamedTuple):
    """``label`` is shown to people."""

    name: str
    label: str
    matches: Callable[[Any], bool]
    read: Reader


def _each(read_document: Callable[[Any, int], Iterator[Record]]) -> Reader:
    """A reader of documents that each stand alone; one of which nothing is made is counted."""

    def read(documents: Iterable[Document]) -> Iterator[Record]:
        for number, value in documents:
            found = False
            for record in read_document(value, number):
                found = True
                yield record
            if not found:
                yield Remark(reasons.NO_MESSAGES, number)

    return read


_FORMATS = (
    Format("otel", "OpenTelemetry traces", otlp.matches, _each(otlp.read)),
    Format("openinference", "OpenInference traces (Phoenix)", otlp.matches, _each(otlp.read)),
    Format("langsmith", "LangSmith runs", langsmith.matches, _each(langsmith.read)),
    Format("langfuse", "Langfuse traces", langfuse.matches, _each(langfuse.read)),
    Format(
        "observations",
        "Calls of Weave, Braintrust, Opik, Datadog, PostHog, Bedrock or promptfoo",
        observations.matches,
        observations.read,
    ),
    Format("chatgpt", "ChatGPT export", chat_apps.matches_chatgpt, _each(chat_apps.read_chatgpt)),
    Format("openwebui", "Open WebUI export", chat_apps.matches_open_webui, _each(chat_apps.read_open_webui)),
    Format("librechat", "LibreChat export", chat_apps.matches_librechat, _each(chat_apps.read_librechat)),
    Format("claude", "Claude export", chat_apps.matches_claude, _each(chat_apps.read_claude)),
    Format(
        "chats",
        "AI Studio, Gemini, LM Studio, TypingMind or Chatbox export",
        chat_apps.matches_chats,
        _each(chat_apps.read_chats),
    ),
    Format("review", "Review tasks of Alignmenter", review_tasks.matches, review_tasks.read),
    Format("inspect", "Inspect evaluation log", agent_logs.matches_inspect, _each(agent_logs.read_inspect)),
    Format("telegram", "Telegram export", messengers.matches_telegram, _each(messengers.read_telegram)),
    Format(
        "messenger",
        "Messenger, Slack or Discord export",
        messengers.matches_messenger,
        messengers.read_messenger,
    ),
    Format("agentlog", "Log of Claude Code, an agent SDK or Codex", agent_logs.matches, agent_logs.read),
    Format("intercom", "Intercom conversations", tickets.matches_intercom, _each(tickets.read_intercom)),
    Format("zendesk", "Zendesk tickets", tickets.matches_zendesk, _each(tickets.read_zendesk)),
    Format("freshdesk", "Freshdesk tickets", tickets.matches_freshdesk, _each(tickets.read_freshdesk)),
    Format("platforms", "Messages of a help desk or bot platform", platforms.matches, platforms.read),
    Format("argilla", "Argilla records", labels.matches_argilla, labels.read_argilla),
    Format("prodigy", "Prodigy annotations", labels.matches_prodigy, labels.read_prodigy),
    Format("labelstudio", "Label Studio tasks", label_studio.matches, label_studio.read),
    Format("calls", "Calls of OpenAI, Anthropic or compatible APIs", calls.matches, calls.read),
    Format("doccano", "doccano records", labels.matches_doccano, labels.read_doccano),
    Format("messages", "Lists of messages", messages.matches, messages.read),
)
FORMATS = {item.name: item for item in _FORMATS}
# Of text that isn't JSON: ``matches`` gets its beginning, ``read`` its lines with their numbers, and the
# order of day and month, if a mapping states it.
_TEXT_FORMATS = (Format("whatsapp", "WhatsApp export", whatsapp.matches, whatsapp.read),)
TEXT_FORMATS = {item.name: item for item in _TEXT_FORMATS}
# Other names that people know a format by.
ALIASES = {
    "anthropic": "calls",
    "openai-calls": "calls",
    "vercel": "messages",
    "langchain": "messages",
    "jaeger": "otel",
}


def recognize(documents: Iterable[Document]) -> Format | None:
    """The format of the first document that any format knows."""
    for _, value in documents:
        for item in _FORMATS:
            if _matches(item, value):
                if item.name == "otel" and otlp.is_openinference(value):
                    return FORMATS["openinference"]
                return item
    return None


def recognize_text(head: str) -> Format | None:
    """The format of a text file that begins like this."""
    return next((item for item in _TEXT_FORMATS if item.matches(head)), None)


def _matches(item: Format, value: Any) -> bool:
    try:
        return item.matches(value)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError):
        return False  # whatever it is, it is not what this format looks like
