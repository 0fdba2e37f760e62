"""Retention on pages: why a dataset is kept, what goes when, holds, deleting by hand, erasing a session."""

import html
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from datasets_app.catalog.text_scans import scan_new_text
from datasets_app.core.web.pages import dataset_url
from datasets_app.exporting.sample_dataset import SampleOptions, sample_to_dataset
from datasets_app.models import AuditEvent, Dataset, JobRun, RetentionPolicy, Session
from datasets_app.retention.find_person import find_person
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(tmp_path: Path) -> Dataset:
    made = factories.make_dataset(tmp_path, factories.make_sessions(2), "support_prod")
    Dataset.objects.update(created_at=timezone.now() - timedelta(days=25))
    return Dataset.objects.get(pk=made.pk)


@pytest.fixture
def officer(sign_in: Any) -> Any:
    return sign_in("privacy officer")


def rule(pattern: str, kept: str, position: int, *, active: bool = True) -> RetentionPolicy:
    return RetentionPolicy.objects.create(position=position, pattern=pattern, retention=kept, active=active)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_the_page_says_which_rule_and_why(stored: Dataset, officer: Any) -> None:
    rule("demo_*", "1 day", 1)
    rule("*_prod*", "30 days", 2)
    rule("*", "1 year", 3)
    page = text(officer.get(dataset_url(stored, "retention")))
    assert 'Rule <b class="ad-break">*_prod*</b> applies: kept 30 days' in page
    assert page.index("No match") < page.index(">Applies<") < page.index("Matches, lower priority")
    start = text(officer.get(reverse("admin:index")))
    assert "support_prod</b> is due for deletion on" in start


def test_a_hold_is_set_and_lifted_with_a_reason(stored: Dataset, officer: Any, sign_in: Any) -> None:
    address = dataset_url(stored, "retention")
    assert sign_in("curator").post(address, {"do": "hold", "reason": "Mine"}).status_code == 403
    assert "This field is required" in text(officer.post(address, {"do": "hold", "reason": ""}))
    officer.post(address, {"do": "hold", "reason": "A claim is open"})
    page = text(officer.get(address))
    assert "Kept: on legal hold" in page
    assert "A claim is open" in page
    assert "Delete now" not in page
    officer.post(address, {"do": "lift", "reason": "Settled"})
    assert [event.action for event in AuditEvent.objects.order_by("-id")[:2]] == ["lift_hold", "hold"]


def test_a_rule_is_activated_on_what_was_shown(stored: Dataset, officer: Any, sign_in: Any) -> None:
    made = rule("*", "20 days", 1, active=False)
    address = reverse("admin:datasets_app_retentionpolicy_of_policy", args=[made.pk])
    page = officer.get(address)
    assert "2 sessions, 4 turns" in text(page)
    seen = page.context["schedule"].digest
    assert sign_in("curator").post(address, {"seen": seen}).status_code == 403
    assert "would delete other data" in text(officer.post(address, {"seen": "0" * 64}))
    officer.post(address, {"seen": seen})
    made.refresh_from_db()
    assert made.active
    overview = text(officer.get(reverse("admin:datasets_app_retentionpolicy_rehearsal")))
    assert "To be permanently deleted the next night: 2 sessions, 4 turns" in overview
    officer.post(reverse("admin:datasets_app_retentionpolicy_apply"))
    assert JobRun.objects.get(operation="apply_retention").state == "queued"
    officer.post(reverse("admin:datasets_app_retentionpolicy_deactivate", args=[made.pk]))
    made.refresh_from_db()
    assert not made.active


def test_a_rule_that_is_edited_or_loses_one_before_it_waits_anew(officer: Any) -> None:
    first, second = rule("keep_*", "indefinite", 1), rule("*", "20 days", 2)
    change = reverse("admin:datasets_app_retentionpolicy_change", args=[second.pk])
    officer.post(change, {"position": 2, "pattern": "*", "retention": "20 days", "reason": "Why not"})
    second.refresh_from_db()
    assert second.active
    officer.post(reverse("admin:datasets_app_retentionpolicy_delete", args=[first.pk]), {"post": "yes"})
    second.refresh_from_db()
    assert not second.active


def test_deleting_by_hand_wants_the_name_typed(stored: Dataset, officer: Any) -> None:
    address = dataset_url(stored, "retention")
    asked = {"do": "delete", "delete-name": "support", "delete-reason": "Contract ended"}
    assert "not the name of the dataset" in text(officer.post(address, asked))
    officer.post(address, asked | {"delete-name": "support_prod"})
    job = JobRun.objects.get(operation="apply_retention")
    assert (job.dataset, job.parameters) == (stored, {"reason": "Contract ended"})


def test_a_session_is_erased_by_a_job_that_does_not_know_its_id(stored: Dataset, officer: Any) -> None:
    sample_to_dataset(stored, "copy", SampleOptions(2))
    session = Session.objects.get(dataset=stored, session_id="s2")
    address = reverse("admin:datasets_app_dataset_erase_session", args=[stored.pk, session.pk])
    assert address in text(officer.get(reverse("admin:datasets_app_session_change", args=[session.pk])))
    page = text(officer.get(address))
    assert "1 session, 2 turns" in page
    assert "No release contains it" in page
    officer.post(address, {"reason": "Asked for", "everywhere": "on"})
    job = JobRun.objects.get(operation="erase_session")
    copy = Session.objects.get(dataset__name="copy", session_id="s2")
    assert job.parameters == {"session": session.pk, "reason": "Asked for", "copies": [copy.pk]}
    followed = officer.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk]))
    assert "Asked for" in text(followed)
    Dataset.objects.filter(pk=stored.pk).update(legal_hold=True)
    assert "Erase permanently" not in text(officer.get(address))


def test_a_person_is_found_listed_and_erased_from_all_datasets(
    stored: Dataset, officer: Any, sign_in: Any, tmp_path: Path
) -> None:
    mail = "jane.roe@mailbox.org"
    lines = [
        factories.make_turn("a", text=f"Write to {mail}"),
        factories.make_turn("b", tags=[f"from:{mail}"]),
    ]
    for name in ("first", "second"):
        factories.make_dataset(tmp_path, lines, name)
    address = reverse("admin:datasets_app_dataset_erase_person")
    assert address in text(officer.get(reverse("admin:index")))
    assert "Erase permanently" not in text(officer.get(address))
    assert "No session names this person" in text(officer.post(address, {"person": "nobody", "do": "find"}))
    assert "at least 3 characters" in text(officer.post(address, {"person": "xx", "do": "find"}))
    page = text(officer.post(address, {"person": mail, "do": "find"}))
    assert "Erase 4 sessions" in page
    assert page.count("text (1), tags (1)") == 2
    Dataset.objects.filter(name="second").update(legal_hold=True)
    erase = {"person": mail, "do": "erase", "reason": "Request of 3 May"}
    assert "on legal hold" in text(officer.post(address, erase))
    assert not JobRun.objects.filter(operation="erase_session").exists()
    Dataset.objects.filter(name="second").update(legal_hold=False)
    officer.post(address, erase)
    job = JobRun.objects.get(operation="erase_session")
    factories.run_task(job)
    assert not find_person(mail)
    assert Session.objects.count() == 2
    written = str([*JobRun.objects.values(), *AuditEvent.objects.values()])
    assert mail not in written
    assert sign_in("curator").get(address).status_code == 403


def test_a_search_tells_nothing_about_text_that_one_may_not_read(tmp_path: Path, sign_in: Any) -> None:
    """Who may erase, and see only the structure of raw text, can't find out word by word what it says."""
    eraser = sign_in("none")
    needed = Permission.objects.filter(codename__in=["erase_session", "view_session", "view_dataset"])
    eraser.user.user_permissions.set(needed)
    mail = "jane.roe@mailbox.org"
    factories.make_dataset(tmp_path, [factories.make_turn(text=f"Ask Jane Roe, {mail}")], "raw_one")
    scan_new_text(
        factories.make_dataset(tmp_path, [factories.make_turn("b", text="Ask Jane Roe")], "clean_one")
    )
    address = reverse("admin:datasets_app_dataset_erase_person")
    gap = "Not searched, because you don't have access to raw text: raw_one, received spans."
    page = text(eraser.post(address, {"person": "Jane Roe", "do": "find"}))
    assert "Erase 1 session<" in page
    assert gap in html.unescape(page)
    there, absent = (
        text(eraser.post(address, {"person": value, "do": "find"})).replace(value, "")
        for value in (mail, "john.doe@mailbox.org")
    )
    assert "No session names this person" in there
    assert re.sub(r'value="[^"]*"', "", there) == re.sub(r'value="[^"]*"', "", absent)
    erase = {"person": "Jane Roe", "do": "erase", "reason": "Request of 3 May"}
    assert gap in html.unescape(text(eraser.post(address, erase, follow=True)))
    run = factories.run_task(JobRun.objects.get(operation="erase_session"))
    assert run["sessions"] == 1
    assert [match.session.dataset.name for match in find_person("Jane Roe")] == ["raw_one"]


def test_an_erasure_tells_who_holds_a_copy_and_names_datasets_as_they_are(
    stored: Dataset, officer: Any
) -> None:
    handed_out = [{"at": "2026-05-03T09:14:21", "by": "ada", "release": "1.0.0", "dataset": stored.name}]
    job = JobRun.objects.create(
        operation="erase_session",
        dataset=stored,
        state="done",
        parameters={"session": 431_000, "reason": "Asked for", "copies": [431_001]},
        result={"turns": 2, "releases": {stored.name: ["1.0.0"]}, "handed_out": handed_out, "also_in": []},
    )
    page = text(officer.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk])))
    for told in ("Notify these people", "ada", "release 1.0.0 of support_prod", "support_prod 1.0.0"):
        assert told in page
    for untold in ("431,00", "Handed out", "Also in"):
        assert untold not in page


def test_what_has_expired_says_so(stored: Dataset, officer: Any) -> None:
    Dataset.objects.update(status="expired", expired_at=timezone.now(), session_count=0, turn_count=0)
    page = text(officer.get(dataset_url(stored, "retention")))
    assert "The contents are being deleted" in page
    for name in ("change", "history"):
        assert officer.get(dataset_url(stored, name)).status_code == 200, name
    for name in ("checks", "scrub", "splits", "sharing", "sessions", "export"):
        page = text(officer.get(dataset_url(stored, name)))
        assert "permanently deleted" in page, name
        assert "ad-btn" not in page[page.index("<main") : page.index("</main>")], name
    assert officer.get(dataset_url(stored, "edit")).status_code == 302
