"""Errors of the API: problem+json (RFC 9457)."""

import json
from http.client import responses as PHRASES
from typing import Any

from django.http import HttpResponse

CONTENT_TYPE = "application/problem+json"


class ApiError(Exception):
    """``code`` is for programs, ``detail`` for people; neither quotes text of conversations."""

    def __init__(
        self, status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.response = make_problem(status, code, detail, headers=headers, **more)


def make_problem(
    status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any
) -> HttpResponse:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": PHRASES.get(status, "Error"),
        "status": status,
        "code": code,
        "detail": detail,
    }
    body |= {name: value for name, value in more.items() if value not in (None, "", [], {})}
    content = json.dumps(body)
    return HttpResponse(content, content_type=CONTENT_TYPE, status=status, headers=headers or {})


def check_form(form: Any) -> None:
    """Raises ApiError, with what is wrong in each field."""
    if not form.is_valid():
        errors = [{"loc": [field], "msg": text} for field, texts in form.errors.items() for text in texts]
        raise ApiError(422, "invalid", "The options are not valid.", errors=errors)


def not_found() -> ApiError:
    return ApiError(404, "not_found", "There is nothing at this address, or you can't see it.")


def forbidden(permission: str, scope: str) -> ApiError:
    """``scope`` is the one that the token lacks; empty if the person lacks the permission."""
    if scope:
        return ApiError(403, "missing_scope", f"The token lacks the scope {scope}.", scope=scope)
    return ApiError(403, "forbidden", "You don't have permission to do this.", permission=permission)
