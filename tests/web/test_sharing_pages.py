"""What must hold before sharing, where the review is signed; and what can be asked for to go out."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations_app.campaigns.edit import edit_campaign
from datasets_app.models import AuditEvent, Dataset, JobFile, JobRun, SharingReview
from datasets_app.releasing.release_dataset import release_dataset
from tests import factories
from tests.campaigns import label_all_replies, make_campaign, make_replies
from tests.factories import run_task

# A name is sent, and ignored: who signs is the account.
SIGN = {"name": "Dana Ortiz", "statement": "Seen under case 7."}


def address(page: str, dataset: Dataset) -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk])


def html(client: Any, page: str, dataset: Dataset) -> str:
    return " ".join(client.get(address(page, dataset)).content.decode().split())


def released(dataset: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    release_dataset(dataset, folder=folder, override="A test.", actor=None)


def test_who_may_signs_and_it_is_shown_who_did(sign_in: Any, dataset: Dataset, tmp_path: Path) -> None:
    officer = sign_in("privacy officer")
    User.objects.update(first_name="Olga", last_name="Example")
    shown = html(officer, "sharing", dataset)
    assert 'You sign as <b dir="auto">Olga Example (privacy_officer)</b>' in shown
    assert 'name="name"' not in shown
    assert officer.post(address("sharing", dataset), SIGN).status_code == 302
    shown = html(officer, "sharing", dataset)
    assert "Olga Example (privacy_officer) signed on" in shown
    assert "Dana" not in shown
    assert "Seen under case 7." in shown
    assert "Sign the legal review" not in shown
    event = AuditEvent.objects.get(action="sign_review")
    assert (event.actor, event.details["name"]) == (
        "privacy_officer",
        "Olga Example (privacy_officer)",
    )
    factories.import_file(
        factories.write_jsonl(tmp_path / "m.jsonl", factories.make_session("more")), append=True
    )
    shown = html(officer, "sharing", dataset)
    assert "but sessions have been added since" in shown
    assert "no longer" in shown
    assert "Sign the legal review" in shown


def test_who_signs_reads_that_the_next_label_ends_the_signature(sign_in: Any, tmp_path: Path) -> None:
    officer, dataset = sign_in("privacy officer"), make_replies(tmp_path, 2)
    ends = "the next label ends the signature"
    assert ends not in html(officer, "sharing", dataset)
    campaign = make_campaign(dataset, "ada", overlap=1)
    assert ends in html(officer, "sharing", dataset)
    officer.post(address("sharing", dataset), SIGN)
    shown = html(officer, "sharing", dataset)
    assert "signed on" in shown
    assert ends in shown
    label_all_replies(campaign, "ada", limit=1)
    assert "sign it again" in html(officer, "sharing", dataset)
    edit_campaign(campaign, changes={"status": "closed"}, actor=None)
    assert ends not in html(officer, "sharing", dataset)


def test_after_a_release_the_form_offers_its_package(curator: Any, dataset: Dataset, tmp_path: Path) -> None:
    def chosen(query: str = "") -> list[str]:
        page = curator.get(address("export", dataset) + query).content.decode()
        return re.findall(r'<option value="([^"]*)" selected', page)

    assert "package" not in chosen()
    released(dataset, tmp_path)
    assert chosen() == ["package", "1.0.0"]
    assert chosen("?format=package") == ["package", "1.0.0"]
    assert "package" not in chosen("?format=csv")


def test_who_may_not_neither_sees_the_form_nor_signs(curator: Any, dataset: Dataset) -> None:
    assert "Sign the legal review" not in html(curator, "sharing", dataset)
    assert curator.post(address("sharing", dataset), SIGN).status_code == 403
    assert not SharingReview.objects.exists()


def test_a_slip_comes_back_with_a_sentence(sign_in: Any, dataset: Dataset) -> None:
    response = sign_in("privacy officer").post(address("sharing", dataset), {"statement": "s" * 2001})
    assert "at most 2000 characters" in response.content.decode()
    assert not SharingReview.objects.exists()


def test_of_an_expired_dataset_nothing_is_asked(sign_in: Any, dataset: Dataset) -> None:
    Dataset.objects.update(status="expired")
    client = sign_in("superuser")
    assert "Start export" not in html(client, "export", dataset)
    assert "permanently deleted" in html(client, "export", dataset)
    assert "Sign the legal review" not in html(client, "sharing", dataset)
    client.post(address("sharing", dataset), SIGN)
    assert not SharingReview.objects.exists()
    client.post(address("export", dataset), {"format": "turns"})
    assert not JobRun.objects.filter(operation="export_dataset").exists()


def test_only_what_there_is_can_be_asked_for(curator: Any, dataset: Dataset, tmp_path: Path) -> None:
    shown = html(curator, "export", dataset)
    assert "id_version" not in shown
    assert "id_split" not in shown
    dataset.sessions.update(split="train")
    released(dataset, tmp_path)
    shown = html(curator, "export", dataset)
    assert "Release 1.0.0" in shown
    assert "Validation" in shown


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"format": "package", "tag": "t"}, "A package contains the whole dataset"),
        ({"format": "csv", "version": "1.0.0"}, "exported unchanged"),
        ({"format": "parquet", "gzip": "on"}, "already compressed"),
        ({"format": "turns", "version": "9.9.9"}, "Select a valid choice"),
    ],
)
def test_what_does_not_go_together_is_told(
    curator: Any, dataset: Dataset, tmp_path: Path, given: dict[str, str], sentence: str
) -> None:
    released(dataset, tmp_path)
    response = curator.post(address("export", dataset), given)
    assert sentence in response.content.decode()
    assert not JobRun.objects.filter(operation="export_dataset").exists()


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"format": "parquet"}, ["support.parquet", "support.parquet.meta.yaml"]),
        ({"format": "package"}, ["support_package.zip"]),
        ({"format": "package", "version": "1.0.0"}, ["support_v1.0.0.zip"]),
        ({"format": "turns", "version": "1.0.0"}, ["support_v1.0.0.jsonl.gz", "support_v1.0.0.meta.yaml"]),
    ],
)
def test_the_job_makes_what_was_asked_for(
    sign_in: Any, dataset: Dataset, tmp_path: Path, empty_queue: None, given: dict[str, str], names: list[str]
) -> None:
    released(dataset, tmp_path)
    curator = sign_in("superuser")
    reason = {"override": "A test."} if given["format"] == "package" else {}
    curator.post(address("export", dataset), {**given, **reason})
    job = JobRun.objects.get(operation="export_dataset")
    told = run_task(job)
    assert (told["sessions"], told["turns"]) == (2, 4)
    assert list(JobFile.objects.order_by("id").values_list("name", flat=True)) == names
    page = curator.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk])).content.decode()
    assert names[0] in page
    # Who has had which release is answered by the audit trail.
    kept = JobFile.objects.get(kind="export")
    assert b"".join(curator.get(reverse("download", args=[kept.pk])))
    for action in ("export", "download"):
        assert AuditEvent.objects.get(action=action).details.get("release") == given.get("version")


def test_a_package_is_of_the_newest_version_unless_current_data_is_chosen(
    curator: Any, dataset: Dataset, tmp_path: Path
) -> None:
    released(dataset, tmp_path)
    for chosen, version in (({}, "1.0.0"), ({"version": ""}, "")):
        page = curator.get(address("export", dataset), {"format": "package", **chosen})
        assert page.context["form"]["version"].value() == version
        assert "ad-note ad-warn" in page.content.decode()
