"""Releases are handed out as they were stored, and what was destroyed is not handed out at all."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent, Dataset, Release
from datasets_app.releasing import files
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.export_release import export_release, export_release_to_path
from datasets_app.releasing.versions import get_stored_release
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(tmp_path: Path) -> Release:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(3), origin="synthetic")
    folder = tmp_path / "work"
    folder.mkdir()
    release_dataset(dataset, folder=folder, override="A test.", actor=None)
    return Release.objects.get()


def exported(release: Release) -> bytes:
    out = BytesIO()
    export_release(release, out)
    return out.getvalue()


def test_the_bytes_are_those_that_were_stored(release: Release, tmp_path: Path) -> None:
    stored = files.get_file(release, "data")
    with files.open_file(stored) as file:
        assert exported(release) == file.read()
    result = export_release_to_path(release, tmp_path / stored.name)
    assert (tmp_path / stored.name).read_bytes() == exported(release)
    assert result.sha256 == stored.sha256 == release.sha256
    meta = files.get_file(release, "metadata")
    with files.open_file(meta) as file:
        assert (tmp_path / meta.name).read_bytes() == file.read()
    told = AuditEvent.objects.filter(action="export").values_list("details__release", flat=True)
    assert set(told) == {"1.0.0"}


def test_a_changed_byte_is_not_handed_out(release: Release, tmp_path: Path, media_root: Path) -> None:
    stored = files.get_file(release, "data")
    path = media_root / stored.file.name
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    target = tmp_path / stored.name
    with pytest.raises(UserError, match="SHA-256 differs"):
        export_release_to_path(release, target)
    assert not target.exists()


def test_what_is_not_there_is_told(release: Release, tmp_path: Path) -> None:
    dataset = release.dataset
    with pytest.raises(UserError, match=r"support has no release 2\.0\.0\. Its releases: 1\.0\.0"):
        get_stored_release(dataset, "2.0.0")
    with pytest.raises(UserError, match="is not a version"):
        get_stored_release(dataset, "latest")
    with pytest.raises(UserError, match="use a name that ends in .gz"):
        export_release_to_path(release, tmp_path / "plain.jsonl")
    files.destroy_files(release, reason="A test.")
    with pytest.raises(UserError, match="were destroyed on"):
        get_stored_release(dataset, "1.0.0")


def test_the_command_hands_out_a_release_under_its_own_name(
    release: Release, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    call_command("export_dataset", "support", "--version", "1.0.0")
    assert (tmp_path / "support_v1.0.0.jsonl.gz").read_bytes() == exported(release)
    assert (tmp_path / "support_v1.0.0.meta.yaml").exists()
    for wrong in (["--split", "train"], ["--format", "csv"], ["--tag", "t"]):
        with pytest.raises(CommandError, match="exported unchanged"):
            call_command("export_dataset", "support", "--version", "1.0.0", *wrong)
    with pytest.raises(CommandError, match="leave out format and filters"):
        call_command("export_dataset", "support", "--package", "--format", "csv")
    call_command("export_dataset", "support", "--package", "--version", "1.0.0", "--override", "A test.")
    assert (tmp_path / "support_v1.0.0" / "README.md").exists()
    assert Dataset.objects.get().job_runs.filter(operation="export_dataset", state="done").count() == 2
