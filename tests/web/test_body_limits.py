"""A request that is larger than its page needs is refused before anything of it is written."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver, reverse

import alignmenter_site.urls  # noqa: F401  (registers the admin's pages)
from alignmenter_site.middleware.body_limits import MAX_ANONYMOUS_BYTES, MAX_FORM_BYTES
from datasets_app.core.web.uploads import find_file_limit
from datasets_app.models import JobFile
from tests.factories import encode_jsonl, make_sessions
from tests.web.conftest import SignIn
from tests.web.test_import_pages import OPTIONS

FORM = reverse("admin:datasets_app_dataset_import")
HTML = {"Accept": "text/html"}


@pytest.fixture
def written(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were opened for writing where uploads go, however short they lived."""
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path / "uploads")
    os.mkdir(settings.FILE_UPLOAD_TEMP_DIR)
    names: list[str] = []
    original = os.open

    def opened(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT:
            names.append(str(path))
        return original(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", opened)
    return names


def upload(size: int) -> dict[str, Any]:
    return {**OPTIONS, "file": SimpleUploadedFile("big.jsonl", b"x" * size)}


@pytest.mark.parametrize("address", [FORM, "/login/", "/annotate/", "/admin/datasets_app/persona/import/"])
def test_nothing_of_an_upload_of_an_outsider_is_written(db: None, written: list[str], address: str) -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post(address, upload(MAX_ANONYMOUS_BYTES), headers=HTML)
    assert (response.status_code, written) == (413, [])
    assert "Sign in first; nothing you sent was saved." in response.content.decode()
    client.post(address, upload(1_000), headers=HTML)
    assert written == []


def test_an_outsider_can_still_sign_in(db: None) -> None:
    response = Client().post("/login/", {"login": "nobody", "password": "x" * 1_000})
    assert response.status_code == 200


@pytest.mark.parametrize("role", ["viewer", "annotator", "lead"])
def test_people_who_do_not_import_cannot_have_files_written(
    sign_in: SignIn, written: list[str], role: str
) -> None:
    client = sign_in(role)
    assert client.post(FORM, upload(MAX_FORM_BYTES)).status_code == 413
    assert client.post(FORM, upload(1_000)).status_code == 403
    assert written == []


def test_an_upload_beyond_the_limit_is_refused_with_the_limit(
    curator: Any, written: list[str], settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = 1 << 20
    response = curator.post(FORM, upload(MAX_FORM_BYTES + (1 << 20)), headers=HTML)
    assert (response.status_code, written) == (413, [])
    assert "Send a file of at most 1.0\xa0MB" in response.content.decode()
    response = curator.post(FORM, upload((1 << 20) + 1))
    assert "The file is larger than 1.0\xa0MB. Split it" in response.content.decode()
    assert not JobFile.objects.exists()
    sound = SimpleUploadedFile("ok.jsonl", encode_jsonl(make_sessions(1)))
    written.clear()
    assert curator.post(FORM, {**OPTIONS, "file": sound}).status_code == 302
    assert written


def test_a_page_that_takes_no_file_writes_none(sign_in: SignIn, written: list[str]) -> None:
    client = sign_in("superuser")
    address = reverse("admin:datasets_app_persona_add")
    assert client.post(address, {"yaml": "id: a", **upload(1_000)}).status_code == 302
    assert client.post(address, {"yaml": "id: a", **upload(MAX_FORM_BYTES)}).status_code == 413
    assert written == []


def test_a_body_without_a_length_is_refused(curator: Any) -> None:
    for client in (curator, Client()):
        response = client.post(FORM, upload(10), headers={"Transfer-Encoding": "chunked"})
        assert response.status_code == 411
        assert b"The request has no length" in response.content


def test_only_the_pages_with_a_file_field_take_files(sign_in: SignIn) -> None:
    from tests.raw_walk import fill_route, list_routes

    user = sign_in("superuser").user  # type: ignore[attr-defined]
    accepting = set()
    for route in list_routes():
        match = get_resolver().resolve("/" + fill_route(route, {"int": 1, "object_id": 1}).lstrip("/"))
        if find_file_limit(match.func, user):
            accepting.add(match.view_name)
    assert accepting == {
        "admin:datasets_app_dataset_import",
        "admin:datasets_app_dataset_metadata_import",
        "admin:datasets_app_persona_import",
        "admin:datasets_app_retentionpolicy_import",
        "admin:annotations_app_annotation_import",
        "admin:annotations_app_campaign_dataset_calibration",
        "admin:annotations_app_campaign_dataset_review",
        "admin:datasets_app_dataset_upload_run",
    }
