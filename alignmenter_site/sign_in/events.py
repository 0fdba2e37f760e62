"""Record who signed in and out, from where and how, and what failed.

Failures are in the audit log only if the account exists, and only until it is locked: outsiders must not
be able to fill a log that never shrinks. A name that doesn't exist may be a password typed into the wrong
field, so it is never written down.
"""

import logging
import time
from typing import Any

from allauth.account import signals as account_signals
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core import ratelimit
from allauth.mfa import signals as mfa_signals
from django.conf import settings
from django.contrib.auth import signals as auth_signals
from django.contrib.auth.models import User
from django.core.cache import cache

from alignmenter_site.middleware import language
from alignmenter_site.middleware.second_factor import SECOND_FACTOR_USED
from alignmenter_site.middleware.session_limits import extend_session
from datasets_app.core import audit
from datasets_app.core.web.reauthentication import SIGNED_IN_AT, mark_recent_sign_in

_METHOD_NAMES = {"socialaccount": "company", "password_reset": "link"}
log = logging.getLogger(__name__)


def connect_signals() -> None:
    auth_signals.user_logged_in.connect(_record_sign_in)
    auth_signals.user_logged_out.connect(_record_sign_out)
    account_signals.authentication_step_completed.connect(_mark_reauthentication)
    account_signals.password_reset.connect(_unlock)
    mfa_signals.authentication_failed.connect(_record_wrong_code)
    mfa_signals.authenticator_added.connect(_record_added_factor)
    mfa_signals.authenticator_removed.connect(_record_removed_factor)
    mfa_signals.authenticator_reset.connect(_record_replaced_codes)


def record_failure(username: str, step: str) -> None:
    """A sign-in that failed: of which account, at which step."""
    user = User.objects.filter(username=username).first()
    if user is None:
        log.warning("sign-in failed (%s) for an unknown name, from %s", step, audit.current_address())
        return
    log.warning("sign-in failed (%s) for account %s, from %s", step, user.pk, audit.current_address())
    audit.record("log_in_failed", actor=audit.current_user(), step=step, **_describe(user))


def record_lockout(username: str) -> None:
    """A sign-in that wasn't tried, because there were too many failures of this account or address."""
    user = User.objects.filter(username=username).first()
    name = user.pk if user else "unknown"
    log.warning("sign-in locked for account %s, from %s", name, audit.current_address())
    # Once for each lock, not for each attempt.
    if user and cache.add(
        f"lockout:{user.pk}:{audit.current_address()}", True, settings.LOCKOUT_MINUTES * 60
    ):
        audit.record("locked_out", actor=audit.current_user(), **_describe(user))


def _describe(user: Any) -> dict[str, Any]:
    return {"account": user.get_username(), "key": user.pk}


def _record_sign_in(request: Any, user: Any, **_: Any) -> None:
    request.session[SIGNED_IN_AT] = time.time()
    # Said of this sign-in by the company's provider; a session may have been another person's before.
    request.session[SECOND_FACTOR_USED] = getattr(request, "used_second_factor", False)
    mark_recent_sign_in(request)
    extend_session(request.session)
    language.remember(request, language.find_choice(user))
    records = get_authentication_records(request, user)
    methods = [record.get("type") or record["method"] for record in records]
    methods += ["mfa"] * request.session[SECOND_FACTOR_USED]
    details = {"by": [_METHOD_NAMES.get(method, method) for method in methods]} if methods else {}
    audit.record("log_in", actor=user, **details)
    log.info("account %s signed in, from %s", user.pk, audit.current_address())


def _record_sign_out(user: Any, **_: Any) -> None:
    if user is not None:
        audit.record("log_out", actor=user)
        log.info("account %s signed out, from %s", user.pk, audit.current_address())


def _mark_reauthentication(request: Any, reauthenticated: bool = False, **_: Any) -> None:
    if reauthenticated:
        mark_recent_sign_in(request)


def _unlock(request: Any, user: Any, **_: Any) -> None:
    """A person who can read the account's mail may sign in again, however often others have guessed."""
    ratelimit.clear(request, action="login_failed", key=user.get_username().casefold())


def _record_wrong_code(user: Any, **_: Any) -> None:
    record_failure(user.get_username(), "code")


def _record_added_factor(user: Any, authenticator: Any, **_: Any) -> None:
    _record_factor(user, authenticator, "added")


def _record_removed_factor(user: Any, authenticator: Any, **_: Any) -> None:
    _record_factor(authenticator.user, authenticator, "removed")


def _record_replaced_codes(user: Any, authenticator: Any, **_: Any) -> None:
    _record_factor(user, authenticator, "replaced")


def _record_factor(user: Any, authenticator: Any, change: str) -> None:
    audit.record(
        "second_factor", actor=audit.current_user(), change=change, kind=authenticator.type, **_describe(user)
    )
