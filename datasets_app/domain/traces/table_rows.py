"""Rows of a table, one message each → calls, with notes of everything in them that is doubtful."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from sys import intern
from typing import Any

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.conversations.roles import UNKNOWN, find_role, find_withheld
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.dates import AmbiguousDate, DateReader, describe_shape
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.html_text import strip_html
from datasets_app.domain.traces.messages import read_message
from datasets_app.domain.traces.records import NO_ROLE, ORIGINAL_TIMESTAMP, Call, Message, Remark
from datasets_app.domain.traces.report import Report
from datasets_app.domain.traces.rounded_ids import MERGED_IDS, are_merged, may_be_rounded
from datasets_app.domain.traces.table_columns import (
    COLUMNS,
    EACH_ROW,
    ONE_CONVERSATION,
    fold_sender,
    normalize,
    read_sides,
)
from datasets_app.domain.traces.time_zones import UnknownZone
from datasets_app.domain.traces.values import as_name, drop_empty, is_boolean

# Keys of a row that has fewer or more cells than the table has columns.
UNEVEN = MISSING_CELLS, EXTRA_CELLS = "missing_cells", "extra_cells"
# Where the tags of a turn are among the details of its message.
TURN_TAGS = "turn_tags"
# A question and its answer are one conversation, whether or not a column says so.
MAX_ROWS_WITHOUT_SESSION = 2

_DIRECTIONS = {"inbound": "user", "incoming": "user", "in": "user", "outbound": "assistant", "outgoing":
               "assistant",
               "out": "assistant", "received": "user", "sent": "assistant"}  # fmt: skip
_BOT_NAMES = frozenset("bot chatbot voicebot mailbot copilot".split())
_BOTS = _BOT_NAMES | {"assistant"}
# "Person 1" and "Person 2" talk to each other.
_EITHER_SIDE = frozenset(("person", "human"))
_WHOLE_FLOAT = re.compile(r"\d+\.0")
_TOTAL = re.compile(
    r"\W*(?:(?:grand|sub)?\W?totals?|sum|summe|gesamt\w*|insgesamt|suma|somme|totale|totaal|total geral"
    r"|итого|всего|合计|总计|合計|toplam|razem|łącznie|count|anzahl)\b\W*(?:\d[\d.,\s]*)?\w{0,12}\W*",
    re.IGNORECASE,
)
_TAGS = re.compile(r"[;,|]")


class RowReader:
    """A speaker that names no role is a user, except the ``assistant``; without one, the first speaker of a
    conversation is its user, and a speaker who is called a bot is the assistant. In a column that names roles
    too, such a speaker is unknown. ``list_values`` returns all values of a column.

    Of what it remarks, kinds of senders are "role: sender", so they may name people; those of dates are their
    shapes."""

    def __init__(
        self, mapping: Mapping[str, str], dates: DateReader, report: Report, assistant: str,
        list_values: Callable[[str], Iterable[Any]],
    ) -> None:  # fmt: skip
        self._list_values = list_values
        self.mapping, self.dates, self.report, self.assistant = mapping, dates, report, assistant
        self._first_speakers: dict[int, str] = {}
        self._orders: dict[int, float] = {}
        self._mapped = {column for field, column in mapping.items() if field in COLUMNS}
        self._sides = read_sides(mapping)

    @cached_property
    def _holds_roles(self) -> bool:
        """Of other columns, which name people, the first to speak is the user."""
        is_named = bool({"role", "type"} & set(normalize(self.mapping["role"]).split("_")))
        # "Bot" names one who speaks, as "Anna" does.
        return is_named or any(
            _name_role(value) and value.strip().lower() not in _BOT_NAMES
            for value in self._list_values(self.mapping["role"])
        )

    @cached_property
    def _merges_ids(self) -> bool:
        return are_merged(self._list_values(self.mapping["session_id"]))

    def read(self, rows: Iterable[Document]) -> Iterator[Call | Remark | LineError]:
        count = 0
        for number, row in rows:
            count += 1
            # Libraries for tables write NaN for an empty cell.
            yield self._read_row(number, {key: value for key, value in row.items() if value == value})
        by_session = "session_id" in self.mapping
        self.report.lacks_sessions = not by_session and count > MAX_ROWS_WITHOUT_SESSION

    def _read_row(self, number: int, row: dict[str, Any]) -> Call | Remark | LineError:
        missing = row.pop(MISSING_CELLS, 0) if MISSING_CELLS not in self._mapped else 0
        if reason := reasons.WITHHELD.get(find_withheld(row, self._mapped)):
            return Remark(reason, number)
        if not row.get(self.mapping["role"]) and any(map(_is_total, row.values())):
            return Remark(reasons.TOTALS, number)
        text = row.get(self.mapping["text"])
        if text is None or not str(text).strip():
            return Remark(reasons.CUT_ROWS if missing else reasons.EMPTY, number)
        if missing or type(row.get(EXTRA_CELLS)) is list:
            self.report.remarks[reasons.UNEVEN_ROWS].add(number)
        if is_boolean(row.get(self.mapping.get("session_id", ""))):
            return LineError(number, "E110", reasons.BOOLEAN_ID)
        name = self._find_session(row, number)
        speaker = row.get(self.mapping["role"])
        role, author = self._find_role(name, str(speaker) if speaker is not None else "", number)
        if type(text) not in (list, dict):
            written = str(text)
            text = strip_html(written, only_pages=True)
            if "<" in written and text != written:
                self.report.remarks[reasons.HTML_TEXTS].add(number)
        message = read_message({"role": role, "content": text})

        unnamed = NO_ROLE if role == UNKNOWN else ""
        spoken = message._replace(speaker=str(speaker or "").strip() or unnamed, line=number)
        return self._make_call(row, name, spoken, author, number)

    def _find_session(self, row: dict[str, Any], number: int) -> str:
        """Empty for a row that is a conversation of its own."""
        column = self.mapping.get("session_id", ONE_CONVERSATION)
        if column == EACH_ROW and column not in row:
            return ""
        if column == ONE_CONVERSATION and column not in row:
            return "1"
        value = row.get(column)
        name = as_name(value)
        if may_be_rounded(value):
            self.report.remarks[reasons.ROUNDED_SESSIONS].add(number)
            if self._merges_ids:
                raise UnreadableFile(MERGED_IDS)
        if type(value) is str and _WHOLE_FLOAT.fullmatch(name):  # of a column of numbers with a gap
            name = name[:-2]
        if not name:
            self.report.remarks[reasons.UNNAMED_SESSIONS].add(number)
        return name

    def _find_role(self, session: str, speaker: str, number: int) -> tuple[str, str | None]:
        """(role, author). The author is None if the speaker is a role."""
        word = speaker.strip().lower()
        role = _name_role(speaker)
        if side := self._sides.get(fold_sender(speaker or NO_ROLE)):  # those left out are counted later
            return side if side in ("user", "assistant") else role or "user", None if role else speaker
        if self.assistant:
            is_assistant = fold_sender(speaker) == fold_sender(self.assistant)
            role = "assistant" if is_assistant else role if role != "assistant" else "user"
            return (role, None) if role else ("user", speaker)
        if role:
            if role == "user":
                self._set_first(session, speaker)
            return role, None
        role = _guess_role(word)
        if not role and self._holds_roles:
            return UNKNOWN, None
        if not role:
            role = "user" if self._set_first(session, speaker) == speaker else "assistant"
        self.report.remarks[reasons.GUESSED_SENDERS].add(number, f"{role}: {speaker.strip()}")
        self.report.guessed_roles[role] += 1
        return role, speaker

    def _set_first(self, session: str, speaker: str) -> str:
        return self._first_speakers.setdefault(hash(session), intern(speaker)) if session else speaker

    def _make_call(
        self, row: dict[str, Any], session: str, message: Message, author: str | None, number: int
    ) -> Call:
        rest = {key: value for key, value in row.items() if key not in self._mapped}
        metadata = rest.pop("metadata", None)
        rest = {**metadata, **rest} if type(metadata) is dict else {**rest, "metadata": metadata}
        for name in ("timestamp", TURN_TAGS):  # other columns than those that are mapped
            if name in rest:
                rest[f"{name}_column"] = rest.pop(name)
        if author and rest.get("author") not in (None, author):
            rest["sender"], author = author, None
        written = row.get(self.mapping.get("timestamp", ""))
        time = self._read_time(written, number)
        if time is None and written:
            rest[ORIGINAL_TIMESTAMP] = written
        tags = row.get(self.mapping.get("tags", ""))
        found = split_tags(tags)
        if found is None:
            rest[self.mapping["tags"]] = tags
        details = {"author": author, **rest, "timestamp": time, TURN_TAGS: found, **message.details}
        message = message._replace(details=drop_empty(details))
        order = self._find_order(row, session, time, number)
        return Call(session, "", order, [], [message], {}, number, separate=True)

    def _read_time(self, written: Any, number: int) -> float | None:
        if written is None or written == "":
            return None
        what = reasons.UNREAD_TIMES
        try:
            if (time := self.dates.read(written)) is not None:
                return time
        except AmbiguousDate:
            what = reasons.AMBIGUOUS_TIMES
        except UnknownZone as error:
            self.report.remarks[reasons.UNKNOWN_ZONES].add(number, error.name)
            return None
        self.report.remarks[what].add(number, describe_shape(written))
        return None

    def _find_order(self, row: dict[str, Any], session: str, time: float | None, number: int) -> float:
        """By number, else by time; a row with neither stays behind the one before it."""
        index = row.get(self.mapping.get("turn_index", ""))
        try:
            order = float(index) if index is not None else None
        except (TypeError, ValueError):
            order = None
        if order is None or not math.isfinite(order):
            previous = self._orders.get(hash(session), float(number))
            order = previous if time is None or index is None and "turn_index" in self.mapping else time
        if session:
            self._orders[hash(session)] = order
        return order


def _is_total(value: Any) -> bool:
    return type(value) is str and len(value) < 60 and _TOTAL.fullmatch(value) is not None


def _name_role(value: Any) -> str:
    """The role that a value of the column is, be it a direction; empty for anything else."""
    word = value.strip().lower() if type(value) is str else ""
    return find_role(word) or _DIRECTIONS.get(word, "")


def _guess_role(word: str) -> str:
    """The role that "agent 7" or "support bot (lumi)" names; empty if it names none."""
    bare = re.sub(r"[\s_#.:-]*\d+$", "", word)
    role = "" if bare in _EITHER_SIDE else find_role(bare) or _DIRECTIONS.get(bare, "")
    return role or ("assistant" if _BOTS & set(re.split(r"[\W\d_]+", word)) else "")


def split_tags(value: Any) -> list[str] | None:
    """ "billing; vip" → ["billing", "vip"]. None for what isn't tags."""
    if type(value) in (int, float):
        value = str(value)
    items = _TAGS.split(value) if type(value) is str else value
    if items is None:
        return []
    if type(items) is not list or not all(type(item) is str for item in items):
        return None
    return list(dict.fromkeys(item.strip() for item in items if item.strip()))
