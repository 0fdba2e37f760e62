"""Facts that people state: only those are written, and the trail has what stood there before."""

from pathlib import Path
from typing import Any

import pytest
from django.db.models.signals import pre_save
from django.urls import reverse

from datasets_app.models import AuditEvent, Dataset
from tests.factories import encode_jsonl
from tests.web.test_import_export_pages import confirm, upload

COUNTED = {"turn_count": 77, "session_count": 7, "status": "scrubbed", "provenance": {"modifications": ["x"]}}
PROCESS_ADDRESS = "admin:datasets_app_dataset_process_import"


@pytest.fixture
def import_meanwhile() -> Any:
    """An import that commits after the row was read and before it is saved."""

    def commit(sender: Any, instance: Any, **_: Any) -> None:
        Dataset.objects.filter(pk=instance.pk).update(**COUNTED)

    pre_save.connect(commit, sender=Dataset)
    yield
    pre_save.disconnect(commit, sender=Dataset)


def counted(dataset: Dataset) -> dict[str, Any]:
    return Dataset.objects.filter(pk=dataset.pk).values(*COUNTED).get()


def imported(client: Any, *rows: Any) -> Any:
    preview = upload(
        client, reverse("admin:datasets_app_dataset_metadata_import"), encode_jsonl(rows), "jsonl"
    )
    assert "confirm_form" in preview.context, preview.content.decode()
    return confirm(client, reverse(PROCESS_ADDRESS), preview)


def refused(client: Any, **row: Any) -> str:
    preview = upload(
        client,
        reverse("admin:datasets_app_dataset_metadata_import"),
        encode_jsonl([{"name": "support", **row}]),
        "jsonl",
    )
    assert "confirm_form" not in preview.context
    return str(preview.content.decode())


def test_the_form_saves_what_was_changed_and_no_more(
    curator: Any, dataset: Dataset, import_meanwhile: None
) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(license="MIT")
    form = {"license": "CC-BY-4.0", "source": "", "attribution": "", "legal_hold": ""}
    response = curator.post(reverse("admin:datasets_app_dataset_edit", args=[dataset.pk]), form)
    assert response.status_code == 302
    assert counted(dataset) == COUNTED
    dataset.refresh_from_db()
    assert dataset.license == "CC-BY-4.0"
    details = AuditEvent.objects.get(action="edit_dataset").details
    assert details == {
        "fields": ["license"],
        "changes": {"license": ["MIT", "CC-BY-4.0"]},
        "source_address": "127.0.0.1",
    }


def test_a_form_without_a_change_leaves_no_trace(curator: Any, dataset: Dataset) -> None:
    form = {"license": "", "source": "", "attribution": "", "legal_hold": ""}
    curator.post(reverse("admin:datasets_app_dataset_edit", args=[dataset.pk]), form)
    assert not AuditEvent.objects.filter(action="edit_dataset").exists()
    before = dataset.updated_at
    dataset.refresh_from_db()
    assert dataset.updated_at == before


def test_the_form_is_a_page_of_its_dataset_and_warns_of_unknown_licenses(
    curator: Any, dataset: Dataset
) -> None:
    address = reverse("admin:datasets_app_dataset_edit", args=[dataset.pk])
    page = curator.get(address).content.decode()
    assert 'aria-label="Parts of this dataset"' in page
    assert "Save and continue" not in page
    form = {"source": "", "attribution": ""}
    page = curator.post(address, {**form, "license": "internal"}, follow=True).content.decode()
    assert "internal is no SPDX identifier that is known here" in page
    page = curator.post(address, {**form, "license": "CC-BY-4.0"}, follow=True).content.decode()
    assert "Saved." in page
    assert "SPDX" not in page
    page = curator.post(address, {**form, "license": "x" * 101}).content.decode()
    assert "at most 100 characters" in page
    assert "Parts of this dataset" in page


def test_the_form_cannot_change_where_the_data_is_from(curator: Any, dataset: Dataset) -> None:
    form = {"license": "MIT", "origin": "synthetic", "provenance": "{}", "status": "released"}
    curator.post(reverse("admin:datasets_app_dataset_edit", args=[dataset.pk]), form)
    dataset.refresh_from_db()
    assert (dataset.license, dataset.origin, dataset.status) == ("MIT", "external", "raw")


def test_a_table_saves_its_columns_and_no_more(
    curator: Any, dataset: Dataset, import_meanwhile: None
) -> None:
    imported(curator, {"name": "support", "license": "MIT"})
    assert counted(dataset) == COUNTED
    dataset.refresh_from_db()
    assert (dataset.license, dataset.legal_hold) == ("MIT", False)
    details = AuditEvent.objects.get(action="edit_dataset").details
    assert details["changes"] == {"license": ["", "MIT"]}


def test_a_preview_writes_nothing(curator: Any, dataset: Dataset, import_meanwhile: None) -> None:
    upload(
        curator,
        reverse("admin:datasets_app_dataset_metadata_import"),
        encode_jsonl([{"name": "support", "license": "MIT"}]),
        "jsonl",
    )
    assert Dataset.objects.get().turn_count == dataset.turn_count
    assert not AuditEvent.objects.filter(action="edit_dataset").exists()


def test_a_table_changes_no_origin(curator: Any, dataset: Dataset) -> None:
    Dataset.objects.update(origin="production")
    Dataset.objects.create(name="empty")
    assert "stays production: the origin decides" in refused(curator, origin="synthetic")
    imported(curator, {"name": "support", "origin": "production", "license": "MIT"})
    assert "stays external: the origin decides" in refused(curator, name="empty", origin="synthetic")
    assert dict(Dataset.objects.values_list("name", "origin")) == {
        "support": "production",
        "empty": "external",
    }


@pytest.mark.parametrize("key", ["modifications", "anonymization"])
def test_what_the_application_did_is_not_restated(curator: Any, dataset: Dataset, key: str) -> None:
    Dataset.objects.update(provenance={key: ["scrubbed"], "seed": 7})
    for value in ([], ["scrubbed", "more"], ["other"]):
        assert f"{key} is recorded by the application" in refused(curator, provenance={key: value})
    for value in ("scrubbed", [1], {"a": 1}, None):
        assert f"{key} must be a list of texts" in refused(curator, provenance={key: value})
    imported(curator, {"name": "support", "provenance": {key: ["scrubbed"], "seed": 8}})
    imported(curator, {"name": "support", "provenance": {"seed": 9}})
    dataset.refresh_from_db()
    assert dataset.provenance == {key: ["scrubbed"], "seed": 9}


def test_two_rows_of_one_dataset_add_up(curator: Any, dataset: Dataset, tmp_path: Path) -> None:
    imported(curator, {"name": "support", "license": "MIT"}, {"name": "support", "license": "CC0-1.0"})
    dataset.refresh_from_db()
    assert dataset.license == "CC0-1.0"


def test_the_origin_changes_on_its_page_with_a_reason(sign_in: Any, curator: Any, dataset: Dataset) -> None:
    address = reverse("admin:datasets_app_dataset_origin", args=[dataset.pk])
    assert curator.get(address).status_code == 403
    assert curator.post(address, {"origin": "production", "override": "x"}).status_code == 403
    officer = sign_in("privacy officer")
    overview = reverse("admin:datasets_app_dataset_change", args=[dataset.pk])
    assert address in officer.get(overview).content.decode()
    assert address not in curator.get(overview).content.decode()
    assert officer.post(address, {"origin": "production"}).status_code == 200  # without a reason
    assert (
        "already has the origin"
        in officer.post(address, {"origin": "external", "override": "Test"}).content.decode()
    )
    assert officer.post(address, {"origin": "production", "override": "Was wrong"}).status_code == 302
    assert Dataset.objects.get().origin == "production"
    event = AuditEvent.objects.get(action="change_origin")
    assert (event.actor, event.details["reason"]) == ("privacy_officer", "Was wrong")
