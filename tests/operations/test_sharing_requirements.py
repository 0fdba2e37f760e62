"""What an installation or a dataset requires for sharing: measurements of what scrubs leave."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from alignmenter_site import env
from datasets_app.catalog import gates
from datasets_app.catalog.edit import edit_dataset
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import AuditedTurn, AuditEvent, Dataset, TextScan
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.checklist import ChecklistItem, build_checklist, build_release_checklist
from datasets_app.releasing.sharing.measurements import AUDIT_TITLE, CANARY_TITLE
from datasets_app.releasing.sharing.share_gate import list_unmet
from datasets_app.scrubbing.audits import draw_audit, record_verdict
from datasets_app.scrubbing.canary_dataset import canary_dataset
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.factories import make_dataset, make_sessions

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    made = make_dataset(tmp_path, make_sessions(4), origin="production")
    scrub_dataset(made, Policy())
    made.refresh_from_db()
    return made


def measured(dataset: Dataset, upper: float, limit: float = 0.01) -> None:
    """What a measurement would keep."""
    canary = {"upper": upper, "survived": 2, "planted": 600, "confidence": 0.95, "limit": limit}
    last = gates.load_facts(dataset).text.last_session
    TextScan.objects.filter(dataset=dataset).update(canary={**canary, "last_session": last, "classes": {}})


def find_item(dataset: Dataset, title: str) -> ChecklistItem | None:
    return next((item for item in build_checklist(dataset) if item.title == title), None)


def list_unmet_titles(dataset: Dataset) -> set[str]:
    return {blocker.title for blocker in list_unmet(dataset)}


def test_nothing_is_required_by_default(dataset: Dataset) -> None:
    assert find_item(dataset, CANARY_TITLE) is None
    assert find_item(dataset, AUDIT_TITLE) is None
    measured(dataset, 0.008)
    assert find_item(dataset, CANARY_TITLE) is None


def test_a_failed_measurement_always_shows(dataset: Dataset) -> None:
    measured(dataset, 0.0321)
    item = find_item(dataset, CANARY_TITLE)
    assert item is not None
    assert (item.answer, item.remedy) == ("no", "scrub")
    assert "At most 3.21 % of planted values survive" in item.reason
    assert "It failed: the limit was 1 %." in item.reason
    assert "It failed: the limit was 1 %." in gates.load_facts(dataset).description  # as the card says
    assert CANARY_TITLE in list_unmet_titles(dataset)


def test_a_measurement_is_kept_with_its_limit(dataset: Dataset) -> None:
    canary_dataset(dataset, count=20, limit=0.02)
    assert TextScan.objects.get(dataset=dataset).canary["limit"] == 0.02
    assert gates.load_facts(dataset).text.has_failed_canary  # so few values can't show 2 %


def test_the_installation_requires_a_measurement(dataset: Dataset, settings: Any) -> None:
    settings.SHARING_CANARY_UPPER = 0.02
    item = find_item(dataset, CANARY_TITLE)
    assert item is not None
    assert (item.answer, item.remedy) == ("unknown", "scrub")
    assert item.reason == (
        "Required: at most 2 %. Not measured on the current text: measure what a scrub leaves."
    )
    for upper, answer in ((0.021, "no"), (0.02, "yes")):
        measured(dataset, upper, limit=0.05)
        item = find_item(dataset, CANARY_TITLE)
        assert item is not None
        assert item.answer == answer
        assert (CANARY_TITLE in list_unmet_titles(dataset)) == (answer == "no")
    scrub_dataset(dataset, Policy())
    item = find_item(dataset, CANARY_TITLE)
    assert item is not None
    assert item.answer == "unknown"


def test_the_installation_requires_readings(dataset: Dataset, settings: Any) -> None:
    settings.SHARING_AUDIT_READINGS = 5
    item = find_item(dataset, AUDIT_TITLE)
    assert item is not None
    assert item.answer == "unknown"
    boss = User.objects.create_superuser("boss")
    audit = draw_audit(dataset, wanted=8, actor=boss)
    turns = list(AuditedTurn.objects.filter(audit=audit))
    for number, turn in enumerate(turns, 1):
        record_verdict(turn, "clean", actor=boss)
        item = find_item(dataset, AUDIT_TITLE)
        assert item is not None
        assert item.answer == ("yes" if number >= 5 else "no")
    assert "People read 8 turns" in item.reason
    settings.SHARING_AUDIT_READINGS = 500  # all of a dataset is enough
    item = find_item(dataset, AUDIT_TITLE)
    assert item is not None
    assert item.answer == "yes"


def test_a_dataset_requires_otherwise(dataset: Dataset, settings: Any) -> None:
    settings.SHARING_CANARY_UPPER, settings.SHARING_AUDIT_READINGS = 0.02, 5
    edit_dataset(dataset.pk, {"sharing_canary_upper": 0.01, "sharing_audit_readings": 0}, actor=None)
    dataset.refresh_from_db()
    measured(dataset, 0.015, limit=0.02)
    item = find_item(dataset, CANARY_TITLE)
    assert item is not None
    assert item.answer == "no"
    assert find_item(dataset, AUDIT_TITLE) is None
    settings.SHARING_CANARY_UPPER = 1.0
    assert find_item(dataset, CANARY_TITLE) is not None


@pytest.mark.parametrize("role", ["curator", "privacy officer"])
def test_the_edit_page_changes_what_is_required(dataset: Dataset, settings: Any, role: str) -> None:
    settings.SHARING_CANARY_UPPER = 0.02
    person = User.objects.create(username="person", is_staff=True)
    person.groups.set(Group.objects.filter(name__in=["curator", role]))
    client = Client()
    client.force_login(person)
    page = reverse("admin:datasets_app_dataset_edit", args=[dataset.pk])
    assert "empty is as in the installation (at most 2 %)." in client.get(page).content.decode()
    form = {"license": "", "source": "", "attribution": "", "canary_percent": "0.5", "audit_readings": "100"}
    assert client.post(page, form).status_code == 302
    dataset.refresh_from_db()
    assert (dataset.sharing_canary_upper, dataset.sharing_audit_readings) == (0.005, 100)
    changes = AuditEvent.objects.get(action="edit_dataset").details["changes"]
    assert changes == {"sharing_canary_upper": [None, 0.005], "sharing_audit_readings": [None, 100]}
    answer = client.post(page, {**form, "audit_readings": ""})
    dataset.refresh_from_db()
    if role == "curator":
        assert "requires less for sharing than before" in answer.content.decode()
        assert dataset.sharing_audit_readings == 100
    else:
        assert dataset.sharing_audit_readings is None
    assert client.post(page, {**form, "canary_percent": "101"}).status_code == 200


def test_a_version_from_before_a_requirement_lacks_it(
    dataset: Dataset, settings: Any, tmp_path: Path
) -> None:
    release_dataset(dataset, folder=tmp_path, override="A test", actor=None)
    release = dataset.releases.get()
    before = build_release_checklist(release)
    settings.SHARING_CANARY_UPPER = 0.02
    assert [item.title for item in list_added(before, build_release_checklist(release))] == [CANARY_TITLE]
    assert CANARY_TITLE in {blocker.title for blocker in list_unmet(dataset, release)}


def list_added(before: list[ChecklistItem], after: list[ChecklistItem]) -> list[ChecklistItem]:
    return [item for item in after if item not in before]


@pytest.mark.parametrize(("text", "share"), [("1%", 0.01), ("0.5 %", 0.005), ("0.02", 0.02), ("", 1.0)])
def test_shares_are_read(monkeypatch: pytest.MonkeyPatch, text: str, share: float) -> None:
    monkeypatch.setenv("ALIGNMENTER_SHARING_CANARY_UPPER", text)
    assert env.share("ALIGNMENTER_SHARING_CANARY_UPPER", 1.0) == share


@pytest.mark.parametrize("text", ["one", "0", "2", "150%", "-1%", "nan"])
def test_what_is_no_share_stops_the_start(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("ALIGNMENTER_SHARING_CANARY_UPPER", text)
    with pytest.raises(env.EnvironmentVariableError, match="must be a share such as 1% or 0.01"):
        env.share("ALIGNMENTER_SHARING_CANARY_UPPER", 1.0)
