"""Tell the audit log where a request comes from, and record that it was refused."""

import hashlib
import logging
from typing import Any

from django.core.cache import cache
from django.http.response import HttpResponseBase

from alignmenter_site.client_address import client_address
from alignmenter_site.middleware.base import Middleware
from datasets_app.core import audit

FORBIDDEN = 403
# A page that asks again and again, such as a queue that isn't open any more, is recorded once in this time.
REPEAT_SECONDS = 600
log = logging.getLogger(__name__)


class RequestOriginMiddleware(Middleware):
    def __call__(self, request: Any) -> HttpResponseBase:
        origin = audit.RequestOrigin(
            client_address(request), lambda: request.user if request.user.is_authenticated else None
        )
        with audit.attribute_to(origin):
            response = self.get_response(request)
            if response.status_code == FORBIDDEN and not origin.refusals:
                audit.note_refusal(reason="no permission")
            for refusal in origin.refusals:
                _record_refusal(request, refusal)
        return response


def _record_refusal(request: Any, details: dict[str, Any]) -> None:
    """Name the page by its route and primary key: an address may contain anything that somebody typed."""
    match = request.resolver_match
    page = match.view_name if match else ""
    pks = [str(value) for value in match.kwargs.values() if str(value).isdigit()] if match else []
    details = {"page": page, **({"key": pks[0]} if pks else {}), **details}
    actor = audit.current_user()
    if actor is None:
        # Outsiders must not be able to fill the audit log, which never shrinks.
        log.warning("refused %s to somebody not signed in at %s", page, audit.current_address())
    elif cache.add(f"refusal:{actor.pk}:{_digest(details)}", True, REPEAT_SECONDS):
        audit.record("refused", actor=actor, **details)


def _digest(details: dict[str, Any]) -> str:
    return hashlib.sha256(repr(sorted(details.items())).encode()).hexdigest()
