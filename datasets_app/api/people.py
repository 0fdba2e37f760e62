"""People: the sessions that name somebody, and their erasure."""

from typing import Any

from ninja import Router

from datasets_app.api.jobs import start_job
from datasets_app.api.problems import ApiError
from datasets_app.api.routing import route
from datasets_app.api.schemas import EraseIn, JobOut, PersonIn, PersonOut
from datasets_app.catalog import raw_access
from datasets_app.retention.find_person import (
    DatasetMatches,
    PersonSearch,
    find_visible_person,
    group_by_dataset,
    make_erasure,
)

router = Router(tags=["People"])

NEEDS = ("datasets_app.view_dataset", "datasets_app.view_session", "datasets_app.erase_session")


@route(router, "POST", "/people/find", PersonOut, needs=NEEDS)
def find_person(request: Any, person: PersonIn) -> Any:
    """How many sessions of each dataset name somebody, by a user ID, an e-mail address or a name. What is
    searched for is stored nowhere."""
    found, not_searched = _find(request, person.person)
    datasets = [_describe(row) for row in group_by_dataset(found)]
    return {"sessions": len(found), "datasets": datasets, "not_searched": not_searched}


@route(router, "POST", "/people/erase", JobOut, needs=NEEDS, status=202, errors=(409,))
def erase_person(request: Any, options: EraseIn) -> Any:
    """Erase all sessions that name somebody, for good. `sessions` is the number that `find` gave: if it is
    another one by now, nothing is erased (409)."""
    search = _find(request, options.person)
    found = search.found
    if not found:
        raise ApiError(404, "not_found", f"No session names this person. {search.gap}".rstrip())
    if len(found) != options.sessions:
        raise ApiError(409, "changed", f"{len(found):,} sessions name this person, not {options.sessions:,}.")
    if held := sorted({match.session.dataset.name for match in found if match.session.dataset.legal_hold}):
        raise ApiError(409, "legal_hold", f"{', '.join(held)} can't be changed: on legal hold.")
    parameters = make_erasure(found, options.reason)
    return start_job(request, "erase_session", found[0].session.dataset, parameters, scope="people:erase")


def _find(request: Any, value: str) -> PersonSearch:
    search = find_visible_person(value, request.person)
    for row in group_by_dataset(search.found):
        raw_access.record_access(row.dataset, request.person, place="api people", sessions=row.sessions)
    return search


def _describe(row: DatasetMatches) -> dict[str, Any]:
    return {
        "dataset": row.dataset.name,
        "sessions": row.sessions,
        "places": dict(row.places),
        "legal_hold": row.dataset.legal_hold,
    }
