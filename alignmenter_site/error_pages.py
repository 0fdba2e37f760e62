"""Answer requests that fail.

An upload is written to disk when the form is first read, which is when Django checks the CSRF token. An error
raised there reaches no middleware's ``process_exception``, only ``handler500``.
"""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

from alignmenter_site.embedded import EmbeddedServiceError
from datasets_app.api.problems import make_problem
from datasets_app.core.disk_space import is_disk_full

INSUFFICIENT_STORAGE = 507
REASON = "The server's disk is full"
REMEDY = "Nothing you sent was saved. Ask an administrator to free disk space, then send it again."
API_PATH = "/api/"
UNAVAILABLE = 503
RETRY_SECONDS = 30
# PostgreSQL's codes: a lost connection, too many connections, a server that stops or recovers.
_UNREACHABLE = ("08", "53300", "57P")


def server_error(request: HttpRequest) -> HttpResponse:
    """Serve as Django's ``handler500``, while the error is still being handled."""
    error = sys.exception()
    if is_disk_full(error):
        return disk_full(request)
    if _is_unreachable(error):
        return database_unreachable(request)
    if is_api(request):
        return make_problem(500, "error", "The server failed. An administrator can see why.")
    return defaults.server_error(request)


def disk_full(request: HttpRequest) -> HttpResponse:
    return answer_with_reason(request, INSUFFICIENT_STORAGE, REASON, REMEDY)


def database_unreachable(request: HttpRequest) -> HttpResponse:
    reason = "The database can't be reached"
    remedy = (
        "Nothing you sent was saved. Try again in a minute. If it stays like this, tell an administrator."
    )
    response = answer_with_reason(request, UNAVAILABLE, reason, remedy)
    response["Retry-After"] = str(RETRY_SECONDS)
    response["Cache-Control"] = "no-store"
    return response


def answer_with_reason(request: HttpRequest, status: int, reason: str, remedy: str) -> HttpResponse:
    """Answer browsers with a page, programs of the API with a problem, and other scripts with plain text."""
    if is_api(request):
        return make_problem(status, "error", f"{reason}. {remedy}")
    if "text/html" not in request.headers.get("Accept", ""):
        return HttpResponse(f"{reason}. {remedy}\n", status=status, content_type="text/plain")
    page = render_to_string("reason.html", {"code": status, "reason": reason, "remedy": remedy})
    return HttpResponse(page, status=status)


def is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(API_PATH)


def _is_unreachable(error: BaseException | None) -> bool:
    if isinstance(error, EmbeddedServiceError | InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    # Without a code, the server never answered, or its connection broke.
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    return sqlstate is None or sqlstate.startswith(_UNREACHABLE)
