"""Redact the names of hidden datasets in what jobs and events record."""

from typing import Any

from datasets_app.models import Dataset

REDACTED_NAME = "a restricted dataset"


def get_hidden_names(user: Any) -> frozenset[str]:
    return frozenset(Dataset.objects.hidden_from(user).values_list("name", flat=True))


def redact_json(value: Any, names: frozenset[str]) -> Any:
    """Replace ``names`` in JSON where one is a whole value or key."""
    if not names:
        return value
    if isinstance(value, dict):
        return {_redact_name(key, names): redact_json(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [redact_json(item, names) for item in value]
    return _redact_name(value, names)


def _redact_name(value: Any, names: frozenset[str]) -> Any:
    return REDACTED_NAME if isinstance(value, str) and value in names else value
