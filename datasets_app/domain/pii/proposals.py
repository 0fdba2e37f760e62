"""Words that a scrub takes for people and that may be brands, which a curator may keep.

In many sessions a brand shows by how often it is said. In a dataset so small that somebody can look at every
word, all are proposed of which nothing says that they are people.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.folding import fold
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.person_cues import is_greeted
from datasets_app.domain.pii.names.product_cues import has_product_cue
from datasets_app.domain.pii.names.said_of import Said, read_cues
from datasets_app.domain.pii.rebuilding import ScrubbedSession
from datasets_app.domain.pii.session_scrub import SessionInput

MIN_SESSIONS = 3
# A dataset of fewer sessions is small.
SMALL_DATASET_SESSIONS = 100
# Of the sessions that were searched.
MIN_SESSION_SHARE, COMMON_SESSION_SHARE = 0.01, 0.05
MIN_ASSISTANT_SHARE, MIN_PRODUCT_SHARE, MIN_GREETED_SHARE = 0.5, 0.2, 0.1  # of the occurrences
MAX_PROPOSALS = 200
MAX_TERMS_COUNTED = 20_000
MAX_TERM_CHARACTERS = 60

# "Thanks for reaching out, Ngozi!": a short clause with one comma, and then the end of the sentence.
_CLAUSE_BEFORE = re.compile(r"(?:^|[.!?…\n])\s*(?:[^\s,.!?…]+ ){0,5}[^\s,.!?…]+, ?$")
_CLAUSE_END = re.compile(r"\s*(?:[.!?…\n]|$)")
_POSSESSIVE = re.compile(r"['’]s?$")


class TermCount(NamedTuple):
    """``by_assistant``, ``beside_products``, ``as_person`` (who speaks, is greeted or acts) and ``greeted``
    are numbers of the occurrences."""

    sessions: int
    occurrences: int
    by_assistant: int
    beside_products: int
    as_person: int = 0
    greeted: int = 0

    def add(self, other: "TermCount") -> "TermCount":
        return TermCount(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def assistant_share(self) -> float:
        return self.by_assistant / self.occurrences

    @property
    def product_share(self) -> float:
        return self.beside_products / self.occurrences

    @property
    def greeted_share(self) -> float:
        return self.greeted / self.occurrences


TermCounts = dict[str, TermCount]


def is_proposed(term: str, count: TermCount, sessions: int) -> bool:
    """Whether a term is in many of ``sessions``, and is mostly said by the assistant or beside words for
    products, or has words that no list of names knows; or is in very many. Who is greeted isn't
    proposed, nor, in a small dataset, what anything shows to be a person."""
    if count.sessions < max(get_fewest_sessions(sessions), MIN_SESSION_SHARE * sessions):
        return False
    said_to_people = count.greeted_share >= max(MIN_GREETED_SHARE, count.product_share)
    if said_to_people or (count.sessions < MIN_SESSIONS and count.as_person):
        return False
    return (
        count.sessions >= COMMON_SESSION_SHARE * sessions
        or count.assistant_share >= MIN_ASSISTANT_SHARE
        or count.product_share >= MIN_PRODUCT_SHARE
        or not may_be_name(term)
    )


def get_fewest_sessions(sessions: int) -> int:
    """In how many of ``sessions`` a term must be to be proposed, at least."""
    return 1 if sessions < SMALL_DATASET_SESSIONS else MIN_SESSIONS


def speaks_of_person(text: str, start: int, end: int) -> bool:
    """Whether the words around ``text[start:end]`` are said of people."""
    return read_cues(text, start, end) is Said.PERSON


def is_addressed(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is greeted, or spoken to at the end of a short sentence."""
    if is_greeted(text, start):
        return True
    return bool(_CLAUSE_END.match(text, end) and _CLAUSE_BEFORE.search(text[max(0, start - 80) : start]))


def may_be_name(term: str) -> bool:
    """Whether lists of names have every word of a term."""
    facts = [look_up_word(word) for word in normalize_proposal(term).split()]
    return all(fact.first or fact.last for fact in facts)


def normalize_proposal(value: str) -> str:
    """The term of a name that was found: in lower case, without a possessive."""
    return _POSSESSIVE.sub("", " ".join(fold(value).split())).casefold()


def count_terms(sessions: Iterable[tuple[SessionInput, ScrubbedSession]]) -> TermCounts:
    """The names that were found in texts of sessions, each as it was and as it is now."""
    counts: TermCounts = {}
    for session, result in sessions:
        for term, count in _count_session(session, result).items():
            counts[term] = counts[term].add(count) if term in counts else count
    return counts


def _count_session(session: SessionInput, result: ScrubbedSession) -> TermCounts:
    turns = {turn.turn_index: turn for turn in session.turns}
    counts: TermCounts = {}
    for found in result.findings:
        turn = turns.get(found.turn_index) if found.turn_index is not None else None
        if found.kind != NAME or found.field != "text" or turn is None:
            continue
        end = found.start + found.length
        term = normalize_proposal(turn.text[found.start : end])
        if 1 < len(term) <= MAX_TERM_CHARACTERS:
            said = (
                int(turn.role == "assistant"),
                int(has_product_cue(turn.text, found.start, end)),
                int(speaks_of_person(turn.text, found.start, end)),
                int(is_addressed(turn.text, found.start, end)),
            )
            before = counts.get(term, TermCount(1, 0, 0, 0))
            counts[term] = before.add(TermCount(0, 1, *said))
    return counts


class TermTally:
    """Adds up the counts of parts of a file. Of very many different words it forgets the rarest, which may
    lower the counts of some that come back later."""

    def __init__(self, max_terms: int = MAX_TERMS_COUNTED) -> None:
        self.counts: TermCounts = {}
        self._max_terms = max_terms

    def add(self, counts: Mapping[str, TermCount]) -> None:
        for term, count in counts.items():
            self.counts[term] = self.counts[term].add(count) if term in self.counts else count
        if len(self.counts) > 2 * self._max_terms:
            self.counts = dict(self._sort()[: self._max_terms])

    def choose_proposals(self, sessions: int, kept: Collection[str] = ()) -> list[tuple[str, TermCount]]:
        """The terms to propose, of those found in ``sessions`` sessions; the most frequent first. Those that
        are ``kept`` already (normalized) are left out."""
        found = (item for item in self._sort() if is_proposed(*item, sessions))
        return [item for item in found if normalize_proposal(item[0]) not in kept][:MAX_PROPOSALS]

    def _sort(self) -> list[tuple[str, TermCount]]:
        return sorted(
            self.counts.items(), key=lambda item: (-item[1].sessions, -item[1].occurrences, item[0])
        )
