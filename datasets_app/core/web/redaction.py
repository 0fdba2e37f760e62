"""What a job or an event tells of one dataset may name others: those that are hidden stay so."""

from typing import Any

from datasets_app.models import Dataset

INSTEAD = "a restricted dataset"


def hidden_names(user: Any) -> frozenset[str]:
    return frozenset(Dataset.objects.hidden_from(user).values_list("name", flat=True))


def without_names(value: Any, names: frozenset[str]) -> Any:
    """JSON with ``names`` taken out, where one is a value or a key by itself."""
    if not names:
        return value
    if isinstance(value, dict):
        return {_name(key, names): without_names(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [without_names(item, names) for item in value]
    return _name(value, names)


def _name(value: Any, names: frozenset[str]) -> Any:
    return INSTEAD if isinstance(value, str) and value in names else value
