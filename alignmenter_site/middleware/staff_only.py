"""Limit accounts that aren't staff to the annotation queue, their notifications and account, and the help.

Pages check permissions themselves; this is the second line of defense if one of them doesn't.
"""

from typing import Any

from django.core.exceptions import PermissionDenied

from alignmenter_site.middleware.base import Middleware

# The routes of alignmenter_site/sign_in/urls.py: signing in and one's own account.
ACCOUNT_ROUTES = ("login/", "logout/", "password/", "account/", "oidc/")
ANNOTATION_APP = "annotate"
OTHER_ROUTES = ("notifications/", "help/")


class StaffOnlyMiddleware(Middleware):
    def process_view(self, request: Any, view: Any, args: Any, kwargs: Any) -> None:
        match = request.resolver_match
        if is_own_account(request) or match.view_name == "home" or match.app_names == [ANNOTATION_APP]:
            return
        if match.route.startswith(OTHER_ROUTES):
            return
        if request.user.is_authenticated and not request.user.is_staff:
            raise PermissionDenied


def is_own_account(request: Any) -> bool:
    """Whether the page is for signing in, or of one's own account."""
    return bool(request.resolver_match.route.lstrip("^").startswith(ACCOUNT_ROUTES))
