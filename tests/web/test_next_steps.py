"""What comes next for a dataset: facts in, steps out; and the notice that asks someone else."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from datasets_app.admin.home import list_attention_items
from datasets_app.catalog import steps, text_gates
from datasets_app.catalog.dataset_facts import DatasetFacts, Remedy, TextFacts
from datasets_app.catalog.policies import Blocker
from datasets_app.catalog.steps import CHECKS_TITLE, StepFacts
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.core import audit
from datasets_app.models import Dataset, Notification, OutgoingEvent
from datasets_app.notifications.audience import notify
from datasets_app.notifications.wording import describe
from datasets_app.releasing.next_steps import find_next_steps, load_step_facts
from datasets_app.releasing.sharing.sign_review import sign_review
from tests.everything import FIXED_PK, make_full_dataset

TEXT = TextFacts(last_session=9, scanned_to=9, turn_count=4)
EMPTY = DatasetFacts("support", "external", "raw")
CLEAR = EMPTY._replace(turn_count=4, text=TEXT)
UNSEARCHED = CLEAR._replace(text=TEXT._replace(scanned_to=0))
PRODUCTION = CLEAR._replace(origin="production")
ERRORS = Blocker(CHECKS_TITLE, "The checks found 2 errors (E301: 2).", Remedy.CHECKS)
RAW = Blocker("Scrubbed", "The dataset contains raw text.", Remedy.SCRUB)
CHECKED = StepFacts(CLEAR, "current")
READY = CHECKED._replace(is_split=True, labels=True)


@pytest.mark.parametrize(
    ("facts", "done", "open_names", "first_action"),
    [
        (StepFacts(EMPTY), "", "import", "Add file"),
        (StepFacts(UNSEARCHED), "import", "check split release", "Run checks"),
        (StepFacts(CLEAR, "outdated"), "import scrub", "check split label release share", "Run checks"),
        (
            StepFacts(CLEAR, "current", [ERRORS]),
            "import scrub",
            "check split label share",
            "View findings",
        ),
        (StepFacts(PRODUCTION, "current", [RAW]), "import check", "scrub split", "Scrub"),
        (CHECKED, "import check scrub", "split label release share", "Split"),
        (CHECKED._replace(open_campaigns=1), "import check scrub", "split label release share", "Split"),
        (READY, "import check scrub split label", "release share", "Release"),
        (
            READY._replace(version="1.0.0", version_changed=True),
            "import check scrub split label",
            "release share",
            "Release",
        ),
        (READY._replace(version="1.0.0"), "import check scrub split label release", "share", "Sign review"),
        (
            READY._replace(version="1.0.0", review_signed=True),
            "import check scrub split label release",
            "share",
            "Export",
        ),
        (
            READY._replace(version="1.0.0", review_signed=True, shared=True),
            "import check scrub split label release share",
            "",
            None,
        ),
    ],
)
def test_what_is_done_and_what_can_be_taken(
    facts: StepFacts, done: str, open_names: str, first_action: str | None
) -> None:
    every = steps.decide_steps(facts)
    for step in every:
        step.allowed = True
    assert [step.name for step in every if step.is_done] == done.split()
    assert [step.name for step in every if step.state == steps.OPEN] == open_names.split()
    found = steps.find_next(every)
    assert (found.action if found else None) == first_action
    assert steps.find_waiting(every) == []


def test_checks_are_next_only_if_the_texts_have_changed(dataset: Dataset) -> None:
    found = StepFacts(UNSEARCHED, "same_text")
    assert [step.name for step in steps.decide_steps(found) if step.state == steps.OPEN][0] == "scrub"
    scrubbing = StepFacts(PRODUCTION._replace(scrub_job=7), "outdated")
    assert [step.name for step in steps.decide_steps(scrubbing) if step.state == steps.OPEN] == [
        "scrub",
        "split",
    ]
    check_dataset(dataset, actor=None)
    for action, state in (("tag_sessions", "same_text"), ("import", "outdated")):
        audit.record(action, actor=None, dataset_name=dataset.name)
        assert load_step_facts(dataset).report == state


def test_a_page_has_one_primary_button(admin_client: Client, empty_queue: None) -> None:
    make_full_dataset()
    Dataset.objects.update(status="raw")
    addresses = [
        "/admin/datasets_app/source/",
        "/admin/annotations_app/campaign/",
        "/admin/datasets_app/dataset/",
    ]
    for page in ("scrub", "export", "releases", "sharing", "sessions"):
        addresses.append(reverse(f"admin:datasets_app_dataset_{page}", args=[FIXED_PK]))
    seen = {}
    for address in addresses:
        answer = admin_client.get(address)
        if answer.status_code == 200 and not answer.streaming:
            seen[address] = len(re.findall(r'class="[^"]*\bad-primary\b', answer.content.decode()))
    assert len(seen) == len(addresses)
    assert sum(seen.values()) > 4
    assert {address: count for address, count in seen.items() if count > 1} == {}


def test_the_button_is_what_this_person_may_do(sign_in: Any, dataset: Dataset) -> None:
    text_gates.scan_and_describe(dataset)
    sign_in("viewer")
    viewer = User.objects.get(username="viewer")
    officer = User.objects.create_user("olga", email="olga@company.example", is_staff=True)
    officer.groups.add(Group.objects.get(name="privacy officer"))
    known = find_next_steps(dataset, viewer)
    assert known.next is None
    assert {step.name: step.who for step in known.waiting}["share"] == ["privacy officer"]
    known = find_next_steps(dataset, officer)
    assert known.next is not None
    assert known.next.name == "check"


def test_someone_is_asked_once_a_day_for_what_only_they_can_do(sign_in: Any, dataset: Dataset) -> None:
    text_gates.scan_and_describe(dataset)
    client = sign_in("viewer")
    url = reverse("admin:datasets_app_dataset_ask", args=[dataset.pk])
    page = client.post(url, {"step": "share"}, follow=True).content.decode()
    assert "Ask an administrator" in page
    officer = User.objects.create_user("olga", email="olga@company.example", is_staff=True)
    officer.groups.add(Group.objects.get(name="privacy officer"))
    page = client.post(url, {"step": "share"}, follow=True).content.decode()
    assert "Notified: olga" in page
    event = OutgoingEvent.objects.get(kind="step.requested")
    viewer = User.objects.get(username="viewer")
    data = {"step": "share", "action": "Sign review", "requested_by": viewer.pk}
    assert (event.dataset, event.data, event.recipients) == (dataset, data, [officer.pk])
    notify(event)
    assert Notification.objects.get().user == officer
    asked = f"viewer asks you to take the next step of {dataset.name}: Sign review."
    assert describe(event).text == asked
    [item] = [item for item in list_attention_items(officer, Dataset.objects.all(), {}) if item.text == asked]
    assert item.name == dataset.name
    page = client.get(reverse("admin:datasets_app_dataset_change", args=[dataset.pk])).content.decode()
    assert "Asked today" in page
    assert "to sign review</span>" not in page
    page = client.post(url, {"step": "share"}, follow=True).content.decode()
    assert "They were notified today: olga" in page
    client.post(url, {"step": "import"})
    assert OutgoingEvent.objects.filter(kind="step.requested").count() == 1
    sign_review(dataset, actor=officer)
    assert asked not in [item.text for item in list_attention_items(officer, Dataset.objects.all(), {})]


def test_the_list_of_datasets_shows_the_steps_of_each(sign_in: Any, dataset: Dataset) -> None:
    hidden = Dataset.objects.create(name="hidden", restricted=True)
    client = sign_in("curator")
    page = client.get(reverse("admin:datasets_app_dataset_changelist")).content.decode()
    address = re.search('hx-get="([^"]*)"[^>]*hx-swap="none"', page)
    assert address is not None
    assert f'id="steps-{dataset.pk}"' in page
    bars = client.get(f"{address[1].replace('&amp;', '&')}&dataset={hidden.pk}&dataset=x").content.decode()
    assert f'id="steps-{dataset.pk}" hx-swap-oob' in bars
    assert str(hidden.pk) not in re.findall(r'id="steps-(\d+)"', bars)
    assert bars.count("<rect") == len(steps.decide_steps(load_step_facts(dataset)))
    following = find_next_steps(dataset, User.objects.get(username="curator")).next
    assert following is not None
    assert f">{following.title}<" in bars


def test_nobody_is_asked_for_a_hidden_dataset(sign_in: Any, dataset: Dataset) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(restricted=True)
    url = reverse("admin:datasets_app_dataset_ask", args=[dataset.pk])
    assert sign_in("viewer").post(url, {"step": "share"}).status_code == 404
