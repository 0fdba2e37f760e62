"""Splits a dataset into training, validation and test sessions. Placed sessions never move."""

from array import array
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from datasets_app.catalog import gates, policies
from datasets_app.catalog.facts import lock_dataset
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.splits.decision import Conversation, SplitDecision, decide_splits
from datasets_app.domain.splits.splits import SplitSettings
from datasets_app.models import Dataset
from datasets_app.splitting.rows import read_conversations, write_splits
from datasets_app.splitting.signing import open_signing

PROGRESS_INTERVAL_SESSIONS = 200


class SplitResult(NamedTuple):
    """``placed`` counts the sessions placed by this run; ``leaks`` are the first leaks by id."""

    placed: int
    report: dict[str, Any]
    leaks: list[dict[str, Any]]

    def facts(self) -> dict[str, Any]:
        """Counts only, since job results must not name sessions."""
        in_each = {split: found["sessions"] for split, found in self.report["splits"].items()}
        return {
            "sessions": self.report["sessions"],
            "placed_now": self.placed,
            **in_each,
            "kept_together": self.report["grouped_sessions"],
            "leaking_pairs": self.report["leaking_pairs"],
        }


def load_split_settings(dataset: Dataset) -> SplitSettings | None:
    """The settings of the last split, which also apply to sessions added later."""
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
    """Place the sessions that have no split yet, using ``settings`` or those of the last split.

    Raises UserError for other settings than the last ones. ``resplit`` places all sessions again; since that
    unlocks the test split, it needs a reason (``override``) and the permission to override.
    """
    before = dataset.split_settings
    settings = _choose_settings(dataset, settings, resplit)
    gates.check(_decide(dataset, resplit=resplit, override=override, actor=actor))
    keys = array("q")
    sessions = _read_sessions(dataset, keys, resplit, report_progress)
    total = max(1, dataset.session_count)
    with open_signing(settings.similarity, total) as sign_batches:
        decision = decide_splits(
            sessions,
            settings,
            lambda done, of: report_progress(total + total * done // (10 * of), total * 11 // 10),
            sign_batches,
        )
    if not keys:
        raise UserError(f"{dataset.name} has no sessions.")
    with transaction.atomic():
        placed = _write_decision(
            dataset, before, decision, keys, resplit=resplit, override=override, actor=actor
        )
    return SplitResult(placed, decision.report, decision.describe_leaks())


def clear_split_report(dataset: Dataset) -> None:
    """Delete the last report, whose tags and personas may be personal; settings and splits remain.

    Scrubs and erasures call this in their transaction, with the dataset's row locked.
    """
    if dataset.split_settings and "report" in dataset.split_settings:
        dataset.split_settings = {k: v for k, v in dataset.split_settings.items() if k != "report"}
        dataset.save(update_fields=["split_settings"])


def _choose_settings(dataset: Dataset, settings: SplitSettings | None, resplit: bool) -> SplitSettings:
    stored = load_split_settings(dataset)
    if stored is None or resplit:
        return settings or stored or SplitSettings()
    if settings is not None and settings != stored:
        raise UserError(
            f"{dataset.name} was split with other settings: {stored.describe()}. Omit the settings to split "
            "new sessions the same way, or split all sessions again, which needs a reason."
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
    row = lock_dataset(dataset.pk)
    gates.enforce(_decide(row, resplit=resplit, override=override, actor=actor), row, actor)
    if row.split_settings != before:
        raise UserError(f"Someone else has split {row.name} in the meantime; nothing was changed. Try again.")
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
