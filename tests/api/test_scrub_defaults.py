"""A scrub without options does the same by page, API and command."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from datasets_app.domain.pii.detector import KINDS, OPTIONAL_KINDS, PRECISION, RECALL
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, JobRun, Turn
from tests.api.calls import Caller, make_user
from tests.factories import make_dataset, make_turn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_queue")]


def read_policy() -> Policy:
    job = JobRun.objects.filter(operation="scrub_dataset").latest("pk")
    JobRun.objects.update(state=JobRun.State.FAILED)
    return Policy.from_json(job.parameters["policy"])


def preview_on_page(dataset: Dataset, client: Client) -> Policy:
    address = reverse("admin:datasets_app_dataset_scrub", args=[dataset.pk])
    form = client.get(address).context["form"]
    answers = {field.name: field.value() for field in form if field.value() not in (None, False)}
    assert client.post(address, answers | {"preview": "1"}).status_code == 302
    return read_policy()


@pytest.mark.parametrize("origin", ["production", "synthetic"])
def test_every_door_has_the_same_defaults(
    origin: str, tmp_path: Path, admin_client: Client, manage: Any
) -> None:
    line = make_turn("call-7", 1, text="Where is order no. A-20431-77?")
    dataset = make_dataset(tmp_path, [line], origin=origin)
    by_page = preview_on_page(dataset, admin_client)
    curator = Caller(make_user("curator"))
    assert curator("POST", f"/datasets/{dataset.name}/scrubs", {"dry_run": True}).status_code == 202
    assert read_policy() == by_page
    assert manage("sanitize_dataset", "--dataset", dataset.name).returncode == 0
    assert read_policy() == by_page
    is_production = origin == "production"
    assert by_page.kinds == ((*KINDS, *OPTIONAL_KINDS) if is_production else KINDS)
    assert by_page.prefer == (RECALL if is_production else PRECISION)
    turn = Turn.objects.select_related("session").get()
    assert (turn.text == "Where is order no. [ORDER_NUMBER]?") is is_production
    assert (turn.session.session_id != "call-7") is is_production


def test_what_is_chosen_counts(tmp_path: Path, manage: Any) -> None:
    dataset = make_dataset(tmp_path, [make_turn("call-7", 1, text="Hello")], origin="production")
    curator, answers = Caller(make_user("curator")), {"dry_run": True, "classes": ["EMAIL"]}
    curator("POST", f"/datasets/{dataset.name}/scrubs", answers | {"hash_session_ids": False})
    assert read_policy() == Policy(kinds=("EMAIL",))
    options = ("--dataset", dataset.name, "--no-hash-session-ids", "--scrub-patterns", "email")
    assert manage("sanitize_dataset", *options).returncode == 0
    assert read_policy() == Policy(kinds=("EMAIL",))
    curator("POST", f"/datasets/{dataset.name}/scrubs", answers | {"prefer": "precision"})
    assert read_policy().prefer == PRECISION
    assert manage("sanitize_dataset", *options, "--prefer", "precision").returncode == 0
    assert read_policy().prefer == PRECISION
