"""Sessions of a plan, written by a model, into whatever keeps them: a journal beside a file, or a dataset."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple, Protocol

from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.plan import Plan
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.domain.model_calls.run import RunStopped

# Named in results and metadata; of more, the number is told.
MAX_FAILURES_LISTED = 100
# How a run ended; those of an earlier run no longer apply.
OUTCOME_KEYS = ("failed_sessions", "failures", "sessions_left", "stopped")


class SessionStore(Protocol):
    """Where sessions go. ``finished`` counts those that stand; ``failures`` are reasons, by number."""

    finished: int
    failures: dict[int, str]
    used: TokensUsed

    def is_finished(self, number: int) -> bool: ...

    def add(self, written: WrittenSession, used: TokensUsed) -> None: ...

    def sync(self, used: TokensUsed) -> None:
        """What was added stays from now on, whatever happens to this process."""
        ...

    def sessions(self) -> Iterator[list[TurnRecord]]:
        """Those that stand."""
        ...


class WritingOutcome(NamedTuple):
    """``before`` are the sessions that stood when this run began. ``failed`` is (session id, reason), in the
    order of the plan; ``left`` were not requested, or not completed, because of ``stopped``: a sentence,
    or empty."""

    sessions: int
    before: int
    failed: list[tuple[str, str]]
    left: int
    stopped: str

    @property
    def is_complete(self) -> bool:
        return not (self.failed or self.left)

    def as_facts(self) -> dict[str, Any]:
        """For provenance and results of jobs: ids and reasons, no texts."""
        facts: dict[str, Any] = {}
        if self.failed:
            listed = [f"{session_id}: {reason}" for session_id, reason in self.failed[:MAX_FAILURES_LISTED]]
            facts |= {"failed_sessions": len(self.failed), "failures": listed}
        if self.left:
            facts |= {"sessions_left": self.left, "stopped": self.stopped}
        return facts


def write_with_model(
    writer: ModelWriter,
    plan: Plan,
    keeper: SessionStore,
    *,
    report_progress: ProgressCallback = ignore_progress,
) -> WritingOutcome:
    """Ask for every session of ``plan`` that does not stand yet; also for those that have failed before.

    Progress counts sessions, and is told while nothing comes in as well; what it raises ends the run, with
    all that has come in kept.
    """
    before = keeper.finished
    for turns in keeper.sessions():
        writer.remember_replies(turns)
    writer.used = TokensUsed(**vars(keeper.used))
    keeper.failures.clear()

    def meanwhile() -> None:
        keeper.sync(writer.used)
        report_progress(keeper.finished + len(keeper.failures), len(plan))

    missing = (planned for planned in plan if not keeper.is_finished(planned.number))
    stopped = ""
    try:
        meanwhile()
        with closing(writer.write_all(missing, meanwhile)) as sessions:
            for written in sessions:
                keeper.add(written, writer.used)
    except RunStopped as early:
        stopped = str(early)
    finally:
        keeper.sync(writer.used)
    failed = [(plan.session_id(number), reason) for number, reason in sorted(keeper.failures.items())]
    return WritingOutcome(keeper.finished, before, failed, len(plan) - keeper.finished - len(failed), stopped)
