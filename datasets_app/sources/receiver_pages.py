"""POST /v1/traces: OTLP over HTTP, for collectors and SDKs.

https://opentelemetry.io/docs/specs/otlp/#otlphttp: clients send again after 429 and 503, and drop what any
other error answers.
"""

import logging
import threading
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from datasets_app.core.web.uploads import reads_own_body
from datasets_app.sources import otlp_body
from datasets_app.sources.otlp_body import Refusal
from datasets_app.sources.receive import find_receiver, receive

log = logging.getLogger(__name__)

RETRY_SECONDS = 30
# Reading spans is work for a processor, which pages need as well: so many requests of a process are read at
# once, and the clients of others send them again.
MAX_AT_WORK = 1
_at_work = threading.BoundedSemaphore(MAX_AT_WORK)
_BLOCK_BYTES = 1 << 16


@csrf_exempt
@reads_own_body
def receive_traces(request: HttpRequest) -> HttpResponse:
    content_type = (request.content_type or "").lower()
    try:
        if request.method != "POST":
            raise Refusal(405, "Send spans with POST.")
        return _receive(request, content_type)
    except Refusal as refusal:
        response = HttpResponse(
            otlp_body.make_error(content_type, refusal.message),
            content_type if content_type == otlp_body.PROTOBUF else otlp_body.JSON,
            refusal.status,
        )
        if refusal.status in (429, 503):
            response["Retry-After"] = str(RETRY_SECONDS)
        if refusal.status == 401:
            response["WWW-Authenticate"] = "Bearer"
        if refusal.status == 405:
            response["Allow"] = "POST"
        return response


def _receive(request: HttpRequest, content_type: str) -> HttpResponse:
    try:
        source = find_receiver(_read_token(request))
        if source is None:
            raise Refusal(401, "The token is missing or unknown, or its source is off.")
        if content_type not in (otlp_body.PROTOBUF, otlp_body.JSON):
            raise Refusal(415, f"Send {otlp_body.PROTOBUF} or {otlp_body.JSON}.")
        body = _read_body(request)
        if not _at_work.acquire(blocking=False):
            raise Refusal(503, "Too many requests at once; send again.")
        try:
            rejected = receive(source, body, content_type)
        finally:
            _at_work.release()
    except (DatabaseError, InterfaceError) as error:
        # Its message could quote what was sent.
        log.error("received spans could not be stored: %s", type(error).__name__)
        raise Refusal(503, "The spans could not be stored.") from None
    return HttpResponse(otlp_body.make_response(content_type, rejected), content_type)


def _read_token(request: HttpRequest) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _read_body(request: Any) -> bytes:
    limit = settings.OTLP_MAX_BYTES
    encoding = request.headers.get("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise Refusal(415, "Send the body uncompressed or with gzip.")
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    if length > limit:
        raise Refusal(413, f"More than {limit} bytes; send fewer.")
    body = bytearray()
    while block := request.read(min(_BLOCK_BYTES, length - len(body) or 1)):
        body += block
    if len(body) < length:
        raise Refusal(400, "The body is shorter than its Content-Length.")
    return otlp_body.unpack_gzip(bytes(body), limit) if encoding == "gzip" else bytes(body)
