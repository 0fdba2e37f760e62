"""Keys that name a question and its answer, alone or beside a list of messages."""

from typing import Any

from datasets_app.domain.traces.exchanges import HISTORIES
from datasets_app.domain.traces.values import decode_json

_PAIRS = tuple(
    tuple(pair.split("/"))
    for pair in (
        "prompt/completion prompt/response question/answer instruction/output instruction/response "
        "input/output query/response prompt/chosen user/assistant inputs/outputs context/response "
        "question/response user_message/bot_message input/response human/assistant query/answer "
        "inputs/targets user_input/response input/preferred_output input/actual_output prompt/output "
        "prompt/answer prompt/generated_text query_str/answer"
    ).split()
)
_NEXT_QUESTIONS = ("message", "question", "query", "user_message", "user_input")
_NEXT_ANSWERS = tuple(
    "message response answer completion output reply generated_text output_text choices candidates "
    "generations".split()
)


def name_pairs(value: dict[str, Any]) -> bool:
    """Whether the keys name a question and its answer."""
    return any(one in value and two in value for one, two in _PAIRS)


def find_pair(value: dict[str, Any]) -> tuple[str, str] | None:
    for one, two in _PAIRS:
        if value.get(one) not in (None, "", [], {}) and value.get(two) not in (None, "", [], {}):
            kinds = type(value[one]), type(value[two])
            if all(kind in (str, dict, list) for kind in kinds):
                return one, two
    return None


def find_unanswered(value: dict[str, Any]) -> tuple[str, str] | None:
    """A question, and the key of the answer that nobody gave."""
    asked = (pair for pair in _PAIRS if type(value.get(pair[0])) is str and value[pair[0]].strip())
    return next(((one, two) for one, two in asked if two in value and not value[two]), None)


def find_unasked(value: dict[str, Any]) -> tuple[str, str] | None:
    """The key of a question that nobody asked, and its answer."""
    empty = (pair for pair in _PAIRS if pair[0] in value and not value[pair[0]])
    return next(
        ((one, two) for one, two in empty if type(value.get(two)) is str and value[two].strip()), None
    )


def find_next_words(value: dict[str, Any]) -> tuple[str, str] | None:
    """What a history is followed by: a question, and its answer if there is one."""
    question = next(
        (key for key in _NEXT_QUESTIONS if type(value.get(key)) is str and value[key].strip()), ""
    )
    earlier = any(decode_json(value.get(key)) for key in HISTORIES)
    return (question, find_answer({**value, question: None}, "text")) if question and earlier else None


def find_answer(value: dict[str, Any], *more: str) -> str:
    """The key of a reply beside the messages that it answers; empty if there is none."""
    return next((key for key in (*_NEXT_ANSWERS, *more) if value.get(key) not in (None, "", [], {})), "")
