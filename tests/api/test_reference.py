"""The schema, and what is made from it."""

from typing import Any

import pytest
from django.test import Client

from alignmenter_site.api.reference import make_schema
from datasets_app.access.scopes import SCOPES
from tests.api.calls import make_user


def test_every_route_says_what_it_needs_and_answers() -> None:
    operations = [
        (f"{method} {path}", operation)
        for path, methods in make_schema()["paths"].items()
        for method, operation in methods.items()
    ]
    assert len(operations) > 30
    used: set[str] = set()
    for name, operation in operations:
        used |= set(operation["x-scopes"])
        assert operation["security"] == [{"Token": []}], name
        errors: Any = [answer for status, answer in operation["responses"].items() if int(status) >= 400]
        assert all("application/problem+json" in answer["content"] for answer in errors), name
    assert SCOPES.keys() - used == set()


@pytest.mark.django_db
def test_the_page_needs_no_other_server() -> None:
    client = Client()
    assert client.get("/api/v1/").status_code == 302
    client.force_login(make_user("viewer"))
    page = client.get("/api/v1/").content.decode()
    assert "/api/v1/imports/{number}/content" in page
    assert "https://" not in page
    assert "<script>" not in page
