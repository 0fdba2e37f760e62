"""Has a model write variants of test cases; each waits for a person (see ``drafts.py``)."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from string import ascii_lowercase
from typing import Any, NamedTuple

from django.db import transaction

from annotations_app.cases.drafts import count_drafts
from annotations_app.cases.make_case import check_holds_cases, read_turns
from datasets_app.catalog import gates, text_gates
from datasets_app.catalog.facts import lock_dataset
from datasets_app.catalog.rows.turn_writer import add_sessions
from datasets_app.catalog.scrubbers import make_default_policy
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.families import (
    CASE_TAG,
    DRAFT_TAG,
    KINDS,
    ORIGIN,
    ORIGINAL,
    VARIANT_TAG,
    Variant,
    derive_variant,
    read_tag,
)
from datasets_app.domain.generation.model_variants import (
    FORMAT,
    PlannedVariant,
    WrittenVariant,
    write_variant,
)
from datasets_app.domain.model_calls.budget import TokenBudget, TokensUsed
from datasets_app.domain.model_calls.endpoint import Endpoint
from datasets_app.domain.model_calls.run import RunStopped, run_calls
from datasets_app.model_calls.endpoints import require_endpoint
from datasets_app.model_calls.parameters import ModelParameters
from datasets_app.model_calls.requests import check_request, make_model
from datasets_app.models import Dataset, JobRun, Session, Turn
from datasets_app.scrubbing.scrub_dataset import scrub_dataset


class DraftedVariants(NamedTuple):
    """``drafted`` in this run, ``waiting`` for a person in all; ``failed`` counts by the reason; ``left``
    weren't requested, because of ``stopped``."""

    drafted: int
    waiting: int
    failed: dict[str, int]
    left: int
    stopped: str
    tokens: int

    def facts(self) -> dict[str, Any]:
        """For the row of a job."""
        return {name: value for name, value in self._asdict().items() if value or name == "drafted"}

    @property
    def is_complete(self) -> bool:
        return not (self.failed or self.left)


class _Run(NamedTuple):
    dataset: Dataset
    endpoint: Endpoint
    request: ModelParameters
    budget: TokenBudget
    sessions: dict[str, tuple[Session, list[TurnRecord]]]
    actor: Any


def draft_variants(
    dataset: Dataset,
    request: ModelParameters,
    kinds: Sequence[str] = (),
    *,
    case: str = "",
    used: TokensUsed | None = None,
    keep_used: Callable[[dict[str, int]], None] = lambda used: None,
    actor: Any = None,
    endpoint_actor: Any = None,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> DraftedVariants:
    """Have a model write the variants of these kinds (or all) that the cases of ``dataset``, or one of them,
    don't have yet. The model sees scrubbed text alone, and what it writes is scrubbed, too.

    Don't call it in a transaction. What was written is kept, so a run that ends early is resumed by another.
    ``used`` are tokens of the same run before; ``keep_used`` stores them with each variant.
    ``endpoint_actor`` decides which endpoints may be called: None is a command. Raises UserError.
    """
    check_request(request)
    gates.check_can_replace_text(dataset)
    if strange := set(kinds) - set(KINDS):
        raise UserError(f"{min(strange)[:50]} isn't a kind of variants: {', '.join(KINDS)}.")
    check_holds_cases(dataset)
    endpoint = require_endpoint(request.base_url, endpoint_actor)
    dataset.refresh_from_db()
    if dataset.status == Dataset.Status.RAW:  # a case that is new, or drafts of a run that died
        _scrub(dataset, actor, job_run)
    with transaction.atomic():
        lock_dataset(dataset.pk)  # so that no case that is added meanwhile is read without the check
        text_gates.check_judge(dataset, endpoint.base_url, actor=actor)
        sessions = _read_originals(dataset, case)
    planned = list(_plan(dataset, sessions, kinds or tuple(KINDS)))
    budget = TokenBudget(request.max_tokens_total, used or TokensUsed())
    run = _Run(dataset, endpoint, request, budget, sessions, actor)
    drafted, failed, stopped = _perform(run, planned, keep_used, report_progress)
    if drafted:
        _scrub(dataset, actor, job_run)
    left = len(planned) - drafted - failed.total()
    return DraftedVariants(drafted, count_drafts(dataset), dict(failed), left, stopped, budget.used.total)


def _perform(
    run: _Run,
    planned: Sequence[PlannedVariant],
    keep_used: Callable[[dict[str, int]], None],
    report_progress: ProgressCallback,
) -> tuple[int, Counter[str], str]:
    _record(run, "begun", missing=len(planned))
    drafted, failed, stopped = 0, Counter[str](), ""
    try:
        with closing(_write(run, planned, lambda: report_progress(drafted, len(planned)))) as written:
            for one in written:
                failure = one.failure or _keep(run, one)
                drafted += not failure
                failed.update([failure] if failure else [])
                keep_used(asdict(run.budget.used))
    except RunStopped as early:
        stopped = str(early)[:300]
    finally:
        keep_used(asdict(run.budget.used))
        _record(run, "ended", drafted=drafted)
    return drafted, failed, stopped


def _scrub(dataset: Dataset, actor: Any, job_run: JobRun | None) -> None:
    scrub_dataset(dataset, make_default_policy(dataset), actor=actor, job_run=job_run)
    dataset.refresh_from_db()


def _read_originals(dataset: Dataset, case: str) -> dict[str, tuple[Session, list[TurnRecord]]]:
    """By family the session of the case itself. Raises UserError if there is none."""
    tags = [f"{VARIANT_TAG}{ORIGINAL}", *([f"{CASE_TAG}{case}"] if case else [])]
    replies = Turn.objects.filter(dataset=dataset, tags__contains=tags, session__excluded=False)
    found = {
        read_tag(reply.tags, CASE_TAG): (reply.session, read_turns(reply.session, 1, reply.turn_index))
        for reply in replies.select_related("session").order_by("session_id")
    }
    if not found:
        what = f"the case {case[:100]}" if case else "test cases"
        raise UserError(f"{dataset.name} doesn't have {what}.")
    return found


def _plan(
    dataset: Dataset, sessions: dict[str, tuple[Session, list[TurnRecord]]], kinds: Sequence[str]
) -> Iterator[PlannedVariant]:
    have: defaultdict[str, set[str]] = defaultdict(set)
    said: defaultdict[str, set[str]] = defaultdict(set)
    asked = Turn.objects.filter(dataset=dataset, role="user").order_by("turn_index")
    last: dict[int, str] = dict(asked.values_list("session_id", "text"))
    replies = Turn.objects.filter(dataset=dataset, metadata__has_key=ORIGIN)
    for turn in replies.select_related("session"):
        family = read_tag(turn.tags, CASE_TAG)
        said[family].add(last.get(turn.session_id, ""))
        if not turn.session.excluded or DRAFT_TAG in turn.tags:
            have[family].add(read_tag(turn.tags, VARIANT_TAG))
    for family, (_, turns) in sessions.items():
        message = max(place for place, turn in enumerate(turns) if turn.role == "user")
        before = [(turn.role, turn.text) for turn in turns[: message + 1]]
        for kind in kinds:
            if kind not in have[family]:
                yield PlannedVariant(family, kind, before, frozenset(said[family]))


def _write(
    run: _Run, planned: Sequence[PlannedVariant], on_tick: Callable[[], None]
) -> Generator[WrittenVariant, None, None]:
    model = make_model(run.request, run.endpoint)
    return run_calls(
        planned,
        write_variant,
        model=model,
        format=FORMAT,
        budget=run.budget,
        noun="variants",
        on_tick=on_tick,
    )


def _keep(run: _Run, written: WrittenVariant) -> str:
    """Add it to the dataset as a draft; returns why not, or ""."""
    family, kind = written.planned.family, written.planned.kind
    original, turns = run.sessions[family]
    with transaction.atomic():
        dataset = lock_dataset(run.dataset.pk)
        gates.check_can_copy(dataset)
        if read_turns(original, 1, turns[-1].turn_index) != turns:
            return "the case was erased or changed meanwhile"
        of_kind = Turn.objects.filter(
            dataset=dataset, tags__contains=[f"{CASE_TAG}{family}", f"{VARIANT_TAG}{kind}"]
        )
        if of_kind.filter(tags__contains=[DRAFT_TAG]).exists():
            return "another run has drafted it meanwhile"
        # A scrub may have hashed the names of those that are there, and replaces digits.
        mark = "".join(secrets.choice(ascii_lowercase) for _ in range(8))
        name = f"{family}-{mark}-{kind}"
        variant = Variant(kind, KINDS[kind].answer, written.text)
        keys = add_sessions(dataset, [derive_variant(turns, variant, name, run.request.model or "")])
        dataset.save()
        # It leaves with nothing before a person has kept it, and goes where its case goes.
        Session.objects.filter(dataset=dataset, pk__in=keys).update(excluded=True, split=original.split)
    return ""


def _record(run: _Run, state: str, **counts: int) -> None:
    """What was sent where is in the audit log, however a run ends."""
    with transaction.atomic():
        audit.record(
            "draft_variants",
            actor=run.actor,
            dataset_name=run.dataset.name,
            state=state,
            model=run.request.model,
            endpoint=run.endpoint.host,
            **counts,
        )
