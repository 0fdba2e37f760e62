"""What every writer of sessions is to its callers, be it a grammar or a model."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.plan import PlannedSession


class WrittenSession(NamedTuple):
    """The outcome of one planned session: its turns, or why there are none (without any of its text).
    ``tokens`` is its cost, failed or not."""

    planned: PlannedSession
    turns: list[TurnRecord]
    failure: str | None = None
    tokens: int = 0


class GenerationStopped(Exception):
    """Raised out of ``write_all`` when no further session can be had (a budget is spent, an endpoint
    refuses everything): the message is a sentence for the person who asked. What came before stands."""


class Writer(Protocol):
    """Turns planned sessions into turns. The same planned session gives the same turns, as far as the
    writer can promise that (``describe()["reproducible"]``)."""

    def write(self, planned: PlannedSession) -> list[TurnRecord]:
        """One session, as a preview wants it."""
        ...

    def write_all(self, planned: Iterable[PlannedSession]) -> Iterator[WrittenSession]:
        """All of them, lazily, in whatever order they are finished; closing the iterator stops the work.

        ``planned`` may be long: take no more of it than is being worked on.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Provenance, plain values only, and no secret: ``generator``, ``generator_version``, ``model``,
        ``reproducible``, and what else there is (``temperature``, ``prompt_sha256``, ``tokens`` …).

        To be asked again after the work: what was used is known then.
        """
        ...


def format_shape(description: dict[str, Any]) -> str:
    """What of a description shapes the texts, as one line for the digest of the plan."""
    shaping = ("generator", "generator_version", "model", "temperature", "prompt_sha256")
    return " ".join(f"{key}={description[key]}" for key in shaping if description.get(key) is not None)
