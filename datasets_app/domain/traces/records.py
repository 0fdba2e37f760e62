"""What an export is taken apart into: messages, spans, calls, conversations."""

from typing import Any, NamedTuple

from datasets_app.domain.conversations.roles import NOTE, WITHDRAWN


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
    """Something of the file that isn't part of a conversation; of a ``total`` of 0, nothing is said."""

    reason: str
    line: int = 0
    total: int = 1


class Remark(NamedTuple):
    """Something that was guessed or cut: ``total`` records that what follows ``what`` is said of."""

    what: str
    line: int = 0
    total: int = 1


# Where the metadata of a turn keeps what a chat template has between two turns; a date that can't be read.
TEXT_BETWEEN, ORIGINAL_TIMESTAMP = "text_between_turns", "original_timestamp"
# What is counted, by how it is said of several: how it is said of one, and what to do about it.
SINGULARS: dict[str, str] = {}
REMEDIES: dict[str, str] = {}


def declare_reason(plural: str, singular: str, rest: str = "", remedy: str = "") -> str:
    """A reason or a remark, as it is said of several; ``rest`` is said of one as well."""
    several, one = (f"{words} {rest}".rstrip() for words in (plural, singular))
    SINGULARS[several], REMEDIES[several] = one, remedy
    return several


# Reasons that several formats give.
NO_ANSWER = declare_reason("conversations without an answer", "conversation without an answer")
NO_MESSAGES = declare_reason("records without messages", "record without messages")
TOO_DEEP = declare_reason("spans nested too deeply to be read", "span nested too deeply to be read")
OTHER_SPANS = declare_reason("spans that are no model calls", "span that is no model call")
SUB_AGENTS = declare_reason("calls of sub-agents and tools", "call of sub-agents and tools")
DUPLICATES = declare_reason("repetitions of a call", "repetition of a call")
FAILED = declare_reason("failed calls", "failed call")
SECOND_COPY = declare_reason(
    "conversations that the file holds twice", "conversation that the file holds twice"
)
RENAMED = declare_reason(
    "conversations", "conversation", "with the ID of another one, kept apart by a number behind it"
)
OTHER_BRANCHES = declare_reason("messages of other branches", "message of other branches")
HIDDEN = declare_reason("hidden messages", "hidden message")
PRIVATE_NOTES = declare_reason("private notes", "private note")
DELETED = declare_reason("deleted or unsent messages", "deleted or unsent message")
WITHHELD = {NOTE: PRIVATE_NOTES, WITHDRAWN: DELETED}
NOT_CONVERSATIONS = declare_reason(
    "labeled texts that are no conversation", "labeled text that is no conversation"
)
CANCELED = declare_reason("canceled annotations", "canceled annotation")
NO_CONTENT = declare_reason("calls without content", "call without content")
UNANSWERED = declare_reason("traces that hold no answer", "trace that holds no answer")
UNKNOWN_ROLES = declare_reason("messages of unknown roles", "message of an unknown role")
CHOSEN_OUT = declare_reason(
    "messages of senders that are left out by choice", "message of a sender that is left out by choice"
)
UNREADABLE_FORM = declare_reason("texts in a form that can't be read", "text in a form that can't be read")
EMPTY = declare_reason("empty messages", "empty message")
LINES_BEFORE = declare_reason("lines before the first message", "line before the first message")
OTHER_EVENTS = declare_reason("events that are no messages", "event that is no message")
ERRORS = declare_reason("error messages of the application", "error message of the application")
OTHER_MEMBERS = declare_reason(
    "files of the archive that hold no conversations", "file of the archive that holds no conversations"
)
EMPTY_MEMBERS = declare_reason("empty files of the archive", "empty file of the archive")
REPEATED = declare_reason("exact repetitions of a message", "exact repetition of a message")
# What is remarked, after its count.
ONE_CONVERSATION = declare_reason(
    "messages", "message", "without the ID of a conversation, read as one conversation"
)
ONE_CONVERSATION_OF_PAIRS = declare_reason(
    "questions", "question", "with an answer of a list without IDs of conversations, read as one conversation"
)
EACH_A_CONVERSATION = declare_reason(
    "questions with an answer and a time, but without the ID of a conversation, each read as a conversation",
    "question with an answer and a time, but without the ID of a conversation, read as a conversation",
)
ATTACHED = declare_reason("files", "file", "attached to a text, whose content isn't read")
CUT_TEXTS = declare_reason(
    "texts cut off in the file, kept as far as they go and marked as truncated",
    "text cut off in the file, kept as far as it goes and marked as truncated",
)
BETWEEN_TURNS = declare_reason(
    "texts", "text", f"between the turns of a chat template, kept as {TEXT_BETWEEN} in the metadata"
)
TOOL_TURNS = declare_reason(
    "calls of tools and their results,",
    "call of a tool or its result,",
    "kept in the metadata of the turn that follows",
)
BACKWARDS = declare_reason(
    "times that run",
    "time that runs",
    "backwards; if day and month are exchanged, set dates to day-first or month-first",
)
UNCLEAR_DATES = declare_reason(
    "dates", "date", "that could have the day or the month first, read as day-first; set dates to change that"
)
OTHER_ENCODING = declare_reason(
    "lines that aren't", "line that isn't", "UTF-8, read in the encoding that was stated"
)
ABOVE_COLUMNS = declare_reason(
    "lines above the names of the columns, which aren't read",
    "line above the names of the columns, which isn't read",
)
SAME_COLUMNS = declare_reason(
    "columns", "column", "with the name of another one, kept with a number behind it"
)
TOTALS = declare_reason("rows of totals", "row of totals")
ROUNDED_IDS = declare_reason(
    "messages whose ID has more digits than a float keeps; different ones may have become one",
    "message whose ID has more digits than a float keeps; others may have become one with it",
)
_KEPT = f"; kept in the metadata as {ORIGINAL_TIMESTAMP}"
UNREAD_TIMES = declare_reason("timestamps", "timestamp", "can't be read as a date", _KEPT)
AMBIGUOUS_TIMES = declare_reason(
    "timestamps",
    "timestamp",
    "could have the day or the month first",
    f"{_KEPT}. Set dates to day-first or month-first",
)
UNKNOWN_ZONES = declare_reason(
    "timestamps",
    "timestamp",
    "in a time zone that could be several, or isn't known",
    f"{_KEPT}. Write offsets, such as +01:00",
)
UNEVEN_ROWS = declare_reason("rows", "row", "with too few or too many cells, perhaps cut off")
UNNAMED_SESSIONS = declare_reason(
    "rows", "row", "without a session ID, each read as a conversation of its own"
)
ROUNDED_SESSIONS = declare_reason(
    "rows",
    "row",
    "with a session ID in scientific notation (such as 1.0E+05), which may have lost digits",
)
HTML_TEXTS = declare_reason("texts", "text", "in HTML, read as the text it shows")
REPEATED_SESSIONS = declare_reason(
    "sessions",
    "session",
    "with repeated turns, perhaps exported twice",
    "; repeated=drop leaves out exact repetitions",
)
# Of senders, who may be people: the sentence says only how many there are.
GUESSED_SENDERS = declare_reason("messages", "message", "by senders without a known role")
BOOLEAN_ID = "true or false is no ID of a conversation; choose another column"
UNREADABLE_ID = "a list or an object is no ID of a conversation; write a text or a number"
UNREAD_DATES = declare_reason(
    "dates",
    "date",
    "that can't be read, could have the day or the month first, or a time zone that isn't clear; set "
    "dates, or write offsets",
)
CUT_ROWS = declare_reason("rows cut off before their text", "row cut off before its text")
NO_QUESTION = declare_reason(
    "calls that name no question, or have it in a form that isn't known",
    "call that names no question, or has it in a form that isn't known",
)
NO_REPLY = declare_reason(
    "calls that name no reply, or have it in a form that isn't known",
    "call that names no reply, or has it in a form that isn't known",
)
