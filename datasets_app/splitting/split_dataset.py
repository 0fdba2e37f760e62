"""Which sessions of a dataset are for training, validation and the test. Those placed never move."""

from array import array
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from datasets_app.catalog import gates, policies
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.splits.decision import Conversation, SplitDecision, decide_splits
from datasets_app.domain.splits.splits import SplitSettings
from datasets_app.models import Dataset
from datasets_app.splitting.rows import read_conversations, write_splits

PROGRESS_INTERVAL_SESSIONS = 200


class SplitResult(NamedTuple):
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


def load_split_settings(dataset: Dataset) -> SplitSettings | None:
    """How the dataset was split, and will be on with."""
    return SplitSettings.from_json(dataset.split_settings) if dataset.split_settings else None


def split_dataset(
    dataset: Dataset,
    settings: SplitSettings | None = None,
    *,
    resplit: bool = False,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> SplitResult:
    """Place the sessions that have no split yet, by ``settings`` or as the dataset was split before.

    Sessions that are placed stay, and other settings than theirs are Refused, unless all are split ``again``:
    that unlocks the test split, so it takes a reason (``override``) and the permission to give one.
    """
    before = dataset.split_settings
    asked = _choose_settings(dataset, settings, resplit)
    gates.check(_decide(dataset, resplit=resplit, override=override, actor=actor))
    keys = array("q")
    sessions = _read_sessions(dataset, keys, resplit, report_progress)
    total = max(1, dataset.session_count)
    decision = decide_splits(
        sessions, asked, lambda done, of: report_progress(total + total * done // (10 * of), total * 11 // 10)
    )
    if not keys:
        raise UserError(f"{dataset.name} holds no sessions.")
    with transaction.atomic():
        placed = _write_decision(
            dataset, before, decision, keys, resplit=resplit, override=override, actor=actor
        )
    return SplitResult(placed, decision.report, decision.describe_leaks())


def clear_split_report(dataset: Dataset) -> None:
    """Drop what the last report tells of tags and personas: they may have been personal. The settings, and
    the splits, stay. For scrubs and erasures, in their transaction; the dataset's row is locked by them."""
    if dataset.split_settings and "report" in dataset.split_settings:
        dataset.split_settings = {k: v for k, v in dataset.split_settings.items() if k != "report"}
        dataset.save(update_fields=["split_settings"])


def _choose_settings(dataset: Dataset, settings: SplitSettings | None, resplit: bool) -> SplitSettings:
    stored = load_split_settings(dataset)
    if stored is None or resplit:
        return settings or stored or SplitSettings()
    if settings is not None and settings != stored:
        raise UserError(
            f"{dataset.name} was split otherwise: {stored.describe()}. Sessions that come later are split "
            "like the others; leave the settings out, or split all of it again, for a reason on record."
        )
    return stored


def _decide(dataset: Dataset, *, resplit: bool, override: str, actor: Any) -> policies.Verdict:
    if resplit and dataset.sessions.exclude(split=None).exists():
        return gates.ask_gate(policies.RESPLIT, dataset, actor=actor, override=override)
    return policies.decide_copy(gates.load_facts(dataset))


def _read_sessions(
    dataset: Dataset, keys: "array[int]", resplit: bool, report_progress: ProgressCallback
) -> Iterator[Conversation]:
    total = max(1, dataset.session_count)
    for done, session in zip(count(), read_conversations(dataset, keys), strict=False):
        if done % PROGRESS_INTERVAL_SESSIONS == 0:
            report_progress(min(done, total), total * 11 // 10)
        yield session._replace(current_split=None) if resplit else session


def _write_decision(
    dataset: Dataset,
    before: dict[str, Any] | None,
    decision: SplitDecision,
    keys: "array[int]",
    *,
    resplit: bool,
    override: str,
    actor: Any,
) -> int:
    row: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    gates.enforce(_decide(row, resplit=resplit, override=override, actor=actor), row, actor)
    if row.split_settings != before:
        raise UserError(f"{row.name} was split by somebody else meanwhile; nothing was changed. Try again.")
    written = write_splits(
        row, ((keys[number], split) for number, split in decision.new_placements()), resplit=resplit
    )
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
        again=resplit,
        sessions=report["sessions"],
        placed=written,
        leaking_pairs=report["leaking_pairs"],
        splits={split: found["sessions"] for split, found in report["splits"].items()},
    )
    return written
