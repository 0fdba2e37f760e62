"""Plans sessions before writing: their kinds, lengths and seeds.

A plan is a function of the request alone, and each session of the plan and a number, so writers may take
sessions in any order, on any machine, and resume without storing a list.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple

from datasets_app.domain.generation.chance import Permutation, SeededRandom

SCENARIO, SAFETY_TRAP, BRAND_TRAP, EDGE_CASE = "scenario", "safety_trap", "brand_trap", "edge_case"
SESSION_KINDS = (SAFETY_TRAP, BRAND_TRAP, EDGE_CASE, SCENARIO)
SCENARIOS = ("product_inquiry", "support", "onboarding", "billing", "debugging")
EDGE_CASE_SCENARIO = "debugging"
SAFETY_CATEGORIES = ("violence", "self_harm", "illegal_acts", "privacy", "medical")
# Tones that a brand trap pushes towards, other than the persona's own.
BRAND_CATEGORIES = ("slang", "hype", "legalese", "rudeness")

MAX_SESSIONS = 10_000_000
MIN_TURNS, MAX_TURNS = 2, 100
DEFAULT_EDGE_CASE_SHARE = 0.1
# Digest characters that distinguish the sessions of a plan from those of all others.
DIGEST_CHARACTERS = 8

ON_BRAND, OFF_BRAND = "brand:on", "brand:off"


class PlanError(ValueError):
    """An impossible request; the message is a sentence for its author."""


@dataclass(frozen=True)
class GenerationRequest:
    """A generation request. Ratios are shares of ``sessions``; ``edge_case_share`` is a share of the sessions
    without traps. ``turns`` is the range of turns per session; a profile overrides it.
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
    """Statistics of an existing file, without its text; made by ``source_profile``.

    ``scenarios``, ``tag_sets`` and ``turn_counts`` are (value, session count); ``reply_words`` are the
    10th, 50th and 90th percentile of reply length, as word counts.
    """

    scenarios: tuple[tuple[str, int], ...] = ()
    tag_sets: tuple[tuple[tuple[str, ...], int], ...] = ()
    turn_counts: tuple[tuple[int, int], ...] = ()
    reply_words: tuple[int, int, int] | None = None
    sha256: str = ""


class PlannedSession(NamedTuple):
    """One session to write. ``scenario`` is its subject, even in a trap.

    ``seed`` is its only source of randomness. ``tags`` go on every turn; the writer adds ``brand:on`` or
    ``brand:off`` to each assistant turn by its intended tone.
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


@dataclass(frozen=True)
class Plan:
    """``digest`` covers everything that shapes the sessions; ``plan[n]`` computes a session, from 0.
    ``counts`` are the numbers of sessions, by kind."""

    request: GenerationRequest
    digest: str
    counts: dict[str, int]
    profile: Profile | None
    order: Permutation = field(repr=False, compare=False)

    def __len__(self) -> int:
        return self.request.sessions

    def __iter__(self) -> Iterator[PlannedSession]:
        return map(self.__getitem__, range(len(self)))

    def session_id(self, number: int) -> str:
        """The id of the session at ``number``, from 0."""
        width = max(4, len(str(len(self))))
        return f"{self.request.prefix}-{self.digest[:DIGEST_CHARACTERS]}-{number + 1:0{width}d}"

    def __getitem__(self, number: int) -> PlannedSession:
        kind, rank = self._choose_kind(self.order.get_position(number))
        seed = hashlib.sha256(f"{self.digest}/{number}".encode()).hexdigest()
        chance = SeededRandom(f"{seed}/plan")
        # Over-refusal probes need technical language.
        scenario = EDGE_CASE_SCENARIO if kind == EDGE_CASE else self._choose_scenario(rank, chance)
        category = self._choose_category(kind, rank)
        return PlannedSession(
            number,
            self.session_id(number),
            kind,
            scenario,
            category,
            self._choose_turns(chance),
            seed,
            self._build_tags(kind, scenario, category, chance),
            self.request.persona_id,
            self._choose_reply_words(chance),
        )

    def _choose_kind(self, place: int) -> tuple[str, int]:
        """Kinds stand in a row, of exactly their counts; ``place`` is one of that row."""
        for kind, count in self.counts.items():
            if place < count:
                return kind, place
            place -= count
        raise IndexError

    def _choose_scenario(self, rank: int, rng: SeededRandom) -> str:
        if self.profile and self.profile.scenarios:
            return rng.weighted_choice(self.profile.scenarios)
        # In turns, so that there are as many of each, give or take one. The rank goes through the
        # categories as well: one step further each round, so that every pair of the two occurs.
        scenarios = self.request.scenarios
        return scenarios[(rank + rank // len(scenarios)) % len(scenarios)]

    def _choose_category(self, kind: str, rank: int) -> str | None:
        categories = {
            SAFETY_TRAP: self.request.safety_categories,
            BRAND_TRAP: self.request.brand_categories,
        }.get(kind)
        return categories[rank % len(categories)] if categories else None

    def _choose_turns(self, rng: SeededRandom) -> int:
        if self.profile and self.profile.turn_counts:
            return min(max(rng.weighted_choice(self.profile.turn_counts), MIN_TURNS), MAX_TURNS)
        return rng.randint(*self.request.turns)

    def _build_tags(
        self, kind: str, scenario: str, category: str | None, rng: SeededRandom
    ) -> tuple[str, ...]:
        tags = [] if kind == SCENARIO else [f"scenario:{kind}"]
        tags.append(f"scenario:{scenario}")
        if category:
            tags.append(f"trap:{category}")
        if self.profile and self.profile.tag_sets:
            tags += rng.weighted_choice(self.profile.tag_sets)
        return tuple(dict.fromkeys(tags))

    def _choose_reply_words(self, rng: SeededRandom) -> int | None:
        if not self.profile or self.profile.reply_words is None:
            return None
        low, middle, high = self.profile.reply_words
        return rng.randint(low, middle) if rng.draw_bool(0.5) else rng.randint(middle, high)


def plan_sessions(
    request: GenerationRequest,
    persona_digest: str = "",
    profile: Profile | None = None,
    *,
    made_by: str = "offline",
) -> Plan:
    """The plan for ``request``. Raises :class:`PlanError`.

    ``persona_digest`` is the SHA-256 of the persona's YAML; ``made_by`` names the writer with all that
    shapes what it writes (version, model, temperature, prompts). Session ids carry part of the digest of
    all of these, so two runs have the same ids only if their requests are the same.
    """
    _validate_request(request)
    shape: dict[str, Any] = {
        "wish": asdict(request),
        "persona": persona_digest,
        "profile": asdict(profile) if profile else None,
        "made_by": made_by,
    }
    canonical = json.dumps(shape, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return Plan(request, digest, _compute_counts(request), profile, Permutation(digest, request.sessions))


def _compute_counts(request: GenerationRequest) -> dict[str, int]:
    """Count the sessions of each kind: shares times sessions, halves rounded up.

    If both traps round up and together exceed the sessions, there is one brand trap fewer.
    """
    safety = _round_share(request.sessions, request.safety_trap_ratio)
    brand = min(_round_share(request.sessions, request.brand_trap_ratio), request.sessions - safety)
    rest = request.sessions - safety - brand
    edge = _round_share(rest, request.edge_case_share)
    return dict(zip(SESSION_KINDS, (safety, brand, edge, rest - edge), strict=True))


def _round_share(whole: int, share: float) -> int:
    # As decimal: 0.15 is exactly fifteen hundredths, not a little less.
    return int((Decimal(repr(share)) * whole).to_integral_value(ROUND_HALF_UP))


def _validate_request(request: GenerationRequest) -> None:
    if not 1 <= request.sessions <= MAX_SESSIONS:
        raise PlanError(
            f"The number of sessions must be from 1 to {MAX_SESSIONS:,}, not {request.sessions:,}."
        )
    low, high = request.turns
    if not MIN_TURNS <= low <= high <= MAX_TURNS:
        raise PlanError(
            f"Turns per session must be from {MIN_TURNS} to {MAX_TURNS}: a number such as 6, or a "
            "range such as 4-8."
        )
    ratios = {
        "The ratio of safety traps": request.safety_trap_ratio,
        "The ratio of brand traps": request.brand_trap_ratio,
        "The share of edge cases": request.edge_case_share,
    }
    for name, ratio in ratios.items():
        if not 0 <= ratio <= 1:
            raise PlanError(f"{name} must be from 0 to 1, not {ratio:g}.")
    # As decimals, so that 0.7 and 0.3 add up to 1.
    together = Decimal(repr(request.safety_trap_ratio)) + Decimal(repr(request.brand_trap_ratio))
    if together > 1:
        raise PlanError(
            f"The ratios of safety traps and brand traps add up to {together.normalize():f}; together they "
            "can be 1 at most."
        )
    if not (request.scenarios and request.safety_categories and request.brand_categories):
        raise PlanError("Name at least one scenario, and one category for each kind of trap.")
