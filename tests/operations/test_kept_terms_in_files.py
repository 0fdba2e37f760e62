"""Whoever checks an exported file comes to the verdict of the server: its metadata says what was kept."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from datasets_app.checking.check_dataset import check_dataset
from datasets_app.command_line import validate
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.quality.kept_terms import KeptTerms, TermSearch
from datasets_app.exporting.export_dataset import export_to_path
from datasets_app.exporting.sample_dataset import SampleOptions, sample_file, sample_to_file
from datasets_app.models import Dataset, ScrubMark
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.export_package import export_package
from datasets_app.releasing.sharing.export_release import export_release_to_path
from datasets_app.retention import erase_session
from datasets_app.scrubbing.marks import mark_not_personal
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.factories import import_file, make_dataset, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

MAIL = "support@acme.example"
ABSENT = "Philippa Nightingale"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    lines = [
        make_turn("a", 1, text=f"Please write to {MAIL} and ask for Jordan."),
        make_turn("a", 2, text="I spoke with Jordan about my parcel yesterday."),
        make_turn("b", 1, text="My order came late, says Katarina Lindqvist.", tags=["team:Katarina"]),
        make_turn("c", 1, text="Thank you, Jordan's reply was kind."),
    ]
    dataset = make_dataset(tmp_path, lines, origin="external")
    mark_not_personal(dataset, term=MAIL, actor=None, override="our own address")
    for term in ("Jordan", "Katarina Lindqvist", ABSENT):
        mark_not_personal(dataset, term=term, actor=None)
    scrub_dataset(dataset, parse_policy(None))
    (tmp_path / "work").mkdir()
    return dataset


def validate_file(path: Path, capsys: Any, *options: str) -> dict[str, Any]:
    validate.main([str(path), "--format", "json", *options])
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_a_file_is_judged_as_the_dataset_is(dataset: Dataset, tmp_path: Path, capsys: Any) -> None:
    report = check_dataset(dataset, actor=None, name_models=("builtin",))
    assert not {code for code in report.totals if code.startswith(("E4", "W406"))}
    out = tmp_path / "out.jsonl"
    export_to_path(dataset, out)
    release_dataset(dataset, folder=tmp_path / "work", override="A test.", actor=None)
    release = dataset.releases.get()
    export_release_to_path(release, tmp_path / "release.jsonl.gz")
    for version in ("", release.version):
        export_package(dataset, tmp_path / f"package{version}", version=version, override="A test.")
    files = [tmp_path / "release.jsonl.gz", out, *tmp_path.glob("package*/data/*.jsonl")]
    assert len(files) == 4
    for path in files:
        for options in ([], ["--pii-only"]):
            found = validate_file(path, capsys, *options)
            codes = {code: count for code, count in found["totals"].items() if code[1] == "4"}
            assert codes == {code: n for code, n in report.totals.items() if code[1] == "4"}, (path, found)
            assert found["files"][0]["kept_terms"] == 3
        assert ABSENT not in path.with_name(path.name.split(".")[0] + ".meta.yaml").read_text()
    assert validate.main([str(out)]) == 0
    assert "out.jsonl: 3 terms kept by its metadata not reported" in capsys.readouterr().err
    out.with_name("out.meta.yaml").write_text("name: support\n")
    assert validate_file(out, capsys)["totals"].keys() >= {"E401", "W406"}


def test_parquet_and_samples_state_what_their_text_has(dataset: Dataset, tmp_path: Path) -> None:
    export_to_path(dataset, tmp_path / "out.parquet", format="parquet")
    export_to_path(dataset, tmp_path / "out.jsonl")
    sample_to_file(dataset, tmp_path / "sample.jsonl", SampleOptions(3))
    sample_file(ConversationFile(tmp_path / "out.jsonl"), tmp_path / "of_file.jsonl", SampleOptions(3))
    for name in ("out", "sample", "of_file"):
        stated = yaml.safe_load((tmp_path / f"{name}.meta.yaml").read_text())["kept_terms"]
        assert stated == {"values": [MAIL], "names": ["Jordan", "Katarina Lindqvist"]}, name


def test_a_term_that_only_an_erased_session_had_leaves_the_metadata(dataset: Dataset, tmp_path: Path) -> None:
    release_dataset(dataset, folder=tmp_path / "work", override="A test.", actor=None)
    erase_session.erase_session_by_id("support", "b", "A request.")
    export_release_to_path(dataset.releases.get(destroyed_at=None), tmp_path / "new.jsonl.gz")
    stated = yaml.safe_load((tmp_path / "new.meta.yaml").read_text())["kept_terms"]
    assert stated == {"values": [MAIL], "names": ["Jordan"]}


def test_what_an_imported_file_states_is_no_decision_of_this_installation(tmp_path: Path) -> None:
    (tmp_path / "in.meta.yaml").write_text(f"name: in\nkept_terms:\n  values: [{MAIL}]\n")
    import_file(write_jsonl(tmp_path / "in.jsonl", [make_turn("a", text=f"Mail {MAIL}")]))
    dataset = Dataset.objects.get()
    assert not ScrubMark.objects.exists()
    assert check_dataset(dataset, actor=None).totals["E401"] == 1
    export_to_path(dataset, tmp_path / "out.jsonl", override="A test.")
    assert "kept_terms" not in (tmp_path / "out.meta.yaml").read_text()


def test_terms_are_found_as_a_scrub_keeps_them() -> None:
    kept = KeptTerms(names=("Acme Goods", "Wendy's", "Casper", "Zoë", "Nowhere"), personas=("Cargo Carl",))
    search = TermSearch(kept)
    search.add(b'{"text":"An order.\\nacme-goods, wendys; CASPER\'s bed, zoe"}')
    search.add(b'{"tags":["cargocarl"],"text":"Acme, elsewhere"}')
    stated = search.state(DatasetMetadata()).extra["kept_terms"]
    assert stated == {"names": ["Acme Goods", "Casper", "Wendy's", "Zoë"], "personas": ["Cargo Carl"]}


@pytest.mark.parametrize(("origin", "names"), [("synthetic", 0), ("external", 1)])
def test_a_word_that_may_or_may_not_be_a_name_is_one_to_the_dataset_and_its_files_alike(
    origin: str, names: int, tmp_path: Path, capsys: Any
) -> None:
    dataset = make_dataset(
        tmp_path, [make_turn("a", text="Hope you enjoy your time at Chicago!")], origin=origin
    )
    report = check_dataset(dataset, actor=None, name_models=("builtin",))
    export_to_path(dataset, tmp_path / "out.jsonl", override="A test.")
    for totals in (report.totals, validate_file(tmp_path / "out.jsonl", capsys)["totals"]):
        assert totals.get("W406", 0) == names


@pytest.mark.parametrize("prefer", ["recall", "precision"])
def test_a_file_that_was_scrubbed_with_a_preference_passes_the_hook(
    prefer: str, tmp_path: Path, capsys: Any, manage: Any
) -> None:
    line = {
        "session_id": "a",
        "turn_index": 1,
        "role": "user",
        "text": "Hope you enjoy your time at Chicago!",
    }
    (tmp_path / "in.jsonl").write_text(json.dumps(line) + "\n")
    out = tmp_path / "out.jsonl"
    scrub = ("sanitize_dataset", "--input", tmp_path / "in.jsonl", "--out", out, "--prefer", prefer)
    assert manage(*scrub).returncode == 0
    assert ("Hope" in out.read_text()) is (prefer == "precision")
    for options in ([], ["--pii-only", "--strict"]):
        assert "W406" not in validate_file(out, capsys, *options)["totals"]
