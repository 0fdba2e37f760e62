"""Locks that end with the transaction."""

from typing import Any

from datasets_app.core.queries import execute

# Any number: the first half of the lock's name, the second is the person.
_PERSON_LOCK = 7_203_012


def lock_person(user: Any) -> None:
    """Make requests of one person wait for each other, so that a count holds until the row is added."""
    execute("SELECT pg_advisory_xact_lock(%s, %s)", [_PERSON_LOCK, user.pk])
