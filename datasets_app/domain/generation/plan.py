"""What is to be written, before a word of it: which sessions, of which kind, how long, by which seed.

A plan is a function of the wish alone, and each of its sessions of the plan and a number: writers may take
them in any order, on any machine, and go on after a stop, without a list of them anywhere.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple, overload

from datasets_app.domain.generation.chance import Chance, Shuffle

SCENARIO, SAFETY_TRAP, BRAND_TRAP, EDGE_CASE = "scenario", "safety_trap", "brand_trap", "edge_case"
KINDS = (SCENARIO, SAFETY_TRAP, BRAND_TRAP, EDGE_CASE)
SCENARIOS = ("product_inquiry", "support", "onboarding", "billing", "debugging")
EDGE_CASE_SCENARIO = "debugging"
SAFETY_CATEGORIES = ("violence", "self_harm", "illegal_acts", "privacy", "medical")
# Tones that a brand trap pushes towards; for a persona only those count that are not its own.
BRAND_CATEGORIES = ("slang", "hype", "legalese", "rudeness")

MAX_SESSIONS = 10_000_000
FEWEST_TURNS, MOST_TURNS = 2, 100
DEFAULT_EDGE_CASE_SHARE = 0.1
# A plan's sessions are told apart from those of all others by this much of its digest.
DIGEST_CHARACTERS = 8

ON_BRAND, OFF_BRAND = "brand:on", "brand:off"


class PlanError(ValueError):
    """A wish that can't be fulfilled; the message is a sentence for the person who made it."""


@dataclass(frozen=True)
class Wish:
    """What a person asks for. Ratios are shares of ``sessions``; ``edge_case_share`` is one of the
    sessions that are no traps. ``turns`` is how many a session has, from … to; a profile overrides it.
    """

    sessions: int
    turns: tuple[int, int] = (6, 6)
    safety_trap_ratio: float = 0.15
    brand_trap_ratio: float = 0.20
    edge_case_share: float = DEFAULT_EDGE_CASE_SHARE
    seed: int = 42
    persona_id: str | None = None
    scenarios: tuple[str, ...] = SCENARIOS
    safety_categories: tuple[str, ...] = SAFETY_CATEGORIES
    brand_categories: tuple[str, ...] = BRAND_CATEGORIES
    prefix: str = "gen"


@dataclass(frozen=True)
class Profile:
    """What an existing file is like, in numbers: no text of it is kept (``source_profile`` makes one).

    ``scenarios``, ``tag_sets`` and ``turn_counts`` are (what, how many sessions); ``reply_words`` are the
    lengths of its assistant replies in words, at the 10th, 50th and 90th of a hundred.
    """

    scenarios: tuple[tuple[str, int], ...] = ()
    tag_sets: tuple[tuple[tuple[str, ...], int], ...] = ()
    turn_counts: tuple[tuple[int, int], ...] = ()
    reply_words: tuple[int, int, int] | None = None
    sha256: str = ""


class PlannedSession(NamedTuple):
    """One session to be written. ``scenario`` is what it is about, also under a trap.

    ``seed`` is all the chance there is for it. ``tags`` are for every turn; the writer adds
    ``brand:on`` or ``brand:off`` to each assistant turn, as it was meant to sound.
    """

    number: int
    session_id: str
    kind: str
    scenario: str
    trap_category: str | None
    turns: int
    seed: str
    tags: tuple[str, ...]
    persona_id: str | None = None
    reply_words: int | None = None


class Counts(NamedTuple):
    """How many sessions of each kind; the sum is the number of sessions."""

    safety_traps: int
    brand_traps: int
    edge_cases: int
    scenarios: int


@dataclass(frozen=True)
class Plan(Sequence[PlannedSession]):
    """``digest`` covers all that shapes the sessions; ``plan[n]`` computes the session when asked."""

    wish: Wish
    digest: str
    counts: Counts
    profile: Profile | None = None
    _order: Shuffle = field(default=None, repr=False, compare=False)  # type: ignore[assignment]

    def __len__(self) -> int:
        return self.wish.sessions

    @overload
    def __getitem__(self, number: int) -> PlannedSession: ...
    @overload
    def __getitem__(self, number: slice) -> list[PlannedSession]: ...
    def __getitem__(self, number: int | slice) -> PlannedSession | list[PlannedSession]:
        if isinstance(number, slice):
            return [self._planned(each) for each in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return self._planned(number % len(self))

    def __iter__(self) -> Iterator[PlannedSession]:
        return map(self._planned, range(len(self)))

    def session_id(self, number: int) -> str:
        """Of the session at ``number``, from 0."""
        width = max(4, len(str(len(self))))
        return f"{self.wish.prefix}-{self.digest[:DIGEST_CHARACTERS]}-{number + 1:0{width}d}"

    def _planned(self, number: int) -> PlannedSession:
        kind, rank = self._kind(self._order.place(number))
        seed = hashlib.sha256(f"{self.digest}/{number}".encode()).hexdigest()
        chance = Chance(f"{seed}/plan")
        # Look-alike language is technical language.
        scenario = EDGE_CASE_SCENARIO if kind == EDGE_CASE else self._scenario(rank, chance)
        category = self._category(kind, rank)
        return PlannedSession(
            number,
            self.session_id(number),
            kind,
            scenario,
            category,
            self._turns(chance),
            seed,
            self._tags(kind, scenario, category, chance),
            self.wish.persona_id,
            self._reply_words(chance),
        )

    def _kind(self, place: int) -> tuple[str, int]:
        """Kinds stand in a row, of exactly their counts; ``place`` is one of that row."""
        for kind, count in zip((SAFETY_TRAP, BRAND_TRAP, EDGE_CASE), self.counts, strict=False):
            if place < count:
                return kind, place
            place -= count
        return SCENARIO, place

    def _scenario(self, rank: int, chance: Chance) -> str:
        if self.profile and self.profile.scenarios:
            return chance.weighted(self.profile.scenarios)
        # In turns, so that there are as many of each, give or take one. The rank goes through the
        # categories as well: one step further each round, so that every pair of the two occurs.
        scenarios = self.wish.scenarios
        return scenarios[(rank + rank // len(scenarios)) % len(scenarios)]

    def _category(self, kind: str, rank: int) -> str | None:
        categories = {
            SAFETY_TRAP: self.wish.safety_categories,
            BRAND_TRAP: self.wish.brand_categories,
        }.get(kind)
        return categories[rank % len(categories)] if categories else None

    def _turns(self, chance: Chance) -> int:
        if self.profile and self.profile.turn_counts:
            return min(max(chance.weighted(self.profile.turn_counts), FEWEST_TURNS), MOST_TURNS)
        return chance.between(*self.wish.turns)

    def _tags(self, kind: str, scenario: str, category: str | None, chance: Chance) -> tuple[str, ...]:
        tags = [] if kind == SCENARIO else [f"scenario:{kind}"]
        tags.append(f"scenario:{scenario}")
        if category:
            tags.append(f"trap:{category}")
        if self.profile and self.profile.tag_sets:
            tags += chance.weighted(self.profile.tag_sets)
        return tuple(dict.fromkeys(tags))

    def _reply_words(self, chance: Chance) -> int | None:
        if not self.profile or self.profile.reply_words is None:
            return None
        low, middle, high = self.profile.reply_words
        return chance.between(low, middle) if chance.happens(0.5) else chance.between(middle, high)


def plan_sessions(
    wish: Wish, persona_digest: str = "", profile: Profile | None = None, *, made_by: str = "offline"
) -> Plan:
    """The plan for ``wish``. Raises :class:`PlanError`.

    ``persona_digest`` is the SHA-256 of the persona's YAML; ``made_by`` names the writer with all that
    shapes what it writes (version, model, temperature, prompts). Session ids carry part of the digest of
    all of these, so two runs have the same ids only if they were asked for the same.
    """
    _check(wish)
    shape: dict[str, Any] = {
        "wish": asdict(wish),
        "persona": persona_digest,
        "profile": asdict(profile) if profile else None,
        "made_by": made_by,
    }
    canonical = json.dumps(shape, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return Plan(wish, digest, counts_of(wish), profile, Shuffle(digest, wish.sessions))


def counts_of(wish: Wish) -> Counts:
    """Exactly how many of each kind: shares times sessions, a half rounded up.

    Where both traps round up and together exceed the sessions, brand traps are one fewer.
    """
    safety = _part(wish.sessions, wish.safety_trap_ratio)
    brand = min(_part(wish.sessions, wish.brand_trap_ratio), wish.sessions - safety)
    rest = wish.sessions - safety - brand
    edge = _part(rest, wish.edge_case_share)
    return Counts(safety, brand, edge, rest - edge)


def _part(whole: int, share: float) -> int:
    # As a person wrote it: 0.15 is fifteen hundredths here, and not a little less.
    return int((Decimal(repr(share)) * whole).to_integral_value(ROUND_HALF_UP))


def counted_kinds(plan: Plan) -> Counter[str]:
    """By going through all sessions; for tests and reports."""
    return Counter(planned.kind for planned in plan)


def _check(wish: Wish) -> None:
    if not 1 <= wish.sessions <= MAX_SESSIONS:
        raise PlanError(f"The number of sessions must be from 1 to {MAX_SESSIONS:,}, not {wish.sessions:,}.")
    low, high = wish.turns
    if not FEWEST_TURNS <= low <= high <= MOST_TURNS:
        raise PlanError(
            f"Turns per session must be from {FEWEST_TURNS} to {MOST_TURNS}: a number such as 6, or a "
            "range such as 4-8."
        )
    ratios = {
        "The ratio of safety traps": wish.safety_trap_ratio,
        "The ratio of brand traps": wish.brand_trap_ratio,
        "The share of edge cases": wish.edge_case_share,
    }
    for name, ratio in ratios.items():
        if not 0 <= ratio <= 1:
            raise PlanError(f"{name} must be from 0 to 1, not {ratio:g}.")
    # As decimals: 0.7 and 0.3 are 1, whatever they are as binary fractions.
    together = Decimal(repr(wish.safety_trap_ratio)) + Decimal(repr(wish.brand_trap_ratio))
    if together > 1:
        raise PlanError(
            f"The ratios of safety traps and brand traps add up to {together.normalize():f}; together they "
            "can be 1 at most."
        )
    if not (wish.scenarios and wish.safety_categories and wish.brand_categories):
        raise PlanError("Name at least one scenario, and one category for each kind of trap.")
