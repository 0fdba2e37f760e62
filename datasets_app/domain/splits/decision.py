"""Sessions with their texts, as a stream → which split each is in, and a report on what leaks."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

from datasets_app.domain.conversations.sampling import get_scenario
from datasets_app.domain.splits.near_duplicates import NearDuplicateFinder, SignBatches
from datasets_app.domain.splits.splits import TOTAL_PARTS, Candidate, SplitSettings, UnionFind, place_sessions

NO_PERSONA, ALL_SESSIONS = "no persona", "all sessions"
MAX_LEAKS_LISTED, MAX_ROWS_LISTED = 20, 100


class Conversation(NamedTuple):
    """A whole session. ``sibling`` is what it shares with the sessions it must stay with; ``current_split``
    the one it is in already."""

    session_id: str
    persona_id: str | None
    tags: Sequence[str]
    texts: Sequence[str]
    sibling: str | None = None
    current_split: str | None = None


class Leak(NamedTuple):
    """Two sessions, by number, that belong together and are not: alike by so much, or siblings (None)."""

    first: int
    second: int
    similarity: float | None


class SplitDecision(NamedTuple):
    """By the numbers of the sessions, in the order they came: who they are, where they are now, and which
    of them were there before. ``report`` is JSON without any session id; ``leaks`` are its first ones."""

    ids: list[str]
    splits: list[str]
    was_placed: list[bool]
    report: dict[str, Any]
    leaks: list[Leak]

    def new_placements(self) -> Iterator[tuple[int, str]]:
        """(number, split) of those placed now."""
        for number, (split, before) in enumerate(zip(self.splits, self.was_placed, strict=True)):
            if not before:
                yield number, split

    def describe_leaks(self) -> list[dict[str, Any]]:
        """The first leaks for people: which sessions, in which splits, how alike (None: siblings)."""
        return [
            {
                "sessions": [self.ids[first], self.ids[second]],
                "splits": [self.splits[first], self.splits[second]],
                "similarity": similarity,
            }
            for first, second, similarity in self.leaks
        ]


def decide_splits(
    sessions: Iterable[Conversation],
    settings: SplitSettings,
    on_compared: Callable[[int, int], None] = lambda done, total: None,
    sign_batches: SignBatches | None = None,
) -> SplitDecision:
    """Place every session that is not placed yet. ``on_compared`` is told how many pairs were compared;
    ``sign_batches`` is of :meth:`NearDuplicateFinder.add`."""
    gathered = _SessionCollector(settings)
    with NearDuplicateFinder(settings.similarity) as texts:
        texts.add(gathered.collect(sessions), sign_batches)
        pairs = list(texts.find_pairs(on_compared))
    for pair in pairs:
        gathered.links.union(pair.first, pair.second)
    candidates = gathered.candidates()
    splits = place_sessions(candidates, settings)
    linked = [*(Leak(*pair) for pair in pairs), *gathered.siblings]
    leaks = [leak for leak in linked if splits[leak.first] != splits[leak.second]]
    report = {
        "settings": settings.as_json(),
        "sessions": len(splits),
        "placed_before": sum(candidate.current_split is not None for candidate in candidates),
        "near_duplicate_pairs": len(pairs),
        "leaking_pairs": len(leaks),
        **_summarize_shares(candidates, splits, settings),
        **_summarize_groups(candidates, splits, settings),
        "scenarios": _count_by_split(gathered.scenarios, splits),
        "personas": _count_by_split(gathered.personas, splits),
    }
    ids = [candidate.session_id for candidate in candidates]
    was_placed = [bool(candidate.current_split) for candidate in candidates]
    return SplitDecision(ids, splits, was_placed, report, _find_worst_leaks(leaks, ids))


class _SessionCollector:
    """What is known of the sessions but their texts."""

    def __init__(self, settings: SplitSettings) -> None:
        self._stratify = settings.stratify
        self.links = UnionFind()
        self.siblings: list[Leak] = []
        self.scenarios: list[str] = []
        self.personas: list[str] = []
        self._ids: list[str] = []
        self._placed: list[str | None] = []
        self._first_of: dict[str, int] = {}
        # Few are different: each is kept once.
        self._names: dict[str, str] = {}

    def collect(self, sessions: Iterable[Conversation]) -> Iterator[Sequence[str]]:
        """The texts of each session."""
        for session in sessions:
            self._add(session)
            yield session.texts

    def _add(self, session: Conversation) -> None:
        number = self.links.add()
        self._ids.append(session.session_id)
        self._placed.append(session.current_split)
        scenario, persona = get_scenario(session.tags), session.persona_id or NO_PERSONA
        self.scenarios.append(self._names.setdefault(scenario, scenario))
        self.personas.append(self._names.setdefault(persona, persona))
        if session.sibling is not None:
            first = self._first_of.setdefault(session.sibling, number)
            if first != number:
                self.links.union(first, number)
                self.siblings.append(Leak(first, number, None))

    def candidates(self) -> list[Candidate]:
        named = {"scenario": self.scenarios, "persona": self.personas}
        strata = named.get(self._stratify) or [ALL_SESSIONS] * len(self._ids)
        return [
            Candidate(session_id, stratum, self.links.find(number), placed)
            for number, (session_id, stratum, placed) in enumerate(
                zip(self._ids, strata, self._placed, strict=True)
            )
        ]


def _find_worst_leaks(leaks: list[Leak], ids: list[str]) -> list[Leak]:
    """The most alike, siblings before them."""

    def key(leak: Leak) -> tuple[float, list[str]]:
        alike = 2.0 if leak.similarity is None else leak.similarity
        return -alike, sorted((ids[leak.first], ids[leak.second]))

    return nsmallest(MAX_LEAKS_LISTED, leaks, key=key)


def _summarize_shares(
    candidates: list[Candidate], splits: list[str], settings: SplitSettings
) -> dict[str, Any]:
    """How many of all and of each stratum are where, and how far from what was wanted."""
    wanted = settings.target_shares()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for candidate, split in zip(candidates, splits, strict=True):
        counts[candidate.stratum][split] += 1
    in_all = Counter(splits)
    rows: list[dict[str, Any]] = []
    for stratum, found in sorted(counts.items(), key=lambda item: (-item[1].total(), item[0])):
        off = max(abs(found[split] - share * found.total() / TOTAL_PARTS) for split, share in wanted.items())
        rows.append(
            {
                "stratum": stratum,
                "sessions": found.total(),
                **{split: found[split] for split in wanted},
                "points_off": round(100 * off / found.total(), 2),
                "sessions_off": round(off, 2),
            }
        )
    return {
        "splits": {
            split: {
                "sessions": in_all[split],
                "share": round(100 * in_all[split] / max(1, len(splits)), 2),
                "wanted": share / 100,
            }
            for split, share in wanted.items()
        },
        "strata_count": len(rows),
        # A stratum of fewer than a hundred sessions can't be nearer than a session.
        "strata_off": sum(row["points_off"] > 1 and row["sessions_off"] >= 1 for row in rows),
        "strata": rows[:MAX_ROWS_LISTED],
    }


def _summarize_groups(
    candidates: list[Candidate], splits: list[str], settings: SplitSettings
) -> dict[str, Any]:
    """How many sessions stay together with others; the largest group, if a split has no room for it."""
    sizes = Counter(candidate.group for candidate in candidates)
    largest, size = max(sizes.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
    together = [count for count in sizes.values() if count > 1]
    smallest = min(share for share in settings.ratios if share)
    return {
        "groups": len(together),
        "grouped_sessions": sum(together),
        "largest_group": size if size > 1 else 0,
        "largest_group_split": splits[largest] if size > 1 else None,
        "largest_group_exceeds": size > 1 and TOTAL_PARTS * size > smallest * len(candidates),
    }


def _count_by_split(names: list[str], splits: list[str]) -> list[dict[str, Any]]:
    """Sessions of each name by split, the most frequent first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, split in zip(names, splits, strict=True):
        counts[name][split] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    return [{"name": name, "sessions": found.total(), **found} for name, found in ordered[:MAX_ROWS_LISTED]]
