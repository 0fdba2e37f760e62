"""Runs of the real Alignmenter on a release come back, with the numbers of its report."""

import gzip
import json
import shutil
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotations_app.demo.load_demo import load_demo
from annotations_app.models import Annotation
from datasets_app.core.errors import UserError
from datasets_app.domain.releases.run_report import InvalidReport, RunReport, parse_report, read_report
from datasets_app.models import AuditEvent, Dataset, EvaluationRun, Persona, Release, ReleaseFile, Session
from datasets_app.releasing import files
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.runs import find_worst, import_run, score_splits, score_tags
from datasets_app.retention.erase_session import erase_session
from tests.alignmenter_tool import run_code_with_alignmenter
from tests.api.calls import Caller, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("alignmenter")]

PROJECT = Path(__file__).resolve().parents[2]
# As the tool's own command, with our package beside it, and the settings that name persona and embeddings.
RUN = """
import os, sys
sys.path.insert(0, sys.argv[1])
os.environ |= {"ALIGNMENTER_DEFAULT_PERSONA": sys.argv[2], "ALIGNMENTER_EMBEDDING_PROVIDER": "hashed"}
from alignmenter.cli import app
app(sys.argv[3:])
"""
SCORER = "alignmenter_datasets.reply_scores:ReplyScores"


@pytest.fixture
def release(tmp_path: Path) -> Release:
    load_demo()
    (tmp_path / "work").mkdir()
    made = release_dataset(Dataset.objects.get(), folder=tmp_path / "work", actor=None)
    return Release.objects.get(pk=made.release)


def run_on(release: Release, home: Path, *options: str) -> Path:
    """The folder of the report of a run on the file of the release."""
    with files.open_file(files.get_file(release, ReleaseFile.Kind.DATA)) as stored:
        (home / "data.jsonl").write_bytes(gzip.decompress(stored.read()))
    persona = home / "persona.yaml"
    persona.write_text(Persona.objects.get().yaml)
    arguments = ("run", "--model", "recorded:none", "--dataset", home / "data.jsonl", "--out", home / "out")
    run_code_with_alignmenter(home, RUN, PROJECT, persona, *arguments, *options)
    [report] = (home / "out").iterdir()
    return report


@pytest.fixture(scope="module")
def homes() -> dict[str, Path]:
    """The folder of the run on each file that a release had: of the same file it reports the same."""
    return {}


@pytest.fixture
def report(
    release: Release, tmp_path: Path, homes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    digest = files.get_file(release, ReleaseFile.Kind.DATA).sha256
    if digest not in homes:
        homes[digest] = tmp_path_factory.mktemp("home")
        run_on(release, homes[digest], "--custom-scorer", SCORER)
    shutil.copytree(homes[digest], tmp_path, dirs_exist_ok=True)
    [report] = (tmp_path / "out").iterdir()
    return report


def sign_in(role: str) -> Client:
    client = Client()
    client.force_login(make_user(role, f"the_{role}"))
    return client


def parse(report: Path) -> RunReport:
    return parse_report((report / "manifest.json").read_bytes(), (report / "results.json").read_bytes())


@pytest.mark.django_db(transaction=True)
def test_the_numbers_are_those_of_the_report(release: Release, report: Path, manage: Any) -> None:
    done = manage("import_run", report, "--dataset", "demo_conversations", "--version", "1.0.0")
    assert done.stdout == "recorded:none on demo_conversations 1.0.0: imported, 30 scored replies.\n", (
        done.stderr
    )
    run = EvaluationRun.objects.get()
    scores = json.loads((report / "results.json").read_text())["scores"]
    for scorer, metrics in scores["primary"].items():
        numbers = {name: value for name, value in metrics.items() if type(value) in (int, float)}
        assert run.whole[scorer] == numbers
    for kind in ("scenarios", "personas"):
        assert run.groups[kind].keys() == scores["analytics"][kind].keys()
        for name, group in scores["analytics"][kind].items():
            assert run.groups[kind][name]["authenticity"]["mean"] == group["scores"]["authenticity"]["mean"]
            assert (
                run.groups[kind][name]["stability"]["stability"] == group["scores"]["stability"]["stability"]
            )
    # What is computed from single replies is what the report says of the same replies.
    assert fmean(run.reply_scores) == pytest.approx(run.whole["authenticity"]["mean"], abs=0.0011)
    by_tag = {group.name: group for group in score_tags(run)}
    for tag, group in scores["analytics"]["scenarios"].items():
        assert by_tag[tag].mean == pytest.approx(group["scores"]["authenticity"]["mean"], abs=0.0011)
        assert by_tag[tag].replies == group["scores"]["authenticity"]["turns"]
    assert [(group.name, group.replies) for group in score_splits(run)] == [("none", 30)]
    assert list(find_worst(run).values()) == sorted(run.reply_scores)[:20]
    again = manage("import_run", report, "--dataset", "demo_conversations", "--version", "1.0.0")
    assert "was imported before" in again.stdout
    assert EvaluationRun.objects.count() == AuditEvent.objects.filter(action="import_run").count() == 1


def test_pages_show_the_scores_beside_the_labels(release: Release, report: Path) -> None:
    curator, viewer = sign_in("curator"), sign_in("viewer")
    dataset = release.dataset
    upload = reverse("admin:datasets_app_dataset_upload_run", args=[dataset.pk, "1.0.0"])

    def send(client: Any, results: str = "results.json") -> Any:
        with (report / "manifest.json").open("rb") as manifest, (report / results).open("rb") as found:
            return client.post(upload, {"manifest": manifest, "results": found}, follow=True)

    assert send(viewer).status_code == 403
    assert "isn&#x27;t a report" in send(curator, "run.json").content.decode()
    page = send(curator).content.decode()
    run = EvaluationRun.objects.get()
    for scenario, group in run.groups["scenarios"].items():
        assert scenario.removeprefix("scenario:") in page
        assert f"{group['authenticity']['mean']:.3f}" in page
    worst = min(run.reply_scores)
    assert f">{worst:.3f}<" in page
    assert 'data-key="w"' in page
    # The demonstration has three labels of each reply.
    assert "30 replies with a score and a label of most people" in page
    assert "off-brand · " in page
    labels = Annotation.objects.filter(dataset=dataset)
    assert labels.exists()
    versions = curator.get(reverse("admin:datasets_app_dataset_releases", args=[dataset.pk])).content.decode()
    assert f"<b>{run.whole['authenticity']['mean']:.3f}</b>" in versions
    address = reverse("admin:datasets_app_dataset_run", args=[dataset.pk, "1.0.0", run.pk])
    assert f'href="{address}">1.0.0</a>' in versions
    plain = viewer.get(address)
    assert plain.status_code == 200


def test_the_client_pushes_numbers_without_texts(release: Release, report: Path) -> None:
    from alignmenter_datasets.client import _keep_numbers

    results = json.loads((report / "results.json").read_text())
    results["scores"]["primary"]["authenticity"]["judge_notes"] = ["Ana Silva was told off."]
    sent = {"manifest": json.loads((report / "manifest.json").read_text()), "results": _keep_numbers(results)}
    assert "Ana Silva" not in json.dumps(sent)
    caller = Caller(make_user("curator", "ci"), ["datasets:read", "releases:read", "releases:write"])
    path = "/datasets/demo_conversations/releases/1.0.0/runs"
    answer = caller("POST", path, sent)
    assert (answer.status_code, answer.json()["is_new"], answer.json()["replies"]) == (200, True, 30)
    assert caller("POST", path, sent).json()["is_new"] is False
    [listed] = caller("GET", path).json()
    assert listed["whole"]["safety"] == EvaluationRun.objects.get().whole["safety"]
    reader = Caller(make_user("curator", "reader"), ["datasets:read", "releases:read"])
    assert reader("POST", path, sent).status_code == 403


def test_a_run_on_anything_else_is_refused(release: Release, report: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.mkdir()
    lines = (tmp_path / "data.jsonl").read_text().splitlines(keepends=True)
    (part / "data.jsonl").write_text("".join(lines[:-6]))
    arguments = ("run", "--model", "recorded:none", "--dataset", part / "data.jsonl", "--out", part / "out")
    run_code_with_alignmenter(part, RUN, PROJECT, tmp_path / "persona.yaml", *arguments)
    [other] = (part / "out").iterdir()
    with pytest.raises(UserError, match=r"The run wasn't on demo_conversations 1\.0\.0"):
        import_run(release, parse(other))
    assert not EvaluationRun.objects.exists()
    manifest = json.loads((report / "manifest.json").read_text())
    results = json.loads((report / "results.json").read_text())
    for change, message in (
        (
            lambda value: value["scores"]["primary"]["replies"]["scores"][0].__setitem__(2, 9),
            "another persona",
        ),
        (lambda value: value["scores"]["primary"]["replies"]["scores"].append(["a", 1]), "isn't a report"),
        (lambda value: value["scores"].pop("primary"), "isn't a report"),
        (lambda value: value["scores"]["primary"].update(safety={"score": 10**400}), "isn't a report"),
        (lambda value: value["scores"].update(primary={}), "has no scores"),
    ):
        changed = json.loads(json.dumps(results))
        change(changed)
        with pytest.raises(InvalidReport, match=message):
            read_report(manifest, changed)


def _edit(value: Any, *path: Any, to: Any) -> Any:
    """A copy with another value at the path."""
    if not path:
        return to
    copy = list(value) if isinstance(value, list) else dict(value)
    known = copy if isinstance(copy, dict) else dict(enumerate(copy))
    copy[path[0]] = _edit(known.get(path[0], {}), *path[1:], to=to)
    return copy


MANIFEST = {
    "id": "0b7f6a34-5b0f-4c1e-9b3f-1f6a3e0c2a11",
    "targets": [{"model": "m"}],
    "created_at": "2026-11-28T10:00:00+00:00",
    "package_version": "1",
    "dataset_digest": "",
}
RESULTS = {
    "scores": {
        "primary": {"authenticity": {"mean": 0.5}, "replies": {"scores": [["s", 2, 0.5]]}},
        "analytics": {"scenarios": {"scenario:a": {"scores": {"authenticity": {"mean": 0.5}}}}},
    }
}


@pytest.mark.django_db
def test_hostile_reports_are_refused_on_the_page_and_by_the_api(release: Release) -> None:
    path = ("scores", "primary", "replies", "scores", 0)
    hostile = [
        (MANIFEST | {"targets": [{"model": "\ud800"}]}, RESULTS),
        (MANIFEST | {"targets": [{"model": "a\0"}]}, RESULTS),
        (MANIFEST | {"created_at": "0001-01-01T00:00:00+23:59"}, RESULTS),
        (MANIFEST, _edit(RESULTS, *path, 0, to="\ud800")),
        (MANIFEST, _edit(RESULTS, *path, 1, to=2**31)),
        (MANIFEST, _edit(RESULTS, *path, 2, to=10**400)),
        (MANIFEST, _edit(RESULTS, "scores", "analytics", "scenarios", "\0", to={"scores": {}})),
        (MANIFEST, _edit(RESULTS, "scores", "analytics", "scenarios", to=dict.fromkeys(
            map(str, range(6000)), {"scores": {}}))),
    ]  # fmt: skip
    earlier = {"dataset_digest": "", "ran_at": "2026-11-28T10:00:00+00:00", "whole": {}}
    EvaluationRun.objects.create(release=release, run_id="0b7f6a34-5b0f-4c1e-9b3f-1f6a3e0c2a12", **earlier)
    client, token = (
        sign_in("curator"),
        Caller(make_user("curator", "ci"), ["datasets:read", "releases:read", "releases:write"]),
    )
    page = reverse("admin:datasets_app_dataset_upload_run", args=[release.dataset_id, "1.0.0"])
    api = f"/datasets/{release.dataset.name}/releases/1.0.0/runs"
    for manifest, results in hostile:
        sent = {
            "manifest": SimpleUploadedFile("manifest.json", json.dumps(manifest).encode()),
            "results": SimpleUploadedFile("results.json", json.dumps(results).encode()),
        }
        assert "can&#x27;t be imported" in client.post(page, sent, follow=True).content.decode()
        assert token("POST", api, {"manifest": manifest, "results": results}).status_code in (400, 409)
    deep = b"[" * 100_000
    with pytest.raises(InvalidReport, match="isn't valid JSON"):
        parse_report(deep, deep)
    assert EvaluationRun.objects.count() == 1


@pytest.mark.django_db
def test_names_of_raw_versions_are_recorded_or_withheld_by_the_api(release: Release) -> None:
    Release.objects.update(raw=True)
    made = {"dataset_digest": "", "ran_at": "2026-11-28T10:00:00+00:00", "whole": {}}
    groups = {"scenarios": {"scenario:a": {}}, "personas": {}}
    EvaluationRun.objects.create(release=release, run_id=MANIFEST["id"], groups=groups, **made)
    path = f"/datasets/{release.dataset.name}/releases/1.0.0/runs"
    reads = AuditEvent.objects.filter(action="read_raw_text")
    limited = Caller(make_user("curator", "ci"), ["datasets:read", "releases:read"])
    assert (limited("GET", path).json()[0]["groups"], reads.count()) == (None, 0)
    assert (Caller(make_user("curator"))("GET", path).json()[0]["groups"], reads.count()) == (groups, 1)


def test_names_of_scorers_are_names() -> None:
    named = _edit(RESULTS, "scores", "primary", "Maria Fontane, Rue 3", to={"a": 1})
    named = _edit(named, "scores", "primary", "authenticity", "of maria@example.org", to=1)
    assert read_report(MANIFEST, named).whole == {"authenticity": {"mean": 0.5}, "replies": {}}


@pytest.mark.django_db
def test_a_run_after_the_destruction_of_its_version_has_no_names(release: Release) -> None:
    earlier = {"dataset_digest": "", "ran_at": "2026-11-28T10:00:00+00:00", "whole": {}}
    EvaluationRun.objects.create(release=release, run_id="0b7f6a34-5b0f-4c1e-9b3f-1f6a3e0c2a12", **earlier)
    files.destroy_files(release, reason="erased")
    assert import_run(release, read_report(MANIFEST, RESULTS))[0].groups == {}


def test_a_report_without_scores_of_replies_says_so(release: Release, tmp_path: Path) -> None:
    run, _ = import_run(release, parse(run_on(release, tmp_path)))
    assert run.whole["authenticity"]["turns"] == 30
    page = sign_in("curator").get(
        reverse("admin:datasets_app_dataset_run", args=[release.dataset_id, "1.0.0", run.pk])
    )
    assert "The report has no scores of single replies" in page.content.decode()


@pytest.mark.django_db(transaction=True)
def test_an_erased_session_leaves_nothing_but_numbers(release: Release, report: Path, tmp_path: Path) -> None:
    session = Session.objects.filter(dataset=release.dataset).first()
    assert session is not None
    run, _ = import_run(release, parse(report))
    erase_session(session, "Asked for")
    run.refresh_from_db()
    assert run.groups == {}
    assert sum(group.replies for group in score_splits(run)) == 30 - run.session_keys.count(session.pk)
