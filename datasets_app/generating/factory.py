"""The writer for a model that a person has named, with the installation's settings and key."""

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from django.conf import settings

from datasets_app.core.errors import Refused
from datasets_app.domain.generation.model_writer import DEFAULT_CONCURRENCY, MOST_CONCURRENT, ModelWriter
from datasets_app.domain.generation.retry_rules import Patience
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.domain.pii.detection import Asked, Detection
from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.names.names import NameModelError
from datasets_app.domain.pii.policy import Policy
from datasets_app.generating.endpoints import key_for, require_endpoint

PREFIX = "openai:"
OFFLINE = "offline"
MOST_MODEL_CHARACTERS = 200
HIGHEST_TEMPERATURE = 2.0


class ModelWish(NamedTuple):
    """What a person may choose of a model; plain values, as they stand in the parameters of a job."""

    model: str
    base_url: str | None = None
    temperature: float | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    max_tokens_total: int | None = None


def is_model(given: str) -> bool:
    """Whether ``--model`` names a model, and not the offline writer. Raises :class:`Refused` for neither."""
    if given == OFFLINE:
        return False
    if given.startswith(PREFIX):
        return True
    raise Refused(f"The model is {OFFLINE!r}, or {PREFIX}NAME for one behind an OpenAI-compatible endpoint.")


def make_model_writer(
    wish: ModelWish, *, actor: Any, persona: PersonaDocument | None = None, with_key: bool = True
) -> ModelWriter:
    """Raises :class:`Refused`. ``actor`` is None for a command and nobody else (see require_endpoint).

    Without the key the writer can tell of itself what a plan needs, and what a plan will cost.
    """
    name = wish.model.removeprefix(PREFIX).strip()
    _check(wish, name)
    endpoint = require_endpoint(wish.base_url, actor)
    return ModelWriter(
        endpoint,
        name,
        persona=persona,
        key=key_for(endpoint) if with_key else "",
        temperature=wish.temperature,
        concurrency=wish.concurrency,
        most_tokens=wish.max_tokens_total,
        patience=Patience(retries=settings.LLM_RETRIES, timeout=float(settings.LLM_TIMEOUT)),
        find_names=partial(_find_names, tuple(settings.NAME_MODELS)),
    )


def _find_names(models: tuple[str, ...], texts: Sequence[str]) -> list[list[Match]]:
    return _name_detection(models).find_many([Asked(text) for text in texts])


@cache
def _name_detection(models: tuple[str, ...]) -> Detection:
    """As the check W406 looks for names; loaded once, when the first session is to be written."""
    try:
        return Detection(Policy(kinds=(NAME,), name_models=models), b"")
    except NameModelError as error:
        raise Refused(str(error)) from None


def _check(wish: ModelWish, name: str) -> None:
    if not name or len(name) > MOST_MODEL_CHARACTERS or not name.isprintable():
        raise Refused(f"Name the model after {PREFIX}, in at most {MOST_MODEL_CHARACTERS} characters.")
    warmth = wish.temperature
    if warmth is not None and not (math.isfinite(warmth) and 0 <= warmth <= HIGHEST_TEMPERATURE):
        raise Refused(f"The temperature must be from 0 to {HIGHEST_TEMPERATURE:g}.")
    if not 1 <= wish.concurrency <= MOST_CONCURRENT:
        raise Refused(f"From 1 to {MOST_CONCURRENT} sessions can be asked for at a time.")
    if wish.max_tokens_total is not None and wish.max_tokens_total < 1:
        raise Refused("A token budget is at least 1.")
