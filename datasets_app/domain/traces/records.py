"""What an export is taken apart into: messages, spans, calls, conversations."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from datasets_app.domain.conversations.roles import NOTE, WITHDRAWN

MAX_LINES_NOTED = 20
MAX_KINDS_NOTED = 200


class Message(NamedTuple):
    """``role`` is user, assistant, system, tool, note, unknown or left-out; ``speaker`` is what the file
    calls who speaks, or why the message is left out.

    ``details`` may hold ``tool_calls``, ``tool_results``, ``reasoning``, ``timestamp`` (Unix seconds), and
    whatever else goes into the metadata of the turn. ``line`` is 0 where a line holds more than a message.
    """

    role: str
    text: str = ""
    details: dict[str, Any] | None = None
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
    """``id`` is empty if the file has none. ``separate`` keeps what one side sent in a row as separate
    turns."""

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


class LeftOut(NamedTuple):
    """Something of the file that isn't part of a conversation."""

    reason: str
    line: int = 0
    total: int = 1


class Remark(NamedTuple):
    """Something that was guessed or cut: ``total`` records that what follows ``what`` is said of."""

    what: str
    line: int = 0
    total: int = 1


@dataclass
class Note:
    """How many records were left out or are doubtful, the lines of the first, and what is wrong how often."""

    total: int = 0
    lines: list[int] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, line: int = 0, kind: str = "", *, count: int = 1) -> None:
        self.total += count
        if line and line not in self.lines and len(self.lines) < MAX_LINES_NOTED:
            self.lines.append(line)
        if kind and (kind in self.kinds or len(self.kinds) < MAX_KINDS_NOTED):
            self.kinds[kind] += 1


# Where the metadata of a turn keeps what a chat template has between two turns.
TEXT_BETWEEN = "text_between_turns"
# Reasons that several formats give.
NO_ANSWER = "conversations without an answer"
NO_MESSAGES = "records without messages"
TOO_DEEP = "spans nested too deeply to be read"
OTHER_SPANS = "spans that are no model calls"
SUB_AGENTS = "calls of sub-agents and tools"
DUPLICATES = "repetitions of a call"
FAILED = "failed calls"
SECOND_COPY = "conversations that the file holds twice"
OTHER_BRANCHES = "messages of other branches"
HIDDEN = "hidden messages"
PRIVATE_NOTES = "private notes"
DELETED = "deleted or unsent messages"
WITHHELD = {NOTE: PRIVATE_NOTES, WITHDRAWN: DELETED}
NOT_CONVERSATIONS = "labeled texts that are no conversation"
CANCELED = "canceled annotations"
NO_CONTENT = "calls without content"
UNANSWERED = "traces that hold no answer"
UNKNOWN_ROLES = "messages of unknown roles"
CHOSEN_OUT = "messages of senders that are left out by choice"
UNREADABLE_FORM = "texts in a form that can't be read"
EMPTY = "empty messages"
LINES_BEFORE = "lines before the first message"
OTHER_EVENTS = "events that are no messages"
ERRORS = "error messages of the application"
OTHER_MEMBERS = "files of the archive that hold no conversations"
EMPTY_MEMBERS = "empty files of the archive"
REPEATED = "exact repetitions of a message"
# What is remarked, after its count.
ONE_CONVERSATION = "messages without the ID of a conversation, read as one conversation"
ONE_CONVERSATION_OF_PAIRS = (
    "questions with an answer of a list without IDs of conversations, read as one conversation"
)
EACH_A_CONVERSATION = (
    "questions with an answer and a time, but without the ID of a conversation, each read as a conversation"
)
ATTACHED = "files attached to a text, whose content isn't read"
CUT_TEXTS = "texts cut off in the file, kept as far as they go and marked as truncated"
BETWEEN_TURNS = f"texts between the turns of a chat template, kept as {TEXT_BETWEEN} in the metadata"
TOOL_TURNS = "calls of tools and their results, kept in the metadata of the turn that follows"
BACKWARDS = "times that run backwards; if day and month are exchanged, set dates to day-first or month-first"
UNCLEAR_DATES = (
    "dates that could have the day or the month first, read as day-first; set dates to change that"
)
OTHER_ENCODING = "lines that aren't UTF-8, read in the encoding that was stated"
ABOVE_COLUMNS = "lines above the names of the columns, which aren't read"
SAME_COLUMNS = "columns with the name of another one, kept with a number behind it"
TOTALS = "rows of totals"
ROUNDED_IDS = "messages whose ID has more digits than a float keeps; different ones may have become one"
BOOLEAN_ID = "true or false is no ID of a conversation; choose another column"
UNREADABLE_ID = "a list or an object is no ID of a conversation; write a text or a number"
UNREAD_DATES = (
    "dates that can't be read, could have the day or the month first, or a time zone that isn't clear; "
    "set dates, or write offsets"
)
CUT_ROWS = "rows cut off before their text"
NO_QUESTION = "calls that name no question, or have it in a form that isn't known"
NO_REPLY = "calls that name no reply, or have it in a form that isn't known"
