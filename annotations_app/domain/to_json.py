"""Records as JSON."""

from typing import Any


def to_json(value: Any) -> Any:
    """Records become objects: by their own ``as_json``, or field by field."""
    if hasattr(value, "as_json"):
        return value.as_json()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    return [to_json(item) for item in value] if isinstance(value, (list, tuple)) else value
