"""Which sessions are for training, which for validation, which for the test: rules, without any text.

Sessions of a group stay together, those placed earlier never move, and each stratum has its shares. Who goes
where is told by a keyed hash (BLAKE2b under the seed) of session ids, so the order they come in says nothing.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

# Of near-duplicates, as measured (docs/splits.md): pairs less alike than the minimum are missed too often.
DEFAULT_SIMILARITY, MIN_SIMILARITY = 0.65, 0.5
DEFAULT_RATIOS = "60,20,20"
SPLITS = ("train", "validation", "test")
STRATA = ("scenario", "persona", "none")
# Shares are counted in hundredths of a percent: whole numbers, so that sums are exact.
TOTAL_PARTS = 10_000


class SplitError(ValueError):
    """Why a split can't be made like that; the message is a sentence for people."""


class SplitSettings(NamedTuple):
    """How sessions are split. ``ratios`` are of :data:`SPLITS`, in parts of :data:`TOTAL_PARTS`."""

    ratios: tuple[int, int, int] = (6000, 2000, 2000)
    seed: int = 42
    stratify: str = "scenario"
    similarity: float = DEFAULT_SIMILARITY

    @classmethod
    def parse(cls, ratios: str, seed: int, stratify: str, similarity: float) -> "SplitSettings":
        """As a person gives them: "60,20,20", or "80,20" for training and test. Raises SplitError."""
        if stratify not in STRATA:
            raise SplitError(f"Strata are by {', '.join(STRATA[:-1])} or none; not by {stratify!r}.")
        if not MIN_SIMILARITY <= similarity <= 1:
            raise SplitError(
                f"The similarity of near-duplicates is from {MIN_SIMILARITY} to 1; not {similarity:g}."
            )
        if not -(2**53) < seed < 2**53:
            raise SplitError("The seed must be smaller than 2 to the power of 53.")
        return cls(_parse_ratios(ratios), seed, stratify, similarity)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "SplitSettings":
        """What :meth:`as_json` has made."""
        train, validation, test = (round(100 * share) for share in stored["ratios"])
        return cls((train, validation, test), stored["seed"], stored["stratify"], stored["similarity"])

    def as_json(self) -> dict[str, Any]:
        """Ratios in percent, validation 0 if there is none."""
        return {**self._asdict(), "ratios": [share / 100 for share in self.ratios]}

    def describe(self) -> str:
        by = "not stratified" if self.stratify == "none" else f"stratified by {self.stratify}"
        return (
            f"{self.describe_shares()}; {by}, seed {self.seed}, near-duplicates from {self.similarity:g} on"
        )

    def describe_shares(self) -> str:
        return ", ".join(f"{name} {share / 100:g} %" for name, share in self.target_shares().items())

    def target_shares(self) -> dict[str, int]:
        """The splits there are, and their parts of :data:`TOTAL_PARTS`."""
        return {name: share for name, share in zip(SPLITS, self.ratios, strict=True) if share}


def _parse_ratios(text: str) -> tuple[int, int, int]:
    try:
        shares = [Decimal(share.strip()) for share in text.split(",")]
        parts = [int(100 * share) for share in shares if share.is_finite()]
    except InvalidOperation:
        shares, parts = [], []
    exact = len(parts) == len(shares) and all(
        part == 100 * share for part, share in zip(parts, shares, strict=True)
    )
    if len(parts) not in (2, 3) or not exact or min(parts) <= 0 or sum(parts) != TOTAL_PARTS:
        raise SplitError(
            "Ratios are two or three shares in percent that add up to 100, such as 60,20,20 (training, "
            "validation, test) or 80,20 (training, test)."
        )
    return (parts[0], parts[1] if len(parts) == 3 else 0, parts[-1])


class Candidate(NamedTuple):
    """A session to be placed, or placed already; ``group`` is a number that sessions which belong together
    share."""

    session_id: str
    stratum: str
    group: int
    current_split: str | None = None


def place_sessions(sessions: Sequence[Candidate], settings: SplitSettings) -> list[str]:
    """The split of each session. Those placed stay; a group with such a session follows the most of them.

    The others are placed group by group, the largest first, where the stratum lacks most. The last one or
    two of each stratum, which no share divides evenly, go where all strata together lack most, if the
    stratum stays within a point, or can't be. So no split of a stratum deviates by a whole session, unless
    groups or earlier placements can't be balanced.
    """
    members: dict[int, list[int]] = defaultdict(list)
    for number, session in enumerate(sessions):
        members[session.group].append(number)
    balance = _SplitBalance(sessions, settings)
    result = [session.current_split or "" for session in sessions]
    fresh: list[_Group] = []
    for numbers in members.values():
        new = [number for number in numbers if not result[number]]
        if not new:
            continue
        group = _Group.build([sessions[number] for number in new], new, settings.seed)
        if len(new) < len(numbers):
            placed = Counter(sessions[number].current_split or "" for number in numbers if result[number])
            balance.place_group(
                group, max(placed, key=lambda split: (placed[split], -SPLITS.index(split))), result
            )
        else:
            fresh.append(group)
    remainder = []
    for group in sorted(fresh):
        if group.size > 1 or balance.needs_session(group):
            balance.place_group(group, balance.find_neediest_split(group), result)
        else:
            remainder.append(group)
    for group in remainder:
        balance.place_group(group, balance.find_neediest_overall(group), result)
    return result


class _Group(NamedTuple):
    """Sorts by size, the largest first, and then by hash."""

    order: int
    rank: int
    first_id: str
    numbers: list[int]
    strata: dict[str, int]

    @classmethod
    def build(cls, sessions: list[Candidate], numbers: list[int], seed: int) -> "_Group":
        first, strata = sessions[0].session_id, {sessions[0].stratum: 1}
        if len(sessions) > 1:  # most stand alone
            first = min(session.session_id for session in sessions)
            strata = dict(Counter(session.stratum for session in sessions))
        key = str(seed).encode()
        digest = hashlib.blake2b(first.encode(errors="surrogatepass"), key=key, digest_size=8).digest()
        return cls(-len(numbers), int.from_bytes(digest, "big"), first, numbers, strata)

    @property
    def size(self) -> int:
        return -self.order


class _SplitBalance:
    """What each split lacks, in parts of :data:`TOTAL_PARTS` of a session: by stratum, and in all."""

    def __init__(self, sessions: Iterable[Candidate], settings: SplitSettings) -> None:
        self._splits = list(settings.target_shares())
        shares = settings.target_shares()
        self._deficits: dict[str, dict[str, int]] = {}
        self._sizes = Counter(session.stratum for session in sessions)
        for stratum, count in self._sizes.items():
            self._deficits[stratum] = {split: share * count for split, share in shares.items()}
        for (stratum, placed), count in Counter((one.stratum, one.current_split) for one in sessions).items():
            if placed in shares:
                self._deficits[stratum][placed] -= TOTAL_PARTS * count
        self._total_deficits = {
            split: sum(lacking[split] for lacking in self._deficits.values()) for split in self._splits
        }

    def place_group(self, group: _Group, split: str, result: list[str]) -> None:
        for number in group.numbers:
            result[number] = split
        if split not in self._total_deficits:
            return
        for stratum, count in group.strata.items():
            self._deficits[stratum][split] -= TOTAL_PARTS * count
        self._total_deficits[split] -= TOTAL_PARTS * group.size

    def needs_session(self, group: _Group) -> bool:
        (stratum,) = group.strata
        return max(self._deficits[stratum].values()) >= TOTAL_PARTS

    def find_neediest_split(self, group: _Group) -> str:
        """Where the squares of what is lacking come down most."""
        if len(group.strata) == 1:
            (stratum,) = group.strata
            return max(self._rotate_splits(group), key=self._deficits[stratum].__getitem__)
        gain = {
            split: sum(count * self._deficits[stratum][split] for stratum, count in group.strata.items())
            for split in self._splits
        }
        return max(self._rotate_splits(group), key=gain.__getitem__)

    def find_neediest_overall(self, group: _Group) -> str:
        """Of the splits that lack some of the group's stratum, the one that lacks most in all. Those that
        push the stratum over by more than a percentage point come last."""
        (stratum,) = group.strata
        lacking = self._deficits[stratum]
        open_splits = [split for split in self._rotate_splits(group) if lacking[split] > 0]
        if max(lacking.values()) >= TOTAL_PARTS or not open_splits:
            return self.find_neediest_split(group)
        within = [
            split
            for split in open_splits
            if 100 * _find_max_deviation(lacking, split) <= TOTAL_PARTS * self._sizes[stratum]
        ]
        return max(within or open_splits, key=lambda split: (self._total_deficits[split], lacking[split]))

    def _rotate_splits(self, group: _Group) -> list[str]:
        """Of equals the first is taken: which one that is, the hash tells."""
        start = group.rank % len(self._splits)
        return [*self._splits[start:], *self._splits[:start]]


def _find_max_deviation(lacking: dict[str, int], split: str) -> int:
    """How far a split would be off in the end, the worst of them, if the next session went to ``split`` and
    those after it where most is lacking."""
    left = {**lacking, split: lacking[split] - TOTAL_PARTS}
    for _ in range(sum(left.values()) // TOTAL_PARTS):
        left[max(left, key=left.__getitem__)] -= TOTAL_PARTS
    return max(map(abs, left.values()))


class UnionFind:
    """Sessions by number, and which belong together (a union-find)."""

    def __init__(self) -> None:
        self._parents: list[int] = []

    def add(self) -> int:
        self._parents.append(len(self._parents))
        return len(self._parents) - 1

    def union(self, one: int, other: int) -> None:
        low, high = sorted((self.find(one), self.find(other)))
        self._parents[high] = low

    def find(self, number: int) -> int:
        """The smallest number of its group."""
        while self._parents[number] != number:
            self._parents[number] = number = self._parents[self._parents[number]]
        return number


def get_split_group(metadata: dict[str, Any] | None) -> str | None:
    """What Alignmenter's own splits keep together too: ``metadata.split_group`` of a turn."""
    value = (metadata or {}).get("split_group")
    return str(value) if isinstance(value, str | int | float) and str(value).strip() else None
