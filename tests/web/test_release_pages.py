"""Versions in the admin: who may see, release, download and compare them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from datasets_app.browsing.change_sessions import exclude_sessions
from datasets_app.catalog import gates, text_gates
from datasets_app.domain.pii.policy import Policy
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, JobRun, Release
from datasets_app.releasing import files
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.retention.erase_session import erase_session
from datasets_app.scrubbing.marks import mark_missed, mark_not_personal, remove_mark
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests import factories
from tests.api.calls import Caller, make_user

pytestmark = pytest.mark.django_db


def address(page: str, dataset: Dataset, *more: Any) -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk, *more])


def make_release(dataset: Dataset, tmp_path: Path, override: str = "") -> Release:
    folder = tmp_path / "work"
    folder.mkdir(parents=True)
    made = release_dataset(dataset, folder=folder, override=override, notes="<b>bold</b>", actor=None)
    dataset.refresh_from_db()
    return Release.objects.get(pk=made.release)


@pytest.fixture
def release(dataset: Dataset, tmp_path: Path) -> Release:
    return make_release(dataset, tmp_path)


@pytest.fixture
def raw_dataset(db: None, tmp_path: Path) -> Dataset:
    """Two sessions of two turns, the first of each with an e-mail address."""
    lines = factories.make_sessions(2)
    for line in lines[::2]:
        line["text"] = "Mail jo@example.org."
    dataset = factories.make_dataset(tmp_path, lines)
    text_gates.scan_and_describe(dataset)
    return dataset


def test_what_stands_in_the_way_is_shown_and_a_curator_cannot_pass(
    curator: Any, raw_dataset: Dataset
) -> None:
    page = curator.get(address("releases", raw_dataset)).content.decode()
    assert "Next version: 1.0.0" in page
    assert "The dataset contains personal data (e-mail addresses: 2)." in page
    assert 'name="notes"' not in page
    answer = curator.post(address("releases", raw_dataset), {"bump": "", "override": "because"})
    assert answer.status_code == 200
    assert not JobRun.objects.filter(operation="release_dataset").exists()


def test_without_blockers_a_curator_releases(curator: Any, dataset: Dataset) -> None:
    page = curator.get(address("releases", dataset)).content.decode()
    assert "No blockers." in page
    assert 'name="notes"' in page
    curator.post(address("releases", dataset), {"bump": ""})
    assert JobRun.objects.filter(operation="release_dataset").exists()


def test_notes_with_personal_data_are_refused_before_a_job_keeps_them(curator: Any, dataset: Dataset) -> None:
    scrub_dataset(dataset, Policy())
    notes = {"notes": "Ask jo@example.org"}
    page = curator.post(address("releases", dataset), {"bump": "", **notes}).content.decode()
    assert "The notes look like personal data (EMAIL)." in page
    assert "jo@example.org</textarea>" in page
    with pytest.raises(CommandError, match="The notes look like personal data"):
        call_command("release_dataset", dataset.name, **notes)
    assert (
        Caller(make_user("curator"))("POST", f"/datasets/{dataset.name}/releases", notes).status_code == 409
    )
    assert not JobRun.objects.filter(operation="release_dataset").exists()


def test_who_may_override_gives_a_reason_and_the_job_releases(sign_in: Any, raw_dataset: Dataset) -> None:
    client, place = sign_in("superuser"), address("releases", raw_dataset)
    assert client.post(place, {"bump": ""}).status_code == 200
    assert not JobRun.objects.filter(operation="release_dataset").exists()
    answer = client.post(place, {"bump": "", "override": "because", "notes": "Hi."})
    job = JobRun.objects.get(operation="release_dataset")
    assert answer.url == reverse("admin:datasets_app_jobrun_change", args=[job.pk])
    perform(JobRun.objects.get(pk=job.pk).pk)
    job.refresh_from_db()
    if job.state != "done":  # its message waits for this test's transaction, which never ends
        JobRun.objects.filter(pk=job.pk).update(state="queued")
        perform(job.pk)
    made = Release.objects.get()
    assert (made.override_reason, made.notes, made.created_by_name) == ("because", "Hi.", "superuser")
    assert client.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk])).status_code == 200


def test_where_nothing_has_changed_a_number_has_to_be_chosen(sign_in: Any, release: Release) -> None:
    client, place = sign_in("superuser"), address("releases", release.dataset)
    assert "choose a version bump" in client.get(place).content.decode()
    said = {"bump": "", "override": "because"}
    assert "no bump is proposed: choose one" in client.post(place, said).content.decode()
    assert not JobRun.objects.filter(operation="release_dataset").exists()
    answer = client.post(place, {**said, "bump": "patch"})
    JobRun.objects.filter(operation="release_dataset").update(state="done", result={"version": "1.0.1"})
    assert place in client.get(answer.url).content.decode()


def test_a_version_leads_to_its_package(curator: Any, release: Release) -> None:
    place = reverse("admin:datasets_app_dataset_export", args=[release.dataset.pk])
    page = curator.get(address("release", release.dataset, "1.0.0")).content.decode()
    assert f"{place}?version=1.0.0&amp;format=package" in page


def test_a_version_is_shown_and_handed_out_byte_for_byte(curator: Any, release: Release) -> None:
    page = curator.get(address("release", release.dataset, release.version)).content.decode()
    assert release.sha256 in page
    assert "<b>bold" not in page
    data = files.get_file(release, "data")
    got = [b"".join(curator.get(reverse("download_release", args=[data.pk]))) for _ in range(2)]
    with files.open_file(data) as stored:
        assert got[0] == got[1] == stored.read()
    event = AuditEvent.objects.filter(action="download").first()
    assert event is not None
    assert event.details == {
        "release": "1.0.0",
        "kind": "data",
        "file": data.name,
        "sha256": release.sha256,
        "size": data.size,
        "source_address": "127.0.0.1",
    }


def test_who_has_taken_it_is_for_those_who_read_the_audit_trail(
    sign_in: Any, curator: Any, release: Release
) -> None:
    data = files.get_file(release, "data")
    b"".join(curator.get(reverse("download_release", args=[data.pk])))
    shown = address("release", release.dataset, release.version)
    assert "Downloads and exports" not in curator.get(shown).content.decode()
    page = sign_in("privacy officer").get(shown).content.decode()
    assert "Downloads and exports" in page
    assert "curator, " in page


def test_a_viewer_sees_versions_and_gets_none(sign_in: Any, release: Release) -> None:
    viewer = sign_in("viewer")
    assert viewer.get(address("releases", release.dataset)).status_code == 200
    data = files.get_file(release, "data")
    assert viewer.get(reverse("download_release", args=[data.pk])).status_code == 403
    assert viewer.post(address("releases", release.dataset)).status_code == 403
    assert viewer.post(address("verify_releases", release.dataset)).status_code == 403
    Dataset.objects.filter(pk=release.dataset_id).update(restricted=True)
    assert viewer.get(address("release", release.dataset, "1.0.0")).status_code == 404
    assert sign_in("curator").get(reverse("download_release", args=[data.pk])).status_code == 404


def test_a_destroyed_version_says_so(
    curator: Any, release: Release, django_capture_on_commit_callbacks: Any
) -> None:
    data = files.get_file(release, "data")
    with django_capture_on_commit_callbacks(execute=True):
        files.destroy_files(release, reason="erasure")
    answer = curator.get(reverse("download_release", args=[data.pk]))
    assert answer.status_code == 410
    assert "was destroyed" in answer.content.decode()
    page = curator.get(address("release", release.dataset, "1.0.0")).content.decode()
    assert release.sha256 in page
    assert "Destroyed" in page


def test_two_are_compared_with_texts_for_who_reads_texts(
    curator: Any, release: Release, tmp_path: Path
) -> None:
    dataset = release.dataset
    dataset.sessions.get(session_id="s2").turns.filter(turn_index=2).update(
        text="<i>corrected</i>", tags=["scenario:late", "trap:brand"]
    )
    page = curator.get(address("compare_releases", dataset), {"before": "1.0.0"}).content.decode()
    assert "&lt;i&gt;corrected&lt;/i&gt;" in page
    assert "<ins>scenario:late, trap:brand</ins>" in page
    tags = curator.get(address("compare_releases", dataset), {"before": "1.0.0", "field": "tags"})
    assert [row.label for row in tags.context["changes"]] == ["tags"]
    assert "field=text#changes" in tags.content.decode()
    assert "show=changed" in page
    added = curator.get(address("compare_releases", dataset), {"before": "1.0.0", "show": "added"})
    assert not added.context["changes"]
    assert "What assistant says as number 2 of s2." in page
    at_once = curator.get(address("compare_releases", dataset)).content.decode()
    assert "&lt;i&gt;corrected&lt;/i&gt;" in at_once
    versions = {"before": "1.0.0", "after": make_release(dataset, tmp_path / "again").version}
    page = curator.get(address("compare_releases", dataset), versions).content.decode()
    assert f"/session/{dataset.sessions.get(session_id='s2').pk}/change/" in page
    dataset.sessions.get(session_id="s1").turns.filter(turn_index=1).update(text="long " * 500 + "end")
    long = curator.get(address("compare_releases", dataset), {"before": "1.0.0"}).content.decode()
    assert "long long …" in long
    same = curator.get(address("compare_releases", dataset), {"before": "1.0.0", "after": "1.0.0"})
    assert "No differences." in same.content.decode()
    unknown = curator.get(address("compare_releases", dataset), {"before": "9.9.9"}).content.decode()
    assert "has no release 9.9.9" in unknown
    assert curator.get(address("release", dataset, "nonsense")).status_code == 404


def test_what_is_too_long_for_a_page_is_compared_by_a_job(
    curator: Any, release: Release, monkeypatch: Any
) -> None:
    from datasets_app.releasing import pages

    monkeypatch.setattr(pages, "MAX_TURNS_COMPARED", 3)
    place = address("compare_releases", release.dataset)
    assert "Start comparison" in curator.get(place, {"before": "1.0.0"}).content.decode()
    curator.post(place, {"before": "1.0.0", "after": "now"})
    assert JobRun.objects.get(operation="compare_releases").parameters == {"before": "1.0.0", "after": ""}
    assert "too large to compare here" in curator.get(address("releases", release.dataset)).content.decode()


def test_a_fault_is_shown_where_the_version_is(curator: Any, release: Release) -> None:
    Release.objects.filter(pk=release.pk).update(
        fault="x.jsonl.gz has other bytes.", verified_at="2026-01-01T00:00Z"
    )
    assert "Changed since release" in curator.get(address("releases", release.dataset)).content.decode()
    assert "has other bytes" in curator.get(address("release", release.dataset, "1.0.0")).content.decode()
    assert "has changed since it was released" in curator.get(reverse("admin:index")).content.decode()


def release_exempt(dataset: Dataset, tmp_path: Path) -> None:
    mark = mark_not_personal(dataset, term="jo@example.org", actor=None, override="Our own")
    make_release(dataset, tmp_path)
    remove_mark(mark, actor=None)


def release_attested(dataset: Dataset, tmp_path: Path) -> None:
    text_gates.attest(dataset, actor=None, reason="Invented")
    make_release(dataset, tmp_path)
    gates.end_attestation(dataset, actor=None)


def release_missed(dataset: Dataset, tmp_path: Path) -> None:
    scrub_dataset(dataset, Policy())
    first = dataset.sessions.order_by("pk")[0].turns.get(turn_index=1)
    first.text = "Mail the zorblaxia."
    first.save()
    make_release(dataset, tmp_path)
    mark_missed(dataset, turn=first, field="text", start=9, end=18, kind="NAME", actor=None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("make", "value"),
    [
        (release_exempt, b"jo@example.org"),
        (release_attested, b"jo@example.org"),
        (release_missed, b"zorblaxia"),
    ],
)
def test_a_version_is_raw_once_nobody_answers_for_its_values_any_more(
    sign_in: Any, raw_dataset: Dataset, tmp_path: Path, make: Callable[[Dataset, Path], None], value: bytes
) -> None:
    make(raw_dataset, tmp_path)
    scrub_dataset(raw_dataset, Policy())
    assert not gates.is_raw(raw_dataset)
    place = address("compare_releases", raw_dataset)
    assert value not in sign_in("viewer").get(place, {"before": "1.0.0"}).content
    assert not AuditEvent.objects.filter(action="read_raw_text").exists()
    assert value in sign_in("curator").get(place, {"before": "1.0.0"}).content
    assert AuditEvent.objects.get(action="read_raw_text").actor == "curator"


@pytest.mark.django_db(transaction=True)
def test_what_was_released_raw_is_still_raw_when_the_dataset_is_scrubbed(
    sign_in: Any, raw_dataset: Dataset, tmp_path: Path
) -> None:
    make_release(raw_dataset, tmp_path, override="because")
    scrub_dataset(raw_dataset, Policy())
    assert not gates.is_raw(raw_dataset)
    page = sign_in("viewer").get(address("compare_releases", raw_dataset), {"before": "1.0.0"})
    assert "Withheld: this dataset contains raw text" in page.content.decode()
    assert "jo@example.org" not in page.content.decode()
    assert not AuditEvent.objects.filter(action="read_raw_text").exists()
    page = sign_in("curator").get(address("compare_releases", raw_dataset), {"before": "1.0.0"})
    assert "jo@example.org" in page.content.decode()
    event = AuditEvent.objects.get(action="read_raw_text")
    assert (event.actor, event.details) == (
        "curator",
        {"place": "comparison", "sessions": 2, "source_address": "127.0.0.1"},
    )


def test_what_is_excluded_counts_as_released_and_versions_are_compared(
    curator: Any, release: Release, tmp_path: Path
) -> None:
    dataset = release.dataset
    exclude_sessions(dataset, [dataset.sessions.first().pk])
    overview = curator.get(address("change", dataset)).content.decode()
    assert "1 excluded</a> from exports and releases" in overview
    assert "Changed since 1.0.0." in overview
    newer = make_release(dataset, tmp_path / "newer")
    assert "Released as 1.1.0." in curator.get(address("change", dataset)).content.decode()
    link = f"{address('compare_releases', dataset)}?before=1.0.0&amp;after={newer.version}"
    page = curator.get(address("releases", dataset)).content.decode()
    assert link in page
    compared = curator.get(link.replace("&amp;", "&")).content.decode()
    assert "<b>1</b> removed" in compared
    # It is still in the dataset, where it can be looked at.
    assert f"/session/{dataset.sessions.filter(excluded=True).get().pk}/change/" in compared


def test_the_version_that_an_erasure_made_is_current(curator: Any, release: Release) -> None:
    dataset = release.dataset
    erase_session(dataset.sessions.first(), "Request 118")
    assert "Released as 1.0.1." in curator.get(address("change", dataset)).content.decode()
