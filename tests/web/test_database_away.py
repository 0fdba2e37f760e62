"""While the database can't be reached, pages say so, and what watches the server can tell."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from tests.web.test_error_pages import find_missing_headers

BROWSER = {"Accept": "text/html"}


@pytest.fixture
def database_away(django_db_blocker: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The application's own backend, with a folder in which no server listens."""
    with django_db_blocker.unblock():
        connection.close()
        monkeypatch.setitem(connection.settings_dict, "HOST", str(tmp_path))
        monkeypatch.delitem(connection.settings_dict, "EMBEDDED_VAR_DIR", raising=False)
        yield
        connection.close()


@pytest.mark.parametrize("path", ["/login/", "/password/reset/", "/", "/admin/", "/annotate/", "/files/1/"])
def test_every_page_answers_503(path: str, database_away: None) -> None:
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = "x" * 32
    page = client.get(path, headers=BROWSER)
    assert (page.status_code, page["Retry-After"], page["Cache-Control"]) == (503, "30", "no-store")
    assert "<h1>The database can&#x27;t be reached</h1>" in page.content.decode()
    assert not find_missing_headers(page)
    plain = Client(raise_request_exception=False).post(path, {"login": "ada"})
    assert plain.status_code == 503
    assert plain.content.decode().startswith("The database can't be reached. Nothing you sent was saved.")
