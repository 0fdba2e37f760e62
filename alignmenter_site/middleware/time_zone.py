"""Show times in the time zone of the person who looks at them."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from alignmenter_site.middleware.base import Middleware
from datasets_app.core.web.time_zone import COOKIE, showing_times_in


class TimeZoneMiddleware(Middleware):
    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # Templates of the admin are rendered before this returns.
        with showing_times_in(request.COOKIES.get(COOKIE, "")):
            return self.get_response(request)
