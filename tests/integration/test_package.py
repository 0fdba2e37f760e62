"""Others read a package as it is: the datasets library, Croissant's own, the hub's card, Alignmenter."""

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from datasets_app.models import Dataset, Session
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.export_package import export_package
from tests import factories
from tests.alignmenter_tool import run_alignmenter

# Before these libraries are imported: nothing is fetched.
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("alignmenter")]


@pytest.fixture(autouse=True)
def empty_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


@pytest.fixture(scope="module")
def package(rows_of_module: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of a release in three splits; its turns differ in what they have beside the text."""
    tmp_path = tmp_path_factory.mktemp("package")
    lines = factories.make_sessions(10, persona_id="calm_v1", tags=["scenario:billing"])
    lines[3] |= {"metadata": {"model": "m", "n": 1}, "seen": "yes"}
    lines[8] |= {"metadata": {"n": "another kind"}, "timestamp": "2026-05-01T10:00:00Z"}
    dataset = factories.make_dataset(tmp_path, lines, "calls", origin="synthetic")
    Dataset.objects.filter(pk=dataset.pk).update(license="CC-BY-4.0", attribution="Ada Example & others")
    split(dataset)
    dataset.refresh_from_db()
    work = tmp_path / "work"
    work.mkdir()
    release_dataset(dataset, folder=work, override="A test.", actor=None)
    out = tmp_path / "package"
    export_package(dataset, out, version="1.0.0", override="A test.")
    return out


def split(dataset: Dataset) -> None:
    keys = list(dataset.sessions.order_by("pk").values_list("pk", flat=True))
    for name, some in (("train", keys[:6]), ("validation", keys[6:8]), ("test", keys[8:])):
        Session.objects.filter(pk__in=some).update(split=name)


def test_the_datasets_library_loads_the_folder(package: Path, tmp_path: Path) -> None:
    import datasets

    loaded = datasets.load_dataset(str(package), cache_dir=str(tmp_path / "cache"))
    assert {name: part.num_rows for name, part in loaded.items()} == {"train": 12, "validation": 4, "test": 4}
    turn = loaded["train"][3]
    assert (turn["session_id"], turn["turn_index"], turn["tags"]) == ("s2", 2, ["scenario:billing"])
    assert json.loads(turn["metadata"]) == {"model": "m", "n": 1}
    assert json.loads(turn["extra"]) == {"seen": "yes"}


def test_croissant_is_valid_and_its_records_are_read(package: Path) -> None:
    import mlcroissant

    described = mlcroissant.Dataset(str(package / "croissant.json"))
    assert not described.metadata.ctx.issues.errors
    assert not described.metadata.ctx.issues.warnings
    assert described.metadata.license == ["https://spdx.org/licenses/CC-BY-4.0.html"]
    assert [records.uuid for records in described.metadata.record_sets] == ["train", "validation", "test"]
    read = list(described.records("test"))
    assert len(read) == 4
    assert read[0]["test/session_id"] == b"s9"
    assert read[0]["test/tags"] == [b"scenario:billing"]


def test_the_hub_reads_the_card(package: Path) -> None:
    from huggingface_hub import DatasetCard

    data = DatasetCard.load(package / "README.md").data.to_dict()
    assert (data["license"], data["pretty_name"], data["size_categories"]) == ("cc-by-4.0", "Calls", ["n<1K"])
    files = {item["split"]: item["path"] for item in data["configs"][0]["data_files"]}
    assert files == {name: f"data/{name}.parquet" for name in ("train", "validation", "test")}
    assert all((package / path).exists() for path in files.values())
    text = (package / "README.md").read_text()
    drawn = re.findall(r"!\[[^]]+\]\((charts/[a-z_]+\.svg)\)", text)
    assert len(drawn) >= 3
    assert all((package / path).exists() for path in drawn)


def test_the_citation_is_as_its_format_asks(package: Path) -> None:
    stated = yaml.safe_load((package / "CITATION.cff").read_text())
    # Required by the schema of CFF 1.2.0; the rest is checked against its definitions.
    assert {"cff-version", "message", "title", "authors"} <= stated.keys()
    assert (stated["cff-version"], stated["type"], stated["license"]) == ("1.2.0", "dataset", "CC-BY-4.0")
    assert stated["authors"] == [{"name": "Ada Example & others"}]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(stated["date-released"]))
    assert stated["version"] == "1.0.0"


def test_alignmenter_runs_on_the_data_and_knows_the_release(package: Path, tmp_path: Path) -> None:
    persona = tmp_path / "calm_v1.yaml"
    persona.write_text(
        "id: calm_v1\ndisplay_name: Calm\nexemplars: [Let us see.]\nlexicon: {preferred: [see]}\n"
    )
    run_alignmenter(
        tmp_path,
        *("run", "--model", "recorded:none", "--embedding", "hashed", "--out", tmp_path / "out"),
        *("--dataset", package / "data" / "train.jsonl", "--persona", persona),
    )
    (results,) = (tmp_path / "out").glob("*/results.json")
    assert json.loads(results.read_text())["scores"]["primary"]["authenticity"]["turns"] == 6
    # The signed manifest speaks of all lines, in whatever order they stand.
    whole = tmp_path / "all.jsonl"
    whole.write_bytes(b"".join(path.read_bytes() for path in sorted((package / "data").glob("*.jsonl"))))
    run_alignmenter(
        tmp_path, "dataset", "manifest", whole, "--verify", package / "calls_v1.0.0.manifest.json"
    )
