"""The interface of session writers, offline or model."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.plan import PlannedSession


class WrittenSession(NamedTuple):
    """The outcome of one planned session: its turns, or why there are none (without any of its text)."""

    planned: PlannedSession
    turns: list[TurnRecord]
    failure: str | None = None


class Writer(Protocol):
    """Turns planned sessions into turns, reproducibly if ``describe()["reproducible"]``."""

    def write(self, planned: PlannedSession) -> list[TurnRecord]:
        """Write one session, for a preview."""
        ...

    def write_all(self, planned: Iterable[PlannedSession]) -> Iterator[WrittenSession]:
        """Yield sessions as they finish, in any order; closing the iterator stops the work.

        ``planned`` may be long: consume no more of it than is being worked on.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Provenance as plain values without secrets: ``generator``, ``generator_version``, ``model``,
        ``reproducible`` and more (``temperature``, ``prompt_sha256``, ``tokens`` …).

        Call it again after the work, when the usage is known.
        """
        ...


def format_shape(description: dict[str, Any]) -> str:
    """The parts of a description that shape the texts, as one line for the plan's digest."""
    shaping = ("generator", "generator_version", "model", "temperature", "prompt_sha256")
    return " ".join(f"{key}={description[key]}" for key in shaping if description.get(key) is not None)
