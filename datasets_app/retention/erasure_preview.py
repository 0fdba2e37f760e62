"""What erasing a session would delete, and who has received copies of it."""

import json
from typing import Any

from datasets_app.models import AuditEvent, Dataset, Release, Session, session_data
from datasets_app.releasing.freeze import read_release_lines
from datasets_app.retention.session_identity import find_label_sessions, list_other_datasets, match_any

# The last two to a model.
_HANDING_OUT = ("download", "export", "export_annotations", "judge", "draft_variants")


def preview_erasure(session: Session, *, include_releases: bool = True) -> dict[str, Any]:
    """Preview an erasure. With ``include_releases`` this reads the data file of every release."""
    dataset = session.dataset
    releases = list_releases(dataset) if include_releases else []
    sessions = [session, *find_label_sessions([session])]
    versions = [release.version for release in releases if _contains_any(release, sessions)]
    keys = [target.pk for target in sessions]
    counts = {
        data.kind: data.rows(dataset, keys).count()
        for data in session_data.list_deleted(of_sessions=True)
        # Reports with findings are deleted as a whole.
        if not data.partitioned and not data.quoted
    }
    return {
        "sessions": len(sessions),
        "turns": sum(target.turn_count for target in sessions),
        **{kind: count for kind, count in counts.items() if count},
        "releases": versions,
        "handed_out": list_recipients(dataset, versions),
        "also_in": list_other_datasets(session),
    }


def list_releases(dataset: Dataset) -> list[Release]:
    """The releases that still have their files, oldest first."""
    rows = Release.objects.filter(dataset=dataset, destroyed_at=None)
    return list(rows.order_by("major", "minor", "patch"))


def list_recipients(dataset: Dataset, versions: list[str]) -> list[dict[str, Any]]:
    """Who received one of these releases, what one of them replaced, an export, labels with their replies, or
    had texts sent to the "endpoint" of a model; newest first. Only they can delete their copies."""
    events = AuditEvent.objects.filter(dataset_name=dataset.name, action__in=_HANDING_OUT)
    releases = {None, *_add_replaced(dataset, versions)}
    return [
        {
            "at": event.at.isoformat(timespec="seconds"),
            "by": event.actor,
            "release": event.details.get("release"),
            "endpoint": event.details.get("endpoint"),
        }
        for event in events.order_by("-id")
        if event.details.get("release") in releases and not _sends_nothing(event.details)
    ]


def _sends_nothing(details: dict[str, Any]) -> bool:
    """A judge may work offline, and each run is recorded twice."""
    return details.get("endpoint") == "offline" or details.get("state") == "ended"


def _add_replaced(dataset: Dataset, versions: list[str]) -> set[str]:
    """With the versions from which earlier erasures made these: they had the same sessions, and more."""
    found = set(versions)
    # A version has a higher number than what it replaces.
    for release in Release.objects.filter(dataset=dataset).select_related("replaces"):
        if release.replaces and release.version in found:
            found.add(release.replaces.version)
    return found


def _contains_any(release: Release, sessions: list[Session]) -> bool:
    matches, previous = match_any(sessions), None
    for line in read_release_lines(release):
        candidate = json.loads(line)["session_id"]
        if candidate != previous and matches(candidate):
            return True
        previous = candidate
    return False
