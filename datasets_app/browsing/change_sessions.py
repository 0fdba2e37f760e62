"""Tags selected sessions or turns, or excludes sessions: a few at once, many as a job."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Func, Q, QuerySet, Sum, Value

from datasets_app.catalog import gates
from datasets_app.catalog.facts import lock_dataset
from datasets_app.catalog.selections import save_selection
from datasets_app.catalog.written_text import check_written
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.batches import batched
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, JobRun, Session, SessionSelection, Turn

KEYS_PER_BATCH = 500
# What is changed while somebody waits; more takes a job.
MAX_SESSIONS_AT_ONCE, MAX_TURNS_AT_ONCE = 100, 20_000
# Each action and the one that undoes it.
UNDO = {"tag": "untag", "untag": "tag", "exclude": "include", "include": "exclude"}
TAG_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._/-]{0,99}")


def check_tag(dataset: Dataset, tag: str) -> None:
    """Raises UserError for what is no tag, or may be personal data: nothing searches it later."""
    if not TAG_PATTERN.fullmatch(tag):
        raise UserError(
            "A tag has up to 100 letters, digits and the signs : . _ - and /, and starts with a letter or "
            "digit."
        )
    check_written(dataset, {}, tags=[tag], always=True)


def tag_sessions(
    dataset: Dataset,
    keys: Sequence[int],
    tag: str,
    *,
    turns: Sequence[int] | None = None,
    remove: bool = False,
    actor: Any = None,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, int]:
    """Add a tag to all turns of sessions (primary keys), or to these ``turns`` of them, or remove it; returns
    how many turns changed.

    Raises UserError if the dataset is on legal hold or a job is running on it: a scrub writes tags, too.
    """
    if not remove:
        check_tag(dataset, tag)
    changed = 0
    with transaction.atomic():
        locked = lock_dataset(dataset.pk)
        gates.check_can_replace_text(locked)
        gates.check_is_idle(locked.name, job_run, "tag sessions when the job has finished.")
        rows = _turns_to_tag(dataset, tag, remove=remove)
        change = Func(F("tags"), Value(tag), function="array_remove" if remove else "array_append")
        chosen, tagged = ("session__in", keys) if turns is None else ("pk__in", turns)
        for done, batch in _split(tagged):
            changed += rows.filter(**{chosen: batch}).update(tags=change)
            report_progress(done, len(tagged))
        locked.save(update_fields=["updated_at"])
        # Not which tag: a later deletion could not remove it from here.
        audit.record(
            "untag_sessions" if remove else "tag_sessions",
            actor=actor,
            dataset_name=dataset.name,
            sessions=len(keys),
            turns=changed,
        )
    return {"sessions": len(keys), "turns": changed}


def _turns_to_tag(dataset: Dataset, tag: str, *, remove: bool) -> QuerySet[Turn]:
    having = Q(tags__contains=[tag])
    return Turn.objects.filter(having if remove else ~having, dataset=dataset)


def exclude_sessions(
    dataset: Dataset,
    keys: Sequence[int],
    *,
    include: bool = False,
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, int]:
    """Leave sessions (primary keys) out of exports, packages, samples, releases and new campaigns, or, with
    ``include``, no longer; returns how many changed. Their text is still scrubbed and checked."""
    changed = 0
    with transaction.atomic():
        locked = lock_dataset(dataset.pk)
        gates.check_can_use(locked)
        for done, batch in _split(keys):
            sessions = Session.objects.filter(dataset=dataset, pk__in=batch, excluded=include)
            changed += sessions.update(excluded=not include)
            report_progress(done, len(keys))
        locked.save(update_fields=["updated_at"])
        audit.record(
            "include_sessions" if include else "exclude_sessions",
            actor=actor,
            dataset_name=dataset.name,
            sessions=changed,
        )
    return {"sessions": changed}


class Change(NamedTuple):
    """``undo`` are the sessions or turns that changed; None if none did."""

    message: str
    undo: SessionSelection | None


def change_at_once(dataset: Dataset, keys: Sequence[int], action: str, tag: str, *, actor: Any) -> Change:
    """Do one of the actions of ``UNDO`` with a few sessions (primary keys). Raises UserError if they are too
    many."""
    with transaction.atomic():
        lock_dataset(dataset.pk)
        sessions = Session.objects.filter(dataset=dataset, pk__in=keys)
        turns = sessions.aggregate(turns=Sum("turn_count"))["turns"] or 0
        if len(keys) > MAX_SESSIONS_AT_ONCE or turns > MAX_TURNS_AT_ONCE:
            raise UserError(
                f"More than {MAX_SESSIONS_AT_ONCE} sessions or {MAX_TURNS_AT_ONCE:,} turns are selected. "
                "Choose More, which changes them in a job."
            )
        if action in {"exclude", "include"}:
            found = list(sessions.filter(excluded=action == "include").values_list("pk", flat=True))
            exclude_sessions(dataset, found, include=action == "include", actor=actor)
            done = f"{format_count(len(found), 'session')} {action}d"
            return Change(done, save_selection(dataset, found, actor) if found else None)
        rows = _turns_to_tag(dataset, tag, remove=action == "untag").filter(session__in=keys)
        changed = list(rows.values_list("session", "pk"))
        found, tagged = sorted({session for session, _ in changed}), [turn for _, turn in changed]
        tag_sessions(dataset, found, tag, turns=tagged, remove=action == "untag", actor=actor)
        done = (
            f"{tag} {'removed from' if action == 'untag' else 'added to'} {format_count(len(tagged), 'turn')}"
        )
        return Change(done, save_selection(dataset, found, actor, turns=tagged) if tagged else None)


def undo_change(dataset: Dataset, changed: SessionSelection, action: str, tag: str, *, actor: Any) -> Change:
    """Reverse what :func:`change_at_once` did to these sessions or turns by ``action``."""
    inverse = UNDO[action]
    if changed.turns is None:
        exclude_sessions(dataset, changed.keys, include=inverse == "include", actor=actor)
    else:
        remove = inverse == "untag"
        tag_sessions(dataset, changed.keys, tag, turns=changed.turns, remove=remove, actor=actor)
    return Change("Undone", None)


def _split(keys: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """(number of keys up to the end of the batch, the batch)."""
    for number, batch in enumerate(batched(keys, KEYS_PER_BATCH)):
        yield number * KEYS_PER_BATCH + len(batch), batch
