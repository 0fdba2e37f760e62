"""Samples whole sessions of a dataset or a file, into a new file or dataset."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction

from datasets_app.access.limit_access import copy_restriction
from datasets_app.catalog import facts, gates, policies, text_gates
from datasets_app.catalog.files import load_metadata, write_turn_file
from datasets_app.catalog.rows.session_copy import copy_sessions_between
from datasets_app.catalog.rows.turn_reader import NOT_EXCLUDED, Selection, read_turns
from datasets_app.catalog.text_scans import load_kept_terms
from datasets_app.catalog.tombstones import refuse_erased
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.line_problems import FilePasses
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.reading import ConversationFile, data_stem
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.conversations.sampling import (
    SAMPLE_GROUPINGS,
    TaggedSession,
    choose_sessions,
    merge_session_tags,
)
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.quality.kept_terms import TermSearch, read_kept_terms
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

PASSES = 3


class SampleOptions(NamedTuple):
    """``size`` sessions, balanced ``by`` a grouping."""

    size: int
    by: str = "session"
    seed: int = 42

    def describe(self, of: int) -> str:
        evenly = "at random" if self.by == "session" else f"balanced by {self.by}"
        return f"sampled: {self.size:,} of {format_count(of, 'session')}, {evenly}, seed {self.seed}"


class SampleResult(NamedTuple):
    """``groups`` has the number of sessions of each group."""

    sessions: int
    turns: int
    groups: dict[str, int]
    sha256: str | None = None


def sample_file(
    file: ConversationFile,
    out: Path,
    choice: SampleOptions,
    *,
    report_progress: ProgressCallback = ignore_progress,
) -> SampleResult:
    """Write a sample of ``file`` to ``out``, in the order of the file, with its ``.meta.yaml``. Needs no
    database.

    Raises UserError, also for any line that is not a turn.
    """
    _check_options(choice)
    turns = FilePasses(file, PASSES + 1, report_progress).turns
    chosen = choose_sessions(partial(_tag_sessions, turns), choice.size, choice.by, choice.seed)
    if not chosen:
        raise UserError(f"{file.name} has no sessions.")
    total = sum(1 for _ in _tag_sessions(turns))
    picked = (turn for turn in turns() if turn.session_id in chosen)
    stated = _build_metadata(file, out, choice._replace(size=len(chosen)).describe(total))
    return _write_sample(picked, out, chosen, stated, TermSearch(read_kept_terms(stated)))


def _tag_sessions(turns: Any) -> Iterator[TaggedSession]:
    return merge_session_tags((turn.session_id, turn.tags) for turn in turns())


def sample_to_file(
    dataset: Dataset,
    out: Path,
    choice: SampleOptions,
    *,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> SampleResult:
    """As :func:`sample_file`, of a dataset: an export like any other, with gates and audit log."""
    _check_options(choice)
    with transaction.atomic():
        # No import between the check of the gate and the reading.
        dataset = facts.lock_dataset(dataset.pk)
        text_gates.check_gate(policies.EXPORT, dataset, actor=actor, override=override)
        chosen, total = _choose_for_dataset(dataset, choice, report_progress)
        stated = facts.build_metadata(
            dataset,
            sessions=0,
            turns=0,
            sha256="",
            modifications=[choice._replace(size=len(chosen)).describe(total)],
        )
        terms = TermSearch(load_kept_terms(dataset))
        # Closed before the transaction ends: a COPY that goes on holds the connection.
        with closing(read_turns(dataset, Selection(sessions=sorted(chosen)))) as turns:
            result = _write_sample(turns, out, chosen, replace(stated, name=data_stem(out.name)), terms)
        audit.record(
            "export",
            actor=actor,
            dataset_name=dataset.name,
            format="turns",
            sample=choice._asdict(),
            sessions=result.sessions,
            turns=result.turns,
            sha256=result.sha256,
        )
    return result


def sample_to_dataset(
    dataset: Dataset,
    name: str,
    choice: SampleOptions,
    *,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> SampleResult:
    """Create the dataset ``name`` with a sample of ``dataset``: of the same origin, not yet scrubbed.

    Raises UserError if a session of the sample was erased elsewhere, unless there is an ``override``."""
    _check_options(choice)
    facts.check_dataset_name(name)
    with transaction.atomic():
        gates.check_can_copy(dataset)
        if Dataset.objects.filter(name=name).exists():
            raise UserError(f"The dataset {name} already exists; choose a new name for the sample.")
        chosen, total = _choose_for_dataset(dataset, choice, report_progress)
        made, _ = facts.lock_or_create_dataset(name, origin=dataset.origin, actor=actor)
        with closing(read_turns(dataset, Selection(sessions=sorted(chosen)))) as turns:
            refuse_erased(made, turns, actor=actor, override=override)
        sessions, turn_count = copy_sessions_between(dataset.pk, made.pk, sorted(chosen))
        made.session_count, made.turn_count = sessions, turn_count
        made.source, made.license, made.attribution = dataset.source, dataset.license, dataset.attribution
        made.provenance = dict(dataset.provenance)
        facts.add_modification(made, f"{choice._replace(size=sessions).describe(total)}, of {dataset.name}")
        made.save()
        copy_restriction(made, dataset, actor=actor)
        audit.record(
            "sample",
            actor=actor,
            dataset_name=name,
            sampled_from=dataset.name,
            sample=choice._asdict(),
            sessions=sessions,
            turns=turn_count,
        )
    return SampleResult(sessions, turn_count, dict(sorted(Counter(chosen.values()).items())))


def _choose_for_dataset(
    dataset: Dataset, choice: SampleOptions, report_progress: ProgressCallback
) -> tuple[dict[str, str], int]:
    passes = 0

    def source() -> Iterable[TaggedSession]:
        nonlocal passes
        passes += 1
        turns = ((turn.session_id, turn.tags) for turn in read_turns(dataset, NOT_EXCLUDED))
        for count, session in enumerate(merge_session_tags(turns)):
            if count % 1000 == 0:
                report_progress((passes - 1) * dataset.session_count + count, PASSES * dataset.session_count)
            yield session

    chosen = choose_sessions(source, choice.size, choice.by, choice.seed)
    if not chosen:
        raise UserError(f"{dataset.name} has no sessions that aren't excluded.")
    return chosen, dataset.sessions.filter(excluded=False).count()


def _write_sample(
    turns: Iterable[TurnRecord],
    out: Path,
    chosen: dict[str, str],
    stated: DatasetMetadata,
    terms: TermSearch,
) -> SampleResult:
    with write_turn_file(out, facts.subset_metadata(stated), terms.state) as writer:
        writer.write(terms.watch(turns))
    groups = dict(sorted(Counter(chosen.values()).items()))
    return SampleResult(writer.sessions, writer.turns, groups, writer.sha256)


def _build_metadata(file: ConversationFile, out: Path, done: str) -> DatasetMetadata:
    stated = load_metadata(file.path) or DatasetMetadata()
    return replace(stated, name=data_stem(out.name), modifications=[*stated.modifications, done])


def _check_options(choice: SampleOptions) -> None:
    if choice.size < 1:
        raise UserError("The sample must have at least one session.")
    if choice.by not in SAMPLE_GROUPINGS:
        raise UserError(f"A sample can be drawn by {', '.join(SAMPLE_GROUPINGS)}, not by {choice.by!r}.")
