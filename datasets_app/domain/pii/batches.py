"""Scrubbing by the batch: turns in, lines and counts out. What a process of a pool does."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple

from datasets_app.domain.conversations.jsonl import encode_turn
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.network.languages import Spoken
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.proposals import TermCounts, count_terms
from datasets_app.domain.pii.rebuilding import ScrubbedSession
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_ids import is_hashed_id
from datasets_app.domain.pii.session_scrub import SessionInput

# So few that processes end at about the same time.
TURNS_PER_BATCH = 1000
CHARACTERS_PER_BATCH = 2_000_000
MAX_PLACES_LISTED = 100
SCRUB, PREVIEW, VERIFY = "scrub", "look", "verify"

Task = tuple[str, list[TurnRecord]]


class ScrubSetup(NamedTuple):
    """What a process needs to know. ``may_have_hashed_ids``: ids that look like hashes are ours already.
    ``counts_names``: the names found are counted, to propose some as terms to keep."""

    policy: Policy
    key: bytes
    persona_terms: tuple[str, ...] = ()
    may_have_hashed_ids: bool = False
    counts_names: bool = False


class FindingPlace(NamedTuple):
    """Where something was, never what: ``start`` (from 0) and ``length`` count code points."""

    line: int
    turn_index: int | None
    field: str
    kind: str
    start: int
    length: int
    score: float


class ScrubbedBatch(NamedTuple):
    """``lines`` is empty after a mere look. ``found_*`` count what has findings, ``changed_*`` what differs,
    by a new id or timestamp as well. ``places`` are the first only. ``names`` are raw, for the caller's
    memory alone."""

    lines: bytes
    sessions: int
    turns: int
    found_sessions: int
    found_turns: int
    changed_sessions: int
    changed_turns: int
    kinds: Counter[str]
    fields: Counter[str]
    places: list[FindingPlace]
    names: TermCounts


class VerifiedBatch(NamedTuple):
    """What verification still finds in a batch: turns read, values by class, the first places; and in which
    languages the sessions are."""

    turns: int
    kinds: Counter[str]
    places: list[FindingPlace]
    spoken: Spoken


def split_batches(turns: Iterable[TurnRecord]) -> Iterator[list[TurnRecord]]:
    """Whole sessions, about a thousand turns at once. ``turns`` come session by session."""
    batch: list[TurnRecord] = []
    characters = 0
    for _, session in groupby(turns, key=attrgetter("session_id")):
        for turn in session:
            batch.append(turn)
            characters += len(turn.text)
        if len(batch) >= TURNS_PER_BATCH or characters >= CHARACTERS_PER_BATCH:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def make_batch_worker(setup: ScrubSetup) -> Callable[[Task], ScrubbedBatch | VerifiedBatch]:
    """What works off a task of kind :data:`SCRUB`, :data:`PREVIEW` or :data:`VERIFY`.

    Raises what :class:`Scrubber` raises for a policy that can't be carried out.
    """
    scrubber = Scrubber(setup.policy, key=setup.key, persona_terms=setup.persona_terms)

    def work(task: Task) -> ScrubbedBatch | VerifiedBatch:
        kind, turns = task
        if kind == VERIFY:
            return _verify_batch(scrubber, turns)
        return _scrub_batch(scrubber, turns, setup, with_lines=kind == SCRUB)

    return work


def _group_sessions(turns: Iterable[TurnRecord], is_hashed: Callable[[str], bool]) -> list[SessionInput]:
    return [
        SessionInput(list(session), id_hashed=is_hashed(session_id))
        for session_id, session in groupby(turns, key=attrgetter("session_id"))
    ]


def _scrub_batch(
    scrubber: Scrubber, turns: list[TurnRecord], setup: ScrubSetup, *, with_lines: bool
) -> ScrubbedBatch:
    sessions = _group_sessions(
        turns, lambda session_id: setup.may_have_hashed_ids and is_hashed_id(session_id)
    )
    results = scrubber.scrub(sessions)
    touched = [{found.turn_index for found in result.findings} for result in results]
    findings = [found for result in results for found in result.findings]
    return ScrubbedBatch(
        b"".join(encode_turn(turn) for result in results for turn in result.turns) if with_lines else b"",
        len(results),
        len(turns),
        sum(map(bool, touched)),
        sum(len(turns - {None}) for turns in touched),
        sum(bool(result.changed) for result in results),
        sum(len(result.changed) for result in results),
        Counter(found.kind for found in findings),
        Counter(get_top_field(found.field) for found in findings),
        list(islice(_list_places(sessions, results), MAX_PLACES_LISTED)),
        count_terms(zip(sessions, results, strict=True)) if setup.counts_names else {},
    )


def _verify_batch(scrubber: Scrubber, turns: list[TurnRecord]) -> VerifiedBatch:
    sessions = _group_sessions(turns, lambda _: True)
    kinds = scrubber.count_remaining(sessions)
    places: list[FindingPlace] = []
    if kinds:
        found = _list_places(sessions, scrubber.scrub(sessions))
        places = list(islice((place for place in found if place.kind in kinds), MAX_PLACES_LISTED))
    return VerifiedBatch(len(turns), kinds, places, scrubber.count_languages(sessions))


def _list_places(sessions: list[SessionInput], results: list[ScrubbedSession]) -> Iterator[FindingPlace]:
    for session, result in zip(sessions, results, strict=True):
        if not result.findings:
            continue
        lines: dict[int | None, int] = {None: session.turns[0].line}
        for turn in session.turns:
            lines.setdefault(turn.turn_index, turn.line)
        for found in result.findings:
            yield FindingPlace(
                lines.get(found.turn_index, 0),
                found.turn_index,
                found.field,
                found.kind,
                found.start,
                found.length,
                found.score,
            )


def get_top_field(field: str) -> str:
    """``metadata.user.email`` → ``metadata``: what may be counted without telling keys."""
    name = field.removeprefix("a key of ").partition(".")[0].partition("[")[0]
    return name if name in ("session_id", "text", "tags", "persona_id", "metadata") else "other keys"


def build_place_object(place: FindingPlace) -> dict[str, Any]:
    """For a report: columns count from 1, as editors have it."""
    return {
        "line": place.line,
        "turn_index": place.turn_index,
        "field": place.field,
        "class": place.kind,
        "column": place.start + 1,
        "length": place.length,
        "score": place.score,
    }
