"""What writers of sessions, offline or by a model, have in common."""

from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.plan import PlannedSession


class WrittenSession(NamedTuple):
    """The outcome of one planned session: its turns, or why there are none (without any of its text)."""

    planned: PlannedSession
    turns: list[TurnRecord]
    failure: str | None = None


def format_shape(description: dict[str, Any]) -> str:
    """The parts of a description that shape the texts, as one line for the plan's digest."""
    shaping = ("generator", "generator_version", "model", "temperature", "prompt_sha256")
    return " ".join(f"{key}={description[key]}" for key in shaping if description.get(key) is not None)
