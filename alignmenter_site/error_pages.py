"""Answer requests that fail.

An upload is written to disk when the form is first read, which is when Django checks the CSRF token. An error
raised there reaches no middleware's ``process_exception``, only ``handler500``.
"""

import errno
import sys

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

INSUFFICIENT_STORAGE = 507
DISK_FULL = "53100"  # PostgreSQL's code for it
REASON = "The server's disk is full"
REMEDY = "Nothing you sent was saved. Ask an administrator to free disk space, then send it again."


def server_error(request: HttpRequest) -> HttpResponse:
    """Serve as Django's ``handler500``, while the error is still being handled."""
    return disk_full(request) if _is_disk_full(sys.exception()) else defaults.server_error(request)


def disk_full(request: HttpRequest) -> HttpResponse:
    return answer_with_reason(request, INSUFFICIENT_STORAGE, REASON, REMEDY)


def answer_with_reason(request: HttpRequest, status: int, reason: str, remedy: str) -> HttpResponse:
    """Answer browsers with a page, and scripts, which don't ask for HTML, with plain text."""
    if "text/html" not in request.headers.get("Accept", ""):
        return HttpResponse(f"{reason}. {remedy}\n", status=status, content_type="text/plain")
    page = render_to_string("reason.html", {"code": status, "reason": reason, "remedy": remedy})
    return HttpResponse(page, status=status)


def _is_disk_full(error: BaseException | None) -> bool:
    if isinstance(error, OperationalError):
        return getattr(error.__cause__, "sqlstate", None) == DISK_FULL
    return isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}
