"""What exports call those who speak, and what isn't speech: one table for every reader."""

import re
from collections.abc import Container, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

USER, ASSISTANT, SYSTEM, TOOL, TOOL_CALL, NOTE = "user", "assistant", "system", "tool", "tool-call", "note"
# A role that is none of these: it is counted, and somebody has to say what it is.
UNKNOWN = "unknown"
_WORDS = {
    USER: """user human human_message human_message_chunk prompter customer client end_user contact visitor
    guest
        person lead requester consumer caller shopper patient student""",
    ASSISTANT: """assistant ai ai_message ai_message_chunk model bot gpt chatgpt agent chatbot chat_bot
    assistant_agent
        bard claude gemini llm operator business admin teammate staff representative advisor support output
        virtual_assistant support_agent""",
    SYSTEM: "system developer system_message instructions system_prompt developer_message",
    TOOL: """tool tools function tool_message function_message tool_response tool_result tool_results
    tool_responses
        tool_output tool_outputs tool_call_result tool_call_response tool_call_output observation ipython
        environment
        function_response function_responses function_result function_results function_output
        function_call_output
        function_call_result function_return tool_return api api_response api_result execution_output
        code_output
        code_execution_result code_interpreter_output retriever retrieval search_result search_results
        mcp_tool_result""",
    TOOL_CALL: """tool_call tool_calls function_call function_calls tool_use action api_call tool_invocation
    code_interpreter
        code_execution mcp_tool_use tool_request function_request""",
    NOTE: """note notes internal internal_note internal_notes private_note private_notes private
    internal_comment
        private_comment agent_note staff_note note_and_reopen whisper""",
}
ROLES = {word: role for role, words in _WORDS.items() for word in words.split()}
ROLES |= {word.replace("_", ""): role for word, role in ROLES.items()}


@lru_cache(maxsize=4096)
def find_role(word: str) -> str:
    """One of the roles above, in any spelling (toolResult, tool-result, "Tool Result"); empty if it is
    none."""
    return ROLES.get(_join(word.lower())) or ROLES.get(_split_words(word), "")


def _join(word: str) -> str:
    return re.sub(r"[\W_]+", "_", word).strip("_")


@lru_cache(maxsize=4096)
def _split_words(word: str) -> str:
    """ "isDeleted", "is-deleted" and "Is Deleted" → is_deleted."""
    return _join(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word.strip()).lower())


# A message that was deleted, or never sent. (One that is redacted has been masked, and was said.)
WITHDRAWN = "withdrawn"
_TRUE, _FALSE = frozenset("true 1 1.0 yes y t".split()), frozenset("false 0 0.0 no n f".split())
_UNSET = _FALSE | {"", "none", "null", "nan", "undefined"}
# What a message has beside its text that says who may see it: (keys, what they say of one that isn't speech).
_FLAGS = {
    **dict.fromkeys(
        "private is_private internal is_internal is_note internal_note private_note".split(), _TRUE
    ),
    **dict.fromkeys("public is_public visible_to_customer customer_visible".split(), _FALSE),
}
_KINDS = frozenset("visibility type part_type message_type comment_type event_type kind privacy".split())
_AMONG_AGENTS = frozenset("agents agents_only agent_only staff_only internal_only".split())
_WITHDRAWALS = frozenset(
    "deleted is_deleted removed is_removed unsent is_unsent retracted is_retracted revoked is_revoked "
    "recalled is_recalled draft is_draft".split()
)
_STATES = frozenset("status state message_status".split())
_WITHDRAWN_AT = frozenset("deleted_at deleted_on deleted_date_time deletion_time removed_at".split())


def find_withheld(message: Mapping[str, Any], but: Container[str] = ()) -> str:
    """Why a message isn't part of the conversation, by its flags: NOTE, WITHDRAWN, or "".
    Keys in ``but`` mean something else."""
    for key, value in message.items():
        name = _split_words(key)
        if key in but:
            continue
        if name in _WITHDRAWN_AT and value and str(value).strip().lower() not in _UNSET:
            return WITHDRAWN
        if type(value) not in (str, bool, int, float):
            continue
        said = str(value).strip().lower()
        if said in _FLAGS.get(name, ()):
            return NOTE
        if name in _KINDS and (_join(said) in _AMONG_AGENTS or find_role(said) == NOTE):
            return NOTE
        if (name in _WITHDRAWALS and said in _TRUE) or (name in _STATES and said in _WITHDRAWALS):
            return WITHDRAWN
    return ""


# Models write calls and results into their text, between tags: <tool_call>, <|tool_call|>, <functioncall>.
# They begin a line; what has no end goes on to the end of the text, if it is JSON.
_TAGGED = re.compile(
    r"^[ \t]*<\|?((?:tool|function)_?(?:call|use|response|result|output)s?)\|?>"
    r"(?:(.*?)<\|?/\1\|?>|(\s*[\[{].*?)(?:<\|endoftext\|>|\Z))[ \t]*\n?",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


class Tagged(NamedTuple):
    """A text without what stands between tags of tools."""

    text: str
    calls: list[str]
    results: list[str]


def split_tool_tags(text: str) -> Tagged:
    if "<" not in text:
        return Tagged(text, [], [])
    found: dict[str, list[str]] = {TOOL_CALL: [], TOOL: []}

    def take(match: re.Match[str]) -> str:
        if text.count("```", 0, match.start()) % 2:  # an example within code
            return match[0]
        found[find_role(match[1])].append((match[2] or match[3] or "").strip())
        return ""

    left = _TAGGED.sub(take, text)
    is_changed = found[TOOL_CALL] or found[TOOL]
    return Tagged(left.strip() if is_changed else text, found[TOOL_CALL], found[TOOL])


# Models think in their text, before the answer. Where the prompt has the opening tag, the text has the other.
_THOUGHT = re.compile(
    r"\A\s*<(think|thinking|thought|reasoning|reflection|scratchpad)>(.*?)(?:</\1>|\Z)"
    r"|\A((?:(?!<think(?:ing)?>).)*?)</(?:think|thinking)>",
    re.IGNORECASE | re.DOTALL,
)


def split_thoughts(text: str) -> tuple[str, str]:
    """(answer, reasoning) of a text of an assistant."""
    match = _THOUGHT.match(text) if "<" in text else None
    if not match or "```" in match[0]:
        return text, ""
    return text[match.end() :].strip(), (match[2] or match[3] or "").strip()


def find_spoken(role: str, text: str) -> str:
    """What of a text is speech. A person's text is, unless it is nothing but results of tools."""
    if role == ASSISTANT:
        text, _ = split_thoughts(text)
    spoken = split_tool_tags(text)
    return text if role == USER and spoken.text else spoken.text
