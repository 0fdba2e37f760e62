"""What a conversion has read, made and left out."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from datasets_app.domain.conversations.records import LineError

MAX_LINES_NOTED = 20
MAX_KINDS_NOTED = 200
MAX_PROBLEMS_LISTED = 100_000


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


@dataclass
class Report:
    """What a conversion has read, made and left out. ``problems`` holds the first lines that are wrong, and
    all of those that belong to a conversation."""

    format: str = ""
    records: int = 0
    calls: int = 0
    traces: int = 0
    conversations: int = 0
    unanswered: int = 0
    turns: int = 0
    labels: int = 0
    # By reason; "place" is what the lines of notes count.
    left_out: defaultdict[str, Note] = field(default_factory=lambda: defaultdict(Note))
    # What was guessed or cut; and (role or sender as written, what it was read as): messages.
    remarks: defaultdict[str, Note] = field(default_factory=lambda: defaultdict(Note))
    speakers: Counter[tuple[str, str]] = field(default_factory=Counter)
    place: str = "line"
    problems: list[LineError] = field(default_factory=list)
    problem_total: int = 0
    mapping: dict[str, str] = field(default_factory=dict)
    # Of a table: the names of its columns.
    columns: list[str] = field(default_factory=list)
    # Whether nothing says which rows are one conversation; what senders without a role were read as.
    lacks_sessions: bool = False
    guessed_roles: Counter[str] = field(default_factory=Counter)

    def add_problem(self, problem: LineError) -> None:
        self.problem_total += 1
        if problem.session_id or len(self.problems) < MAX_PROBLEMS_LISTED:
            self.problems.append(problem)
