"""Declares the routes of the API: what each needs, and what it may answer."""

from collections.abc import Callable
from functools import wraps
from http.client import responses as PHRASES
from typing import Any, TypeVar

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from ninja import Router, Schema
from ninja.responses import Status

from datasets_app.access.scopes import find_scope
from datasets_app.api.problems import ApiError, forbidden, not_found
from datasets_app.core.web.pages import parse_pk
from datasets_app.models import Dataset

F = TypeVar("F", bound=Callable[..., Any])
CURSOR_HELP = "The `next` of the page before."
MAX_LIMIT, DEFAULT_LIMIT = 200, 50
# What every route may answer.
ERROR_STATUSES = (400, 401, 403, 404, 405, 411, 413, 415, 422, 429, 503, 507)


class Problem(Schema):
    """An error (RFC 9457). `code` is for programs, `detail` for people."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    remedy: str | None = None
    scope: str | None = None
    permission: str | None = None
    errors: list[dict[str, Any]] | None = None
    details: dict[str, Any] | None = None
    offset: int | None = None


def route(
    router: Router,
    method: str,
    path: str,
    returns: Any,
    *,
    needs: tuple[str, ...] = (),
    status: int = 200,
    errors: tuple[int, ...] = (),
    media_type: str = "",
    takes: str = "",
) -> Callable[[F], F]:
    """Register a view. ``needs`` are permissions of the person that a scope of the token must contain, too.

    ``errors`` are statuses beyond those that every route may answer. ``media_type`` is what it returns, and
    ``takes`` what it reads, if not JSON.
    """
    scopes = list(dict.fromkeys(filter(None, map(find_scope, needs))))
    # One error declares their schema. A model of each status would take seconds to describe.
    responses = {status: returns, ERROR_STATUSES[0]: Problem, **({304: None} if method == "GET" else {})}
    described = {each: {"description": PHRASES[each]} for each in (*ERROR_STATUSES, *errors)}
    extra: dict[str, Any] = {"x-scopes": scopes, "x-permissions": [*needs], "responses": described}
    if media_type:
        extra["x-media-type"] = media_type
    if takes:
        extra["requestBody"] = {
            "required": True,
            "content": {takes: {"schema": {"type": "string", "format": "binary"}}},
        }

    def register(function: F) -> F:
        @wraps(function)
        def view(request: Any, *args: Any, **kwargs: Any) -> Any:
            require_permissions(request, *needs)
            result = function(request, *args, **kwargs)
            return result if isinstance(result, HttpResponseBase) else Status(status, result)

        decorate = router.api_operation(
            [method],
            path,
            response=responses,
            operation_id=function.__name__,
            summary=function.__name__.replace("_", " ").capitalize(),
            openapi_extra=extra,
        )
        decorate(view)
        return function

    return register


def require_permissions(request: Any, *permissions: str) -> None:
    """Raises ApiError with what is missing: the permission, or the scope that has it."""
    for permission in permissions:
        if not request.person.has_perm(permission):
            scope = find_scope(permission)
            raise forbidden(permission, "" if scope in request.token.scopes else scope)


def get_dataset(request: Any, name: str) -> Dataset:
    """A dataset that the person sees and the token may. Raises ApiError."""
    require_permissions(request, "datasets_app.view_dataset")
    dataset: Dataset | None = Dataset.objects.visible_to(request.person).filter(name=name).first()
    if dataset is None:
        raise not_found()
    return dataset


def read_cursor(after: str) -> int:
    """Raises ApiError for a cursor that no page gave."""
    number = parse_pk(after or "0")
    if number is None:
        raise ApiError(422, "invalid", "Invalid cursor in after.", errors=[{"loc": ["query", "after"]}])
    return number


def page_latest(
    rows: QuerySet[Any], after: str, limit: int, convert: Callable[[Any], Any] = lambda row: row
) -> dict[str, Any]:
    """A page of rows, the latest first."""
    rows = rows.filter(pk__lt=read_cursor(after)) if after else rows
    return make_page(list(rows.order_by("-pk")[: limit + 1]), limit, convert)


def make_page(
    rows: list[Any], limit: int, convert: Callable[[Any], Any] = lambda row: row, key: str = "pk"
) -> dict[str, Any]:
    """A page of up to ``limit`` + 1 rows; the extra row tells that there are more."""
    shown = rows[:limit]
    following = str(getattr(shown[-1], key)) if len(rows) > limit else None
    return {"items": [convert(row) for row in shown], "next": following}
