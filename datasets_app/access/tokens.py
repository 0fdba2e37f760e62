"""Tokens of the API: a program acts as a person, within scopes and datasets, until a date."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from datasets_app.access.scopes import SCOPES, list_permissions
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import lock_person
from datasets_app.models import ApiAnswer, ApiToken, Dataset

TOKEN_PREFIX = "aldu_"  # so that scanners for leaked secrets recognize one # nosec B105
SHOWN_CHARACTERS = 10
MAX_DAYS, DEFAULT_DAYS = 366, 90
MAX_TOKENS = 50
ANSWER_LIFETIME = timedelta(hours=24)
# Writing each use would cost more than most requests.
MIN_USE_INTERVAL = timedelta(minutes=1)


def create_token(
    user: Any,
    *,
    name: str,
    scopes: Collection[str],
    days: int = DEFAULT_DAYS,
    datasets: Collection[Dataset] | None = None,
    second_factor: bool = False,
) -> tuple[ApiToken, str]:
    """Returns the row and the secret, which is stored nowhere. ``datasets`` of None are all that the person
    can see. Raises UserError."""
    name = name.strip()
    if not name or len(name) > 100:
        raise UserError("Give the token a name of at most 100 characters.")
    if not scopes or not set(scopes) <= SCOPES.keys():
        raise UserError("Choose at least one scope.")
    if not 1 <= days <= MAX_DAYS:
        raise UserError(f"A token is valid for 1 to {MAX_DAYS} days.")
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        lock_person(user)
        now = timezone.now()
        if list_active(user).count() >= MAX_TOKENS:
            raise UserError(f"You have {MAX_TOKENS} tokens. Revoke one first.")
        token = ApiToken.objects.create(
            user=user,
            name=name,
            prefix=secret[:SHOWN_CHARACTERS],
            digest=digest_token(secret),
            scopes=[scope for scope in SCOPES if scope in scopes],
            is_limited=datasets is not None,
            second_factor=second_factor,
            expires_at=now + timedelta(days=days),
        )
        token.datasets.set(datasets or [])
        limits: dict[str, Any] = {"datasets": token.dataset_names} if token.is_limited else {}
        audit.record(
            "create_token",
            actor=user,
            key=token.pk,
            prefix=token.prefix,
            scopes=token.scopes,
            expires=token.expires_at.date().isoformat(),
            **limits,
        )
    return token, secret


def revoke_token(token: ApiToken, *, actor: Any) -> None:
    """From now on no request with it is answered. Safe to call twice."""
    with transaction.atomic():
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            audit.record(
                "revoke_token",
                actor=actor,
                key=token.pk,
                prefix=token.prefix,
                account=token.user.get_username(),
            )


def list_active(user: Any) -> Any:
    return ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=timezone.now())


def revoke_all(user: Any, *, actor: Any) -> None:
    for token in list_active(user).select_related("user"):
        revoke_token(token, actor=actor)


def find_token(secret: str) -> ApiToken | None:
    """The valid token with this secret, of an active account."""
    found = ApiToken.objects.select_related("user").filter(
        digest=digest_token(secret), revoked_at=None, expires_at__gt=timezone.now(), user__is_active=True
    )
    return found.first() if secret else None


def limit_user(token: ApiToken) -> Any:
    """The person of ``token``, who for this request has only the permissions of its scopes, and only sees its
    datasets: everything that asks who may do something asks this object."""
    user: Any = token.user
    allowed, has_perm = list_permissions(token.scopes), user.has_perm

    def has_perm_in_scope(permission: str, obj: Any = None) -> bool:
        return permission in allowed and has_perm(permission, obj)

    user.has_perm, user.has_token, user.has_perm_without_token = has_perm_in_scope, True, has_perm
    if token.is_limited:
        user.token_datasets = frozenset(token.datasets.values_list("pk", flat=True))
    return user


def record_use(token: ApiToken) -> None:
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > MIN_USE_INTERVAL:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now, last_used_from=audit.current_address())


def forget_answers() -> int:
    """Delete the answers kept for requests that are sent again; returns how many."""
    return ApiAnswer.objects.filter(created_at__lt=timezone.now() - ANSWER_LIFETIME).delete()[0]


def digest_token(secret: str) -> str:
    """A plain digest is enough: nobody guesses 256 random bits."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
