"""Finds releases by their versions, and announces new ones."""

from typing import Any

from datasets_app.catalog import gates, policies
from datasets_app.core import outgoing
from datasets_app.core.errors import UserError
from datasets_app.domain.releases.versions import parse_version
from datasets_app.models import Dataset, Release


def find_release(dataset: Dataset, version: str) -> Release:
    """The release of that version, ``1.2.0`` or ``v1.2.0``. Raises UserError with the versions that exist."""
    try:
        wanted = parse_version(version)
    except ValueError as error:
        raise UserError(f"{version[:40]!r} is not a version: {error}.") from None
    release: Release | None = dataset.releases.filter(**wanted._asdict()).first()
    if release is not None:
        return release
    existing = ", ".join(each.version for each in dataset.releases.filter(destroyed_at=None)[:10])
    raise UserError(
        f"{dataset.name} has no release {wanted}. "
        + (f"Its releases: {existing}." if existing else "It has no releases yet.")
    )


def get_stored_release(dataset: Dataset, version: str) -> Release:
    """The same, for copies. Raises UserError, with the replacing version, if its files were destroyed."""
    release = find_release(dataset, version)
    check_is_stored(release)
    return release


def check_is_stored(release: Release) -> None:
    destroyed_at = release.destroyed_at
    successor = release.replaced_by.first() if destroyed_at else None
    gates.check(
        policies.decide_stored_release(
            str(release),
            destroyed_at.date() if destroyed_at else None,
            successor.version if successor else "",
        )
    )


def announce_version(release: Release, *, actor: Any) -> None:
    """Tell people and programs of a version, in the transaction that makes it."""
    outgoing.emit(
        outgoing.Kind.RELEASE_CREATED,
        dataset=release.dataset,
        recipients=[actor],
        version=release.version,
        sessions=release.session_count,
        turns=release.turn_count,
    )


def latest_release(dataset: Dataset) -> Release | None:
    """The highest version whose files are stored."""
    return dataset.releases.filter(destroyed_at=None).first()
