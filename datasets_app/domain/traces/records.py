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


class Remark(NamedTuple):
    """``what`` of the file was left out, guessed or cut; of a ``total`` of 0, nothing is said."""

    what: str
    line: int = 0
    total: int = 1


# Where the metadata of a turn keeps what a chat template has between two turns; a date that can't be read.
TEXT_BETWEEN, ORIGINAL_TIMESTAMP = "text_between_turns", "original_timestamp"
# How what is said of several is said of one; and what to do about what is remarked.
SINGULARS: dict[str, str] = {}
REMEDIES: dict[str, str] = {}


def declare_reason(noun: str, rest: str = "", *, several: str = "") -> str:
    """Why something is left out, after its count: of several, ``noun`` has an s or is ``several``."""
    one, many = (f"{words} {rest}".rstrip() for words in (noun, several or f"{noun}s"))
    SINGULARS[many] = one
    return many


def declare_remark(noun: str, rest: str = "", *, several: str = "", remedy: str = "") -> str:
    """What was guessed or cut, in the same form."""
    remark = declare_reason(noun, rest, several=several)
    REMEDIES[remark] = remedy
    return remark


# Reasons that several formats give.
NO_ANSWER = declare_reason("conversation", "without an answer")
NO_MESSAGES = declare_reason("record", "without messages")
TOO_DEEP = declare_reason("span", "nested too deeply to be read")
OTHER_SPANS = declare_reason("span that is no model call", several="spans that are no model calls")
SUB_AGENTS = declare_reason("call", "of sub-agents and tools")
DUPLICATES = declare_reason("repetition", "of a call")
FAILED = declare_reason("failed call")
SECOND_COPY = declare_reason("conversation", "that the file holds twice")
OTHER_BRANCHES = declare_reason("message", "of other branches")
HIDDEN = declare_reason("hidden message")
PRIVATE_NOTES = declare_reason("private note")
DELETED = declare_reason("deleted or unsent message")
WITHHELD = {NOTE: PRIVATE_NOTES, WITHDRAWN: DELETED}
NOT_CONVERSATIONS = declare_reason(
    "labeled text that is", "no conversation", several="labeled texts that are"
)
CANCELED = declare_reason("canceled annotation")
NO_CONTENT = declare_reason("call", "without content")
UNANSWERED = declare_reason("trace that holds", "no answer", several="traces that hold")
UNKNOWN_ROLES = declare_reason("message of an unknown role", several="messages of unknown roles")
CHOSEN_OUT = declare_reason(
    "message of a sender that is", "left out by choice", several="messages of senders that are"
)
UNREADABLE_FORM = declare_reason("text", "in a form that can't be read")
EMPTY = declare_reason("empty message")
LINES_BEFORE = declare_reason("line", "before the first message")
OTHER_EVENTS = declare_reason("event that is no message", several="events that are no messages")
ERRORS = declare_reason("error message", "of the application")
OTHER_MEMBERS = declare_reason(
    "file of the archive that holds", "no conversations", several="files of the archive that hold"
)
EMPTY_MEMBERS = declare_reason("empty file", "of the archive")
REPEATED = declare_reason("exact repetition", "of a message")
TOTALS = declare_reason("row of totals", several="rows of totals")
CUT_ROWS = declare_reason("row cut off before its text", several="rows cut off before their text")
# What is remarked.
UNNUMBERED = declare_remark("session", "whose turns aren't numbered 1, 2, 3 …, which an import refuses")
RENAMED = declare_remark(
    "conversation",
    "with the ID of another one, kept apart by a number behind it",
    remedy="; if they are parts of one, join their files or records first",
)
ONE_CONVERSATION = declare_remark("message", "without the ID of a conversation, read as one conversation")
ONE_CONVERSATION_OF_PAIRS = declare_remark(
    "question", "with an answer of a list without IDs of conversations, read as one conversation"
)
EACH_A_CONVERSATION = declare_remark(
    "question with an answer and a time, but without the ID of a conversation, read as a conversation",
    several="questions with an answer and a time, but without the ID of a conversation, each read as a "
    "conversation",
)
READ_IN_TURN = declare_remark(
    "list of texts that name nobody, read as a question and its answer",
    "in turn",
    several="lists of texts that name nobody, read as questions and answers",
)
ATTACHED = declare_remark("file", "attached to a text, whose content isn't read")
UNREAD_VALUES = declare_remark("value", "beside the text of a message, not kept")
CUT_TEXTS = declare_remark(
    "text cut off in the file, kept as far as it goes",
    "and marked as truncated",
    several="texts cut off in the file, kept as far as they go",
)
BETWEEN_TURNS = declare_remark(
    "text", f"between the turns of a chat template, kept as {TEXT_BETWEEN} in the metadata"
)
TOOL_TURNS = declare_remark(
    "call of a tool or its result,",
    "kept in the metadata of the turn that follows",
    several="calls of tools and their results,",
)
BACKWARDS = declare_remark(
    "time that runs",
    "backwards; if day and month are exchanged, set dates to day-first or month-first",
    several="times that run",
)
UNCLEAR_DATES = declare_remark(
    "date", "that could have the day or the month first, read as day-first; set dates to change that"
)
OTHER_ENCODING = declare_remark(
    "line that isn't", "UTF-8, read in the encoding that was stated", several="lines that aren't"
)
ABOVE_COLUMNS = declare_remark(
    "line above the names of the columns, which isn't",
    "read",
    several="lines above the names of the columns, which aren't",
)
SAME_COLUMNS = declare_remark("column", "with the name of another one, kept with a number behind it")
HALF_CHARACTERS = declare_remark(
    "record", "with half of a character (a lone surrogate, as cut emoji leave), which is read as �"
)
REPEATED_KEYS = declare_remark("record", "with a key that stands twice in one object; the last one is read")
ROUNDED_IDS = declare_remark(
    "message whose ID has more digits than a float keeps; others may have become one with it",
    several="messages whose ID has more digits than a float keeps; different ones may have become one",
)
_KEPT = f"; kept in the metadata as {ORIGINAL_TIMESTAMP}"
UNREAD_TIMES = declare_remark("timestamp", "can't be read as a date", remedy=_KEPT)
AMBIGUOUS_TIMES = declare_remark(
    "timestamp",
    "could have the day or the month first",
    remedy=f"{_KEPT}. Set dates to day-first or month-first",
)
UNKNOWN_ZONES = declare_remark(
    "timestamp",
    "in a time zone that could be several, or isn't known",
    remedy=f"{_KEPT}. Write offsets, such as +01:00",
)
UNEVEN_ROWS = declare_remark("row", "with too few or too many cells, perhaps cut off")
UNNAMED_SESSIONS = declare_remark("row", "without a session ID, each read as a conversation of its own")
ROUNDED_SESSIONS = declare_remark(
    "row", "with a session ID in scientific notation (such as 1.0E+05), which may have lost digits"
)
HTML_TEXTS = declare_remark("text", "in HTML, read as the text it shows")
REPEATED_SESSIONS = declare_remark(
    "session",
    "with repeated turns, perhaps exported twice",
    remedy="; repeated=drop leaves out exact repetitions",
)
# Of senders, who may be people: the sentence says only how many there are.
GUESSED_SENDERS = declare_remark("message", "by senders without a known role")
UNREAD_DATES = declare_remark(
    "date",
    "that can't be read, could have the day or the month first, or a time zone that isn't clear; set "
    "dates, or write offsets",
)
NO_QUESTION = declare_remark(
    "call that names no question, or has it in a form that isn't known",
    several="calls that name no question, or have it in a form that isn't known",
)
NO_REPLY = declare_remark(
    "call that names no reply, or has it in a form that isn't known",
    several="calls that name no reply, or have it in a form that isn't known",
)
# What is wrong with an id.
BOOLEAN_ID = "true or false is no ID of a conversation; choose another column"
UNREADABLE_ID = "a list or an object is no ID of a conversation; write a text or a number"
