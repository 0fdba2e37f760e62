"""The "Splits" page: who may, what is asked, what it tells of a dataset that grows."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.catalog import text_gates
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, JobRun, Session
from datasets_app.splitting.split_dataset import split_dataset
from tests import factories
from tests.domain.test_near_duplicates import talk

pytestmark = pytest.mark.django_db(transaction=True)

EVIL = "<script>alert(1)</script>"
ASKED = {"ratios": "60, 20, 20", "stratify": "scenario", "similarity": "0.65", "seed": "42"}


def lines(numbers: range, **fields: Any) -> list[dict[str, Any]]:
    return [
        factories.make_turn(f"s{number:03d}", at, text=text, tags=[f"scenario:{EVIL}"], **fields)
        for number in numbers
        for at, text in enumerate(talk(number, 2), 1)
    ]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return factories.make_dataset(tmp_path, lines(range(20)), origin="synthetic")


def page_of(dataset: Dataset, name: str = "splits") -> str:
    return reverse(f"admin:datasets_app_dataset_{name}", args=[dataset.pk])


def shown(client: Any, dataset: Dataset, name: str = "splits") -> str:
    response = client.get(page_of(dataset, name))
    assert response.status_code == 200
    html = " ".join(response.content.decode().split())
    assert EVIL not in html
    return html


def run_jobs() -> None:
    for job in JobRun.objects.filter(state="queued").order_by("pk"):
        perform(job.pk)
        job.refresh_from_db()
        assert job.state == "done", job.error


@pytest.mark.parametrize(
    ("role", "sees", "splits"),
    [
        ("superuser", True, True),
        ("curator", True, True),
        ("lead", True, False),
        ("privacy officer", True, False),
        ("viewer", True, False),
        ("annotator", False, False),
        ("none", False, False),
    ],
)
def test_who_sees_and_who_splits(sign_in: Any, dataset: Dataset, role: str, sees: bool, splits: bool) -> None:
    client = sign_in(role)
    page = client.get(page_of(dataset))
    assert (page.status_code == 200) == sees
    if sees:
        assert ("Split dataset" in page.content.decode()) == splits
    client.post(page_of(dataset), {**ASKED, "split": "1"})
    assert JobRun.objects.filter(operation="split_dataset").exists() == splits


def test_from_the_form_to_the_report_and_on_with_what_comes_later(
    curator: Any, dataset: Dataset, tmp_path: Path
) -> None:
    response = curator.post(page_of(dataset), {**ASKED, "split": "1"})
    run_jobs()
    assert response["Location"] == reverse("admin:datasets_app_jobrun_change", args=[JobRun.objects.get().pk])
    assert curator.get(response["Location"]).status_code == 200
    html = shown(curator, dataset)
    assert "No session has a near-duplicate" in html
    assert "no split yet" not in html
    assert html.index(">Train<") < html.index(">Validation<") < html.index(">Test<")
    assert "12 train" in shown(curator, dataset, "change")
    assert "Validation" in shown(curator, dataset, "sessions")

    factories.import_file(factories.write_jsonl(tmp_path / "more.jsonl", lines(range(20, 25))), append=True)
    assert "5 sessions have no split yet." in shown(curator, dataset)
    assert "5 sessions without a split" in shown(curator, dataset, "change")
    curator.post(page_of(dataset), {"rest": "1"})
    run_jobs()
    assert "no split yet" not in shown(curator, dataset)
    assert AuditEvent.objects.filter(action="split").count() == 2
    assert AuditEvent.objects.filter(action="split").latest("pk").details["placed"] == 5


def test_leaks_are_shown_to_those_who_may_see_sessions(
    sign_in: Any, dataset: Dataset, tmp_path: Path
) -> None:
    twin = [factories.make_turn("twin", at, text=text) for at, text in enumerate(talk(3, 2), 1)]
    factories.import_file(factories.write_jsonl(tmp_path / "twin.jsonl", twin), append=True)
    Session.objects.filter(session_id="s003").update(split="train")
    Session.objects.filter(session_id="twin").update(split="test")
    split_dataset(dataset)
    viewer = sign_in("viewer")
    assert ">s003<" not in shown(viewer, dataset)  # raw, until it was searched
    text_gates.scan_and_describe(dataset)
    html = shown(viewer, dataset)
    assert ">s003<" in html
    assert ">twin<" in html
    # A session that is gone is named no more.
    Session.objects.get(session_id="twin").delete()
    assert ">s003<" not in shown(sign_in("curator"), dataset)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"ratios": "50,60"}, "add up to 100"),
        ({"ratios": ""}, "This field is required"),
        ({"similarity": "0.1"}, "from 0.5 to 1"),
        ({"similarity": "nan"}, "Enter a number"),
        ({"seed": "9" * 20}, "power of 53"),
        ({"stratify": "tag"}, "Select a valid choice"),
    ],
)
def test_what_can_not_be_asked_is_said_at_the_field(
    curator: Any, dataset: Dataset, changed: dict[str, str], told: str
) -> None:
    response = curator.post(page_of(dataset), {**ASKED, **changed, "split": "1"})
    assert told in response.content.decode()
    assert "Nothing was started" in response.content.decode()
    assert not JobRun.objects.exists()


def test_splitting_again_takes_the_permission_and_a_reason(sign_in: Any, dataset: Dataset) -> None:
    split_dataset(dataset)
    again = {**ASKED, "ratios": "80,20", "override": "nothing was trained", "again": "1"}
    curator = sign_in("curator")
    assert ">Split again<" not in shown(curator, dataset)
    assert curator.post(page_of(dataset), again).status_code == 403
    admin = sign_in("superuser")
    assert ">Split again<" in shown(admin, dataset)
    assert (
        "This field is required" in admin.post(page_of(dataset), {**again, "override": " "}).content.decode()
    )
    admin.post(page_of(dataset), again)
    # A second one waits for the first.
    assert admin.post(page_of(dataset), again, follow=True).content.decode().count("already running") == 1
    assert "A split is running." in shown(admin, dataset)
    run_jobs()
    assert set(Session.objects.values_list("split", flat=True)) == {"train", "test"}
    event = AuditEvent.objects.get(action="override")
    assert (event.actor, event.details["reason"]) == ("superuser", "nothing was trained")
