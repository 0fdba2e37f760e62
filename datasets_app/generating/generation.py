"""A generation before it begins: its persona, its writer and its plan."""

import os
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

from datasets_app.catalog.personas import LoadedPersona
from datasets_app.core.errors import UserError
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.offline import OfflineWriter
from datasets_app.domain.generation.plan import GenerationRequest, Plan, PlanError, Profile, plan_sessions
from datasets_app.domain.generation.voice import VoiceError
from datasets_app.domain.generation.writer import format_shape
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.domain.pii.persona_terms import list_rare_terms
from datasets_app.generating.factory import make_model_writer
from datasets_app.model_calls.parameters import ModelParameters
from datasets_app.model_calls.requests import OFFLINE, is_model


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
            "safety_traps": self.plan.counts.safety_traps,
            "brand_traps": self.plan.counts.brand_traps,
            "edge_cases": self.plan.counts.edge_cases,
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
    options: dict[str, Any],
    model: ModelParameters,
    *,
    actor: Any,
    profile: Profile | None = None,
    with_key: bool = True,
) -> Generation:
    """``options`` are fields of a :class:`GenerationRequest`; ``actor`` and ``with_key`` are of
    :func:`make_model_writer`. A model may write for a persona that the offline writer can't. Raises
    UserError."""
    persona, sha256 = loaded
    offline, why_not = try_offline_writer(persona)
    writer: OfflineWriter | ModelWriter | None = offline
    if is_model(model.model or OFFLINE):
        writer = make_model_writer(model, actor=actor, persona=persona, with_key=with_key)
    if writer is None:
        raise UserError(why_not)
    request = _build_request(options, persona, offline)
    return Generation(persona, sha256, writer, make_plan(request, writer, sha256, profile))


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


def _build_request(
    options: dict[str, Any], persona: PersonaDocument, writer: OfflineWriter | None
) -> GenerationRequest:
    """With the tones that are a trap for this persona, if there is an offline writer to name them."""
    asked = {item.name: options[item.name] for item in fields(GenerationRequest) if item.name in options}
    low, high = asked.pop("turns", None) or GenerationRequest.turns
    if writer is not None:
        asked.setdefault("brand_categories", writer.voice.brand_categories)
    asked["persona_id"] = asked.get("persona_id") or persona.id
    asked = {key: tuple(value) if isinstance(value, list) else value for key, value in asked.items()}
    return GenerationRequest(**asked, turns=(int(low), int(high)))


def _creation_date() -> str:
    """As a date: the same command gives the same metadata all day, or for ever under SOURCE_DATE_EPOCH."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)
    return moment.date().isoformat()
