"""Refuse a request that is larger than its page needs, before anything of it is read.

Django reads a form when it checks the CSRF token, which is before any page asks who sent it, and writes the
files in it to the disk.
"""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat

from alignmenter_site.error_pages import INSUFFICIENT_STORAGE, REMEDY, answer_with_reason
from alignmenter_site.middleware.base import Middleware
from datasets_app.core.disk_space import describe_shortage, measure_room
from datasets_app.core.web.uploads import find_file_limit

# Forms for signing in have a few hundred bytes, a passkey's answer some thousand.
MAX_ANONYMOUS_BYTES = 64 << 10
MAX_FORM_BYTES = 4 << 20
LENGTH_REQUIRED, TOO_LARGE = 411, 413


class BodyLimitsMiddleware(Middleware):
    """Stands before the CSRF check in the settings: its ``process_view`` runs first, and after all
    middlewares have seen the request, so it knows who sent it."""

    def process_view(self, request: Any, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        if "Transfer-Encoding" in request.headers:
            return answer_with_reason(
                request, LENGTH_REQUIRED, "The request has no length", "Send it with a Content-Length."
            )
        if getattr(view, "reads_own_body", False):
            return None
        length = int(request.META.get("CONTENT_LENGTH") or 0)
        if not length:
            return None
        file_limit = find_file_limit(view, request.user) if request.user.is_authenticated else 0
        limit = file_limit + (MAX_FORM_BYTES if request.user.is_authenticated else MAX_ANONYMOUS_BYTES)
        if length > limit:
            return _refuse(request, file_limit)
        # The received file and its stored copy.
        if file_limit and 2 * length > (room := measure_room(settings.FILE_UPLOAD_TEMP_DIR)):
            reason = "The server's disk has no room for this"
            shortage = describe_shortage("The upload", 2 * length, room)
            return answer_with_reason(request, INSUFFICIENT_STORAGE, reason, f"{shortage} {REMEDY}")
        if not file_limit:
            # Forms without a file: nothing of them is written to the disk, whatever they contain.
            request.upload_handlers = [MemoryFileUploadHandler(request)]
        return None


def _refuse(request: HttpRequest, file_limit: int) -> HttpResponse:
    if not request.user.is_authenticated:
        remedy = "Sign in first; nothing you sent was saved."
    elif file_limit:
        remedy = f"Send a file of at most {filesizeformat(file_limit)}; nothing you sent was saved."
    else:
        remedy = "This page takes no files; nothing you sent was saved."
    return answer_with_reason(request, TOO_LARGE, "The request is too large", remedy)
