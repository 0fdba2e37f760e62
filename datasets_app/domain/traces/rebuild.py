"""Calls whose history grows → one conversation, each turn once."""

from collections.abc import Iterable
from typing import Any

from datasets_app.domain.traces.messages import has_text
from datasets_app.domain.traces.records import Call, Message

Spoken = list[tuple[str, str]]


def list_spoken(messages: Iterable[Message]) -> Spoken:
    """(role, text) of what was said, white space aside, what an assistant says in a row as one."""
    found: Spoken = []
    for message in messages:
        text = " ".join(message.text.split())
        if message.role not in ("user", "assistant") or not text:
            continue
        if found and message.role == "assistant" == found[-1][0]:
            found[-1] = ("assistant", f"{found[-1][1]} {text}")
        else:
            found.append((message.role, text))
    return found


def drop_answer(call: Call) -> Call:
    """The call without the answer in its input, where applications add it to the list that they had sent."""
    given, said = list_spoken(call.input), list_spoken(call.output)
    if said and given[-len(said) :] == said and said[-1][0] == "assistant":
        return call._replace(input=_keep_turns(call.input, len(given) - len(said)))
    return call


def rebuild_conversation(calls: list[Call]) -> list[Message]:
    """The messages of calls of one conversation, which are in the order of time."""
    messages: list[Message] = []
    calls = _join_rows(calls)
    for number, call in enumerate(calls):
        same_trace = number > 0 and bool(call.trace) and call.trace == calls[number - 1].trace
        messages = extend(messages, call, same_trace=same_trace) if number else [*call.input, *call.output]
        if number and not call.trace:
            messages = _keep_labels(messages, call)
    return messages


def _join_rows(calls: list[Call]) -> list[Call]:
    """Rows of a table that repeat a message for each of its annotators, as one."""
    if not any(_find_labels(call.output) for call in calls):
        return calls
    joined: list[Call] = []
    for call in calls:
        last = joined[-1] if joined else None
        if last and _find_row(last) is not None and _find_row(last) == _find_row(call):
            joined[-1] = last._replace(output=_keep_labels(last.output, call))
        else:
            joined.append(call)
    return joined


def _find_labels(messages: list[Message]) -> list[Any]:
    return [label for message in messages for label in message.details.get("labels", ())]


def _find_row(call: Call) -> tuple[float, str, str] | None:
    if not call.separate or len(call.output) != 1:
        return None
    return call.start, call.output[0].role, call.output[0].text


def _keep_labels(messages: list[Message], call: Call) -> list[Message]:
    """Labels of a repeated reply, which somebody else has given it, go to the one that is kept."""
    for message in (*call.input, *call.output):
        labels = message.details.get("labels")
        if not labels or any(message is kept for kept in messages):
            continue
        for place in reversed(range(len(messages))):
            kept = messages[place]
            if (kept.role, kept.text) == (message.role, message.text):
                known = kept.details.get("labels", [])
                added = [label for label in labels if label not in known]
                details = {**kept.details, "labels": [*known, *added]}
                messages = [*messages[:place], kept._replace(details=details), *messages[place + 1 :]]
                break
    return messages


def extend(known: list[Message], call: Call, *, same_trace: bool) -> list[Message]:
    """What is known of a conversation, and one more call.

    A call without history whose question is the last one repeats or continues it within a trace, and is asked
    again in another.
    """
    given, said = list_spoken(call.input), list_spoken(known)
    common = _count_common(said, given)
    if common == len(said):  # the history grows
        return [*known, *_skip_turns(call.input, common), *call.output]
    if _knows_more(said, given, common):
        return [*_keep_turns(known, common), *_skip_turns(call.input, common), *call.output]
    answered = any(role == "assistant" for role, _ in given)
    if common == len(given) == len(said) - 1 and said[-1][0] == "assistant" and (answered or same_trace):
        return _replace_answer(known, call)
    if any(role == "assistant" for role, _ in given[:common]):  # the person went back and asked otherwise
        return [*_keep_turns(known, common), *_skip_turns(call.input, common), *call.output]
    overlap = _count_overlap(said, given)
    if overlap:  # a window over the last turns
        return [*known, *_skip_turns(call.input, overlap), *call.output]
    if same_trace and given and given[-1] == _last_question(said):
        return _replace_answer(known, call)
    if given and given[-1] == _last_question(said) and list_spoken(call.output) == said[-1:]:
        return known  # the same call, seen twice
    return [*known, *call.input, *call.output]


def _count_common(one: Spoken, two: Spoken) -> int:
    """How many turns two lists have in common at their beginning."""
    count = 0
    for first, second in zip(one, two, strict=False):
        if first != second:
            break
        count += 1
    return count


def _knows_more(said: Spoken, given: Spoken, common: int) -> bool:
    """Whether the last answer goes on in the call's input, after the call of a tool."""
    if common != len(said) - 1 or common >= len(given):
        return False
    (role, text), (other_role, other_text) = said[common], given[common]
    return role == "assistant" == other_role and other_text.startswith(text)


def _count_overlap(said: Spoken, given: Spoken) -> int:
    for size in range(min(len(said), len(given)), 1, -1):
        if said[-size:] == given[:size] and any(role == "assistant" for role, _ in given[:size]):
            return size
    return 0


def _last_question(said: Spoken) -> tuple[str, str] | None:
    return next((turn for turn in reversed(said) if turn[0] == "user"), None)


def _replace_answer(known: list[Message], call: Call) -> list[Message]:
    if not has_text(call.output, "assistant"):
        return [*known, *(message._replace(text="") for message in call.output)]
    last = max(
        number for number, message in enumerate(known) if message.role == "user" and message.text.strip()
    )
    steps = [
        message._replace(text="")
        for message in known[last + 1 :]
        if message.details and ("tool_calls" in message.details or "tool_results" in message.details)
    ]
    return [*known[: last + 1], *steps, *after_question(call.input), *call.output]


def after_question(messages: list[Message]) -> list[Message]:
    last = max((number for number, message in enumerate(messages) if message.role == "user"), default=-1)
    return messages[last + 1 :]


def _skip_turns(messages: list[Message], turns: int) -> list[Message]:
    """The messages after so many turns; system prompts among the first are kept if they are new."""
    position = _find_end(messages, turns)
    system = [message for message in messages[:position] if message.role == "system"]
    return [*system, *messages[position:]]


def _keep_turns(messages: list[Message], turns: int) -> list[Message]:
    return messages[: _find_end(messages, turns)]


def _find_end(messages: list[Message], turns: int) -> int:
    """The position after the last message of the turn of this number."""
    count, role, end = 0, "", 0
    for number, message in enumerate(messages):
        if message.role in ("user", "assistant") and message.text.strip():
            if not (message.role == role == "assistant"):
                count += 1
            if count > turns:
                return end
            role, end = message.role, number + 1
    return end
