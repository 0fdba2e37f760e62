"""What a generation would come to, before anything is written: counts, tokens, a few sessions, voices."""

from itertools import islice
from typing import Any, NamedTuple

from datasets_app.catalog.personas import named_persona
from datasets_app.core.errors import Refused
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.budget import TokensUsed
from datasets_app.domain.generation.offline import OfflineWriter
from datasets_app.domain.generation.plan import (
    BRAND_TRAP,
    OFF_BRAND,
    ON_BRAND,
    SAFETY_TRAP,
    SCENARIO,
    Counts,
    Plan,
    PlannedSession,
    Wish,
)
from datasets_app.domain.generation.writer import Writer
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.generating.bootstrap_dataset import offline_writer, plan_for, wish_of
from datasets_app.generating.factory import OFFLINE, ModelWish, is_model, make_model_writer

SESSIONS_SHOWN = 3
# One of each of these is looked for among so many of the first sessions.
_KINDS_SHOWN, _LOOKED_AT = (SCENARIO, BRAND_TRAP, SAFETY_TRAP), 500
# Pairs of replies for the view of a voice are looked for in so many sessions of brand traps.
_VOICE_SESSIONS, _VOICE_SEED = 40, 42
_MOST_WORDS = 1_000


class SessionShown(NamedTuple):
    planned: PlannedSession
    turns: list[TurnRecord]


class GenerationPreview(NamedTuple):
    """``tokens`` are those that a model is expected to take, None without one. ``not_shown`` is empty, or
    the sentence that tells why the offline writer has nothing to show."""

    plan: Plan
    counts: Counts
    turns: int
    sessions: list[SessionShown]
    not_shown: str
    tokens: TokensUsed | None


class Voices(NamedTuple):
    """What a user asks with a push towards a tone, the reply that gives in, and one that keeps the voice."""

    category: str
    asked: str
    on_brand: str
    off_brand: str


def preview_generation(given: dict[str, Any], *, actor: Any) -> GenerationPreview:
    """``given`` are the parameters of the job that would be started. Raises Refused if that could not be.

    Sessions are written by the offline writer, whoever is asked for; nothing is sent anywhere.
    """
    persona, digest = named_persona(str(given.get("persona") or ""))
    by_model = is_model(str(given.get("model") or OFFLINE))
    offline, why_not = _offline(persona)
    tokens: TokensUsed | None = None
    writer: Writer
    if by_model:
        named = {name: given[name] for name in ModelWish._fields if given.get(name) not in (None, "")}
        writer = model = make_model_writer(ModelWish(**named), actor=actor, persona=persona, with_key=False)
    elif offline is not None:
        writer = offline
    else:
        raise Refused(why_not)
    wish = wish_of(given, persona, offline)
    plan = plan_for(wish, writer, persona_sha256=digest)
    if by_model:
        tokens = model.expected_tokens(plan)
    why_not = why_not or _too_long(persona)
    chosen = _chosen(plan) if offline and not why_not else []
    shown = [SessionShown(planned, offline.write(planned)) for planned in chosen] if offline else []
    return GenerationPreview(plan, plan.counts, _turns(wish), shown, why_not, tokens)


def _too_long(persona: PersonaDocument) -> str:
    """Every sentence is held against every word; somebody waits for a preview, and nobody for a job."""
    if len(persona.preferred) + len(persona.avoid) <= _MOST_WORDS:
        return ""
    return f"With a lexicon of more than {_MOST_WORDS:,} words, samples would take too long."


def _offline(persona: PersonaDocument) -> tuple[OfflineWriter | None, str]:
    """The offline writer for a persona, or the sentence that tells why there is none."""
    try:
        return offline_writer(persona), ""
    except Refused as refused:
        return None, refused.message


def _turns(wish: Wish) -> int:
    """About how many: the middle of what a session may have."""
    return wish.sessions * sum(wish.turns) // 2


def _chosen(plan: Plan) -> list[PlannedSession]:
    """The first session of each kind that is most telling, then whatever comes first; in their order."""
    first: dict[str, PlannedSession] = {}
    for planned in islice(plan, _LOOKED_AT):
        first.setdefault(planned.kind, planned)
    chosen = [first[kind] for kind in _KINDS_SHOWN if kind in first]
    numbers = {planned.number for planned in chosen}
    chosen += [planned for planned in islice(plan, SESSIONS_SHOWN) if planned.number not in numbers]
    return sorted(chosen[:SESSIONS_SHOWN], key=lambda planned: planned.number)


# --- the two voices --------------------------------------------------------------------------------


def sample_voices(persona: PersonaDocument) -> list[Voices]:
    """Replies of the offline writer, for each tone that is not the persona's. Raises Refused if it can't."""
    if why_not := _too_long(persona):
        raise Refused(why_not)
    writer = offline_writer(persona)
    wish = Wish(
        sessions=_VOICE_SESSIONS,
        safety_trap_ratio=0,
        brand_trap_ratio=1,
        edge_case_share=0,
        seed=_VOICE_SEED,
        persona_id=persona.id,
        brand_categories=writer.voice.brand_categories,
    )
    plan = plan_for(wish, writer, persona_sha256="")
    found: dict[str, Voices] = {}
    for planned in plan:
        category = str(planned.trap_category)
        if category not in found and (pair := _pair(category, writer.write(planned))):
            found[category] = pair
        if len(found) == len(wish.brand_categories):
            break
    return [found[category] for category in wish.brand_categories if category in found]


def _pair(category: str, turns: list[TurnRecord]) -> Voices | None:
    """Of a session that gives in at once, where the push is, and keeps its voice later; else None."""
    on = next((turn.text for turn in turns if ON_BRAND in turn.tags), "")
    asked, reply = turns[:2]
    return Voices(category, asked.text, on, reply.text) if on and OFF_BRAND in reply.tags else None
