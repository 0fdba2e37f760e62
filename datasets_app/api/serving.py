"""What every request of the API passes: its token, limits, a stored answer to a repeated request, ETags."""

import hashlib
import json
import re
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.crypto import salted_hmac
from django.views.decorators.csrf import csrf_exempt

from datasets_app.access.tokens import find_token, limit_user, record_use
from datasets_app.api.problems import CONTENT_TYPE, ApiError, make_problem
from datasets_app.core import audit
from datasets_app.core.web.uploads import reads_own_body
from datasets_app.models import ApiAnswer, ApiToken

MAX_BODY_BYTES = 1 << 20
MAX_KEY_LENGTH = 200
# Their body is a file, not JSON.
FILE_ROUTES = {"append_part", "import_labels"}
_NUL = ("\0", "%00")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

View = Callable[..., HttpResponseBase]
# Names why a token may not be used now; empty if it may.
FindRefusal = Callable[[ApiToken], str]


def serve(view: View, find_refusal: FindRefusal) -> View:
    """Wrap a view of the API."""

    @csrf_exempt
    @reads_own_body
    @wraps(view, updated=())
    def served(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            _authenticate(request, find_refusal)
            _throttle(request)
            _check_body(request)
            response = _answer(request, lambda: view(request, *args, **kwargs))
        except ApiError as error:
            response = error.response
        except Http404:
            response = make_problem(404, "not_found", "There is nothing at this address.")
        return _finish(request, response)

    return served


def _authenticate(request: Any, find_refusal: FindRefusal) -> None:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    token = find_token(secret.strip()) if scheme.lower() == "bearer" else None
    if token is None:
        raise ApiError(
            401,
            "unauthorized",
            "Send a valid token: Authorization: Bearer …. It may have expired or been revoked.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    audit.identify_token(token.user, token.pk)
    if refusal := find_refusal(token):
        raise ApiError(403, "forbidden", refusal)
    request.token, request.person = token, limit_user(token)
    record_use(token)


def _throttle(request: Any) -> None:
    """Raises ApiError if the token has sent too many requests in this minute."""
    minute, second = divmod(int(time.time()), 60)
    key = f"api:{request.token.pk}:{minute}"
    cache.add(key, 0, 120)
    try:
        count = cache.incr(key)
    except ValueError:  # it has expired meanwhile
        return
    if count > settings.API_REQUESTS_PER_MINUTE:
        raise ApiError(
            429,
            "too_many_requests",
            f"This token has sent {settings.API_REQUESTS_PER_MINUTE} requests in this minute.",
            headers={"Retry-After": str(60 - second)},
        )


def _check_body(request: Any) -> None:
    """Refuse what no view reads. Those that take files limit them themselves."""
    address = request.path_info + request.META.get("QUERY_STRING", "")
    if any(sign in address for sign in _NUL):
        raise ApiError(400, "bad_request", "The address contains a NUL character.")
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    if not length or request.resolver_match.url_name in FILE_ROUTES:
        return
    if length > MAX_BODY_BYTES:
        raise ApiError(413, "too_large", f"The body is larger than {MAX_BODY_BYTES} bytes.")
    if request.content_type != "application/json":
        raise ApiError(415, "unsupported_media_type", "Send the body as application/json.")
    if b"\\u0000" in request.body or b"\0" in request.body:
        raise ApiError(400, "bad_request", "The body contains a NUL character.")
    if _has_half_character(request.body):
        raise ApiError(400, "bad_request", "The body contains half of a character (a lone surrogate).")


def _has_half_character(body: bytes) -> bool:
    """Which can be neither stored nor written. What isn't JSON at all is refused later."""
    if not _SURROGATE.search(body):
        return False
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


# --- requests that are sent again -----------------------------------------------------------------------


def _answer(request: Any, answer: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """A POST with an ``Idempotency-Key`` happens once: a second request waits for the first and gets its
    answer. What is refused can be sent again; what it recorded, such as a look at raw text, stays."""
    key = request.headers.get("Idempotency-Key", "")
    if request.method != "POST" or not key or request.resolver_match.url_name in FILE_ROUTES:
        return answer()
    if len(key) > MAX_KEY_LENGTH:
        raise ApiError(400, "bad_request", f"Idempotency-Key has at most {MAX_KEY_LENGTH} characters.")
    # A person who has lost a role is not told again what they learned with it.
    permissions = " ".join(sorted(request.person.get_all_permissions()))
    content = b"\0".join([request.path.encode(), request.body, permissions.encode()])
    # By the secret key, as a body may name a person.
    digest = salted_hmac("api", content, algorithm="sha256").hexdigest()
    with transaction.atomic():
        stored, created = ApiAnswer.objects.get_or_create(
            token=request.token, key=hashlib.sha256(key.encode()).hexdigest(), defaults={"request": digest}
        )
        if not created:
            return _repeat_answer(stored, digest)
        response = answer()
        if response.status_code >= 400:
            if not transaction.get_rollback():
                stored.delete()
        else:
            stored.status = response.status_code
            stored.body = json.loads(response.content) if response.content else None
            stored.save(update_fields=["status", "body"])
        return response


def _repeat_answer(stored: ApiAnswer, digest: str) -> HttpResponse:
    if stored.request != digest:
        raise ApiError(
            422, "key_reused", "This Idempotency-Key was sent with another request, or other permissions."
        )
    content = "" if stored.body is None else json.dumps(stored.body)
    return HttpResponse(
        content, "application/json", status=stored.status, headers={"Idempotent-Replayed": "true"}
    )


# --- the answer -----------------------------------------------------------------------------------------


def _finish(request: Any, response: Any) -> HttpResponseBase:
    if response.status_code >= 400 and response.get("Content-Type", "") != CONTENT_TYPE:
        response = _convert_error(response)
    elif response.status_code == 200 and request.method in ("GET", "HEAD") and not response.streaming:
        if "ETag" not in response:
            response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
        response = get_conditional_response(request, etag=response["ETag"], response=response)
    response["Cache-Control"] = "private, no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    patch_vary_headers(response, ["Authorization"])
    return response


def _convert_error(response: Any) -> HttpResponse:
    """What the framework itself answers, such as 405."""
    status = response.status_code
    code, detail = (
        ("method_not_allowed", "This address takes other methods: see the header Allow.")
        if status == 405
        else ("error", "The request can't be answered.")
    )
    headers = {name: response[name] for name in ("Allow", "Retry-After") if name in response}
    return make_problem(status, code, detail, headers=headers)
