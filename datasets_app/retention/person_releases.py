"""Sessions that name a person in a stored version: a scrub changes the dataset, not its versions."""

from collections.abc import Callable, Iterable
from typing import Any

from django.db.models import QuerySet

from datasets_app.catalog import raw_access
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.jsonl import parse_turn
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.models import Dataset, Release, Session
from datasets_app.releasing.freeze import read_release_lines
from datasets_app.retention.session_identity import find_same


def split_versions(datasets: QuerySet[Dataset], user: Any) -> tuple[list[Release], list[Release]]:
    """(those of the datasets that have their files and ``user``, or a command, may read; the others)."""
    rows = Release.objects.filter(dataset__in=datasets, destroyed_at=None).select_related("dataset")
    found = list(rows.order_by("dataset", "major", "minor", "patch"))
    readable = [one for one in found if user is None or raw_access.may_read_release(user, one)]
    return readable, [one for one in found if one not in readable]


def search_versions(
    versions: Iterable[Release], names_person: Callable[[Any], bool]
) -> tuple[list[Session], list[Release]]:
    """(the sessions as they are in their dataset, which may have hashed their ids; versions whose file is
    missing or was changed)."""
    found: list[Session] = []
    unread: list[Release] = []
    for version in versions:
        try:
            found += find_same([version.dataset_id], _search(version, names_person))
        except UserError:
            unread.append(version)
    return found, unread


def _search(version: Release, names_person: Callable[[Any], bool]) -> list[str]:
    turns = (parse_turn(0, line) for line in read_release_lines(version))
    named = (turn for turn in turns if isinstance(turn, TurnRecord) and names_person(_list_said(turn)))
    return sorted({turn.session_id for turn in named})


def _list_said(turn: TurnRecord) -> list[Any]:
    """Where a dataset is searched as well."""
    return [
        turn.session_id,
        turn.text,
        turn.tags,
        turn.persona_id or "",
        turn.metadata or {},
        turn.extra or {},
    ]
