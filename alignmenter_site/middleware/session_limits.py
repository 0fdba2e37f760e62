"""End sessions after some minutes without activity, and some hours after signing in.

Both are the date at which the session's row expires, so that the database refuses it as well.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import logout
from django.http.response import HttpResponseBase
from django.utils import timezone

from alignmenter_site.middleware.base import Middleware
from datasets_app.core.web.reauthentication import SIGNED_IN_AT

# Scripts send it with requests that no person caused, such as those for the progress of a job.
BACKGROUND_HEADER = "X-Background"
# Writing the session at every request would cost more than most pages.
MIN_EXTENSION = timedelta(minutes=1)


class SessionLimitsMiddleware(Middleware):
    def __call__(self, request: Any) -> HttpResponseBase:
        if request.user.is_authenticated and SIGNED_IN_AT not in request.session:
            # From a version without these limits.
            logout(request)
        response = self.get_response(request)
        is_active = request.user.is_authenticated and BACKGROUND_HEADER not in request.headers
        if is_active and extend_session(request.session):
            # What the list of one's own sessions shows.
            UserSession.objects.create_from_request(request)
        return response


def extend_session(session: Any) -> bool:
    """Let the session last from now on; returns whether that changed anything."""
    signed_in_at = datetime.fromtimestamp(session[SIGNED_IN_AT], UTC)
    expires_at = min(
        timezone.now() + timedelta(seconds=settings.SESSION_IDLE_SECONDS),
        signed_in_at + timedelta(seconds=settings.SESSION_COOKIE_AGE),
    )
    if abs(expires_at - session.get_expiry_date()) < MIN_EXTENSION:
        return False
    session.set_expiry(expires_at)
    return True
