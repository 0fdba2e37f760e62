"""What wasn't read as a file has it: why it was left out, and what was guessed or cut."""

import re

from datasets_app.domain.conversations.roles import NOTE, WITHDRAWN
from datasets_app.domain.traces.records import ORIGINAL_TIMESTAMP, TEXT_BETWEEN

# How what is said of several is said of one; and what to do about what is remarked.
SINGULARS: dict[str, str] = {}
REMEDIES: dict[str, str] = {}
_NUMBER = re.compile(r"\{(?:([^{}|]*)\|)?([^{}]*)\}")


def _declare_reason(words: str) -> str:
    """Why something is left out, after its count: "call{s} that {is|are} no chat"."""
    several = _NUMBER.sub(r"\2", words)
    SINGULARS[several] = _NUMBER.sub(r"\1", words)
    return several


def _declare_remark(words: str, *, remedy: str = "") -> str:
    """What was guessed or cut, in the same form."""
    remark = _declare_reason(words)
    REMEDIES[remark] = remedy
    return remark


# Why something is left out.
NO_ANSWER = _declare_reason("conversation{s} without an answer")
NO_MESSAGES = _declare_reason("record{s} without messages")
TOO_DEEP = _declare_reason("span{s} nested too deeply to be read")
OTHER_SPANS = _declare_reason("span{s} that {is|are} no model call{s}")
SUB_AGENTS = _declare_reason("call{s} of sub-agents and tools")
DUPLICATES = _declare_reason("repetition{s} of a call")
FAILED = _declare_reason("failed call{s}")
SECOND_COPY = _declare_reason("conversation{s} that the file holds twice")
OTHER_BRANCHES = _declare_reason("message{s} of other branches")
HIDDEN = _declare_reason("hidden message{s}")
PRIVATE_NOTES = _declare_reason("private note{s}")
DELETED = _declare_reason("deleted or unsent message{s}")
WITHHELD = {NOTE: PRIVATE_NOTES, WITHDRAWN: DELETED}
NOT_CONVERSATIONS = _declare_reason("labeled text{s} that {is|are} no conversation")
UNLABELED = _declare_reason("record{s} without a text or a label")
CANCELED = _declare_reason("canceled annotation{s}")
NO_CONTENT = _declare_reason("call{s} without content")
UNANSWERED = _declare_reason("trace{s} that {holds|hold} no answer")
UNANSWERED_REQUESTS = _declare_reason("request{s} without a reply")
UNASKED_REPLIES = _declare_reason("{reply|replies} without {its|their} request")
NO_CHAT = _declare_reason("call{s} that {is|are} no chat")
NO_CONVERSATION = _declare_reason(
    "review task{s} whose answer was not captured, or that {holds|hold} no conversation"
)
NOT_CAPTURED = _declare_reason("turn{s} that {was|were} not captured")
SCORES = _declare_reason("score{s}")
UNKNOWN_ROLES = _declare_reason("message{s} of {an unknown role|unknown roles}")
CHOSEN_OUT = _declare_reason("message{s} of {a sender|senders} that {is|are} left out by choice")
UNREADABLE_FORM = _declare_reason("text{s} in a form that can't be read")
EMPTY = _declare_reason("empty message{s}")
LINES_BEFORE = _declare_reason("line{s} before the first message")
SERVICE_MESSAGES = _declare_reason("message{s} of the messenger itself")
MEDIA = _declare_reason("{file|media} without text")
PREVIEWS = _declare_reason("preview{s} of a linked page")
OTHER_EVENTS = _declare_reason("event{s} that {is|are} no message{s}")
ERRORS = _declare_reason("error message{s} of the application")
OTHER_MEMBERS = _declare_reason("file{s} of the archive that {holds|hold} no conversations")
EMPTY_MEMBERS = _declare_reason("empty file{s} of the archive")
REPEATED = _declare_reason("exact repetition{s} of a message")
TOTALS = _declare_reason("row{s} of totals")
CUT_ROWS = _declare_reason("row{s} cut off before {its|their} text")
# What is remarked.
UNNUMBERED = _declare_remark("session{s} whose turns aren't numbered 1, 2, 3 …, which an import refuses")
RENAMED = _declare_remark(
    "conversation{s} with the ID of another one, kept apart by a number behind it",
    remedy="; if they are parts of one, join their files or records first",
)
ONE_CONVERSATION = _declare_remark("message{s} without the ID of a conversation, read as one conversation")
ONE_CONVERSATION_OF_PAIRS = _declare_remark(
    "question{s} with an answer of a list without IDs of conversations, read as one conversation"
)
EACH_A_CONVERSATION = _declare_remark(
    "question{s} with an answer and a time, but without the ID of a conversation, {read|each read} as a "
    "conversation"
)
READ_IN_TURN = _declare_remark(
    "list{s} of texts that name nobody, read as {a question and its answer|questions and answers} in turn"
)
ATTACHED = _declare_remark("file{s} attached to a text, whose content isn't read")
UNREAD_VALUES = _declare_remark("value{s} beside the text of a message, not kept")
CUT_TEXTS = _declare_remark(
    "text{s} cut off in the file, kept as far as {it goes|they go} and marked as truncated"
)
BETWEEN_TURNS = _declare_remark(
    f"text{{s}} between the turns of a chat template, kept as {TEXT_BETWEEN} in the metadata"
)
TOOL_TURNS = _declare_remark(
    "call{s} of {a tool or its result|tools and their results}, kept in the metadata of the turn that follows"
)
BACKWARDS = _declare_remark(
    "time{s} that {runs|run} backwards; if day and month are exchanged, set dates to day-first or month-first"
)
UNCLEAR_DATES = _declare_remark(
    "date{s} that could have the day or the month first, read as day-first; set dates to change that"
)
OTHER_ENCODING = _declare_remark("line{s} that {isn't|aren't} UTF-8, read in the encoding that was stated")
ABOVE_COLUMNS = _declare_remark("line{s} above the names of the columns, which {isn't|aren't} read")
SAME_COLUMNS = _declare_remark("column{s} with the name of another one, kept with a number behind it")
HALF_CHARACTERS = _declare_remark(
    "record{s} with half of a character (a lone surrogate, as cut emoji leave), which is read as �"
)
REPEATED_KEYS = _declare_remark("record{s} with a key that stands twice in one object; the last one is read")
ROUNDED_IDS = _declare_remark(
    "message{s} whose ID has more digits than a float keeps; "
    "{others may have become one with it|different ones may have become one}"
)
_KEPT = f"; kept in the metadata as {ORIGINAL_TIMESTAMP}"
UNREAD_TIMES = _declare_remark("timestamp{s} can't be read as a date", remedy=_KEPT)
AMBIGUOUS_TIMES = _declare_remark(
    "timestamp{s} could have the day or the month first",
    remedy=f"{_KEPT}. Set dates to day-first or month-first",
)
UNKNOWN_ZONES = _declare_remark(
    "timestamp{s} in a time zone that could be several, or isn't known",
    remedy=f"{_KEPT}. Write offsets, such as +01:00",
)
UNEVEN_ROWS = _declare_remark("row{s} with too few or too many cells, perhaps cut off")
UNNAMED_SESSIONS = _declare_remark("row{s} without a session ID, each read as a conversation of its own")
ROUNDED_SESSIONS = _declare_remark(
    "row{s} with a session ID in scientific notation (such as 1.0E+05), which may have lost digits"
)
HTML_TEXTS = _declare_remark("text{s} in HTML, read as the text it shows")
REPEATED_SESSIONS = _declare_remark(
    "session{s} with repeated turns, perhaps exported twice",
    remedy="; repeated=drop leaves out exact repetitions",
)
# Of senders, who may be people: the sentence says only how many there are.
GUESSED_SENDERS = _declare_remark("message{s} by senders without a known role")
UNREAD_DATES = _declare_remark(
    "date{s} that can't be read, could have the day or the month first, or a time zone that isn't clear; set "
    "dates, or write offsets"
)
NO_QUESTION = _declare_remark(
    "call{s} that {names|name} no question, or {has|have} it in a form that isn't known"
)
NO_REPLY = _declare_remark("call{s} that {names|name} no reply, or {has|have} it in a form that isn't known")
# What is wrong with an id.
BOOLEAN_ID = "true or false is no ID of a conversation; choose another column"
UNREADABLE_ID = "a list or an object is no ID of a conversation; write a text or a number"
