"""Exempting a value and attesting a text: who may, why, and with a recent proof of who they are."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.catalog import gates, text_gates
from datasets_app.core.web.reauthentication import PROVED_AT
from datasets_app.models import Attestation, Dataset, ScrubMark
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.factories import make_dataset, make_turn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    made = make_dataset(tmp_path, [make_turn("a", text="Mail jo@example.org")])
    text_gates.scan_and_describe(made)
    return made


def address(page: str, dataset: Dataset) -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk])


PAGES = [("attest", {"override": "invented"}), ("exempt", {"term": "jo@example.org", "override": "invented"})]


@pytest.mark.parametrize(("page", "form"), PAGES)
def test_it_takes_the_permission_and_a_recent_sign_in(
    dataset: Dataset, sign_in: Any, page: str, form: dict[str, str]
) -> None:
    for role in ("curator", "viewer", "lead"):
        assert sign_in(role).post(address(page, dataset), form).status_code == 403
    officer = sign_in("privacy officer")
    session = officer.session
    session[PROVED_AT] = 0
    session.save()
    asked = officer.post(address(page, dataset), form)
    assert asked.status_code == 302
    assert asked.headers["Location"].startswith(reverse("account_reauthenticate"))
    assert not Attestation.objects.exists()
    assert not ScrubMark.objects.exists()


def test_an_attestation_is_shown_everywhere_and_withdrawn(dataset: Dataset, sign_in: Any) -> None:
    officer = sign_in("privacy officer")
    where, overview = address("attest", dataset), address("change", dataset)
    assert where in officer.get(overview).content.decode()
    assert "This field is required" in officer.post(where, {"override": " "}).content.decode()
    page = officer.post(where, {"override": "invented addresses"}, follow=True).content.decode()
    assert "that the text may stay as it is: invented addresses" in " ".join(page.split())
    assert ">Attested</span>" in page
    assert "Withdraw it" in officer.get(where).content.decode()
    page = officer.post(where, {"withdraw": "1"}, follow=True).content.decode()
    assert ">Raw</span>" in page
    assert "Raw: it contains personal data (e-mail addresses: 1)." in page


def test_a_typed_value_is_exempted_and_never_shown(dataset: Dataset, sign_in: Any) -> None:
    root = sign_in("superuser")
    form = {"term": "jo@example.org", "override": "our own address"}
    page = root.post(address("exempt", dataset), form, follow=True).content.decode()
    assert "our own address" in page
    assert "jo@example.org" not in page
    mark = ScrubMark.objects.get()
    assert (mark.kind, mark.reason) == ("EMAIL", "our own address")


AMHARIC = "እባክዎ የደንበኞች አገልግሎት ቁጥር ይላኩልኝ እና ትዕዛዜ የት እንዳለ ንገሩኝ"


def test_pages_name_attesting_where_no_scrub_helps(tmp_path: Path, sign_in: Any) -> None:
    made = make_dataset(tmp_path, [make_turn("a", text=AMHARIC)], "amharic", origin="production")
    scrub_dataset(made, parse_policy(None))
    assert gates.load_facts(made).remedy == "attest"
    officer, curator = sign_in("privacy officer"), sign_in("curator")
    for address_ in (reverse("admin:index"), address("change", made)):
        page = officer.get(address_).content.decode()
        assert address("attest", made) in page
        assert "Attest that it may stay" in page
        assert "Scrub dataset" not in page
    page = curator.get(reverse("admin:index")).content.decode()
    assert "View checklist" in page
    assert "Scrub dataset" not in page
