"""Datasets, sessions and turns."""

import tempfile
from typing import Any

from django.conf import settings
from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from ninja import Query, Router

from datasets_app.api.problems import ApiError, not_found
from datasets_app.api.routing import (
    CURSOR_HELP,
    DEFAULT_LIMIT,
    MAX_LIMIT,
    get_dataset,
    make_page,
    read_cursor,
    route,
)
from datasets_app.api.schemas import DatasetOut, DatasetPage, SessionPage, Split, TurnPage
from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.core.web.pages import parse_pk
from datasets_app.exporting.export_dataset import export_dataset
from datasets_app.jobs.runs import request_text_scan
from datasets_app.models import Dataset, JobRun, Session, Turn
from datasets_app.releasing.sharing import share_gate

router = Router(tags=["Datasets"])

VIEW_DATASET = ("datasets_app.view_dataset",)
READ_SESSIONS = (*VIEW_DATASET, "datasets_app.view_session")
READ_TURNS = (*READ_SESSIONS, "datasets_app.view_turn")
NDJSON = "application/x-ndjson"
Limit: Any = Query(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
After: Any = Query("", description=CURSOR_HELP, max_length=100)


@route(router, "GET", "/datasets", DatasetPage, needs=VIEW_DATASET)
def list_datasets(request: Any, after: str = After, limit: int = Limit) -> Any:
    """Those that you can see, by name."""
    visible = Dataset.objects.visible_to(request.person).order_by("name")
    rows = list(visible.filter(name__gt=after)[: limit + 1])
    raw = raw_access.find_raw(rows)
    may_read = gates.can_read_raw(request.person)
    return make_page(rows, limit, lambda row: _describe(row, row.pk in raw, may_read=may_read), key="name")


@route(router, "GET", "/datasets/{name}", DatasetOut, needs=VIEW_DATASET)
def get_one_dataset(request: Any, name: str) -> Any:
    dataset = get_dataset(request, name)
    return _describe(dataset, gates.is_raw(dataset), may_read=gates.can_read_raw(request.person))


def _describe(dataset: Any, raw: bool, *, may_read: bool) -> Dataset:
    dataset.raw, dataset.withheld = raw, raw and not may_read
    if dataset.withheld:
        dataset.source = dataset.attribution = None
    return dataset


@route(router, "GET", "/datasets/{name}/sessions", SessionPage, needs=READ_SESSIONS)
def list_sessions(
    request: Any, name: str, split: Split | None = None, after: str = After, limit: int = Limit
) -> Any:
    """In the order of their import. Ids and personas of raw text are withheld without `raw:read`."""
    dataset = get_dataset(request, name)
    sessions = Session.objects.filter(dataset=dataset, id__gt=read_cursor(after)).order_by("id")
    rows = list((sessions.filter(split=split) if split else sessions)[: limit + 1])
    withheld = not raw_access.may_read(request.person, dataset)
    page = make_page(rows, limit, lambda row: _describe_session(row, withheld))
    if not withheld and not all(row.id_hashed for row in rows[:limit]):
        raw_access.record_access(dataset, request.person, place="api sessions", sessions=len(page["items"]))
    return {**page, "withheld": withheld}


def _describe_session(session: Session, withheld: bool) -> Session:
    if withheld:
        raw_access.withhold_session(session)
    return session


@route(router, "GET", "/datasets/{name}/sessions/{session}/turns", TurnPage, needs=READ_TURNS)
def list_turns(request: Any, name: str, session: str, after: str = After, limit: int = Limit) -> Any:
    """The conversation of one session, by its number. Texts are withheld without `raw:read` if they are raw;
    with it, each page is recorded in the audit log."""
    dataset = get_dataset(request, name)
    number = parse_pk(session)
    if not Session.objects.filter(dataset=dataset, pk=number).exists():
        raise not_found()
    first = min(read_cursor(after), 2**31 - 1)
    turns = Turn.objects.filter(dataset=dataset, session=number, turn_index__gt=first)
    rows = list(turns.order_by("turn_index")[: limit + 1])
    withheld = not raw_access.may_read(request.person, dataset)
    page = make_page(rows, limit, lambda turn: _describe_turn(turn, withheld), key="turn_index")
    if not withheld:
        raw_access.record_access(
            dataset, request.person, place="api session", session=number, turns=len(page["items"])
        )
    return {**page, "withheld": withheld}


def _describe_turn(turn: Any, withheld: bool) -> Turn:
    if withheld:
        raw_access.withhold_turn(turn)
        turn.text = None
    return turn


def _refuse_unsearched(dataset: Dataset, person: Any) -> None:
    """The gate needs a search for personal data, which may take minutes: that is for a job."""
    facts = gates.load_facts(dataset)
    if not facts.is_unscanned or facts.is_known_raw:
        return
    if not JobRun.objects.active().filter(operation="scan_text", dataset=dataset).exists():
        request_text_scan(dataset, actor=person)
    raise ApiError(
        503,
        "not_searched",
        f"{dataset.name} is still being searched for personal data. Try again later.",
        headers={"Retry-After": "10"},
        remedy="wait",
    )


@route(
    router,
    "GET",
    "/datasets/{name}/turns",
    None,
    needs=(*VIEW_DATASET, "datasets_app.export_dataset"),
    errors=(409,),
    media_type=NDJSON,
)
def stream_turns(
    request: Any,
    name: str,
    split: Split | None = None,
    persona: str = Query("", max_length=500),
    tag: str = Query("", max_length=500),
) -> HttpResponseBase:
    """All turns, as an export in conversation JSONL. The export gate must be open. The header `ETag` is the
    SHA-256 of the content."""
    dataset = get_dataset(request, name)
    share_gate.check_export_copy(dataset, request.person)
    _refuse_unsearched(dataset, request.person)
    selection = Selection(persona or None, tag or None, split=split)
    # Nothing is sent before all of it passed the gate and is recorded.
    spool = tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115  (closed by the response)
    try:
        result = export_dataset(dataset, spool, selection=selection, actor=request.person)
    except BaseException:
        spool.close()
        raise
    spool.seek(0)
    response: Any = FileResponse(spool, content_type=NDJSON)
    response["Content-Length"] = str(result.size)
    response["ETag"] = f'"{result.sha256}"'
    response["X-Sessions"], response["X-Turns"] = str(result.sessions), str(result.turns)
    answer: HttpResponseBase = get_conditional_response(request, etag=response["ETag"], response=response)
    return answer
