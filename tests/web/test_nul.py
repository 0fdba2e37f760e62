"""PostgreSQL stores no NUL: an address that has one finds nothing, and breaks nothing."""

from typing import Any

import pytest
from django.urls import reverse

from datasets_app.models import CheckReport, Dataset

NUL = "a\0b"
LISTS = {
    "datasets_app_dataset_changelist": ("q", "origin__exact", "state", "legal_hold__exact"),
    "datasets_app_persona_changelist": ("q",),
    "datasets_app_retentionpolicy_changelist": ("q",),
    "datasets_app_auditevent_changelist": ("action", "dataset", "actor", "since", "until", "after"),
    "datasets_app_jobrun_changelist": ("q", "state__exact", "operation"),
    "datasets_app_jobrun_active": ("dataset",),
    "datasets_app_turn_changelist": ("q", "tag", "role", "dataset", "after", "before", "page"),
    "datasets_app_dataset_import": ("dataset",),
    "annotations_app_annotation_changelist": (
        "q",
        "label__exact",
        "dataset__id__exact",
        "persona_id",
        "annotator",
    ),
    "auth_user_changelist": ("q", "state"),
}
OF_DATASET = {
    "checks": ("code", "report", "after", "before"),
    "sessions": ("q", "after", "before"),
    "jobs": ("after", "before"),
    "history": ("after", "before"),
    "export": ("q",),
    "change": ("q",),
}


@pytest.mark.parametrize(("page", "name"), [(page, name) for page in LISTS for name in LISTS[page]])
def test_lists(sign_in: Any, dataset: Dataset, page: str, name: str) -> None:
    response = sign_in("superuser").get(reverse(f"admin:{page}"), {name: NUL}, follow=True)
    assert response.status_code == 200


@pytest.mark.parametrize(("page", "name"), [(page, name) for page in OF_DATASET for name in OF_DATASET[page]])
def test_pages_of_a_dataset(sign_in: Any, dataset: Dataset, page: str, name: str) -> None:
    CheckReport.objects.create(dataset=dataset, turn_count=1)
    address = reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk])
    assert sign_in("superuser").get(address, {name: NUL}).status_code == 200


@pytest.mark.parametrize("name", ["turn", "from"])
def test_the_page_of_a_session(sign_in: Any, dataset: Dataset, name: str) -> None:
    address = reverse("admin:datasets_app_session_change", args=[dataset.sessions.first().pk])
    assert sign_in("superuser").get(address, {name: NUL}).status_code == 200


@pytest.mark.parametrize(
    "place", ["auditevent", "persona", "retentionpolicy", "turn", "session", "jobrun", "dataset"]
)
def test_the_address_of_no_row(sign_in: Any, dataset: Dataset, place: str) -> None:
    response = sign_in("superuser").get(f"/admin/datasets_app/{place}/1%00x/change/")
    assert response.status_code in {302, 403, 404}
