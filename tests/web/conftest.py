"""Signing in as each of the roles, and a dataset to look at."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from datasets_app.models import Dataset
from tests import factories

SignIn = Callable[..., Client]


@pytest.fixture
def sign_in(db: None) -> SignIn:
    """A client signed in with a role, as "superuser", as "none" (no role) or as "outsider" (no role, no
    staff). Annotators are no staff either."""

    def signed_in(role: str) -> Client:
        user = User.objects.create(
            username=role.replace(" ", "_"),
            is_staff=role not in {"outsider", "annotator"},
            is_superuser=role == "superuser",
        )
        if role not in {"superuser", "none", "outsider"}:
            user.groups.add(Group.objects.get(name=role))
        client = Client(raise_request_exception=True)
        client.force_login(user)
        client.user = user  # type: ignore[attr-defined]
        return client

    return signed_in


@pytest.fixture
def curator(sign_in: SignIn) -> Any:
    return sign_in("curator")


@pytest.fixture
def boosted(curator: Any) -> Any:
    """The client of a curator who follows links within a page, which loads its frame no more."""
    curator.defaults["HTTP_HX_BOOSTED"] = "true"
    return curator


@pytest.fixture
def dataset(db: None, tmp_path: Path) -> Dataset:
    """Two sessions of two turns."""
    return factories.make_dataset(tmp_path, factories.make_sessions(2))
