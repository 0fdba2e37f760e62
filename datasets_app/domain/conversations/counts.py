"""What can be counted in conversations as they pass: for a dataset's card and its charts."""

from collections import Counter
from collections.abc import Iterable

from datasets_app.domain.conversations.records import TurnRecord

NO_SCENARIO, NO_PERSONA = "none stated", "none stated"
# The last of each has no end.
REPLY_WORD_LIMITS = (5, 10, 20, 40, 80, 160, 320)
MAX_LENGTH_BARS = 10


class ConversationCounts:
    """Counts of turns, added one by one; turns of a session come one after the other.

    Memory is that of the different tags and keys, of which at most ``MAX_NAMES`` of a kind are kept.
    """

    MAX_NAMES = 10_000

    def __init__(self) -> None:
        self.sessions = self.turns = self.user_turns = self.assistant_turns = 0
        self.turns_per_session: Counter[int] = Counter()
        self.reply_words: Counter[int] = Counter()
        self.reply_word_total = 0
        self.scenarios: Counter[str] = Counter()
        self.personas: Counter[str] = Counter()
        self.filled_counts: Counter[str] = Counter()
        self.extra_keys: Counter[str] = Counter()
        self.metadata_keys: Counter[str] = Counter()
        self._session: str | None = None
        self._session_length = 0
        self._scenarios: dict[str, None] = {}

    def add(self, turn: TurnRecord) -> None:
        if turn.session_id != self._session:
            self.finish()
            self._session = turn.session_id
            self._count(self.personas, [turn.persona_id or NO_PERSONA])
        self._session_length += 1
        self.turns += 1
        if turn.role == "assistant":
            self.assistant_turns += 1
            words = len(turn.text.split())
            self.reply_word_total += words
            self.reply_words[next((most for most in REPLY_WORD_LIMITS if words <= most), 0)] += 1
        else:
            self.user_turns += 1
        self._scenarios.update(dict.fromkeys(tag for tag in turn.tags if tag.startswith("scenario:")))
        self._count_fields(turn)

    def _count_fields(self, turn: TurnRecord) -> None:
        for name in ("tags", "persona_id", "timestamp", "metadata"):
            if getattr(turn, name):
                self.filled_counts[name] += 1
        if turn.extra:
            self._count(self.extra_keys, turn.extra)
        if turn.metadata:
            self._count(self.metadata_keys, turn.metadata)

    def _count(self, counter: "Counter[str]", names: Iterable[str]) -> None:
        for name in names:
            if name in counter or len(counter) < self.MAX_NAMES:
                counter[name] += 1

    def finish(self) -> None:
        """After the last turn: the session it belongs to is counted. Twice is harmless."""
        if self._session is None:
            return
        self.sessions += 1
        self.turns_per_session[self._session_length] += 1
        # A session tagged with several scenarios is one of each.
        names = [tag.removeprefix("scenario:") for tag in self._scenarios] or [NO_SCENARIO]
        self._count(self.scenarios, names)
        self._session, self._session_length, self._scenarios = None, 0, {}

    def build_session_length_bars(self) -> list[tuple[str, int]]:
        """Sessions by their number of turns, from the shortest; many different lengths are put together."""
        lengths = sorted(self.turns_per_session)
        if not lengths:
            return []
        low, high = lengths[0], lengths[-1]
        step = -(-(high - low + 1) // MAX_LENGTH_BARS)
        bars = []
        for begin in range(low, high + 1, step):
            end = begin + step - 1
            count = sum(n for length, n in self.turns_per_session.items() if begin <= length <= end)
            bars.append((str(begin) if step == 1 else f"{begin}–{end}", count))
        return bars

    def build_reply_length_bars(self) -> list[tuple[str, int]]:
        """Replies by their number of words."""
        bars, before = [], 0
        for most in REPLY_WORD_LIMITS:
            bars.append((f"{before}–{most}", self.reply_words[most]))
            before = most + 1
        bars.append((f"{before}+", self.reply_words[0]))
        while len(bars) > 1 and not bars[-1][1]:
            bars.pop()
        return bars

    @property
    def mean_turns(self) -> float:
        return self.turns / self.sessions if self.sessions else 0.0

    @property
    def mean_reply_words(self) -> float:
        return self.reply_word_total / self.assistant_turns if self.assistant_turns else 0.0
