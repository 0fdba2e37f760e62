"""Which sessions of a dataset are for training, validation and the test. Those placed never move."""

from array import array
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from datasets_app.catalog import activity, policies
from datasets_app.catalog import facts as dataset_facts
from datasets_app.core import audit
from datasets_app.core.errors import Refused
from datasets_app.core.progress import ProgressCallback, ignore
from datasets_app.domain.splits.decision import Conversation, Decision, decide
from datasets_app.domain.splits.splits import Settings
from datasets_app.models import Dataset, JobRun
from datasets_app.splitting.rows import read_conversations, write_splits

PROGRESS_EVERY_SESSIONS = 200


class Split(NamedTuple):
    """What came of it: how many sessions are placed now, the report, and its first leaks by session ids."""

    placed: int
    report: dict[str, Any]
    leaks: list[dict[str, Any]]

    def facts(self) -> dict[str, Any]:
        """Counts only, as a job may keep them."""
        in_each = {split: found["sessions"] for split, found in self.report["splits"].items()}
        return {
            "sessions": self.report["sessions"],
            "placed_now": self.placed,
            **in_each,
            "kept_together": self.report["grouped_sessions"],
            "leaking_pairs": self.report["leaking_pairs"],
        }


def stored_settings(dataset: Dataset) -> Settings | None:
    """How the dataset was split, and will be on with."""
    return Settings.from_json(dataset.split_settings) if dataset.split_settings else None


def split_dataset(
    dataset: Dataset,
    settings: Settings | None = None,
    *,
    again: bool = False,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore,
) -> Split:
    """Place the sessions that have no split yet, by ``settings`` or as the dataset was split before.

    Sessions that are placed stay, and other settings than theirs are Refused, unless all are split ``again``:
    that unlocks the test split, so it takes a reason (``override``) and the permission to give one.
    """
    before = dataset.split_settings
    asked = _settings(dataset, settings, again)
    if again and not override.strip() and _is_split(dataset):
        raise Refused(
            f"{dataset.name} is split already. To split it again, which lets sessions of the locked test "
            "split into training, give a reason."
        )
    _refuse(dataset)
    keys = array("q")
    sessions = _read(dataset, keys, again, report_progress)
    total = max(1, dataset.session_count)
    decision = decide(
        sessions, asked, lambda done, of: report_progress(total + total * done // (10 * of), total * 11 // 10)
    )
    if not keys:
        raise Refused(f"{dataset.name} holds no sessions.")
    with transaction.atomic():
        placed = _write(dataset, before, decision, keys, again=again, override=override, actor=actor)
    return Split(placed, decision.report, decision.named_leaks())


def split_for_job(job_run: JobRun, *, report_progress: ProgressCallback = ignore) -> dict[str, Any]:
    """What the page asks for: parameters are settings as JSON, or none to go on as before."""
    given = job_run.parameters
    return split_dataset(
        Dataset.objects.get(job_runs=job_run),
        Settings.from_json(given["settings"]) if given.get("settings") else None,
        again=bool(given.get("again")),
        override=str(given.get("override") or ""),
        actor=job_run.actor,
        report_progress=report_progress,
    ).facts()


def forget_report(dataset: Dataset) -> None:
    """Drop what the last report tells of tags and personas: they may have been personal. The settings, and
    the splits, stay. For scrubs and erasures, in their transaction; the dataset's row is locked by them."""
    if dataset.split_settings and "report" in dataset.split_settings:
        dataset.split_settings = {k: v for k, v in dataset.split_settings.items() if k != "report"}
        dataset.save(update_fields=["split_settings"])


def _settings(dataset: Dataset, settings: Settings | None, again: bool) -> Settings:
    stored = stored_settings(dataset)
    if stored is None or again:
        return settings or stored or Settings()
    if settings is not None and settings != stored:
        raise Refused(
            f"{dataset.name} was split otherwise: {stored.as_words()}. Sessions that come later are split "
            "like the others; leave the settings out, or split all of it again, for a reason on record."
        )
    return stored


def _is_split(dataset: Dataset) -> bool:
    return bool(dataset.sessions.exclude(split=None).exists())


def _refuse(dataset: Dataset) -> None:
    activity.refuse_while_scrubbed(dataset)
    dataset_facts.refuse_expired(dataset)


def _read(
    dataset: Dataset, keys: "array[int]", again: bool, report_progress: ProgressCallback
) -> Iterator[Conversation]:
    total = max(1, dataset.session_count)
    for done, session in zip(count(), read_conversations(dataset, keys), strict=False):
        if done % PROGRESS_EVERY_SESSIONS == 0:
            report_progress(min(done, total), total * 11 // 10)
        yield session._replace(placed=None) if again else session


def _write(
    dataset: Dataset,
    before: dict[str, Any] | None,
    decision: Decision,
    keys: "array[int]",
    *,
    again: bool,
    override: str,
    actor: Any,
) -> int:
    row: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    _refuse(row)
    if row.split_settings != before:
        raise Refused(f"{row.name} was split by somebody else meanwhile; nothing was changed. Try again.")
    if again and _is_split(row):
        reason = " ".join(override.split())
        refusal = "have a dataset split again, which unlocks its test split"
        policies.record_override(row, "split", actor=actor, reason=reason, refusal=refusal)
    written = write_splits(row, ((keys[number], split) for number, split in decision.fresh()), again=again)
    report = {**decision.report, "leaks": [[keys[a], keys[b], alike] for a, b, alike in decision.leaks]}
    settings = report.pop("settings")
    row.split_settings = {**settings, "at": timezone.now().isoformat(), "report": report}
    row.save(update_fields=["split_settings", "updated_at"])
    dataset.split_settings = row.split_settings
    audit.record(
        "split",
        actor=actor,
        dataset_name=row.name,
        settings=settings,
        again=again,
        sessions=report["sessions"],
        placed=written,
        leaking_pairs=report["leaking_pairs"],
        splits={split: found["sessions"] for split, found in report["splits"].items()},
    )
    return written
