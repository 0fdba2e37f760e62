"""Terms to keep: the list of a dataset, that of all datasets, and proposals of a preview."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from datasets_app.core.web.reauthentication import PROVED_AT
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import AuditEvent, Dataset, JobRun, ScrubFinding, ScrubMark
from datasets_app.scrubbing.proposals import count_open_proposals
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.factories import make_dataset, make_turn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def previewed(tmp_path: Path, empty_queue: None) -> Dataset:
    """Fredo and Henrik are in all five sessions."""
    text = "Ask Fredo, or read our Henrik guide."
    lines = [make_turn(f"s{number}", 1, role="assistant", text=text) for number in range(5)]
    dataset = make_dataset(tmp_path, lines, origin="production")
    scrub_dataset(dataset, Policy(), dry_run=True)
    return dataset


def address(page: str, dataset: Dataset, *more: Any) -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk, *more])


def read(response: Any) -> str:
    return " ".join(unescape(response.content.decode()).split())


def find_key(word: str) -> int:
    """The key of the first finding of a word in the preview."""
    findings = ScrubFinding.objects.order_by("pk")
    start = "Ask Fredo, or read our Henrik guide.".index(word)
    return int(findings.filter(start=start)[0].pk)


def test_proposals_are_decided_with_one_click_each(sign_in: Any, previewed: Dataset) -> None:
    curator = sign_in("curator")
    page = read(curator.get(address("scrub", previewed)))
    assert "Are these people? (2)" in page
    assert AuditEvent.objects.filter(action="read_raw_text", details__place="proposals").exists()
    fredo, henrik = find_key("Fredo"), find_key("Henrik")
    where = address("decide_proposal", previewed)
    done = curator.post(where, {"keep": fredo, f"after-{fredo}": henrik})
    assert done.headers["Location"].endswith(f"#proposal-{henrik}")
    assert curator.post(where, {"scrub": henrik}).headers["Location"].endswith("#proposals")
    kept, scrubbed = ScrubMark.objects.order_by("pk")
    assert (kept.verdict, kept.term) == ("not_personal", "Fredo")
    assert (scrubbed.verdict, scrubbed.kind, scrubbed.term) == ("missed", "NAME", "")
    assert count_open_proposals(previewed) == 0
    assert "Are these people?" not in read(curator.get(address("scrub", previewed)))


def test_all_that_remain_are_decided_with_one_click(sign_in: Any, previewed: Dataset) -> None:
    curator = sign_in("curator")
    preview = previewed.scrubs.get()
    assert "Scrub all 2" in read(curator.get(address("scrub", previewed)))
    where = address("scrub_proposals", previewed)
    assert "There is a newer preview" in read(curator.post(where, {"preview": preview.pk + 1}, follow=True))
    curator.post(address("decide_proposal", previewed), {"keep": find_key("Fredo")})
    assert "Scrub all" not in read(curator.get(address("scrub", previewed)))
    assert (viewer := sign_in("viewer")).post(where, {"preview": preview.pk}).status_code == 403
    done = read(curator.post(where, {"preview": preview.pk}, follow=True))
    assert "Always scrubs 1 more term." in done
    # By its name, for as long as the preview has it: what was decided can be undone.
    assert '<b dir="auto">Henrik</b>' in done
    assert "Henrik</b>" not in read(viewer.get(address("scrub", previewed)))
    assert sorted(ScrubMark.objects.values_list("verdict", "term")) == [
        ("missed", ""),
        ("not_personal", "Fredo"),
    ]
    assert count_open_proposals(previewed) == 0


def test_without_the_permission_to_read_there_are_counts_alone(sign_in: Any, previewed: Dataset) -> None:
    lead = sign_in("lead")
    wanted = ["view_scrubrun", "view_scrubfinding", "view_scrubmark", "scrub_dataset"]
    lead.user.user_permissions.add(*Permission.objects.filter(codename__in=wanted))
    previewed.restricted = False
    previewed.save(update_fields=["restricted"])
    page = read(lead.get(address("scrub", previewed)))
    assert "Are these people? (2)" in page
    assert "withheld, 5 characters" in page
    assert not re.search("fredo|henrik", page, re.IGNORECASE)
    lead.post(address("decide_proposal", previewed), {"keep": find_key("Fredo")})
    lead.post(address("keep_terms", previewed), {"terms": "Fredo"})
    assert not ScrubMark.objects.exists()
    assert sign_in("viewer").post(address("decide_proposal", previewed), {"keep": 1}).status_code == 403


def test_a_scrub_is_confirmed_only_with_a_warning_about_open_proposals(
    sign_in: Any, previewed: Dataset
) -> None:
    form = {
        "kinds": ["NAME"],
        "placeholders": "plain",
        "prefer": "recall",
        "timestamps": "keep",
        "sample": "9",
        "scrub": "1",
    }
    page = read(sign_in("curator").post(address("scrub", previewed), form))
    assert "2 words of the preview may be brands or products, and nobody has decided yet." in page


def test_terms_of_a_dataset_are_listed_once_and_values_of_patterns_are_not(
    sign_in: Any, previewed: Dataset
) -> None:
    curator = sign_in("curator")
    where = address("keep_terms", previewed)
    page = read(curator.post(where, {"terms": " Fredo \n\nBig  Henrik\nfredo"}, follow=True))
    assert "Keeps 3 terms." in page
    assert [mark.term for mark in ScrubMark.objects.order_by("pk")] == ["Fredo", "Big Henrik", "fredo"]
    refused = read(curator.post(where, {"terms": "x\njo@example.org"}, follow=True))
    assert "Line 2 is one of the e-mail addresses that a scrub replaces." in refused
    assert "jo@example.org" not in refused
    assert "This field is required." in read(curator.post(where, {"terms": ""}, follow=True))
    assert ScrubMark.objects.count() == 3


def test_terms_of_all_datasets_take_a_permission_and_patterns_a_reason(
    sign_in: Any, previewed: Dataset
) -> None:
    where = reverse("admin:datasets_app_dataset_terms")
    curator = sign_in("curator")
    assert "None yet." in read(curator.get(where))
    assert curator.post(where, {"terms": "Fredo"}).status_code == 403
    assert sign_in("viewer").get(where).status_code == 403
    officer = sign_in("privacy officer")
    assert "Keeps 1 term in all datasets" in read(officer.post(where, {"terms": "Fredo"}, follow=True))
    assert "Enter a reason." in read(officer.post(where, {"terms": "help@acme-shop.org"}))
    session = officer.session
    proved, session[PROVED_AT] = session[PROVED_AT], 0
    session.save()
    given = {"terms": "help@acme-shop.org", "override": "our own address"}
    asked = officer.post(where, given)
    assert asked.headers["Location"].startswith(reverse("account_reauthenticate"))
    session[PROVED_AT] = proved
    session.save()
    page = read(officer.post(where, given, follow=True))
    assert "help@acme-shop.org" not in page
    assert "our own address" in page
    assert "2 more terms</a> stay in all datasets" in read(officer.get(address("scrub", previewed)))
    mark = ScrubMark.objects.get(kind="")
    remove = reverse("admin:datasets_app_dataset_remove_term", args=[mark.pk])
    assert curator.post(remove).status_code == 403
    officer.post(remove)
    assert not ScrubMark.objects.filter(kind="").exists()
    assert not JobRun.objects.filter(operation="scan_text").exists()
