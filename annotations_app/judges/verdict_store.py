"""Keeps the verdicts of a run as they come; a killed process loses what came in the last half second."""

import time
from collections.abc import Callable
from dataclasses import asdict

from django.db import transaction

from annotations_app.judges.model_judge import JudgedTurn
from annotations_app.models import JudgeRun, Verdict
from datasets_app.core.errors import UserError
from datasets_app.core.queries import ConnectionLock
from datasets_app.domain.model_calls.budget import TokenBudget, TokensUsed
from datasets_app.models import Turn

SYNC_SECONDS, _MAX_PENDING = 0.5, 500
_MAX_REASON_CHARACTERS = 200
_LOCK_AREA = 0x6A756467  # with the run


class VerdictStore:
    """To be closed. One at a time for a run: a lock of the connection, which ends with the process."""

    def __init__(
        self, run: JudgeRun, budget: TokenBudget | None, clock: Callable[[], float] = time.monotonic
    ):
        self.run, self._budget, self._clock = run, budget, clock
        self.judged = self.failed = 0
        self._pending: list[JudgedTurn] = []
        self._synced_at = clock()
        self._lock = ConnectionLock(_LOCK_AREA, run.pk)
        if not self._lock.take():
            raise UserError(f"{run.judge} is judging {run.campaign} just now; wait for its end.")

    @property
    def count(self) -> int:
        return self.judged + self.failed

    def add(self, judged: JudgedTurn) -> None:
        self._pending.append(judged)
        if judged.failure is None:
            self.judged += 1
        else:
            self.failed += 1

    def sync_sometimes(self) -> None:
        if len(self._pending) >= _MAX_PENDING or self._clock() - self._synced_at >= SYNC_SECONDS:
            self.sync()

    def sync(self, *, ended: bool = False) -> None:
        """Commit what came. Until a run has ended, calls on the way count as spent: they may be billed."""
        run, budget = self.run, self._budget
        with transaction.atomic():
            self._save_verdicts()
            if budget is not None:
                used = TokensUsed(**asdict(budget.used))
                if not ended:
                    used.prompt += budget.reserved
                    used.estimated += budget.reserved
                run.used = asdict(used)
            run.save(update_fields=["used", "sent", "stopped", "ended_at"])
        self._pending.clear()
        self._synced_at = self._clock()

    def _save_verdicts(self) -> None:
        dataset = self.run.campaign.dataset_id
        turns = Turn.objects.filter(dataset=dataset, pk__in={one.turn for one in self._pending})
        # Sessions may have been erased meanwhile.
        there = set(
            turns.select_for_update(of=("self",), no_key=True).order_by("pk").values_list("pk", flat=True)
        )
        Verdict.objects.bulk_create(
            [
                Verdict(
                    dataset_id=dataset,
                    run=self.run,
                    turn_id=one.turn,
                    repeat=one.repeat,
                    swapped=one.swapped,
                    codes=one.codes,
                    rationale=one.rationale or None,
                    failure=(one.failure or "")[:_MAX_REASON_CHARACTERS],
                )
                for one in self._pending
                if one.turn in there
            ],
            update_conflicts=True,
            unique_fields=["run", "turn", "repeat", "swapped"],
            update_fields=["codes", "rationale", "failure"],
        )

    def close(self) -> None:
        self._lock.release()
