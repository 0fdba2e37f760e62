"""Send people who must sign in again to the page for it, and keep what they were about to send."""

from collections.abc import Callable
from typing import Any

from allauth.core.exceptions import ReauthenticationRequired
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from datasets_app.core.web.reauthentication import suspend_request


class ReauthenticationMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: Any, exception: Exception) -> HttpResponse | None:
        return suspend_request(request) if isinstance(exception, ReauthenticationRequired) else None
