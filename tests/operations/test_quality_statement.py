"""Releases and packages state their judges and rates; recipients read it without the application."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotations_app.estimates.statement import build_quality_statement
from annotations_app.judges.certify import certify_judge, describe_certificate
from annotations_app.models import Campaign
from datasets_app.command_line.validate import main
from datasets_app.domain.packages.quality_statement import METADATA_KEY, QualityStatement, read_statement
from datasets_app.models import Release
from datasets_app.releasing import files
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.changes import was_edited_since
from datasets_app.releasing.sharing.export_package import export_package
from datasets_app.releasing.verify import verify_releases
from tests.api.calls import Caller, make_user
from tests.operations.test_certify_judge import campaign, judge_with, labelled

__all__ = ["campaign", "labelled"]
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("quality statement")]


def make_release(campaign: Campaign, tmp_path: Path) -> Release:
    folder = tmp_path / "work"
    folder.mkdir()
    release_dataset(campaign.dataset, folder=folder, override="A test.", actor=None)
    return Release.objects.get()


def read_stated(release: Release) -> QualityStatement:
    with files.open_file(files.get_file(release, "metadata")) as stored:
        return read_statement(yaml.safe_load(stored.read())[METADATA_KEY])


def test_a_release_states_it_as_of_its_day_and_is_signed_with_it(campaign: Campaign, tmp_path: Path) -> None:
    certify_judge(judge_with(campaign, wrong=1000, missing=4))
    release = make_release(campaign, tmp_path)
    stated = read_stated(release)
    [certificate], [estimate] = stated.certificates, stated.estimates
    assert (certificate.judge, certificate.criterion, certificate.certified) == ("brand@1", "on_brand", True)
    assert certificate.changed == ()
    assert (certificate.replies, certificate.not_judged, certificate.true_positive.replies) == (120, 4, 58)
    assert (estimate.rate, estimate.labels, estimate.replies) == (pytest.approx(0.5), 120, 120)
    assert verify_releases(campaign.dataset, actor=None).faults == []
    # What comes later changes no file of it.
    campaign.guidelines = "Be strict."
    campaign.save()
    assert read_stated(release) == stated
    [now] = build_quality_statement(campaign.dataset).certificates
    assert now.changed == ("the guidelines",)


def test_a_package_states_it_as_of_now_and_a_program_reads_it(
    campaign: Campaign, tmp_path: Path, capsys: Any
) -> None:
    made = certify_judge(judge_with(campaign, wrong=4))
    before = made.created_at
    make_release(campaign, tmp_path)
    for version, name in (("", "now"), ("1.0.0", "then")):
        out = tmp_path / name
        export_package(campaign.dataset, out, version=version, override="A test.")
        [certificate] = json.loads((out / "quality_report.json").read_text())["quality"]["certificates"]
        assert (certificate["certified"], certificate["holds"]) == (False, False)
        for document in ("README.md", "quality_report.md"):
            assert "## Judges and rates" in (out / document).read_text()
        [data] = (out / "data").glob("*.jsonl")
        capsys.readouterr()
        main([str(data), "--no-names", "--format", "json"])
        [file] = json.loads(capsys.readouterr().out)["files"]
        assert read_statement(file["quality"]).certificates[0].judge == "brand@1"
        main([str(data), "--no-names"])
        said = capsys.readouterr().err
        assert all(sentence in said for sentence in describe_certificate(made))
        assert "50.0 % of replies, between " in said
    assert was_edited_since(campaign.dataset, before)


def test_without_labels_nothing_is_stated(campaign: Campaign, tmp_path: Path) -> None:
    campaign.members.update(labelled=0)
    release = make_release(campaign, tmp_path)
    with files.open_file(files.get_file(release, "metadata")) as stored:
        assert METADATA_KEY not in yaml.safe_load(stored.read())


def test_the_api_says_the_same(campaign: Campaign) -> None:
    certify_judge(judge_with(campaign, wrong=1000))
    assert build_quality_statement(campaign.dataset).as_json()["certificates"][0]["holds"] is True
    campaign.guidelines = "Be strict."
    campaign.save()
    call = Caller(make_user("lead"), ["datasets:read", "labels:read"])
    found = call("GET", f"/datasets/{campaign.dataset.name}/quality").json()
    assert found == {
        "dataset": campaign.dataset.name,
        **build_quality_statement(campaign.dataset).as_json(),
    }
    assert found["certificates"][0]["holds"] is False
