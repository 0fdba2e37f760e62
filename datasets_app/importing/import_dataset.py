"""Imports conversation files into a dataset: all or nothing."""

from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction

from datasets_app import hooks
from datasets_app.access.limit_access import Grantee, restrict_first_import
from datasets_app.catalog import facts, policies
from datasets_app.catalog.dataset_facts import Remedy
from datasets_app.catalog.files import load_metadata
from datasets_app.catalog.rows import existing_sessions
from datasets_app.catalog.rows.partitions import table_names
from datasets_app.catalog.tombstones import ErasedSessions, list_problems
from datasets_app.core import audit, outgoing
from datasets_app.core.disk_space import require_room_for_files
from datasets_app.core.errors import UserError
from datasets_app.core.limits import configured_limits
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.queries import execute
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.records import Finding, LineError, TurnRecord
from datasets_app.domain.metadata.metadata import get_stated_split
from datasets_app.domain.pii.masking import mask_values
from datasets_app.domain.quality.survey import Survey, renumber_turns, survey_records
from datasets_app.domain.traces.converted_file import ConvertedFile, open_conversation_file
from datasets_app.domain.traces.dataset_folders import hash_source, measure
from datasets_app.domain.traces.describe import explain_missing_sessions, summarize_report
from datasets_app.domain.traces.label_rules import LabelRules
from datasets_app.domain.traces.reasons import NOT_CONVERSATIONS
from datasets_app.domain.wording import format_count
from datasets_app.importing.byte_progress import ByteProgress
from datasets_app.importing.copy_rows import copy_rows
from datasets_app.importing.erased_sessions import leave_out_erased
from datasets_app.importing.manifests import apply_manifest
from datasets_app.importing.parameters import ImportOptions
from datasets_app.importing.quarantine import write_quarantine
from datasets_app.importing.stated_origins import (
    PreparedUpload,
    check_stated_origins,
    choose_origin,
    list_stated_origins,
)
from datasets_app.models import Dataset, Session, SourceFile

MIN_TURNS_TO_ANALYZE = 10_000


class ImportSource(NamedTuple):
    """A file to import, and the name its owner gave it."""

    path: Path
    name: str


class _SurveyedFile(NamedTuple):
    source: ImportSource
    file: ConversationFile
    sha256: str
    survey: Survey
    erased: ErasedSessions


def import_dataset(
    sources: Sequence[ImportSource],
    *,
    name: str,
    origin: str | None = None,
    options: ImportOptions = ImportOptions(),  # noqa: B008
    quarantine_dir: Path | None = None,
    upload: PreparedUpload = PreparedUpload(),  # noqa: B008
    override: str = "",
    grantees: Sequence[Grantee] = (),
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Import ``sources`` into the dataset ``name``, which is created if any session is imported.

    ``origin`` is only stated here: that of an existing dataset never changes. If a metadata file or the
    ``upload`` states another one, an ``override`` is needed. If nothing states that of a new dataset,
    external is assumed, which the result says.

    Saves nothing if it raises :class:`UserError`, or if the process dies. Returns counts, and one
    entry per file; with ``options.quarantine`` it writes the excluded lines to ``quarantine_dir``.
    Progress is in bytes: every file is read three times.
    """
    facts.check_dataset_name(name)
    require_room_for_files(source.path for source in sources)
    with ExitStack() as stack:
        progress = ByteProgress(
            report_progress, sum(measure(source.path) for source in sources if source.path.exists())
        )
        surveyed = [_survey_file(source, name, options, progress, stack) for source in sources]
        _refuse_problems([item for item in surveyed if item], options)
        stated = list_stated_origins({source.name: load_metadata(source.path) for source in sources}, upload)
        with transaction.atomic():
            origin = origin or choose_origin(stated.values())
            dataset, created = facts.lock_or_create_dataset(name, origin=origin, actor=actor)
            check_stated_origins(dataset, stated, actor, override)
            found = [(item.source.name, item.erased, item.survey) for item in surveyed if item]
            left_out = leave_out_erased(
                dataset, found, quarantine=options.quarantine, actor=actor, override=override
            )
            files = [
                _import_file(dataset, item, options, quarantine_dir, left_out, progress)
                if item
                else _unchanged_entry(source)
                for source, item in zip(sources, surveyed, strict=True)
            ]
            turns = sum(file["turns"] for file in files)
            restricted = restrict_first_import(dataset, turns, grantees, actor=actor)
            result = _save_totals(dataset, files, options, upload, actor) | restricted
            return result | (_describe_new(dataset, origin) if created else {})


def _describe_new(dataset: Dataset, origin: str | None) -> dict[str, Any]:
    """Deletes a new dataset without sessions: its origin would bind the next import."""
    if dataset.session_count:
        return {} if origin else {"assumed_origin": True}
    dataset.delete()
    return {"notice": "No session was imported, so the dataset was not created."}


def _survey_file(
    source: ImportSource, name: str, options: ImportOptions, progress: ByteProgress, stack: ExitStack
) -> _SurveyedFile | None:
    """Returns None for a file that was imported into the dataset before."""
    limits = configured_limits()
    try:
        file = open_conversation_file(
            source.path, format=options.format, limits=limits, name=source.name, options=options.reading
        )
        digest = hash_source(source.path)
        if SourceFile.objects.filter(dataset__name=name, sha256=digest).exists():
            return None
        progress.start_pass()
        file.scan(progress.step)
        _require_sessions(source, file)
        erased = ErasedSessions(name)
        result = survey_records(erased.watch(_read_records(file, options, progress)))
    except UnreadableFile as error:
        raise UserError(f"{source.name}: {error.code} {error}") from None
    stack.callback(result.close)
    return _SurveyedFile(source, file, digest, result, erased)


def _require_sessions(source: ImportSource, file: ConversationFile) -> None:
    if isinstance(file, ConvertedFile) and (reason := explain_missing_sessions(file.report)):
        raise UserError(f"{source.name}: {reason}", remedy=Remedy.SESSIONS)


def _read_records(
    file: ConversationFile, options: ImportOptions, progress: ByteProgress
) -> Iterator[TurnRecord | LineError]:
    progress.start_pass()
    records = file.turns(progress.step)
    return renumber_turns(records) if options.renumber else records


def _refuse_problems(surveyed: list[_SurveyedFile], options: ImportOptions) -> None:
    for source, file, _, result, _ in surveyed:
        if not result.turn_count and not result.problems.total:
            if isinstance(file, ConvertedFile) and file.report.left_out[NOT_CONVERSATIONS].total:
                raise UserError(
                    f"{source.name}: E100 The file has labels, but not the conversations they are about. "
                    "Import the conversations first, then these labels with import_annotations."
                )
            raise UserError(f"{source.name}: E100 No conversations found. Is this the right file?")
    if options.quarantine:
        for item in surveyed:
            # Overlong lines are not kept in memory, so no quarantine would be complete.
            if any(finding.code == "E109" for finding in item.survey.problems.listed):
                raise _make_problems_error([item])
    elif any(item.survey.problems.total for item in surveyed):
        raise _make_problems_error(surveyed)


def _make_problems_error(surveyed: list[_SurveyedFile]) -> UserError:
    total = sum(item.survey.problems.total for item in surveyed)
    listed = [problem for item in surveyed for problem in _list_problems(item)]
    return UserError(
        f"Nothing was imported: {format_count(total, 'problem')}. Fix the file, or import the valid sessions "
        "and quarantine the others.",
        {"problems": listed[:100], "problem_total": total},
    )


def _list_problems(item: _SurveyedFile) -> list[dict[str, Any]]:
    problems: list[dict[str, Any]] = list_problems(item.survey.problems.listed, item.source.name)["problems"]
    return problems


def _import_file(
    dataset: Dataset,
    item: _SurveyedFile,
    options: ImportOptions,
    quarantine_dir: Path | None,
    left_out: set[str],
    progress: ByteProgress,
) -> dict[str, Any]:
    source, file, digest, result, _ = item
    if SourceFile.objects.filter(dataset=dataset, sha256=digest).exists():
        return _unchanged_entry(source)
    skipped = _resolve_existing_sessions(dataset, item, options, progress)
    erased = left_out & item.erased.found.keys()
    sessions = (session for session in result.sessions() if session.session_id not in skipped | erased)
    if options.persona:
        sessions = (
            session._replace(persona_id=session.persona_id or options.persona) for session in sessions
        )
    excluded = result.problems.sessions | skipped | erased
    keys, turn_count = copy_rows(dataset, sessions, _read_records(file, options, progress), excluded)
    if hash_source(source.path) != digest:
        raise UserError(f"{source.name} changed while it was read, so nothing was imported. Try again.")
    entry = {
        "name": source.name,
        "sha256": digest,
        "format": file.format,
        "sessions": len(keys),
        "turns": turn_count,
        "sessions_already_there": len(skipped - erased),
        **({"erased_sessions": len(erased)} if erased else {}),
        "reordered": file.format == "turns" and file.is_out_of_order,
    }
    if isinstance(file, ConvertedFile):
        entry |= summarize_report(file.report)
    if result.problems.total:
        entry |= _quarantine_sessions(item, quarantine_dir)
    name = mask_values(source.name)  # it goes into metadata files
    if options.renumber:
        facts.add_modification(dataset, f"turns of {name} renumbered on import")
    if entry.get("quarantined_sessions"):
        count = entry["quarantined_sessions"]
        facts.add_modification(dataset, f"{count} quarantined sessions of {name} left out")
    _save_source_file(dataset, source, entry)
    _apply_metadata(dataset, source, keys)
    return entry | _add_labels(dataset, keys, options.labels)


def _quarantine_sessions(item: _SurveyedFile, quarantine_dir: Path | None) -> dict[str, Any]:
    problems = item.survey.problems
    entry: dict[str, Any] = {
        "quarantined_sessions": len(problems.sessions),
        "problems": _list_problems(item),
        "problem_total": problems.total,
    }
    if quarantine_dir is not None:
        entry["quarantine"] = write_quarantine(item.file, problems, quarantine_dir)
    return entry


def _save_source_file(dataset: Dataset, source: ImportSource, entry: dict[str, Any]) -> None:
    SourceFile.objects.create(
        dataset=dataset,
        name=source.name[-255:],
        sha256=entry["sha256"],
        size=measure(source.path),
        format=entry["format"],
        session_count=entry["sessions"],
        turn_count=entry["turns"],
        quarantined_sessions=entry.get("quarantined_sessions", 0),
    )


def _resolve_existing_sessions(
    dataset: Dataset, item: _SurveyedFile, options: ImportOptions, progress: ByteProgress
) -> set[str]:
    """The identical sessions that the dataset already has, to be skipped.

    Different sessions with the same id are a problem: refused, or quarantined.
    """
    _, file, _, result, _ = item
    if not dataset.sessions.exists():
        return set()
    existing = existing_sessions.find_existing(dataset, result.sessions())
    if not existing:
        return set()
    same: set[str] = set()
    if options.append:
        same = existing_sessions.find_identical(
            dataset, _read_records(file, options, progress), set(existing), options.persona
        )
    for session_id in sorted(existing.keys() - same, key=existing.__getitem__):
        message = f"session {session_id!r} is already in the dataset" + (
            " with different content" if options.append else ""
        )
        result.problems.add(Finding("E207", message, existing[session_id], session_id))
    if existing.keys() - same and not options.quarantine:
        raise _make_problems_error([item])
    return same


def _add_labels(dataset: Dataset, keys: "array[int]", labels: LabelRules) -> dict[str, int]:
    return hooks.labels.annotate_imported_turns(dataset, keys[0], keys[-1], labels) if keys else {}


def _apply_metadata(dataset: Dataset, source: ImportSource, keys: "array[int]") -> None:
    """Fill empty metadata of the dataset from the .meta.yaml of the file. A test split held out elsewhere
    stays held out here."""
    apply_manifest(dataset, source.path)
    metadata = load_metadata(source.path)
    if metadata is None:
        return
    facts.merge_metadata(dataset, metadata)
    if keys and get_stated_split(metadata) == policies.LOCKED_SPLIT:
        added = Session.objects.filter(dataset=dataset, pk__range=(keys[0], keys[-1]))
        added.update(split=policies.LOCKED_SPLIT)


def _unchanged_entry(source: ImportSource) -> dict[str, Any]:
    return {"name": source.name, "unchanged": True, "sessions": 0, "turns": 0}


def _save_totals(
    dataset: Dataset, files: list[dict[str, Any]], options: ImportOptions, upload: PreparedUpload, actor: Any
) -> dict[str, Any]:
    sessions, turns = (sum(file[key] for file in files) for key in ("sessions", "turns"))
    dataset.session_count += sessions
    dataset.turn_count += turns
    result: dict[str, Any] = {"dataset": dataset.name, "sessions": sessions, "turns": turns, "files": files}
    for key in ("annotations", "kept_labels", "quarantined_sessions", "erased_sessions", "problem_total"):
        if count := sum(file.get(key, 0) for file in files):
            result[key] = count
    result["problems"] = [problem for file in files for problem in file.pop("problems", [])][:100]
    if all(file.get("unchanged") for file in files):
        return result
    if turns and dataset.status != Dataset.Status.RAW:
        dataset.status = Dataset.Status.RAW  # the added sessions have not been scrubbed
    dataset.save()
    audit.record(
        "import",
        actor=actor,
        dataset_name=dataset.name,
        sessions=sessions,
        turns=turns,
        origin=dataset.origin,
        # Who is the assistant may be a person's name.
        options=mask_values(
            {key: item for key, item in options._asdict().items() if key not in ("reading", "labels")}
        ),
        **({"uploaded_by": upload.uploaded_by} if upload.uploaded_by else {}),
        # Digests only: a file name may identify a person, and the audit log keeps it forever.
        files=[
            {
                key: file.get(key)
                for key in ("sha256", "sessions", "turns", "quarantined_sessions", "erased_sessions")
                if key in file or key != "erased_sessions"
            }
            for file in files
        ],
    )
    outgoing.emit(
        outgoing.Kind.IMPORT_FINISHED,
        dataset=dataset,
        recipients=[actor],
        sessions=sessions,
        turns=turns,
        files=len(files),
    )
    if turns >= MIN_TURNS_TO_ANALYZE:
        transaction.on_commit(partial(_analyze_tables, dataset.pk), robust=True)
    return result


def _analyze_tables(dataset_id: int) -> None:
    """Update statistics: without them the first queries after a large import are planned badly."""
    execute(f"ANALYZE {', '.join(table_names(dataset_id))}")
