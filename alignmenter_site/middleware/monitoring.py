"""Answer probes and scrapes before anything else: by plain http, with any host name, without a session.

What asks is a load balancer or Prometheus on the internal network, which knows the machine by its address.
"""

import re
import time
import uuid
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare

from alignmenter_site.logs import log_context
from alignmenter_site.middleware.base import Middleware
from alignmenter_site.monitoring.health import find_failures
from alignmenter_site.monitoring.metrics import CONTENT_TYPE, record_request, render_metrics

REQUEST_ID = "X-Request-ID"
_VALID_ID = re.compile(r"[A-Za-z0-9-]{8,64}")


class MonitoringMiddleware(Middleware):
    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if answer := _PATHS.get(request.path_info):
            return _answer_unstored(request, answer)
        sent = request.headers.get(REQUEST_ID, "")
        request_id = sent if _VALID_ID.fullmatch(sent) else uuid.uuid4().hex
        started = time.perf_counter()
        with log_context(request=request_id):
            response = self.get_response(request)
        response[REQUEST_ID] = request_id
        if settings.METRICS_TOKEN:
            match = request.resolver_match
            view = match.view_name if match else ""
            record_request(view or "other", response.status_code, time.perf_counter() - started)
        return response


def _answer_unstored(request: HttpRequest, answer: Callable[[HttpRequest], HttpResponse]) -> HttpResponse:
    if request.method not in {"GET", "HEAD"}:
        response = HttpResponse(status=405, headers={"Allow": "GET, HEAD"})
    else:
        response = answer(request)
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


def _readyz(request: HttpRequest) -> HttpResponse:
    """``?checks=database,migrations`` makes these alone."""
    names = [name for name in request.GET.get("checks", "").split(",") if name]
    failures = find_failures(names)
    lines = "".join(f"{name} {'failed' if failed else 'ok'}\n" for name, failed in failures.items())
    if len(failures) < len(set(names)):
        return HttpResponse("unknown check\n", status=400, content_type="text/plain")
    return HttpResponse(lines, status=503 if any(failures.values()) else 200, content_type="text/plain")


def _metrics(request: HttpRequest) -> HttpResponse:
    if not settings.METRICS_TOKEN:
        return HttpResponse("Not found\n", status=404, content_type="text/plain")
    if not constant_time_compare(
        request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"
    ):
        headers = {"WWW-Authenticate": 'Bearer realm="metrics"'}
        return HttpResponse("A token is needed\n", status=401, content_type="text/plain", headers=headers)
    return HttpResponse(render_metrics(), content_type=CONTENT_TYPE)


_PATHS = {"/healthz": _healthz, "/readyz": _readyz, "/metrics": _metrics}
