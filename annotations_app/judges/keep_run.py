"""What is kept of a run, of a judge or a jury: its row, its verdicts as they come, and both of its ends."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from annotations_app.judges.costs import compute_cost, describe_members
from annotations_app.judges.judge_rows import count_changed, count_not_judged, list_outdated
from annotations_app.judges.model_judge import JudgedTurn
from annotations_app.judges.verdict_store import VerdictStore
from annotations_app.models import Campaign, Judge, JudgeRun
from datasets_app.core import audit
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.model_calls.budget import TokenBudget, TokensUsed
from datasets_app.domain.model_calls.run import RunStopped


class JudgeOutcome(NamedTuple):
    """``not_judged`` counts failures by their reason; ``left`` weren't requested, because of ``stopped``.
    ``changed`` are pairs of which the answer changed with the sides; ``members`` those of a jury."""

    run: int
    judged: int
    before: int
    not_judged: dict[str, int]
    left: int
    stopped: str
    excluded: int
    examples: int
    tokens: int
    cost: float | None
    changed: int = 0
    members: Sequence[dict[str, Any]] = ()

    @property
    def is_complete(self) -> bool:
        return not (self.not_judged or self.left or self.changed)


class Kept(NamedTuple):
    """What a run is to keep: of ``total`` judgments those that aren't there ``before``. ``endpoint`` is what
    the audit log says of where texts were sent."""

    run: JudgeRun
    schema: Schema
    total: int
    before: int
    excluded: int
    endpoint: str
    budget: TokenBudget | None = None


def open_run(
    campaign: Campaign, judge: Judge, prompt_digest: str, persona_digest: str, examples: Sequence[int] = ()
) -> JudgeRun:
    """The one that goes on, or a new one. A prompt may say the same of two versions of a criterion (answers
    without an order, then with one): verdicts of the earlier one don't answer the later one."""
    run, _ = JudgeRun.objects.get_or_create(
        campaign=campaign,
        judge=judge,
        prompt_digest=prompt_digest,
        defaults={
            "schema": campaign.schema,
            "persona_digest": persona_digest,
            "guidelines_digest": campaign.guidelines_digest,
            "examples": list(examples),
        },
    )
    if list_outdated(run):
        asked = [one.digest for one in campaign.asked_schema.criteria]
        digest = hashlib.sha256(" ".join([prompt_digest, *asked]).encode()).hexdigest()
        return open_run(campaign, judge, digest, persona_digest, examples)
    return run


def keep_verdicts(
    kept: Kept,
    judge_all: Callable[[Callable[[], None]], Iterator[JudgedTurn]],
    *,
    actor: Any,
    report_progress: ProgressCallback,
) -> JudgeOutcome:
    """Store what ``judge_all`` yields, which calls what it is given every now and then, until it ends or
    raises RunStopped. The audit log says what was sent where, however a run ends."""
    run, before = kept.run, kept.before
    with closing(VerdictStore(run, kept.budget)) as store:

        def tick() -> None:
            store.sync_sometimes()
            report_progress(before + store.count, kept.total)

        run.stopped, run.ended_at = "", None
        _record(kept, actor, "begun", missing=kept.total - before)
        sent_before = run.sent
        store.sync()
        try:
            with closing(judge_all(tick)) as verdicts:  # type: ignore[type-var]
                for judged in verdicts:
                    store.add(judged)
        except RunStopped as early:
            run.stopped = str(early)[:300]
        finally:
            run.ended_at = timezone.now()
            store.sync(ended=True)
            _record(kept, actor, "ended", judged=store.judged, sent=run.sent - sent_before)
    report_progress(before + store.count, kept.total)
    members = describe_members(run)
    return JudgeOutcome(
        run.pk,
        store.judged,
        before,
        count_not_judged(run)[1],
        max(0, kept.total - before - store.count) if run.stopped else 0,
        run.stopped,
        kept.excluded,
        len(run.examples),
        TokensUsed(**run.used).total,
        compute_cost(run, members),
        count_changed(run, kept.schema),
        members,
    )


def _record(kept: Kept, actor: Any, state: str, **counts: int) -> None:
    run, other = kept.run, kept.run.campaign.other_dataset
    with transaction.atomic():
        audit.record(
            "judge",
            actor=actor,
            dataset_name=run.campaign.dataset.name,
            state=state,
            campaign=run.campaign.name,
            judge=run.judge.full_name,
            digest=run.judge.digest,
            prompt_digest=run.prompt_digest,
            endpoint=kept.endpoint,
            **({"compared_with": other.name} if other else {}),
            **counts,
        )
