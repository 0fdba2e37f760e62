"""Pulls new conversations from a source into its dataset: all of one pull, or nothing."""

from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.queries import fetch_value
from datasets_app.domain.traces.sampling import Rule
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.importing.parameters import ImportOptions
from datasets_app.jobs import runs
from datasets_app.models import Dataset, JobRun, Source
from datasets_app.scrubbing.parameters import ScrubParameters
from datasets_app.sources.candidates import Candidates
from datasets_app.sources.delivery import Delivery
from datasets_app.sources.folder import fetch_files
from datasets_app.sources.received import delete_received, fetch_received
from datasets_app.sources.seen import add_seen
from datasets_app.sources.tools import fetch_traces

# Any number: the first half of a lock's name, the second is the source.
_PULL_LOCK = 7_203_025


def get_source(name: str) -> Source:
    source = Source.objects.filter(name=name).first()
    if source is None:
        known = ", ".join(Source.objects.values_list("name", flat=True)[:20])
        remedy = f"Use one of these: {known}." if known else "Add one on the page Sources."
        raise UserError(f"There is no source {name!r}. {remedy}")
    return source


def pull_source(
    source: Source,
    *,
    folder: Path,
    since: datetime | None = None,
    dry_run: bool = False,
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Import what the source has delivered since its last pull, or ``since`` then.

    Returns counts, and ``more`` if there is more to pull. With ``dry_run`` it only counts. ``folder`` is for
    temporary files and quarantined sessions (in ``quarantine``). Progress is in conversations. If it raises,
    or the process dies, nothing is saved, and the next pull starts from the same place.
    """
    with transaction.atomic():
        _lock(source)
        delivery = _fetch(source, folder, since, report_progress)
        quarantine = folder / "quarantine"
        quarantine.mkdir()
        invalid = quarantine / f"{source.name}.invalid.jsonl"
        with (folder / "candidates.jsonl").open("w+b") as file:
            candidates = Candidates(source, build_rule(source), file, invalid)
            for path, format in delivery.files:
                candidates.add_file(path, format, report_progress)
                path.unlink()
            dataset = Dataset.objects.filter(name=source.dataset_name).first()
            chosen = candidates.choose(dataset)
            path = folder / f"{source.name}.jsonl"
            with path.open("wb") as out:
                written = candidates.write_chosen(chosen, dataset, out)
        if dry_run or not candidates.counts["unreadable"]:
            invalid.unlink(missing_ok=True)
        counts = {key: count for key, count in candidates.counts.items() if count}
        if dry_run:
            return {**counts, "sessions": written, "more": delivery.more}
        result = _import(source, path, quarantine, actor, report_progress) if written else {"sessions": 0}
        _remember(source, delivery, candidates.traces)
        if counts or written:
            audit.record(
                "pull_source",
                actor=actor,
                dataset_name=source.dataset_name,
                source=source.name,
                **counts,
                sessions=result["sessions"],
            )
        return {**counts, **result, "more": delivery.more}


def build_rule(source: Source) -> Rule:
    return Rule(
        source.rate,
        _split_words(source.only_models),
        _split_words(source.only_tags),
        source.max_conversations,
        source.skip_near_duplicates,
    )


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def start_follow_ups(source: Source, sessions: int, job_run: JobRun, *, scrub: bool) -> None:
    """Scrub and check the dataset if the rule of one of its sources says so and ``scrub`` is set, or at least
    have its new text searched. Nothing is added to a dataset while it is scrubbed, so that of several pulls
    the last one does it."""
    pulls = JobRun.objects.active().filter(operation="pull_source", dataset_name=source.dataset_name)
    if pulls.exclude(pk=job_run.pk).exists():
        return
    dataset = Dataset.objects.filter(name=source.dataset_name, status=Dataset.Status.RAW).first()
    actor = job_run.actor
    rules = Source.objects.filter(dataset_name=source.dataset_name, scrub=True)
    if scrub and dataset and dataset.turn_count and rules.exists():
        parameters = ScrubParameters(check=True)
        runs.start_follow_up("scrub_dataset", actor=actor, dataset=dataset, parameters=parameters)
    elif sessions:
        runs.request_text_scan_of(source.dataset_name, actor=actor)


def _lock(source: Source) -> None:
    """Until the transaction ends."""
    if not fetch_value("SELECT pg_try_advisory_xact_lock(%s, %s)", [_PULL_LOCK, source.pk % 2**31]):
        raise UserError(f"Another pull of {source.name} is running. Pull again when it has finished.")


def _fetch(
    source: Source, folder: Path, since: datetime | None, report_progress: ProgressCallback
) -> Delivery:
    if source.kind == Source.Kind.OTLP:
        return fetch_received(source, folder)
    if source.kind == Source.Kind.FOLDER:
        return fetch_files(source, folder, since, report_progress)
    return fetch_traces(source, build_rule(source), folder, since, report_progress)


def _import(
    source: Source, path: Path, quarantine: Path, actor: Any, report_progress: ProgressCallback
) -> dict[str, Any]:
    owner = source.created_by if source.created_by and source.created_by.is_active else None
    result = import_dataset(
        [ImportSource(path, path.name)],
        name=source.dataset_name,
        origin=Dataset.Origin.PRODUCTION,
        options=ImportOptions("turns", quarantine=True, append=True),
        quarantine_dir=quarantine,
        grantees=[owner] if owner else [],
        actor=actor,
        report_progress=lambda done, total=None: report_progress(0, None),
    )
    return {key: value for key, value in result.items() if key not in ("files", "problems", "problem_total")}


def _remember(source: Source, delivery: Delivery, traces: list[str]) -> None:
    if source.kind == Source.Kind.OTLP:
        delete_received(delivery)
        return
    add_seen(source, [*traces, *delivery.names])
    if delivery.until is not None:
        Source.objects.filter(pk=source.pk).update(pulled_until=delivery.until)
