"""A generation before it begins: its persona, its writer and its plan."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, NamedTuple

from django.conf import settings

from datasets_app.catalog.personas import LoadedPersona
from datasets_app.core.errors import UserError
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.offline import OfflineWriter
from datasets_app.domain.generation.plan import (
    BRAND_TRAP,
    EDGE_CASE,
    SAFETY_TRAP,
    GenerationRequest,
    Plan,
    PlanError,
    Profile,
    plan_sessions,
)
from datasets_app.domain.generation.voice import VoiceError
from datasets_app.domain.generation.writer import format_shape
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.persona_terms import list_rare_terms
from datasets_app.domain.pii.policy import Policy
from datasets_app.generating.parameters import GenerationParameters
from datasets_app.model_calls.endpoints import require_endpoint
from datasets_app.model_calls.parameters import ModelParameters
from datasets_app.model_calls.requests import OFFLINE, check_request, is_model, make_model

KIND_COUNTERS = {"safety_traps": SAFETY_TRAP, "brand_traps": BRAND_TRAP, "edge_cases": EDGE_CASE}


class Generation(NamedTuple):
    """``writer`` writes the sessions of ``plan`` for ``persona``."""

    persona: PersonaDocument
    persona_sha256: str
    writer: OfflineWriter | ModelWriter
    plan: Plan

    def provenance(self) -> dict[str, Any]:
        """Where the sessions are from: how the writer describes itself, and what was requested."""
        told = {key: value for key, value in self.writer.describe().items() if value is not None}
        told |= {
            "created": _creation_date(),
            "seed": self.plan.request.seed,
            **{key: self.plan.counts[kind] for key, kind in KIND_COUNTERS.items()},
            "plan": self.plan.digest,
            "persona": {"id": self.persona.id, "sha256": self.persona_sha256},
        }
        if terms := list_rare_terms(self.persona):
            told["persona"]["terms"] = terms
        if self.plan.profile is not None:
            told["modelled_on"] = {"sha256": self.plan.profile.sha256}
        return told


def prepare_generation(
    loaded: LoadedPersona,
    parameters: GenerationParameters,
    *,
    actor: Any,
    persona_id: str | None = None,
    profile: Profile | None = None,
    with_key: bool = True,
) -> Generation:
    """``actor`` and ``with_key`` are of :func:`make_model_writer`; ``persona_id`` replaces the persona's own
    in the turns. A model may write for a persona that the offline writer can't. Raises UserError."""
    persona, sha256 = loaded
    offline, why_not = try_offline_writer(persona)
    writer: OfflineWriter | ModelWriter | None = offline
    if is_model(parameters.model or OFFLINE):
        writer = make_model_writer(parameters, actor=actor, persona=persona, with_key=with_key)
    if writer is None:
        raise UserError(why_not)
    options = parameters.request_options()
    if offline is not None:  # which names the tones that are a trap for this persona
        options["brand_categories"] = offline.voice.brand_categories
    request = GenerationRequest(**options, persona_id=persona_id or persona.id)
    return Generation(persona, sha256, writer, make_plan(request, writer, sha256, profile))


def make_model_writer(
    request: ModelParameters, *, actor: Any, persona: PersonaDocument | None = None, with_key: bool = True
) -> ModelWriter:
    """Raises UserError. ``actor`` is None for a command and nobody else (see require_endpoint).

    Without the key the writer can still describe itself, what a plan needs, and what it will cost.
    """
    check_request(request)
    return ModelWriter(
        make_model(request, require_endpoint(request.base_url, actor), with_key=with_key),
        persona=persona,
        max_tokens=request.max_tokens_total,
        find_names=partial(_find_names, tuple(settings.NAME_MODELS)),
    )


def _find_names(models: tuple[str, ...], texts: Sequence[str]) -> list[list[Match]]:
    return _name_detection(models).find_many([DetectionInput(text) for text in texts])


@cache
def _name_detection(models: tuple[str, ...]) -> Detection:
    """As the check W406 looks for names; loaded once, when the first session is to be written."""
    try:
        return Detection(Policy(kinds=(NAME,), name_models=models), b"")
    except NameModelError as error:
        raise UserError(str(error)) from None


def try_offline_writer(persona: PersonaDocument) -> tuple[OfflineWriter | None, str]:
    """The offline writer for a persona, or the sentence that tells why there is none."""
    try:
        return OfflineWriter(persona), ""
    except VoiceError as error:
        return None, str(error)


def make_plan(
    wish: GenerationRequest,
    writer: OfflineWriter | ModelWriter,
    persona_sha256: str = "",
    profile: Profile | None = None,
) -> Plan:
    """The plan of what ``writer`` is to write. Raises UserError."""
    try:
        return plan_sessions(wish, persona_sha256, profile, made_by=format_shape(writer.describe()))
    except PlanError as error:
        raise UserError(str(error)) from None


def _creation_date() -> str:
    """As a date: the same command gives the same metadata all day, or for ever under SOURCE_DATE_EPOCH."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)
    return moment.date().isoformat()
