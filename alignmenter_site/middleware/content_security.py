"""Tell browsers what they may load, run and keep of our pages, and which of their features we use.

Our own pages need only files of this server. The admin's frame uses Alpine, which compiles attributes
('unsafe-eval') and writes style attributes, and a style element for its colors ('unsafe-inline').
"""

from typing import Any

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import add_never_cache_headers

STRICT_POLICY: dict[str, list[str]] = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
}
ADMIN_OVERRIDES: dict[str, Any] = {"script-src": [SELF, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}


# Passkeys are all that our pages need of a device.
_UNUSED = (
    "accelerometer camera display-capture geolocation gyroscope hid magnetometer microphone midi "
    "payment serial usb xr-spatial-tracking"
)
PERMISSIONS_POLICY = ", ".join(
    [
        *(f"{feature}=()" for feature in _UNUSED.split()),
        "publickey-credentials-create=(self)",
        "publickey-credentials-get=(self)",
    ]
)


class ContentSecurityMiddleware(CSPMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response["Permissions-Policy"] = PERMISSIONS_POLICY
        if not response.has_header("Cache-Control"):
            # Also of pages without text: they have secrets of second factors, names and addresses.
            add_never_cache_headers(response)
        return super().process_response(request, response)

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        match = request.resolver_match
        # Error pages are our own and need only the strict policy.
        # Pages in the admin's frame that have an address elsewhere set their breadcrumbs (core/web/pages.py).
        is_framed = hasattr(request, "crumbs") or (match and match.app_names[:1] == ["admin"])
        if is_framed and response.status_code < 400:
            parts.replace = {**ADMIN_OVERRIDES, **(parts.replace or {})}
        return parts
