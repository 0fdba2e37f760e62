"""Whether an installation can do its work, in a few cheap questions. The answers tell nothing private."""

from collections.abc import Callable, Collection
from functools import cache

from django.db import DatabaseError, InterfaceError
from django.db.migrations.loader import MigrationLoader

from alignmenter_site.embedded import EmbeddedServiceError
from datasets_app.core.disk_space import measure_room
from datasets_app.core.queries import execute, fetch_all
from datasets_app.jobs import queue


def find_failures(names: Collection[str] = ()) -> dict[str, bool]:
    """For each check, or those of ``names``, whether it fails. A check that can't be made fails."""
    return {name: not _passes(check) for name, check in CHECKS.items() if not names or name in names}


def _passes(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except (DatabaseError, InterfaceError, EmbeddedServiceError, OSError):
        return False


def is_database_reachable() -> bool:
    return bool(execute("SELECT 1"))


def list_missing_migrations() -> list[str]:
    """Migrations of this version that the database lacks."""
    applied = set(fetch_all("SELECT app, name FROM django_migrations"))
    return sorted(f"{app}.{name}" for app, name in _known_migrations() - applied)


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    loader = MigrationLoader(None)
    on_disk = loader.disk_migrations
    # One that stands for others is recorded instead of them only where these have been removed.
    return frozenset(key for key, one in on_disk.items() if on_disk.keys().isdisjoint(one.replaces))


CHECKS: dict[str, Callable[[], bool]] = {
    "database": is_database_reachable,
    "migrations": lambda: not list_missing_migrations(),
    "queue": queue.is_reachable,
    "workers": lambda: queue.worker_count() > 0,
    "scheduler": queue.is_scheduler_alive,
    "disk": lambda: measure_room() > 0,
}
