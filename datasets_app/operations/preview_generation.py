"""What a generation would come to, before anything is written: counts, tokens, a few sessions, voices."""

from itertools import islice
from typing import Any, NamedTuple

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
from datasets_app.domain.persona import PersonaDocument
from datasets_app.domain.records import TurnRecord
from datasets_app.operations.bootstrap_dataset import offline_writer, plan_for, wish_of
from datasets_app.operations.make_model_writer import OFFLINE, ModelWish, is_model, make_model_writer
from datasets_app.operations.personas import named_persona
from datasets_app.operations.refused import Refused

SESSIONS_SHOWN = 3
# One of each of these is looked for among so many of the first sessions.
_KINDS_SHOWN, _LOOKED_AT = (SCENARIO, BRAND_TRAP, SAFETY_TRAP), 500
# Pairs of replies for the view of a voice come from so many sessions of a brand trap at most.
_VOICE_SESSIONS, _VOICE_SEED = 12, 42


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
    """One answer to the same push, in the persona's voice and out of it."""

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
    shown = [SessionShown(planned, offline.write(planned)) for planned in _chosen(plan)] if offline else []
    return GenerationPreview(plan, plan.counts, _turns(wish), shown, why_not, tokens)


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


def sample_voices(persona: PersonaDocument, *, most: int = 4) -> list[Voices]:
    """Replies of the offline writer to the same push, each tone once. Raises Refused if it can't write."""
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
    return list(found.values())[:most]


def _pair(category: str, turns: list[TurnRecord]) -> Voices | None:
    """The first reply out of the voice, what was asked before it, and one of that session in the voice."""
    on = next((turn.text for turn in turns if ON_BRAND in turn.tags), "")
    off = next((turn for turn in turns if OFF_BRAND in turn.tags), None)
    if not on or off is None:
        return None
    return Voices(category, turns[off.turn_index - 2].text, on, off.text)
