"""What a package holds, that it repeats, and what it refuses."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from django.contrib.auth.models import Group

from annotations_app.criteria.schemas import import_schema
from annotations_app.demo.load_demo import load_demo
from annotations_app.hooks.labels import round_to_day, write_label_files
from annotations_app.hooks.session_data import make_pseudonym
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation, Judgment
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.schema_document import parse_schema
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.quality.files import FileChecker
from datasets_app.exporting.export_dataset import export_dataset
from datasets_app.models import AuditEvent, Dataset, Session, Turn
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing import export_package as packages
from datasets_app.releasing.sharing import package_data
from datasets_app.releasing.sharing.export_package import PackageResult
from datasets_app.releasing.sharing.share_gate import check_release_copy, list_unmet
from datasets_app.releasing.sharing.sign_review import sign_review
from datasets_app.retention import erase_session
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests import factories
from tests.operations.test_answers_import import MODEL
from tests.operations.test_judgments import QUALITY

PAPERS = {
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "PULL_REQUEST.md",
    "README.md",
    "croissant.json",
    "quality_report.json",
    "quality_report.md",
    "support.meta.yaml",
    "charts/turns_per_session.svg",
    "charts/reply_words.svg",
    "charts/scenarios.svg",
}
WHOLE = {f"data/support.{ending}" for ending in ("jsonl", "parquet", "meta.yaml")}


def export_package(*arguments: Any, override: str = "A test.", **options: Any) -> PackageResult:
    """Whatever the sharing checklist says."""
    return packages.export_package(*arguments, override=override, **options)


@pytest.fixture
def dataset(db: None, tmp_path: Path) -> Dataset:
    return factories.make_dataset(
        tmp_path, factories.make_sessions(4, tags=["scenario:a|b"]), origin="synthetic"
    )


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def released(dataset: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    release_dataset(dataset, folder=folder, override="A test.", actor=None)


def test_a_dataset_goes_out_with_all_its_papers(dataset: Dataset, tmp_path: Path) -> None:
    check_dataset(dataset, actor=None)
    out = tmp_path / "package"
    result = export_package(dataset, out)
    assert files_in(out) == PAPERS | WHOLE
    assert (result.sessions, result.turns, result.files) == (4, 8, len(PAPERS | WHOLE))
    assert "Apache-2.0 is assumed" in result.notices[0]
    assert "Apache License" in (out / "LICENSE").read_text()
    stated = yaml.safe_load((out / "data/support.meta.yaml").read_text())
    assert (stated["total_turns"], len(stated["sha256"]), stated["license"]) == (8, 64, "Apache-2.0")
    report = json.loads((out / "quality_report.json").read_text())
    assert report["checks"]["turns"] == 8
    assert len(report["sharing"]) == 9
    # A name with a bar in it does not break a table.
    assert "`a b`: 4 sessions" in (out / "PULL_REQUEST.md").read_text()
    for drawing in (out / "charts").iterdir():
        ElementTree.fromstring(drawing.read_text())
    event = AuditEvent.objects.get(action="export")
    assert (event.details["format"], event.details["turns"]) == ("package", 8)


def test_the_same_version_is_the_same_package(dataset: Dataset, tmp_path: Path) -> None:
    released(dataset, tmp_path)
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    export_package(dataset, first, version="1.0.0")
    # What has come since is in no release.
    factories.import_file(
        factories.write_jsonl(tmp_path / "m.jsonl", factories.make_session("new")), append=True
    )
    export_package(dataset, second, version="v1.0.0")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as packed:
        names = {name.removeprefix("support/") for name in packed.namelist()}
        assert packed.testzip() is None
    assert names == PAPERS | WHOLE | {"support_v1.0.0.manifest.json", "support_v1.0.0.sig.json"}
    told = AuditEvent.objects.filter(action="export").values_list("details__release", flat=True)
    assert list(told) == ["1.0.0", "1.0.0"]


def test_splits_become_files_and_a_session_without_one_is_not_left_out(
    dataset: Dataset, tmp_path: Path
) -> None:
    first, *others = dataset.sessions.order_by("pk")
    Session.objects.filter(pk=first.pk).update(split="test")
    with pytest.raises(UserError, match="3 sessions of support without a split"):
        export_package(dataset, tmp_path / "package")
    assert not (tmp_path / "package").exists()
    Session.objects.filter(pk__in=[other.pk for other in others]).update(split="train")
    export_package(dataset, tmp_path / "package")
    data = {path.name for path in (tmp_path / "package" / "data").glob("*.jsonl")}
    assert data == {"train.jsonl", "test.jsonl"}
    assert len((tmp_path / "package/data/test.jsonl").read_bytes().splitlines()) == 2


def test_a_release_keeps_its_splits_and_says_so_if_they_are_lost(dataset: Dataset, tmp_path: Path) -> None:
    dataset.sessions.update(split="train")
    dataset.sessions.filter(session_id="s1").update(split="test")
    released(dataset, tmp_path)
    export_package(dataset, tmp_path / "one", version="1.0.0")
    assert {path.stem for path in (tmp_path / "one/data").glob("*.jsonl")} == {"train", "test"}
    dataset.sessions.update(split="train")
    result = export_package(dataset, tmp_path / "two", version="1.0.0")
    assert [path.name for path in (tmp_path / "two/data").glob("*.jsonl")] == ["support.jsonl"]
    assert "are unknown by now" in result.notices[0]
    assert "are unknown by now" in (tmp_path / "two/README.md").read_text()


def test_a_session_without_a_split_ends_the_search_and_leaves_no_part_out(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset.sessions.update(split="train")
    released(dataset, tmp_path)
    dataset.sessions.filter(session_id="s1").update(split=None)
    monkeypatch.setattr(package_data, "LINE_BATCH_SIZE", 2)
    read: list[set[str]] = []
    load_splits = package_data._load_splits

    def load_and_count(of: Dataset, ids: set[str]) -> dict[str, str | None]:
        read.append(ids)
        return load_splits(of, ids)

    monkeypatch.setattr(package_data, "_load_splits", load_and_count)
    export_package(dataset, tmp_path / "package", version="1.0.0")
    assert read == [{"s1"}]
    assert [path.name for path in (tmp_path / "package/data").glob("*.jsonl")] == ["support.jsonl"]
    assert len((tmp_path / "package/data/support.jsonl").read_bytes().splitlines()) == 8


@pytest.mark.django_db(transaction=True)
def test_production_data_must_be_scrubbed_and_the_report_tells_of_it(tmp_path: Path) -> None:
    line = factories.make_turn(text="Mail jo@example.org.")
    dataset = factories.make_dataset(tmp_path, [line], origin="production")
    out = tmp_path / "package"
    with pytest.raises(UserError, match="without a verified scrub"):
        export_package(dataset, out, override="")
    scrub_dataset(dataset, Policy())
    with pytest.raises(UserError, match="Missing: Session ids are hashed; Legal review is signed"):
        export_package(dataset, out, override="")
    export_package(dataset, out)
    assert "Replaced: EMAIL 1." in (out / "quality_report.md").read_text()
    everything = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert b"jo@example" not in everything


def test_nothing_that_stands_there_is_written_over(dataset: Dataset, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "kept.txt").write_text("kept")
    with pytest.raises(UserError, match="is not empty"):
        export_package(dataset, full)
    with pytest.raises(UserError, match="is a file"):
        export_package(dataset, full / "kept.txt")
    with pytest.raises(UserError, match="doesn.t exist"):
        export_package(dataset, tmp_path / "none" / "package")
    assert files_in(full) == {"kept.txt"}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_package_that_is_stopped_leaves_nothing(dataset: Dataset, tmp_path: Path) -> None:
    def stop(done: int, total: int | None = None) -> None:
        raise UserError("stopped")

    for out in (tmp_path / "package", tmp_path / "package.zip"):
        with pytest.raises(UserError, match="stopped"):
            export_package(dataset, out, report_progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["support.jsonl"]
    assert not AuditEvent.objects.filter(action="export").exists()


def test_an_empty_dataset_is_no_package(db: None, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no sessions"):
        export_package(Dataset.objects.create(name="empty"), tmp_path / "package")


def test_labels_are_told_with_how_far_they_agree(db: None, tmp_path: Path) -> None:
    load_demo()
    out = tmp_path / "package"
    export_package(Dataset.objects.get(), out)
    told = json.loads((out / "quality_report.json").read_text())["labels"]
    (persona,) = told["by_persona"]
    assert (told["labels"], told["annotators"], persona[0]) == (90, 3, "default_v1")
    assert sum(persona[1:]) == 90
    values = {name: value for name, value, *_ in told["agreement"]}
    assert 0 < values["Krippendorff’s alpha"] < values["Raw agreement"] <= 1
    text = (out / "README.md").read_text()
    assert "Labels | 90 by 3 annotators" in text
    assert "charts/labels.svg" in text
    assert (out / "charts/agreement.svg").exists()
    labels = [json.loads(line) for line in (out / "labels/default_v1.jsonl").read_text().splitlines()]
    turns = {
        (turn["session_id"], turn["turn_index"]): turn["text"]
        for path in (out / "data").glob("*.jsonl")
        for turn in map(json.loads, path.read_text().splitlines())
    }
    assert len(labels) == told_files(out)["labels/default_v1.jsonl"]
    assert all(turns[label["session_id"], label["turn_index"]] == label["text"] for label in labels)
    names = {label["annotator"] for label in labels}
    assert len(names) == 3
    assert all(re.fullmatch("annotator-[0-9a-f]{8}", name) for name in names)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", label["timestamp"]) for label in labels)
    assert "labels/default_v1.jsonl" in text
    assert "labels/default_v1.jsonl" in AuditEvent.objects.get(action="export").details["files"]
    export_package(Dataset.objects.get(), tmp_path / "without", labels=False)
    assert not (tmp_path / "without" / "labels").exists()


def test_fields_of_labels_that_the_format_lacks_stay_behind(db: None, tmp_path: Path) -> None:
    load_demo()
    Annotation.objects.update(extra={"worker": "Jane Roe", "split": "train"})
    out = tmp_path / "package"
    exported = export_package(Dataset.objects.get(), out)
    assert "Jane Roe" not in (out / "labels/default_v1.jsonl").read_text()
    assert any(
        "1 field of labels that the format doesn't have left out" in notice for notice in exported.notices
    )


def test_times_of_labels_become_days() -> None:
    for timestamp, day in (
        ("2026-11-23T23:30:01.123Z", "2026-11-23"),
        ("2026-11-23T23:30:01-05:00", "2026-11-24"),
        ("20261123T233001", "2026-11-23"),
        ("2026-11-23", "2026-11-23"),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
    ):
        assert round_to_day(timestamp) == day


def told_files(package: Path) -> dict[str, int]:
    told = json.loads((package / "quality_report.json").read_text())["label_files"]
    return {file["path"]: file["labels"] for file in told}


def test_labels_of_what_a_release_does_not_contain_stay_behind(db: None, tmp_path: Path) -> None:
    load_demo()
    dataset = Dataset.objects.get()
    released(dataset, tmp_path)
    export_package(dataset, tmp_path / "first", version="1.0.0")
    count = told_files(tmp_path / "first")["labels/default_v1.jsonl"]
    changed = Annotation.objects.values_list("turn", flat=True)[0]
    Turn.objects.filter(dataset=dataset, pk=changed).update(text="Later words.")
    result = export_package(dataset, tmp_path / "second", version="1.0.0")
    assert told_files(tmp_path / "second")["labels/default_v1.jsonl"] < count
    assert "Later words." not in (tmp_path / "second/labels/default_v1.jsonl").read_text()
    assert any("doesn't contain left out" in notice for notice in result.notices)


def test_labels_with_personal_data_are_no_part_of_a_package(db: None, tmp_path: Path) -> None:
    load_demo()
    dataset = Dataset.objects.get()
    label = Annotation.objects.exclude(turn__session__split="test").filter(kind="label")[0]
    Annotation.objects.filter(pk=label.pk).update(notes="Ask jo@example.org.")
    data = tmp_path / "data.jsonl"
    with data.open("wb") as out:
        export_dataset(dataset, out)
    with pytest.raises(UserError, match="e-mail"):
        write_label_files(dataset, tmp_path, [data], None, "")


@pytest.mark.django_db(transaction=True)
def test_answers_under_a_schema_are_files_of_their_own(tmp_path: Path) -> None:
    load_demo()
    dataset = Dataset.objects.get()
    export_package(dataset, tmp_path / "before", override="A test.")
    schema = import_schema(QUALITY).schema
    turn = Turn.objects.filter(dataset=dataset, role="assistant").exclude(session__split="test")[0]
    place = {"session_id": turn.session.session_id, "turn_index": turn.turn_index, "text": turn.text}
    given = {
        "criterion": "",
        "schema": "quality@1",
        "persona_id": "default_v1",
        "annotator": "Jo",
        "worker": 7,
    }
    said: dict[str, Any] = {"correct": 0, "faults": ["tone"], "helpful": 3, "why": "Loud."}
    lines = [{**place, **given, "criterion": key, "value": value} for key, value in said.items()]
    lines += [{**line, "annotator": "gpt", "rater": MODEL} for line in lines]
    import_annotations(factories.write_jsonl(tmp_path / "answers.jsonl", lines), dataset_name=dataset.name)
    result = export_package(dataset, tmp_path / "after", override="A test.")
    before, after = told_files(tmp_path / "before"), told_files(tmp_path / "after")
    assert {path: after[path] for path in before} == before
    assert after["labels/default_v1.quality@1.jsonl"] == 2
    path = tmp_path / "after/labels/default_v1.quality@1.jsonl"
    answers = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["criterion"]: line["value"] for line in answers} == said
    assert {line["annotator"] for line in answers} == {make_pseudonym("Jo"), "gpt"}
    assert not any("worker" in line for line in answers)
    assert parse_schema((tmp_path / "after/labels/quality@1.yaml").read_text()) == schema.content
    assert "1 field of labels that the format doesn't have left out (2 values)." in result.notices
    assert "`quality@1`" in (tmp_path / "after/README.md").read_text()
    checked = FileChecker(path, with_metadata=False)
    assert list(checked.findings()) == []
    assert checked.kind == "annotation"
    Judgment.objects.all().delete()
    export_package(dataset, tmp_path / "again", override="A test.")
    for path in (tmp_path / "before").rglob("*.*"):
        same = tmp_path / "again" / path.relative_to(tmp_path / "before")
        assert same.read_bytes() == path.read_bytes(), path.name


@pytest.mark.django_db(transaction=True)
def test_what_was_released_raw_is_not_called_scrubbed_whatever_came_after(tmp_path: Path) -> None:
    dataset = factories.make_dataset(
        tmp_path, factories.make_sessions(2, text="Mail jo@example.org"), origin="production"
    )
    released(dataset, tmp_path)
    scrub_dataset(dataset, Policy())
    erase_session.erase_session_by_id("support", "s1", "Asked for.")
    export_package(dataset, tmp_path / "package", version="1.0.1")
    assert "jo@example.org" in (tmp_path / "package" / "data" / "support.jsonl").read_text()
    card = (tmp_path / "package" / "README.md").read_text()
    assert "Scrubbed production" not in card
    assert "were not scrubbed here" in card
    assert json.loads((tmp_path / "package" / "quality_report.json").read_text())["scrubs"] == []

    factories.import_file(
        factories.write_jsonl(tmp_path / "more.jsonl", factories.make_session("s9")), "support"
    )
    export_package(dataset, tmp_path / "raw", override="A test.")
    assert "Scrubbed production" not in (tmp_path / "raw" / "README.md").read_text()


def test_a_package_needs_the_whole_checklist_or_an_override(
    dataset: Dataset, tmp_path: Path, admin_user: Any
) -> None:
    released(dataset, tmp_path)
    for version in ("", "1.0.0"):
        with pytest.raises(UserError, match=r"checklist is complete. Missing: .*Legal review is signed"):
            export_package(dataset, tmp_path / "package", version=version, override="", actor=admin_user)
    assert not (tmp_path / "package").exists()
    check_dataset(dataset, actor=None, name_models=("builtin",))
    Session.objects.filter(dataset=dataset).update(id_hashed=True)
    sign_review(dataset, actor=admin_user)
    assert not list_unmet(dataset)
    export_package(dataset, tmp_path / "package", override="")
    # A version is judged by its own answers; only its review may have come later.
    release = dataset.releases.get()
    stored = list(release.sharing)
    assert "Legal review is signed" not in [blocker.title for blocker in list_unmet(dataset, release)]
    export_package(dataset, tmp_path / "signed", version="1.0.0", actor=admin_user)
    for name in ("README.md", "PULL_REQUEST.md", "quality_report.md"):
        (line,) = re.findall("Legal review is signed.*", (tmp_path / "signed" / name).read_text())
        assert re.search(r"\| yes \| admin signed on .*, after the release of 1\.0\.0", line)
    release.refresh_from_db()
    assert release.sharing == stored


def test_a_version_released_raw_is_for_people_who_may_override(
    dataset: Dataset, tmp_path: Path, django_user_model: Any
) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(origin="production")
    dataset.refresh_from_db()
    released(dataset, tmp_path)
    Dataset.objects.filter(pk=dataset.pk).update(origin="synthetic")
    version = dataset.releases.get()
    assert version.raw
    people = {}
    for role in ("curator", "privacy officer", "viewer"):
        people[role] = django_user_model.objects.create_user(role.replace(" ", "-"))
        people[role].groups.add(Group.objects.get(name=role))
    check_release_copy(version, people["privacy officer"])
    check_release_copy(version, None)
    for role in ("curator", "viewer"):
        with pytest.raises(UserError, match="released raw by an override"):
            check_release_copy(version, people[role])
    version.raw = False
    check_release_copy(version, people["curator"])
    with pytest.raises(UserError, match="can't be shared until the sharing checklist is complete"):
        check_release_copy(version, people["viewer"])
