"""Freezes a dataset as an immutable version: files, their digests, a signature, a changelog."""

from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Max

from datasets_app.catalog import gates, text_gates
from datasets_app.catalog.facts import lock_dataset
from datasets_app.catalog.written_text import check_written
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.pii.exemptions import ORDINARY
from datasets_app.models import AuditEvent, Dataset, Release
from datasets_app.releasing import documents
from datasets_app.releasing.draft import ReleaseDraft, add_version_metadata, draft_release
from datasets_app.releasing.readiness import Readiness, assess_readiness
from datasets_app.releasing.sharing.changes import CONTENT_ACTIONS
from datasets_app.releasing.sharing.checklist import build_checklist
from datasets_app.releasing.versions import announce_version, latest_release

MAX_NOTES_CHARACTERS = 10_000


class ReleaseResult(NamedTuple):
    """``sha256`` and ``size`` are of the stored data file."""

    version: str
    sessions: int
    turns: int
    size: int
    sha256: str
    release: int

    def facts(self) -> dict[str, Any]:
        """For the row of a job: the version identifies the release."""
        return {name: value for name, value in self._asdict().items() if name != "release"}


def release_dataset(
    dataset: Dataset,
    *,
    folder: Path,
    bump: str | None = None,
    notes: str = "",
    override: str = "",
    actor: Any,
    report_progress: ProgressCallback = ignore_progress,
) -> ReleaseResult:
    """Create the next version, completely or not at all: call it in a transaction.

    ``folder`` is a private one for the files until they are stored. Without ``bump`` the proposed one is
    used. ``override`` is the reason to release despite blockers. ``report_progress`` may raise. Raises
    UserError.
    """
    if len(notes) > MAX_NOTES_CHARACTERS:
        raise UserError(
            f"The notes are longer than {MAX_NOTES_CHARACTERS:,} characters; nothing was released."
        )
    check_written(dataset, {"notes": notes})
    # Refuse what can be refused at once; the checks run over what is read next.
    text_gates.scan_text_for_gate(dataset, report_progress)
    gates.check(assess_readiness(dataset, None).decide(actor=actor, override=override))
    before = _dataset_state(dataset)
    draft = draft_release(dataset, folder, report_progress)
    if draft.proposed is None and bump is None:
        raise UserError(
            f"{dataset.name} hasn't changed since {draft.last and draft.last.version}; nothing was released. "
            "To release a new version anyway, choose the version bump."
        )
    with transaction.atomic():
        locked = _lock_unchanged(dataset, before, draft)
        # Sessions, or what is exempt, may have changed since the first search.
        text_gates.scan_text_for_gate(locked)
        readiness = assess_readiness(locked, draft.frozen.totals)
        reason = gates.enforce(readiness.decide(actor=actor, override=override), locked, actor)
        release = _save_release(
            locked, draft, readiness, bump=bump, notes=notes.strip(), reason=reason, actor=actor
        )
        if not readiness.facts.is_raw:  # else, by override, it must not look scrubbed from now on
            locked.status = Dataset.Status.RELEASED
            locked.save(update_fields=["status", "updated_at"])
        _record_release(release, readiness, actor)
    frozen = draft.frozen
    return ReleaseResult(
        release.version, release.session_count, release.turn_count, frozen.size, frozen.sha256, release.pk
    )


# --- the last step, under the lock on the dataset's row -------------------------------------------------


def _dataset_state(dataset: Dataset) -> tuple[int, int, int, int]:
    """Changes when sessions are added, deleted, excluded or scrubbed, and when something is said of them."""
    counts = dataset.sessions.filter(excluded=False).aggregate(count=Count("pk"), last=Max("pk"))
    scrub = dataset.scrubs.filter(dry_run=False).aggregate(last=Max("pk"))
    events = AuditEvent.objects.filter(
        dataset_name=dataset.name, action__in=(*CONTENT_ACTIONS, "sign_review")
    )
    event = events.aggregate(last=Max("pk"))
    return counts["count"], counts["last"] or 0, scrub["last"] or 0, event["last"] or 0


def _lock_unchanged(dataset: Dataset, before: tuple[int, int, int, int], draft: ReleaseDraft) -> Dataset:
    """The dataset's locked row. Raises UserError if its sessions are no longer those that were read: one that
    was erased meanwhile must not return in a release."""
    locked = lock_dataset(dataset.pk)
    if latest_release(locked) != draft.last:
        raise UserError(f"Another version of {dataset.name} was released meanwhile; try again.")
    if _dataset_state(locked) != before or draft.frozen.contents.sessions != before[0]:
        raise UserError(f"{dataset.name} has changed while it was being released; try again.")
    return locked


def _save_release(
    dataset: Dataset,
    draft: ReleaseDraft,
    readiness: Readiness,
    *,
    bump: str | None,
    notes: str,
    reason: str,
    actor: Any,
) -> Release:
    version, contents, frozen = draft.version(bump), draft.frozen.contents, draft.frozen
    release = Release.objects.create(
        dataset=dataset,
        **version._asdict(),
        session_count=contents.sessions,
        turn_count=contents.turns,
        splits=draft.splits,
        fields=contents.fields,
        sha256=frozen.sha256,
        content_digest=contents.content_digest,
        notes=notes,
        changelog=draft.entry,
        checks={
            "text": readiness.facts.description,
            "errors": frozen.totals.errors,
            "warnings": frozen.totals.warnings,
            "totals": dict(sorted(frozen.totals.items())),
            "exempt": [kind for kind in readiness.facts.text.exempt if kind != ORDINARY],
        },
        # Only what is shared outside needs it.
        sharing=[item._asdict() for item in build_checklist(dataset)],
        override_reason=reason,
        raw=readiness.facts.is_raw,
        created_by=actor,
        created_by_name=audit.actor_name(actor),
    )
    data = frozen.path.rename(frozen.path.with_name(documents.data_file_name(dataset, version)))
    metadata = add_version_metadata(draft.metadata, release)
    documents.store_release_files(release, data, contents, metadata, draft.last)
    return release


def _record_release(release: Release, readiness: Readiness, actor: Any) -> None:
    audit.record(
        "release",
        actor=actor,
        dataset_name=release.dataset.name,
        release=release.version,
        sessions=release.session_count,
        turns=release.turn_count,
        sha256=release.sha256,
        content_digest=release.content_digest,
        unmet=[blocker.title for blocker in readiness.blockers],
    )
    announce_version(release, actor=actor)
