"""Writes the sessions of a model straight into a dataset, one transaction per batch.

The parameters of the job keep the plan and the tokens used, so that a later run can resume.
"""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.db import transaction

from datasets_app.catalog import facts
from datasets_app.catalog.tombstones import ErasedSessions
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import ConnectionLock
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.plan import Plan
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.domain.wording import format_count
from datasets_app.generating.generation import KIND_COUNTERS
from datasets_app.generating.insert_sessions import DEFAULT_LICENSE, insert_sessions
from datasets_app.generating.write import OUTCOME_KEYS
from datasets_app.jobs.running import ClaimLost
from datasets_app.models import Dataset, JobRun, Turn

OPERATION, RUN_PARAMETER = "bootstrap_dataset", "model_run"
_LOCK_AREA = 0x6D6F6465  # with the dataset


class DatasetSessionStore:
    """A keeper (see :mod:`write_by_model`). To be closed.

    One run at a time: a lock of the connection, which ends with the process. Raises :class:`UserError` if the
    dataset holds sessions of this plan and it is not to be resumed, or if it is to be, and an earlier run
    has left off with another plan.
    """

    def __init__(
        self,
        name: str,
        plan: Plan,
        made_by: str,
        *,
        resume: bool,
        license_id: str = DEFAULT_LICENSE,
        actor: Any = None,
        job_run: JobRun,
    ) -> None:
        self._name, self._plan, self._made_by, self._actor = name, plan, made_by, actor
        self._job_run, self._license = job_run, license_id
        self._pending: list[WrittenSession] = []
        self._recorded = False
        self.failures: dict[int, str] = {}
        facts.check_dataset_name(name)
        with transaction.atomic():
            self.dataset = self._lock_dataset()
        self._lock = ConnectionLock(_LOCK_AREA, self.dataset.pk)
        if not self._lock.take():
            raise UserError(f"Sessions are being generated for {name} just now; wait for their end.")
        try:
            self._existing_ids = self._find_existing_ids()
            self.finished = len(self._existing_ids)
            self.used = self._load_used_tokens(resume)
        except BaseException:
            self.close()
            raise

    def is_finished(self, number: int) -> bool:
        return self._plan.session_id(number) in self._existing_ids

    def add(self, written: WrittenSession, used: TokensUsed) -> None:
        if written.failure is None:
            self._pending.append(written)
            self.finished += 1
        else:
            self.failures[written.planned.number] = written.failure

    def sync(self, used: TokensUsed) -> None:
        """Commit what was added. Raises ClaimLost if another worker has taken over."""
        if not self._pending and used == self.used:
            return
        with transaction.atomic():
            self._save_run_state(used)
            if self._pending:
                self._insert_pending()
        self._existing_ids.update(written.planned.session_id for written in self._pending)
        self._pending.clear()
        self.used = TokensUsed(**asdict(used))

    def sessions(self) -> Iterator[list[TurnRecord]]:
        """Only the replies, which is what others are compared with."""
        replies = Turn.objects.filter(
            dataset=self.dataset, session__session_id__startswith=self._prefix, role="assistant"
        )
        for turn in replies.select_related("session").iterator():
            yield [TurnRecord(turn.session.session_id, turn.turn_index, turn.role, turn.text, [])]

    def finish(self, provenance: dict[str, Any]) -> None:
        """Put down where the sessions are from, as far as they have come, and that this run has ended."""
        with transaction.atomic():
            dataset = self._lock_dataset()
            kept = {key: value for key, value in dataset.provenance.items() if key not in OUTCOME_KEYS}
            # How many there are of a kind is counted as they come, over all that was ever generated.
            told = {key: value for key, value in provenance.items() if key not in KIND_COUNTERS}
            dataset.provenance = kept | told
            dataset.save(update_fields=["provenance", "updated_at"])
            self._record("ended", sessions=self.finished, planned=len(self._plan), failed=len(self.failures))

    def close(self) -> None:
        self._lock.release()

    # --- the beginning -------------------------------------------------------------------------

    def _lock_dataset(self) -> Dataset:
        origin = Dataset.Origin.SYNTHETIC
        return facts.lock_or_create_dataset(self._name, origin=origin, actor=self._actor)[0]

    @property
    def _prefix(self) -> str:
        return self._plan.session_id(0).rpartition("-")[0] + "-"

    def _find_existing_ids(self) -> set[str]:
        """Also erased sessions, which are not written again."""
        found = self.dataset.sessions.filter(session_id__startswith=self._prefix)
        planned = map(self._plan.session_id, range(len(self._plan)))
        erased = filter(ErasedSessions(self.dataset.name).check_id, planned)
        return {*found.values_list("session_id", flat=True).iterator(), *erased}

    def _load_used_tokens(self, resume: bool) -> TokensUsed:
        earlier = self._find_earlier_run()
        if earlier is not None and earlier.get("plan") == self._plan.digest:
            restarted = RUN_PARAMETER in self._job_run.parameters
            if self._existing_ids and not resume and not restarted:
                raise self._make_resume_error()
            return TokensUsed(**earlier["used"]) if resume or restarted else TokensUsed()
        if self._existing_ids and not resume:
            raise self._make_resume_error()
        if resume and earlier is not None and not earlier.get("whole"):
            raise UserError(
                f"The earlier run for {self.dataset.name} had another plan: model, temperature, sessions, "
                "turns, ratios, seed, persona or source differ. Use the same ones to resume, or start "
                "over without resuming."
            )
        return TokensUsed()

    def _make_resume_error(self) -> UserError:
        count = format_count(len(self._existing_ids), "session")
        return UserError(
            f"{self.dataset.name} already holds {count} of this plan, "
            "which may have been paid for. Resume the earlier run (--resume), or choose another seed."
        )

    def _find_earlier_run(self) -> dict[str, Any] | None:
        """The stored state of the last model run for this dataset, or of this job if it is retried."""
        runs = JobRun.objects.filter(
            operation=OPERATION, dataset_name=self.dataset.name, parameters__has_key=RUN_PARAMETER
        )
        if RUN_PARAMETER in self._job_run.parameters:
            runs = runs.filter(pk=self._job_run.pk)
        last = runs.order_by("-pk").first()
        return last.parameters[RUN_PARAMETER] if last else None

    # --- the transactions ----------------------------------------------------------------------

    def _save_run_state(self, used: TokensUsed) -> None:
        row = self._job_run
        row.parameters = row.parameters | {"model_run": self._run_state(used)}
        own_row = JobRun.objects.filter(pk=row.pk, attempt=row.attempt, state="running")
        if not own_row.update(parameters=row.parameters):
            raise ClaimLost

    def _run_state(self, used: TokensUsed) -> dict[str, Any]:
        return {
            "plan": self._plan.digest,
            "made_by": self._made_by,
            "sessions": self.finished,
            "whole": self.finished == len(self._plan),
            "used": asdict(used),
            "failed": len(self.failures),
        }

    def _insert_pending(self) -> None:
        dataset = self._lock_dataset()
        turns = insert_sessions(dataset, self._pending, self._license)
        for key, kind in KIND_COUNTERS.items():
            before = dataset.provenance.get(key)
            added = sum(each.planned.kind == kind for each in self._pending)
            dataset.provenance[key] = (before if type(before) is int else 0) + added
        dataset.save()
        if not self._recorded:
            # Once a run: those of the end tell how many there are.
            self._record("begun", sessions=len(self._pending), turns=turns)
            self._recorded = True

    def _record(self, state: str, **details: Any) -> None:
        audit.record(
            "generate",
            actor=self._actor,
            dataset_name=self.dataset.name,
            state=state,
            plan=self._plan.digest,
            made_by=self._made_by,
            **details,
        )
