"""Send people who must sign in again to the page for it, and keep what they were about to send."""

from typing import Any

from allauth.core.exceptions import ReauthenticationRequired
from django.http import HttpResponse

from alignmenter_site.middleware.base import Middleware
from datasets_app.core.web.reauthentication import suspend_request


class ReauthenticationMiddleware(Middleware):
    def process_exception(self, request: Any, exception: Exception) -> HttpResponse | None:
        return suspend_request(request) if isinstance(exception, ReauthenticationRequired) else None
