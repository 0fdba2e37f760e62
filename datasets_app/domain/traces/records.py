"""What an export is taken apart into: messages, spans, calls, conversations."""

from typing import Any, NamedTuple


class Message(NamedTuple):
    """``role`` is user, assistant, system, tool, note, unknown or left-out; ``speaker`` is what the file
    calls who speaks, or why the message is left out.

    ``details`` may hold ``tool_calls``, ``tool_results``, ``reasoning``, ``timestamp`` (Unix seconds), and
    whatever else goes into the metadata of the turn. ``line`` is 0 where a line holds more than a message.
    """

    role: str
    text: str = ""
    details: dict[str, Any] = {}
    speaker: str = ""
    line: int = 0


# A message that only stands in its conversation to be counted. Readers make one of each record that they
# don't take for speech: what they dropped themselves, nobody could count.
LEFT_OUT = "left-out"
# Where a message names those of its parts that have a form that nobody knows.
UNREAD_PARTS = "unread_parts"
# Where a message that names its parent has [its id, the parent, what sorts siblings].
NODE = "node"
# Who speaks in a message that doesn't say.
NO_ROLE = "no role"


def leave_out(reason: str) -> Message:
    return Message(LEFT_OUT, speaker=reason)


class Span(NamedTuple):
    """One step of a trace. ``kind`` is model, agent, tool, root or other.

    ``explicit`` says that the messages stood there as messages, with roles, not as any input and output.
    """

    trace: str
    id: str
    parent: str
    kind: str
    start: float = 0.0
    end: float = 0.0
    conversation: str = ""
    input: list[Message] = []
    output: list[Message] = []
    explicit: bool = False
    metadata: dict[str, Any] = {}
    facts: dict[str, Any] = {}
    line: int = 0


class Call(NamedTuple):
    """One request to a model and its reply. ``facts`` are those of the conversation, not of the reply.

    A message that stands alone, in a table or a log, is an ``output`` without input, and ``separate``.
    """

    conversation: str
    trace: str
    start: float
    input: list[Message]
    output: list[Message]
    facts: dict[str, Any] = {}
    line: int = 0
    separate: bool = False


class Conversation(NamedTuple):
    """``id`` is empty if the file has none; empty ``facts`` are none. ``separate`` keeps what one side sent
    in a row as separate turns."""

    id: str
    messages: list[Message]
    facts: dict[str, Any] = {}
    line: int = 0
    separate: bool = False
    labels: list[dict[str, Any]] = []


class LabeledText(NamedTuple):
    """A labeled text, not a conversation. ``place`` may have a session_id, turn_index and persona_id."""

    text: str
    labels: list[dict[str, Any]]
    place: dict[str, Any] = {}
    line: int = 0


class Remark(NamedTuple):
    """``what`` of the file was left out, guessed or cut; of a ``total`` of 0, nothing is said."""

    what: str
    line: int = 0
    total: int = 1


# Where the metadata of a turn keeps what a chat template has between two turns; a date that can't be read.
TEXT_BETWEEN, ORIGINAL_TIMESTAMP = "text_between_turns", "original_timestamp"
