"""People: the sessions that name somebody, and their erasure."""

from typing import Any

from ninja import Router, Schema
from pydantic import Field

from datasets_app.api.jobs import job_route, start_job
from datasets_app.api.problems import ApiError
from datasets_app.api.routing import route
from datasets_app.api.schemas import Input, column
from datasets_app.catalog import raw_access
from datasets_app.domain.wording import format_count
from datasets_app.models.dataset_queryset import get_token_datasets
from datasets_app.retention.find_person import (
    MAX_CHARACTERS,
    MIN_CHARACTERS,
    DatasetMatches,
    FoundPerson,
    find_everywhere,
    group_by_dataset,
    make_erasure,
)

router = Router(tags=["People"])

NEEDS = ("datasets_app.view_dataset", "datasets_app.view_session", "datasets_app.erase_session")


class PersonIn(Input):
    """A user ID, an e-mail address or a name, found as whole words in any letter case, and where a scrub
    hashed it."""

    person: str = Field(min_length=MIN_CHARACTERS, max_length=MAX_CHARACTERS)


class EraseIn(PersonIn):
    """`reason` stands in the audit log and on the certificate: name nobody in it."""

    reason: str = Field(min_length=1, max_length=500)
    sessions: int = Field(ge=0)


class PersonMatchesOut(Schema):
    """`places` counts where the person is named: text, tags, metadata, session ID, comments, labels. Test
    cases, and the same in other versions, that don't name the person are "made of their
    conversations"."""

    dataset: str = column("dataset.name")
    sessions: int
    places: dict[str, int]
    legal_hold: bool = column("dataset.legal_hold")

    @staticmethod
    def resolve_places(row: DatasetMatches) -> dict[str, int]:
        return dict(row.places)


class PersonFileOut(Schema):
    """A stored file of a job (upload, quarantined lines, export) that names the person in so many lines, or
    in its own name."""

    job: int
    dataset: str
    kind: str
    lines: int


class PersonOut(Schema):
    """`sessions` is of all datasets and versions but those `not_searched`: their raw text isn't for you,
    or the file of a version is missing or was changed. `waiting_spans` wait to become sessions, by dataset,
    and are erased with them. `other_datasets` can't be opened by you and were not searched; it is 0 for a
    token that is limited to datasets. `files` of jobs are erased as a whole; `unsearched_files` can't be
    read, or not by you. `imported_file_names` name the person, by dataset, and are erased."""

    sessions: int
    datasets: list[PersonMatchesOut]
    waiting_spans: dict[str, int]
    other_datasets: int
    files: list[PersonFileOut]
    unsearched_files: int
    not_searched: list[str]
    imported_file_names: dict[str, int]


@route(router, "POST", "/people/find", PersonOut, needs=NEEDS)
def find_person(request: Any, person: PersonIn) -> Any:
    """How many sessions of each dataset name somebody, by a user ID, an e-mail address or a name. What is
    searched for is stored nowhere."""
    found = _find(request, person.person)
    return {
        "sessions": len(found.sessions),
        "datasets": group_by_dataset(found.sessions),
        "waiting_spans": {name: len(keys) for name, keys in found.waiting.items()},
        "other_datasets": found.hidden,
        "files": found.files,
        "unsearched_files": found.unsearched_files,
        "not_searched": found.not_searched + found.unread,
        "imported_file_names": {name: len(keys) for name, keys in found.imports.items()},
    }


@job_route(router, "/people/erase", needs=NEEDS)
def erase_person(request: Any, options: EraseIn) -> Any:
    """Erase all sessions that name somebody, for good. `sessions` is the number that `find` gave: if it is
    another one by now, nothing is erased (409)."""
    found = _find(request, options.person)
    if not found:
        raise ApiError(404, "not_found", f"No session names this person. {found.gap}".rstrip())
    if (count := len(found.sessions)) != options.sessions:
        raise ApiError(409, "changed", f"{format_count(count, 'session')} found, not {options.sessions:,}.")
    if held := found.list_held():
        raise ApiError(409, "legal_hold", f"{', '.join(held)} can't be changed: on legal hold.")
    parameters = make_erasure(found, options.reason)
    dataset, name = found.first_dataset()
    return start_job(request, "erase_session", dataset, parameters, dataset_name=name, scope="people:erase")


def _find(request: Any, value: str) -> FoundPerson:
    is_limited = get_token_datasets(request.person) is not None
    found = find_everywhere(value, request.person, tell_hidden=not is_limited)
    for row in group_by_dataset(found.sessions):
        raw_access.record_access(row.dataset, request.person, place="api people", sessions=row.sessions)
    return found
