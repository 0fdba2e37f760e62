"""Error pages say what happened, and nothing of the inside."""

from typing import Any

import pytest
from django.test import Client
from django.test.client import RequestFactory
from django.urls import reverse
from django.views import defaults

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def find_missing_headers(response: Any) -> set[str]:
    return {name for name, value in SECURITY_HEADERS.items() if value not in response.headers.get(name, "")}


def test_pages_that_are_not_there(sign_in: Any) -> None:
    response = sign_in("none").get("/nowhere/secret-path/")
    assert response.status_code == 404
    html = response.content.decode()
    assert "Page not found" in html
    assert "secret-path" not in html


def test_pages_one_may_not_see(sign_in: Any) -> None:
    response = sign_in("none").get(reverse("admin:datasets_app_turn_changelist"))
    assert response.status_code == 403
    assert "You don't have access" in response.content.decode()


@pytest.mark.parametrize(
    ("view", "arguments", "status"),
    [(defaults.server_error, [], 500), (defaults.bad_request, [ValueError("private text")], 400)],
)
def test_failures_leak_nothing(view: Any, arguments: list[Any], status: int) -> None:
    response = view(RequestFactory().get("/"), *arguments)
    assert response.status_code == status
    assert "private text" not in response.content.decode()
    assert "Alignmenter Datasets" in response.content.decode()


def test_a_failing_view_shows_the_page(sign_in: Any, monkeypatch: Any) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("private text")

    monkeypatch.setattr("datasets_app.admin.home._dataset_context", fail)
    client: Client = sign_in("superuser")
    client.raise_request_exception = False
    response = client.get(reverse("admin:index"))
    assert response.status_code == 500
    assert "private text" not in response.content.decode()
    assert not find_missing_headers(response)
    # As early as a request can fail: while its client is looked up.
    monkeypatch.setattr("alignmenter_site.middleware.request_origin.client_address", fail)
    response = client.get("/login/")
    assert response.status_code == 500
    assert not find_missing_headers(response)


def test_no_page_asks_for_anything_from_elsewhere(sign_in: Any) -> None:
    html = sign_in("superuser").get(reverse("admin:index")).content.decode()
    assert "https://" not in html.replace("http://www.w3.org", "")
    assert 'src="//' not in html


def test_a_form_without_its_token_is_told_on_a_page_of_our_own(db: None) -> None:
    answer = Client(enforce_csrf_checks=True).post("/login/", {"username": "ada", "password": "x"})
    assert answer.status_code == 403
    assert "Form not accepted" in answer.content.decode()
    assert "<style" not in answer.content.decode()
