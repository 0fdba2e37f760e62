"""Chooses the sessions of a sample: at random, or evenly from groups; the same ones for the same seed."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

SAMPLE_GROUPINGS = ("session", "tag", "trap", "scenario")
NO_TRAP, NO_TAG, NO_SCENARIO = "no trap", "no tag", "no scenario"
# What kind of session it is stands in a scenario tag too; what it is about comes after.
_SCENARIO_PREFIX, _TRAP_PREFIX = "scenario:", "trap:"

# A session's id and its tags, those of all its turns.
TaggedSession = tuple[str, Sequence[str]]
SessionSource = Callable[[], Iterable[TaggedSession]]


def choose_sessions(source: SessionSource, size: int, by: str, seed: int) -> dict[str, str]:
    """At most ``size`` session ids, each with the group it was taken for; fewer if there are fewer.

    ``source`` is asked twice, or three times by tag, and its order does not matter. Every group gives as
    many as every other; one that has fewer gives all, and the others share what is left. Who is taken of a
    group is told by a digest of the seed and the session's id: a random sample without replacement, and the
    same ids are taken again when other sessions have come. Memory is that of the sample.
    """
    group_of = _make_grouping(source, by)
    sizes = Counter(group_of(tags) for _, tags in source())
    quotas = allocate_shares(sizes, size)
    # Of each group the smallest digests, kept in a heap whose first is the largest of them.
    kept: dict[str, list[tuple[int, str]]] = {group: [] for group in quotas}
    for session_id, tags in source():
        group = group_of(tags)
        heap, quota = kept[group], quotas[group]
        entry = (-_rank_session(seed, session_id), session_id)
        if len(heap) < quota:
            heapq.heappush(heap, entry)
        elif quota and entry > heap[0]:
            heapq.heapreplace(heap, entry)
    return {session_id: group for group, heap in kept.items() for _, session_id in heap}


def allocate_shares(sizes: "Counter[str]", size: int) -> dict[str, int]:
    """How many each group gives: ``size`` in all, as equal as the groups' sizes allow.

    What can't be shared out evenly goes to the groups that come first by name.
    """
    remaining, shares = min(size, sizes.total()), dict.fromkeys(sorted(sizes), 0)
    open_groups = sorted(sizes)
    while remaining:
        each, extra = divmod(remaining, len(open_groups))
        if each == 0:
            for group in open_groups[:extra]:
                shares[group] += 1
            break
        for group in open_groups:
            more = min(each, sizes[group] - shares[group])
            shares[group] += more
            remaining -= more
        open_groups = [group for group in open_groups if shares[group] < sizes[group]]
    return shares


def _make_grouping(source: SessionSource, grouping: str) -> Callable[[Sequence[str]], str]:
    if grouping == "session":
        return lambda tags: ""
    if grouping == "trap":
        return lambda tags: _find_tag(tags, _TRAP_PREFIX, NO_TRAP)
    if grouping == "scenario":
        return get_scenario
    frequency: Counter[str] = Counter()
    for _, tags in source():
        frequency.update(set(tags))
    # A session with several tags stands for its rarest: the common ones have sessions enough.
    return lambda tags: min(set(tags), key=lambda tag: (frequency[tag], tag)) if tags else NO_TAG


def get_scenario(tags: Sequence[str]) -> str:
    """The tag that says what a session is about, the first of them."""
    return _find_tag(tags, _SCENARIO_PREFIX, NO_SCENARIO)


def _find_tag(tags: Sequence[str], prefix: str, default: str) -> str:
    return next((tag for tag in tags if tag.startswith(prefix)), default)


def _rank_session(seed: int, session_id: str) -> int:
    return int.from_bytes(
        hashlib.sha256(f"{seed}/{session_id}".encode(errors="surrogatepass")).digest()[:16], "big"
    )


def merge_session_tags(turns: Iterable[tuple[str, Sequence[str]]]) -> Iterator[TaggedSession]:
    """(session id, tags) of turns, sessions in one piece → of sessions; tags in the order they came."""
    current: str | None = None
    tags: dict[str, None] = {}
    for session_id, of_turn in turns:
        if session_id != current:
            if current is not None:
                yield current, list(tags)
            current, tags = session_id, {}
        tags.update(dict.fromkeys(of_turn))
    if current is not None:
        yield current, list(tags)
