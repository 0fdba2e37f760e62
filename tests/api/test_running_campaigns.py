"""What a program changes of a campaign while people label: the same operations as on its pages."""

from pathlib import Path
from typing import Any

import pytest

from annotations_app.agreement.failure_modes import list_notes
from annotations_app.criteria.schemas import import_schema
from annotations_app.models import Campaign, FailureMode
from datasets_app.models import AuditEvent, Dataset
from tests.api.calls import Caller, make_user
from tests.campaigns import label_all_replies, lease_for, make_campaign, make_replies, submit

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_queue")]

SCHEMA = "schema: quality\ncriteria:\n  - {key: right, question: Right?, kind: yes_no}\n"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 6)


@pytest.fixture
def lead() -> Caller:
    return Caller(make_user("lead"))


def call(caller: Caller, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    response = caller(method, path, body)
    assert response.status_code == status, response.content
    return response.json()


def test_a_schema_changes_and_labels_are_queued_again(dataset: Dataset, lead: Caller) -> None:
    campaign = make_campaign(dataset, "ana", schema=import_schema(SCHEMA).schema)
    submit(lease_for(campaign, "ana").current, label=None, answers={"right": 1})
    import_schema(SCHEMA.replace("Right?", "Is it right?"))
    path = f"/campaigns/{campaign.name}"
    changed = call(
        lead, "PATCH", f"{path}/settings", {"label_schema": "quality@2", "guidelines": "Read twice."}
    )
    assert changed["label_schema"] == "quality@2"
    assert Campaign.objects.get().guidelines == "Read twice."
    assert call(lead, "POST", f"{path}/requeue", {"causes": ["persona"]}) == {"labels": 0}
    assert call(lead, "POST", f"{path}/requeue", {}) == {"labels": 1}
    assert call(lead, "PATCH", f"{path}/settings", {"status": "paused"})["status"] == "paused"
    refused = call(lead, "PATCH", f"{path}/settings", {"label_schema": "quality@1"}, status=409)
    assert "later version" in str(refused)
    viewer = Caller(make_user("viewer"))
    call(viewer, "PATCH", f"{path}/settings", {"guidelines": ""}, status=403)


def test_a_calibration_round_is_read_and_ended(dataset: Dataset, lead: Caller) -> None:
    options: dict[str, Any] = {"overlap": 2, "calibration_replies": 2, "calibration_alpha": 0.8}
    campaign = make_campaign(dataset, "ana", "ben", **options)
    path = f"/campaigns/{campaign.name}/calibration"
    state = call(lead, "GET", path)
    assert (state["calibrating"], state["missing"], state["agreed"]) == (True, 4, False)
    refused = call(lead, "POST", f"{path}/end", {}, status=409)
    assert "say why the rest opens" in str(refused)
    label_all_replies(campaign, "ana")
    label_all_replies(campaign, "ben")
    state = call(lead, "GET", path)
    assert (state["missing"], state["agreed"], state["differences"]) == (0, True, 0)
    assert call(lead, "POST", f"{path}/end", {"reason": "All read it."})["calibrating"] is False
    assert AuditEvent.objects.get(action="end_calibration").details["reason"] == "All read it."


def test_notes_become_failure_modes(dataset: Dataset, lead: Caller) -> None:
    campaign = make_campaign(dataset, "ana", schema=import_schema(SCHEMA).schema)
    for number in range(3):
        answers = {"right": 0}
        submit(lease_for(campaign, "ana").current, label=None, answers=answers, notes=f"Note {number}.")
    path = f"/campaigns/{campaign.name}"
    page = call(lead, "GET", f"{path}/notes?limit=2")
    assert [note["notes"] for note in page["items"]] == ["Note 2.", "Note 1."]
    rest = call(lead, "GET", f"{path}/notes?after={page['next']}")
    assert [note["notes"] for note in rest["items"]] == ["Note 0."]
    keys = list(list_notes(campaign).order_by("pk").values_list("pk", flat=True))
    modes = call(lead, "POST", f"{path}/failure-modes", {"notes": keys[:2], "mode": "Too long"})
    mode = FailureMode.objects.get()
    assert modes["modes"] == [{"id": mode.pk, "name": "Too long", "notes": 2}]
    assert (modes["ungrouped"], modes["richness"]["seen"]) == (1, 1)
    assert call(lead, "GET", f"{path}/notes")["items"][-1]["mode"] == "Too long"
    asked = call(lead, "POST", f"{path}/failure-modes/{mode.pk}/promote", {"kind": "criterion"})
    assert asked == {"label_schema": "quality@2"}
    assert call(lead, "DELETE", f"{path}/failure-modes/{mode.pk}")["modes"] == []
    call(lead, "DELETE", f"{path}/failure-modes/{mode.pk}", status=404)
    call(lead, "POST", f"{path}/failure-modes", {"notes": [0], "mode": "x"}, status=409)
