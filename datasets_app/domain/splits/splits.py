"""Which sessions are for training, which for validation, which for the test: rules, without any text.

Sessions of a group stay together, those placed earlier never move, and each stratum has its shares. Who goes
where is told by a keyed hash (BLAKE2b under the seed) of session ids, so the order they come in says nothing.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from datasets_app.domain.splits.near_duplicates import DEFAULT_SIMILARITY, LEAST_SIMILARITY

SPLITS = ("train", "validation", "test")
STRATA = ("scenario", "persona", "none")
# Shares are counted in hundredths of a percent: whole numbers, so that sums are exact.
WHOLE = 10_000


class SplitError(ValueError):
    """Why a split can't be made like that; the message is a sentence for people."""


class Settings(NamedTuple):
    """How sessions are split. ``ratios`` are of :data:`SPLITS`, in parts of :data:`WHOLE`."""

    ratios: tuple[int, int, int] = (6000, 2000, 2000)
    seed: int = 42
    stratify: str = "scenario"
    similarity: float = DEFAULT_SIMILARITY

    @classmethod
    def checked(cls, ratios: str, seed: int, stratify: str, similarity: float) -> "Settings":
        """As a person gives them: "60,20,20", or "80,20" for training and test. Raises SplitError."""
        if stratify not in STRATA:
            raise SplitError(f"Strata are by {', '.join(STRATA[:-1])} or none; not by {stratify!r}.")
        if not LEAST_SIMILARITY <= similarity <= 1:
            raise SplitError(
                f"The similarity of near-duplicates is from {LEAST_SIMILARITY} to 1; not {similarity:g}."
            )
        if not -(2**53) < seed < 2**53:
            raise SplitError("The seed must be smaller than 2 to the power of 53.")
        return cls(_ratios(ratios), seed, stratify, similarity)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Settings":
        """What :meth:`as_json` has made."""
        train, validation, test = (round(100 * share) for share in stored["ratios"])
        return cls((train, validation, test), stored["seed"], stored["stratify"], stored["similarity"])

    def as_json(self) -> dict[str, Any]:
        """Ratios in percent, validation 0 if there is none."""
        return {**self._asdict(), "ratios": [share / 100 for share in self.ratios]}

    def as_words(self) -> str:
        by = "not stratified" if self.stratify == "none" else f"stratified by {self.stratify}"
        return (
            f"{self.shares_as_words()}; {by}, seed {self.seed}, near-duplicates from {self.similarity:g} on"
        )

    def shares_as_words(self) -> str:
        return ", ".join(f"{name} {share / 100:g} %" for name, share in self.wanted().items())

    def wanted(self) -> dict[str, int]:
        """The splits there are, and their parts of :data:`WHOLE`."""
        return {name: share for name, share in zip(SPLITS, self.ratios, strict=True) if share}


def _ratios(given: str) -> tuple[int, int, int]:
    try:
        shares = [Decimal(share.strip()) for share in given.split(",")]
        parts = [int(100 * share) for share in shares if share.is_finite()]
    except InvalidOperation:
        shares, parts = [], []
    exact = len(parts) == len(shares) and all(
        part == 100 * share for part, share in zip(parts, shares, strict=True)
    )
    if len(parts) not in (2, 3) or not exact or min(parts) <= 0 or sum(parts) != WHOLE:
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
    placed: str | None = None


def place(sessions: Sequence[Candidate], settings: Settings) -> list[str]:
    """The split of each session. Those placed stay; a group with such a session follows the most of them.

    The others are placed group by group, the largest first, where the stratum lacks most. The last one or
    two of each stratum, which no share divides evenly, go where all strata together lack most, if the
    stratum stays within a point, or can't be. So no split of a stratum is off by a whole session, unless
    groups or what was placed by others can't be evened out.
    """
    members: dict[int, list[int]] = defaultdict(list)
    for number, session in enumerate(sessions):
        members[session.group].append(number)
    balance = _Balance(sessions, settings)
    result = [session.placed or "" for session in sessions]
    fresh: list[_Group] = []
    for numbers in members.values():
        new = [number for number in numbers if not result[number]]
        if not new:
            continue
        group = _Group.of([sessions[number] for number in new], new, settings.seed)
        if len(new) < len(numbers):
            placed = Counter(sessions[number].placed or "" for number in numbers if result[number])
            balance.put(group, max(placed, key=lambda split: (placed[split], -SPLITS.index(split))), result)
        else:
            fresh.append(group)
    remainder = []
    for group in sorted(fresh):
        if group.size > 1 or balance.lacks_a_session(group):
            balance.put(group, balance.neediest(group), result)
        else:
            remainder.append(group)
    for group in remainder:
        balance.put(group, balance.neediest_of_all(group), result)
    return result


class _Group(NamedTuple):
    """Sorts by size, the largest first, and then by hash."""

    order: int
    rank: int
    first_id: str
    numbers: list[int]
    strata: dict[str, int]

    @classmethod
    def of(cls, sessions: list[Candidate], numbers: list[int], seed: int) -> "_Group":
        first = min(session.session_id for session in sessions)
        key = str(seed).encode()
        digest = hashlib.blake2b(first.encode(errors="surrogatepass"), key=key, digest_size=8).digest()
        strata = dict(Counter(session.stratum for session in sessions))
        return cls(-len(numbers), int.from_bytes(digest, "big"), first, numbers, strata)

    @property
    def size(self) -> int:
        return -self.order


class _Balance:
    """What each split lacks, in parts of :data:`WHOLE` of a session: by stratum, and in all."""

    def __init__(self, sessions: Iterable[Candidate], settings: Settings) -> None:
        self._splits = list(settings.wanted())
        shares = settings.wanted()
        self._lacking: dict[str, dict[str, int]] = {}
        self._sizes = Counter(session.stratum for session in sessions)
        for stratum, count in self._sizes.items():
            self._lacking[stratum] = {split: share * count for split, share in shares.items()}
        for (stratum, placed), count in Counter((one.stratum, one.placed) for one in sessions).items():
            if placed in shares:
                self._lacking[stratum][placed] -= WHOLE * count
        self._in_all = {
            split: sum(lacking[split] for lacking in self._lacking.values()) for split in self._splits
        }

    def put(self, group: _Group, split: str, result: list[str]) -> None:
        for number in group.numbers:
            result[number] = split
        if split not in self._in_all:
            return
        for stratum, count in group.strata.items():
            self._lacking[stratum][split] -= WHOLE * count
        self._in_all[split] -= WHOLE * group.size

    def lacks_a_session(self, group: _Group) -> bool:
        (stratum,) = group.strata
        return max(self._lacking[stratum].values()) >= WHOLE

    def neediest(self, group: _Group) -> str:
        """Where the squares of what is lacking come down most."""
        gain = {
            split: sum(count * self._lacking[stratum][split] for stratum, count in group.strata.items())
            for split in self._splits
        }
        return max(self._in_turn(group), key=gain.__getitem__)

    def neediest_of_all(self, group: _Group) -> str:
        """Of the splits that lack some of the group's stratum, the one that lacks most in all. Those that
        put the stratum off by more than a percentage point come after those that don't."""
        (stratum,) = group.strata
        lacking = self._lacking[stratum]
        open_splits = [split for split in self._in_turn(group) if lacking[split] > 0]
        if max(lacking.values()) >= WHOLE or not open_splits:
            return self.neediest(group)
        within = [
            split for split in open_splits if 100 * _worst(lacking, split) <= WHOLE * self._sizes[stratum]
        ]
        return max(within or open_splits, key=lambda split: (self._in_all[split], lacking[split]))

    def _in_turn(self, group: _Group) -> list[str]:
        """Of equals the first is taken: which one that is, the hash tells."""
        start = group.rank % len(self._splits)
        return [*self._splits[start:], *self._splits[:start]]


def _worst(lacking: dict[str, int], split: str) -> int:
    """How far a split would be off in the end, the worst of them, if the next session went to ``split`` and
    those after it where most is lacking."""
    left = {**lacking, split: lacking[split] - WHOLE}
    for _ in range(sum(left.values()) // WHOLE):
        left[max(left, key=left.__getitem__)] -= WHOLE
    return max(map(abs, left.values()))


class Links:
    """Sessions by number, and which belong together (a union-find)."""

    def __init__(self) -> None:
        self._above: list[int] = []

    def add(self) -> int:
        self._above.append(len(self._above))
        return len(self._above) - 1

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.group(one), self.group(other)))
        self._above[high] = low

    def group(self, number: int) -> int:
        """The smallest number of its group."""
        while self._above[number] != number:
            self._above[number] = number = self._above[self._above[number]]
        return number
