"""Calls of the API by people with a role."""

import json
from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client

from datasets_app.access.scopes import SCOPES
from datasets_app.access.tokens import create_token
from datasets_app.models import ApiToken

BASE = "/api/v1"


def make_user(role: str, name: str = "") -> User:
    user, _ = User.objects.get_or_create(
        username=name or role.replace(" ", "_"), defaults={"is_staff": role != "annotator"}
    )
    user.groups.add(Group.objects.get(name=role))
    return user


class Caller:
    """A program with a token; without ``scopes`` it has all of them."""

    def __init__(self, user: User, scopes: Any = None, **options: Any) -> None:
        self.user = user
        self.token: ApiToken
        self.token, self.secret = create_token(user, name="test", scopes=scopes or list(SCOPES), **options)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """``body`` is JSON, or bytes as they are."""
        headers = {
            "Authorization": f"Bearer {self.secret}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        is_file = isinstance(body, bytes)
        content = body if is_file else json.dumps(body).encode() if body is not None else b""
        kind = "application/octet-stream" if is_file else "application/json"
        client = Client(enforce_csrf_checks=True)
        return client.generic(method, BASE + path, content, kind, headers=headers)


def read_content(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content
