"""The writer for a model that a person has named, with the installation's settings and key."""

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from django.conf import settings

from datasets_app.core.errors import UserError
from datasets_app.domain.generation.model_writer import DEFAULT_CONCURRENCY, MAX_CONCURRENCY, ModelWriter
from datasets_app.domain.generation.retry_rules import RetryPolicy
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.policy import Policy
from datasets_app.generating.endpoints import get_api_key, require_endpoint

MODEL_PREFIX = "openai:"
OFFLINE = "offline"
MAX_MODEL_CHARACTERS = 200
MAX_TEMPERATURE = 2.0


class ModelRequest(NamedTuple):
    """What a person may choose of a model; plain values, as they stand in the parameters of a job."""

    model: str
    base_url: str | None = None
    temperature: float | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    max_tokens_total: int | None = None


def is_model(model: str) -> bool:
    """Whether ``--model`` names a model, and not the offline writer. Raises UserError for neither."""
    if model == OFFLINE:
        return False
    if model.startswith(MODEL_PREFIX):
        return True
    raise UserError(
        f"The model is {OFFLINE!r}, or {MODEL_PREFIX}NAME for one behind an OpenAI-compatible endpoint."
    )


def make_model_writer(
    request: ModelRequest, *, actor: Any, persona: PersonaDocument | None = None, with_key: bool = True
) -> ModelWriter:
    """Raises :class:`UserError`. ``actor`` is None for a command and nobody else (see require_endpoint).

    Without the key the writer can still describe itself, what a plan needs, and what it will cost.
    """
    name = request.model.removeprefix(MODEL_PREFIX).strip()
    _check_request(request, name)
    endpoint = require_endpoint(request.base_url, actor)
    return ModelWriter(
        endpoint,
        name,
        persona=persona,
        key=get_api_key(endpoint) if with_key else "",
        temperature=request.temperature,
        concurrency=request.concurrency,
        max_tokens=request.max_tokens_total,
        retry_policy=RetryPolicy(retries=settings.LLM_RETRIES, timeout=float(settings.LLM_TIMEOUT)),
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


def _check_request(request: ModelRequest, name: str) -> None:
    if not name or len(name) > MAX_MODEL_CHARACTERS or not name.isprintable():
        raise UserError(f"Name the model after {MODEL_PREFIX}, in at most {MAX_MODEL_CHARACTERS} characters.")
    warmth = request.temperature
    if warmth is not None and not (math.isfinite(warmth) and 0 <= warmth <= MAX_TEMPERATURE):
        raise UserError(f"The temperature must be from 0 to {MAX_TEMPERATURE:g}.")
    if not 1 <= request.concurrency <= MAX_CONCURRENCY:
        raise UserError(f"The number of parallel calls must be from 1 to {MAX_CONCURRENCY}.")
    if request.max_tokens_total is not None and request.max_tokens_total < 1:
        raise UserError("The token budget must be at least 1.")
