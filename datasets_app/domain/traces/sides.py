"""Who is who: what the file, and then people, say that each sender or role of it is."""

from collections.abc import Mapping

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.conversations.roles import ASSISTANT, NOTE, UNKNOWN, USER
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.records import LEFT_OUT, UNREAD_PARTS, Conversation, Message
from datasets_app.domain.traces.report import MAX_KINDS_NOTED, Note, Report
from datasets_app.domain.traces.table_columns import LEAVE_OUT, fold_sender, read_sides
from datasets_app.domain.wording import format_count

_REASONS = {LEAVE_OUT: reasons.CHOSEN_OUT, NOTE: reasons.PRIVATE_NOTES, UNKNOWN: reasons.UNKNOWN_ROLES}
# What a message without a text may consist of.
_STEPS = frozenset("tool_calls tool_results reasoning truncated user_truncated assistant_truncated".split())


class UnknownSender(UnreadableFile):
    """Nobody in the file has the name that was given for the assistant. ``senders`` are the names there are,
    which may be names of people: for the person who asked, and for no log."""

    def __init__(self, senders: list[str]) -> None:
        there = format_count(len(senders), "sender")
        super().__init__(f"has no sender of the name that was given for the assistant, but {there}")
        self.senders = senders


class Sides:
    """What a mapping makes of senders and roles ("sender:Note" = leave-out), and a name of the assistant."""

    def __init__(self, mapping: Mapping[str, str], assistant: str = "") -> None:
        self._sides = read_sides(mapping)
        self._assistant = fold_sender(assistant)
        self._drops_repeated = mapping.get("repeated") == "drop"
        self._found = False
        # The unknown roles of the conversation that was assigned last, one for each message.
        self._unknown: list[str] = []

    def assign(self, conversation: Conversation, report: Report) -> list[Message]:
        """The messages that are part of the conversation; the others are counted."""
        left_out, speakers = report.left_out, report.speakers
        kept: list[Message] = []
        self._unknown = []
        seen: set[tuple[object, ...]] = set()
        for message in conversation.messages:
            role = self._find_role(message)
            if message.text.strip() or role == UNKNOWN:
                key = (message.speaker or message.role, role)
                if key in speakers or len(speakers) < MAX_KINDS_NOTED:
                    speakers[key] += 1
            reason = message.speaker if role == LEFT_OUT else _REASONS.get(role, "")
            if not reason and self._drops_repeated and _is_seen(message, seen, kept):
                reason = reasons.REPEATED
            line = message.line or conversation.line
            if role == UNKNOWN:
                self._unknown.append(message.speaker)
            if reason:
                left_out[reason].add(line, message.speaker if role == UNKNOWN else "")
            else:
                kept.append(_count_unread(message._replace(role=role), left_out, line))
        return kept

    def _find_role(self, message: Message) -> str:
        author = message.details.get("author")
        names = [fold_sender(name) for name in (message.speaker, author) if isinstance(name, str) and name]
        is_assistant = bool(self._assistant) and self._assistant in names
        self._found |= is_assistant
        if side := next((self._sides[name] for name in names if name in self._sides), ""):
            return side
        if self._assistant and author and message.role in ("user", "assistant"):
            return "assistant" if is_assistant else "user"
        return message.role

    def check(self, report: Report) -> None:
        """Raises UnknownSender."""
        if self._assistant and not self._found and report.speakers:
            raise UnknownSender([speaker for (speaker, _), _ in report.speakers.most_common()])

    def list_problems(self, line: int, session_id: str | None) -> list[LineError]:
        """What has to be decided before all of the conversation that was assigned last can be read."""
        if not self._unknown:
            return []
        messages = format_count(len(self._unknown), "message")
        roles = format_count(len(set(self._unknown)), "unknown role")
        say = "map each: sender:ROLE=user, =assistant or =leave-out"
        return [LineError(line, "E103", f"{messages} with {roles}; {say}", session_id)]


def _count_unread(message: Message, left_out: Mapping[str, Note], line: int) -> Message:
    """The message; what of it can't be read is counted, and so is a message that says nothing."""
    if unread := message.details.get(UNREAD_PARTS):
        for name in unread:
            left_out[reasons.UNREADABLE_FORM].add(line, name)
        known = {key: value for key, value in message.details.items() if key != UNREAD_PARTS}
        return message._replace(details=known)
    if message.role in (USER, ASSISTANT) and not message.text.strip() and not _STEPS & message.details.keys():
        left_out[reasons.EMPTY].add(line)
    return message


def _is_seen(message: Message, seen: set[tuple[object, ...]], kept: list[Message]) -> bool:
    """Whether the same sender has said the same at the same time, or without a time just before."""
    time = message.details.get("timestamp")
    key = (message.role, message.speaker, message.text, time)
    before = (*kept[-1][:2], kept[-1].speaker) if kept else ()
    is_again = key in seen if time is not None else (message.role, message.text, message.speaker) == before
    seen.add(key)
    return is_again
