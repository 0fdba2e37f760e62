"""The writer for a model that a person has named, with the installation's settings and key."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from django.conf import settings

from datasets_app.core.errors import UserError
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.policy import Policy
from datasets_app.model_calls.endpoints import require_endpoint
from datasets_app.model_calls.parameters import ModelParameters
from datasets_app.model_calls.requests import check_request, make_model


def make_model_writer(
    request: ModelParameters, *, actor: Any, persona: PersonaDocument | None = None, with_key: bool = True
) -> ModelWriter:
    """Raises :class:`UserError`. ``actor`` is None for a command and nobody else (see require_endpoint).

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
