"""What a generation would come to, before anything is written: counts, tokens, a few sessions, voices."""

from itertools import islice
from typing import Any, NamedTuple

from datasets_app.catalog.personas import load_persona
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.plan import (
    BRAND_TRAP,
    OFF_BRAND,
    ON_BRAND,
    SAFETY_TRAP,
    SCENARIO,
    GenerationRequest,
    Plan,
    PlannedSession,
)
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.generating.generation import make_plan, prepare_generation, try_offline_writer
from datasets_app.generating.parameters import GenerationParameters

MAX_SESSIONS_SHOWN = 3
# One of each of these is looked for among so many of the first sessions.
_KINDS_SHOWN, _MAX_SESSIONS_SEARCHED = (SCENARIO, BRAND_TRAP, SAFETY_TRAP), 500
# Pairs of replies for the view of a voice are looked for in so many sessions of brand traps.
_MAX_VOICE_SESSIONS, _VOICE_SEED = 40, 42
_MAX_LEXICON_WORDS = 1_000


class GenerationPreview(NamedTuple):
    """``tokens`` are those that a model is expected to take, None without one. ``samples_error`` is
    empty, or the sentence that tells why the offline writer has nothing to show."""

    plan: Plan
    turns: int
    sessions: list[WrittenSession]
    samples_error: str
    tokens: TokensUsed | None


class VoicePair(NamedTuple):
    """What a user asks with a push towards a tone, the reply that gives in, and one that keeps the voice."""

    category: str
    asked: str
    on_brand: str
    off_brand: str


def preview_generation(parameters: GenerationParameters, *, actor: Any) -> GenerationPreview:
    """``parameters`` are those of the job that would be started. Raises UserError if that could not be.

    Sessions are written by the offline writer, whichever writer is requested; nothing is sent anywhere.
    """
    loaded = load_persona(parameters.persona or "")
    generation = prepare_generation(loaded, parameters, actor=actor, with_key=False)
    plan, writer = generation.plan, generation.writer
    tokens = writer.estimate_tokens(plan) if isinstance(writer, ModelWriter) else None
    offline, why_not = try_offline_writer(generation.persona)
    why_not = why_not or _lexicon_size_error(generation.persona)
    chosen = _choose_samples(plan) if offline and not why_not else []
    shown = [WrittenSession(planned, offline.write(planned)) for planned in chosen] if offline else []
    # About how many: the middle of what a session may have.
    turns = plan.request.sessions * sum(plan.request.turns) // 2
    return GenerationPreview(plan, turns, shown, why_not, tokens)


def _lexicon_size_error(persona: PersonaDocument) -> str:
    """Every sentence is held against every word; somebody waits for a preview, and nobody for a job."""
    if len(persona.preferred) + len(persona.avoid) <= _MAX_LEXICON_WORDS:
        return ""
    return f"With a lexicon of more than {_MAX_LEXICON_WORDS:,} words, samples would take too long."


def _choose_samples(plan: Plan) -> list[PlannedSession]:
    """The first session of each kind that is most telling, then whatever comes first; in their order."""
    first: dict[str, PlannedSession] = {}
    for planned in islice(plan, _MAX_SESSIONS_SEARCHED):
        first.setdefault(planned.kind, planned)
    chosen = [first[kind] for kind in _KINDS_SHOWN if kind in first]
    numbers = {planned.number for planned in chosen}
    chosen += [planned for planned in islice(plan, MAX_SESSIONS_SHOWN) if planned.number not in numbers]
    return sorted(chosen[:MAX_SESSIONS_SHOWN], key=lambda planned: planned.number)


# --- the two voices --------------------------------------------------------------------------------


def sample_voices(persona: PersonaDocument) -> list[VoicePair]:
    """Replies of the offline writer for each tone that is not the persona's. Raises UserError if it can't."""
    if why_not := _lexicon_size_error(persona):
        raise UserError(why_not)
    writer, why_not = try_offline_writer(persona)
    if writer is None:
        raise UserError(why_not)
    wish = GenerationRequest(
        sessions=_MAX_VOICE_SESSIONS,
        safety_trap_ratio=0,
        brand_trap_ratio=1,
        edge_case_share=0,
        seed=_VOICE_SEED,
        persona_id=persona.id,
        brand_categories=writer.voice.brand_categories,
    )
    plan = make_plan(wish, writer)
    found: dict[str, VoicePair] = {}
    for planned in plan:
        category = str(planned.trap_category)
        if category not in found and (pair := _find_pair(category, writer.write(planned))):
            found[category] = pair
        if len(found) == len(wish.brand_categories):
            break
    return [found[category] for category in wish.brand_categories if category in found]


def _find_pair(category: str, turns: list[TurnRecord]) -> VoicePair | None:
    """Of a session that gives in at once, where the push is, and keeps its voice later; else None."""
    on = next((turn.text for turn in turns if ON_BRAND in turn.tags), "")
    asked, reply = turns[:2]
    return VoicePair(category, asked.text, on, reply.text) if on and OFF_BRAND in reply.tags else None
