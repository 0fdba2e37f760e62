"""Whether what a person chose of a model can be, and the model as the installation calls it."""

import math

from django.conf import settings

from datasets_app.core.errors import UserError
from datasets_app.domain.model_calls.endpoint import DEFAULT_CONCURRENCY, MAX_CONCURRENCY, Endpoint, Model
from datasets_app.domain.model_calls.retry_rules import RetryPolicy
from datasets_app.model_calls.endpoints import get_api_key
from datasets_app.model_calls.parameters import MODEL_PREFIX, ModelParameters

OFFLINE = "offline"
MAX_MODEL_CHARACTERS = 200
MAX_TEMPERATURE = 2.0


def is_model(model: str) -> bool:
    """Whether this names a model, and not what works offline. Raises UserError for neither."""
    if model == OFFLINE:
        return False
    if model.startswith(MODEL_PREFIX):
        return True
    raise UserError(
        f"The model is {OFFLINE!r}, or {MODEL_PREFIX}NAME for one behind an OpenAI-compatible endpoint."
    )


def check_request(request: ModelParameters) -> None:
    """Raises :class:`UserError`."""
    name = request.model_name
    if not name or len(name) > MAX_MODEL_CHARACTERS or not name.isprintable():
        raise UserError(f"Name the model after {MODEL_PREFIX}, in at most {MAX_MODEL_CHARACTERS} characters.")
    warmth = request.temperature
    if warmth is not None and not (math.isfinite(warmth) and 0 <= warmth <= MAX_TEMPERATURE):
        raise UserError(f"The temperature must be from 0 to {MAX_TEMPERATURE:g}.")
    if not 1 <= _concurrency_of(request) <= MAX_CONCURRENCY:
        raise UserError(f"The number of parallel calls must be from 1 to {MAX_CONCURRENCY}.")
    if request.max_tokens_total is not None and request.max_tokens_total < 1:
        raise UserError("The token budget must be at least 1.")


def make_model(request: ModelParameters, endpoint: Endpoint, *, with_key: bool = True) -> Model:
    """As the installation calls it. Raises :class:`UserError` if its key can't be read."""
    return Model(
        endpoint,
        request.model_name,
        get_api_key(endpoint) if with_key else "",
        request.temperature,
        _concurrency_of(request),
        RetryPolicy(retries=settings.LLM_RETRIES, timeout=float(settings.LLM_TIMEOUT)),
    )


def _concurrency_of(request: ModelParameters) -> int:
    return DEFAULT_CONCURRENCY if request.concurrency is None else request.concurrency
