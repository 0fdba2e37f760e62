"""Words that a whole dataset shows to be brands or products, whatever the name model takes them for.

One text seldom tells: "Columba has a cheaper one" may speak of a colleague. In many sessions a person is
greeted, signs or answers at least once; a brand is bought, shipped and compared, in different words. A word
that does so in enough sessions stays. Everything weaker is a proposal (proposals.py).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple
from zlib import crc32

from datasets_app.domain.pii.context import find_requested_kinds
from datasets_app.domain.pii.detection import ANSWER_SCORE
from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.names.brand_cues import Said, is_item, read_cues
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.name_cues import TITLES
from datasets_app.domain.pii.names.person_cues import PROFESSIONS
from datasets_app.domain.pii.names.thing_cues import HEADS
from datasets_app.domain.pii.policy import Brand, Policy
from datasets_app.domain.pii.proposals import MAX_TERM_CHARACTERS, normalize_proposal
from datasets_app.domain.pii.rebuilding import FoundValue, ScrubbedSession
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from datasets_app.domain.wording import format_count

# Sessions, also as a share of those searched, that have the word; and of them those that speak of a thing.
MIN_SESSIONS, MIN_SESSION_SHARE = 5, 0.005
MIN_THING_SESSIONS, MIN_THING_SHARE = 4, 0.4
MIN_CONTEXTS = 3
# More of each for a word that a list has as a rare name. Frequent names never stay alone.
EXTRA_FOR_NAMES = 2
MAX_DOUBTFUL_SHARE = 0.25
# Of what ordinary words join to a phrase that nobody is called, such as Cargo Carl: fewer.
MIN_PHRASE_SESSIONS, MIN_PHRASE_THINGS, MIN_PHRASE_SHARE = 3, 2, 0.25
MAX_PHRASE_PERSON_SHARE = 0.2
# Of what is one of many, whatever lists of names have it: nobody is called "a new Hilda" again and again.
MIN_ITEM_SESSIONS, MIN_ITEM_SHARE, MAX_ITEM_PERSON_SHARE = 3, 0.15, 0.2
MAX_BRANDS = 500
MAX_WORDS_COUNTED = 20_000
MAX_CONTEXTS = 12
# So many turns are searched, of sessions chosen by their ids: a word that is in one session of two hundred
# is in ten of them.
MAX_TURNS_SEARCHED = 20_000
_CUE_CHARACTERS = 40
_WORD = re.compile(r"[^\W_]+")
_GREETINGS = frozenset(
    "hi hello hey dear thanks thank welcome bye cheers sorry good morning best regards love yours".split()
)
# A capital where a sentence begins may mean nothing.
_CAPITALS_BEFORE = re.compile(r"(?<=[\w,] )((?:[A-Z][\w'’]{1,20} ){1,3})$")
_CAPITALS_BEHIND = re.compile(r"(?: (?:[A-Z][\w'’]{1,20}|\d{1,4}\b)){1,3}")
# Behind those who work there.
_DEPARTMENTS = frozenset("support team care service services sales desk help office online".split())


class BrandCount(NamedTuple):
    """Numbers of sessions: that have the word, in which the assistant says it, and which speak of it as of a
    thing, as of a person, perhaps as of one, and as of one of many ("a new X"). ``contexts`` are digests of
    the words around a thing."""

    sessions: int
    by_assistant: int
    as_thing: int
    as_person: int
    doubtful: int
    as_item: int
    contexts: frozenset[int]

    def add(self, other: "BrandCount") -> "BrandCount":
        return BrandCount(
            self.sessions + other.sessions,
            self.by_assistant + other.by_assistant,
            self.as_thing + other.as_thing,
            self.as_person + other.as_person,
            self.doubtful + other.doubtful,
            self.as_item + other.as_item,
            frozenset(sorted(self.contexts | other.contexts)[:MAX_CONTEXTS]),
        )

    def unite(self, other: "BrandCount") -> "BrandCount":
        """With what another place of the same session says."""
        return BrandCount(
            1,
            self.by_assistant | other.by_assistant,
            self.as_thing | other.as_thing,
            self.as_person | other.as_person,
            self.doubtful | other.doubtful,
            self.as_item | other.as_item,
            self.contexts | other.contexts,
        )


BrandCounts = dict[str, BrandCount]


def is_brand(term: str, count: BrandCount, sessions: int, own_words: Collection[str] = ()) -> bool:
    """Whether what ``sessions`` sessions say of a term shows that no person is called so. ``own_words`` are
    those of personas, which may be names."""
    if count.doubtful > MAX_DOUBTFUL_SHARE * count.sessions:
        return False
    if count.by_assistant and is_phrase(term):
        return _is_sold_phrase(count, sessions)
    if _may_be_phrase(term) and _is_said_by_assistant(count) and _is_sold_phrase(count, sessions):
        return True
    if count.as_person > (MAX_ITEM_PERSON_SHARE * count.as_item if " " in term else 0):
        return False
    if count.by_assistant and count.as_item >= max(MIN_ITEM_SESSIONS, MIN_ITEM_SHARE * count.sessions):
        return not _is_introduction(_WORD.findall(term))
    if count.as_person:
        return False
    extra = _count_extra(term, own_words)
    return (
        extra is not None
        and count.sessions >= max(MIN_SESSIONS, MIN_SESSION_SHARE * sessions)
        and count.as_thing >= max(MIN_THING_SESSIONS + extra, MIN_THING_SHARE * count.sessions)
        and len(count.contexts) >= MIN_CONTEXTS + extra
    )


def _is_sold_phrase(count: BrandCount, sessions: int) -> bool:
    return (
        count.sessions >= max(MIN_PHRASE_SESSIONS, MIN_SESSION_SHARE * sessions)
        and count.as_thing >= max(MIN_PHRASE_THINGS, MIN_PHRASE_SHARE * count.sessions)
        and count.as_person <= MAX_PHRASE_PERSON_SHARE * count.as_thing
    )


def _is_said_by_assistant(count: BrandCount) -> bool:
    """Mostly, of a thing and never of a person."""
    return (
        count.sessions >= MIN_SESSIONS
        and 2 * count.by_assistant >= count.sessions
        and len(count.contexts) >= MIN_CONTEXTS
        and not count.as_person
    )


def _may_be_phrase(term: str) -> bool:
    """Little Frida, Cuir Anton: a word that is seldom or never a first name, before one that is."""
    words = _WORD.findall(term)
    if len(words) < 2 or _is_introduction(words):
        return False
    first, last = look_up_word(words[0]), look_up_word(words[-1])
    return (first.common > 0 and first.first < 2) or (not any(first) and last.first > 0 and not last.common)


def _is_introduction(words: Sequence[str]) -> bool:
    return words[0] in TITLES | PROFESSIONS | _GREETINGS or words[-1] in _DEPARTMENTS


def is_phrase(term: str) -> bool:
    """Whether ordinary words join names to what nobody is called: Cargo Carl, but not Coach Carl."""
    words = _WORD.findall(term)
    return len(words) > 1 and not _is_introduction(words) and any(map(_is_no_name, words))


def _is_no_name(word: str) -> bool:
    fact = look_up_word(word)
    is_ordinary = len(word) > 2 and fact.common > 0 and not fact.first and fact.last < 2
    return is_ordinary or word.isdigit()


def _count_extra(term: str, own_words: Collection[str]) -> int | None:
    """How much more it takes to keep a term; None if nothing is enough. Nobody is called Otis Sofa."""
    words = _WORD.findall(term)
    facts = [look_up_word(word) for word in words if word not in own_words]
    if any(fact.first == 2 or fact.last == 2 for fact in facts):
        head = look_up_word(words[-1])
        is_thing = len(words) > 1 and words[-1] in HEADS and not head.first and not head.last
        is_thing |= len(words) > 1 and words[0] in own_words  # Bruno Junior, of Bruno
        return EXTRA_FOR_NAMES if is_thing else None
    return EXTRA_FOR_NAMES if any(fact.first or fact.last for fact in facts) else 0


def needs_brands(policy: Policy, persona_terms: Collection[str]) -> bool:
    """Whether a dataset is to be searched for brands before its scrub: only the chat of a persona is."""
    return policy.keeps_brands and policy.brands is None and NAME in policy.kinds and bool(persona_terms)


def list_own_words(persona_terms: Iterable[str]) -> frozenset[str]:
    """The words of personas' terms, as those of terms are compared with them."""
    return frozenset(word for term in persona_terms for word in _WORD.findall(normalize_proposal(term)))


def describe_brands(brands: Collection[Brand]) -> str:
    """``12 words kept as names of brands or products: found in 40 sessions or more, as things.``"""
    sessions = min(brand.sessions for brand in brands)
    words, names = format_count(len(brands), "word"), "a name" if len(brands) == 1 else "names"
    return (
        f"{words} kept as {names} of brands or products: found in {sessions:,} sessions or more, as things."
    )


# --- counting ------------------------------------------------------------------------------------------


class BrandCounter:
    """Counts what is said of the names that are found in texts of sessions."""

    def __init__(self, policy: Policy, key: bytes, persona_terms: Iterable[str]) -> None:
        names_only = Policy(
            kinds=(NAME,),
            allow=policy.allow,
            allow_names=policy.allow_names,
            exempt_marks=policy.exempt_marks,
            name_models=policy.name_models,
        )
        self._scrubber = Scrubber(names_only, key=key, persona_terms=persona_terms, keeps_things=False)

    def count(self, sessions: Sequence[SessionInput]) -> BrandCounts:
        counts: BrandCounts = {}
        for session, result in zip(sessions, self._scrubber.scrub(sessions), strict=True):
            for term, count in _count_session(session, result).items():
                counts[term] = counts[term].add(count) if term in counts else count
        return counts


def _count_session(session: SessionInput, result: ScrubbedSession) -> BrandCounts:
    places = {turn.turn_index: place for place, turn in enumerate(session.turns)}
    counts: BrandCounts = {}
    for found in result.findings:
        if found.kind != NAME or found.field != "text" or found.turn_index is None:
            continue
        place = places[found.turn_index]
        turn = session.turns[place]
        term = normalize_proposal(turn.text[found.start : found.start + found.length])
        if not 1 < len(term) <= MAX_TERM_CHARACTERS:
            continue
        is_answer = found.score == ANSWER_SCORE or (
            place > 0 and NAME in find_requested_kinds(session.turns[place - 1].text, (NAME,))
        )
        for start, end in _list_spans(turn.text, found):
            said = _count_place(turn.text, start, end, is_answer)
            count = said._replace(by_assistant=int(turn.role == "assistant"))
            term = normalize_proposal(turn.text[start:end])
            counts[term] = counts[term].unite(count) if term in counts else count
    return counts


def _list_spans(text: str, found: FoundValue) -> Iterator[tuple[int, int]]:
    """Where a name stands, and the phrase of capitalized words around it if it is in one: Cargo Carl."""
    start, end = found.start, found.start + found.length
    yield start, end
    before, behind = _CAPITALS_BEFORE.search(text, max(0, start - _CUE_CHARACTERS), start), None
    behind = _CAPITALS_BEHIND.match(text, end)
    phrase = (before.start(1) if before else start, behind.end() if behind else end)
    if text[start].isupper() and phrase != (start, end):
        yield phrase


def _count_place(text: str, start: int, end: int, is_answer: bool) -> BrandCount:
    """The count of a session that has the word at this place only."""
    said = Said.PERSON if is_answer else read_cues(text, start, end)
    contexts: frozenset[int] = frozenset()
    if said == Said.THING:
        before = _WORD.findall(text[max(0, start - _CUE_CHARACTERS) : start].lower())[-2:]
        behind = _WORD.findall(text[end : end + _CUE_CHARACTERS].lower())[:2]
        contexts = frozenset({crc32(" ".join([*before, "|", *behind]).encode("utf-8", "surrogatepass"))})
    is_one = said != Said.PERSON and is_item(text, start, is_phrase=" " in text[start:end])
    return BrandCount(
        sessions=1,
        by_assistant=0,
        as_thing=int(said == Said.THING),
        as_person=int(said == Said.PERSON),
        doubtful=int(said == Said.DOUBTFUL),
        as_item=int(is_one),
        contexts=contexts,
    )


class BrandTally:
    """Adds up the counts of parts of a dataset; of very many different words it forgets the rarest."""

    def __init__(self, max_words: int = MAX_WORDS_COUNTED) -> None:
        self.counts: BrandCounts = {}
        self.sessions = 0
        self._max_words = max_words

    def add(self, counts: Mapping[str, BrandCount], sessions: int) -> None:
        self.sessions += sessions
        for term, count in counts.items():
            self.counts[term] = self.counts[term].add(count) if term in self.counts else count
        if len(self.counts) > 2 * self._max_words:
            self.counts = dict(self._sort()[: self._max_words])

    def choose_brands(self, policy: Policy, key: bytes, persona_terms: Iterable[str]) -> tuple[Brand, ...]:
        """Those that stay, the most frequent first; none that somebody has marked as a person."""
        own_words = list_own_words(persona_terms)
        people = {mark.digest for mark in policy.missed}
        brands = (
            Brand(term, count.sessions, count.by_assistant, count.as_thing)
            for term, count in self._sort()
            if is_brand(term, count, self.sessions, own_words)
            and not ((mark := make_missed_mark(NAME, term, key)) and mark.digest in people)
        )
        return tuple(islice(brands, MAX_BRANDS))

    def _sort(self) -> list[tuple[str, BrandCount]]:
        return sorted(self.counts.items(), key=lambda item: (-item[1].sessions, item[0]))
