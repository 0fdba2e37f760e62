"""Versions: frozen, handed out byte for byte, found out when altered, made anew without what was erased."""

import gzip
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from alignmenter_site.keys import release_key
from datasets_app.browsing.change_sessions import exclude_sessions, tag_sessions
from datasets_app.catalog import text_scans
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.models import AuditEvent, Dataset, Release, ReleaseFile, Turn
from datasets_app.releasing import draft as draft_release
from datasets_app.releasing import files
from datasets_app.releasing import release_dataset as release_operation
from datasets_app.releasing.freeze import read_release_lines
from datasets_app.releasing.reissue import reissue_release
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.sign_review import sign_review
from datasets_app.releasing.verify import verify_releases
from datasets_app.retention.find_person import find_everywhere
from tests import factories
from tests.alignmenter_tool import run_alignmenter, run_code_with_alignmenter

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "nobody is left to sign"


@pytest.fixture
def dataset(transactional_db: None, tmp_path: Path) -> Dataset:
    facts = {"license": "Apache-2.0", "source": "written for this test"}
    made = factories.make_dataset(tmp_path, factories.make_sessions(3), origin="synthetic")
    Dataset.objects.filter(pk=made.pk).update(**facts)
    made.refresh_from_db()
    return made


@pytest.fixture
def release(tmp_path: Path) -> Callable[..., Release]:
    def made(dataset: Dataset, **given: Any) -> Release:
        folder = tmp_path / f"work-{dataset.releases.count()}"
        folder.mkdir(exist_ok=True)
        given = {"actor": None, "override": REASON} | given
        return Release.objects.get(pk=release_dataset(dataset, folder=folder, **given).release)

    return made


def add(dataset: Dataset, tmp_path: Path, lines: list[Any]) -> None:
    path = factories.write_jsonl(tmp_path / f"more-{dataset.session_count}.jsonl", lines)
    factories.import_file(path, dataset.name, append=True)
    dataset.refresh_from_db()


def stored(release: Release, kind: str = "data") -> bytes:
    with files.open_file(files.get_file(release, kind)) as file:
        return file.read()


def path_of(release: Release, kind: str = "data") -> Path:
    return Path(files.get_file(release, kind).file.path)


def alter(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_version_has_its_five_files_and_what_is_said_of_them_holds(dataset: Dataset, release: Any) -> None:
    made = release(dataset, notes="The first.")
    assert made.version == "1.0.0"
    assert [file.name for file in made.files.all()] == [
        "support_v1.0.0.jsonl.gz",
        "support_v1.0.0.meta.yaml",
        "support_v1.0.0.manifest.json",
        "support_v1.0.0.CHANGELOG.md",
        "support_v1.0.0.sig.json",
    ]
    lines = gzip.decompress(stored(made)).splitlines(keepends=True)
    assert len(lines) == made.turn_count == 6
    metadata = stored(made, "metadata").decode()
    assert "version: 1.0.0" in metadata
    assert made.sha256 in metadata
    assert "The first." in stored(made, "changelog").decode()
    signed = json.loads(stored(made, "signature"))["signed"]
    assert signed["files"]["support_v1.0.0.jsonl.gz"]["sha256"] == made.sha256
    dataset.refresh_from_db()
    assert dataset.status == "released"
    event = AuditEvent.objects.get(action="release")
    assert event.details["release"] == "1.0.0"


# The manifest as Alignmenter reads it, and as it makes one itself.
BUILD_MANIFEST = """
import json, pathlib, sys
from alignmenter.schemas.dataset import DatasetManifest, build_manifest
data, manifest = map(pathlib.Path, sys.argv[1:])
read = DatasetManifest.model_validate_json(manifest.read_bytes())
built = build_manifest([json.loads(line) for line in data.open()], id="x", revision="x")
print(json.dumps([read.model_dump(mode="json"), built.model_dump(mode="json")]))
"""


@pytest.mark.xdist_group("alignmenter")
def test_alignmenter_finds_its_own_digest_in_the_manifest(
    dataset: Dataset, release: Any, tmp_path: Path
) -> None:
    odd = factories.make_session(
        "ü\u2028", metadata={"n": 10**30, "x": 0.1, "deep": {"b": [1e16, -0.0], "a": "é"}}
    )
    add(dataset, tmp_path, odd)
    made = release(dataset)
    data, manifest = tmp_path / "data.jsonl", tmp_path / "manifest.json"
    data.write_bytes(gzip.decompress(stored(made)))
    manifest.write_bytes(stored(made, "manifest"))
    done = run_alignmenter(tmp_path, "dataset", "manifest", data, "--verify", manifest)
    assert done.stdout.startswith("OK")
    done = run_code_with_alignmenter(tmp_path, BUILD_MANIFEST, data, manifest)
    read, built = json.loads(done.stdout)
    compared = ("tags", "personas", "session_count", "record_count")
    assert {name: read[name] for name in compared} == {name: built[name] for name in compared}


def test_a_version_never_changes_whatever_becomes_of_the_dataset(
    dataset: Dataset, release: Any, tmp_path: Path
) -> None:
    first = release(dataset)
    before = {file.kind: stored(first, file.kind) for file in first.files.all()}
    add(dataset, tmp_path, factories.make_session("s9"))
    assert dataset.status == "raw"
    second = release(dataset)
    assert second.version == "1.1.0"
    assert "1 session: `s9`" in second.changelog
    assert {file.kind: stored(first, file.kind) for file in first.files.all()} == before
    changelog = stored(second, "changelog").decode()
    assert changelog.index("[1.1.0]") < changelog.index("[1.0.0]")


def test_the_number_follows_from_what_has_changed(dataset: Dataset, release: Any, tmp_path: Path) -> None:
    release(dataset)
    with pytest.raises(UserError, match="support hasn't changed since 1.0.0"):
        release(dataset)
    assert release(dataset, bump="minor").version == "1.1.0"
    dataset.sessions.get(session_id="s2").turns.filter(turn_index=2).update(text="Corrected.")
    corrected = release(dataset)
    assert corrected.version == "1.1.1"
    assert "- `s2` turn 2: text" in corrected.changelog
    Dataset.objects.filter(pk=dataset.pk).update(license="MIT")
    dataset.refresh_from_db()
    restated = release(dataset)
    assert (restated.version, "Metadata: license" in restated.changelog) == ("1.1.2", True)
    add(dataset, tmp_path, factories.make_session("s8", timestamp="2025-11-03T14:25:00Z"))
    assert release(dataset).version == "2.0.0"


def test_what_is_not_ready_is_not_released_and_each_thing_is_named(
    dataset: Dataset, release: Any, tmp_path: Path
) -> None:
    add(dataset, tmp_path, factories.make_session("s7", text="Write to ana@acme.example, please."))
    with pytest.raises(UserError, match=r"personal data \(e-mail addresses: 2\)") as refusal:
        release(dataset, override="")
    assert "can't be released" in refusal.value.message
    assert "ana" not in refusal.value.message
    assert not Release.objects.exists()
    assert not AuditEvent.objects.filter(action="override").exists()
    made = release(dataset)
    assert made.override_reason == REASON
    assert made.checks["totals"]["E401"] >= 1
    event = AuditEvent.objects.get(action="override")
    assert event.details == {"purpose": "release", "reason": REASON}


def test_an_override_does_not_make_raw_data_look_scrubbed(release: Any, tmp_path: Path) -> None:
    raw = factories.make_dataset(tmp_path, factories.make_sessions(1), "raw", origin="production")
    release(raw)
    raw.refresh_from_db()
    assert raw.status == "raw"


def test_a_version_for_use_in_house_needs_no_legal_review(dataset: Dataset, release: Any) -> None:
    assert release(dataset, override="").override_reason == ""


def test_who_may_not_override_is_refused(
    dataset: Dataset, release: Any, django_user_model: Any, tmp_path: Path
) -> None:
    add(dataset, tmp_path, factories.make_session("s7", text="Write to ana@acme.example, please."))
    with pytest.raises(UserError, match="permission to release"):
        release(dataset, actor=django_user_model.objects.create(username="ana"))
    assert not Release.objects.exists()


def list_keys(dataset: Dataset) -> list[int]:
    return list(dataset.sessions.order_by("pk").values_list("pk", flat=True))


def swap_excluded(dataset: Dataset) -> None:
    """As many sessions as before, but others."""
    first, second = list_keys(dataset)[:2]
    exclude_sessions(dataset, [first])
    exclude_sessions(dataset, [second], include=True)


def tag_and_sign(dataset: Dataset) -> None:
    """A signature covers what is there now, not what a version has read before."""
    tag_sessions(dataset, list_keys(dataset)[:1], "odd")
    sign_review(dataset, actor=User.objects.create_superuser("boss"))


@pytest.mark.parametrize(
    "change",
    [lambda dataset: dataset.sessions.get(session_id="s1").delete(), swap_excluded, tag_and_sign],
    ids=["erased", "excluded", "signed"],
)
def test_a_dataset_that_changes_meanwhile_is_not_released(
    change: Any, dataset: Dataset, release: Any, monkeypatch: Any
) -> None:
    exclude_sessions(dataset, list_keys(dataset)[1:2])
    drafted = draft_release.draft_release

    def change_meanwhile(*given: Any) -> Any:
        draft = drafted(*given)
        change(dataset)
        return draft

    monkeypatch.setattr(release_operation, "draft_release", change_meanwhile)
    with pytest.raises(UserError, match="changed while it was being released"):
        release(dataset)
    assert not Release.objects.exists()
    assert not _files(default_storage.location)


def _files(place: Any) -> list[Path]:
    return [path for path in Path(place).rglob("*") if path.is_file()]


@pytest.mark.parametrize("kind", [kind.value for kind in ReleaseFile.Kind])
def test_one_changed_byte_in_storage_is_found_and_named(dataset: Dataset, release: Any, kind: str) -> None:
    made = release(dataset)
    assert verify_releases(actor=None).faults == []
    alter(path_of(made, kind))
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError) as error:
        call_command("verify_releases", "support", stdout=out, stderr=err)
    assert error.value.returncode == 1
    assert files.get_file(made, kind).name in err.getvalue()
    made.refresh_from_db()
    assert "differs" in made.fault
    assert made.verified_at is not None


def test_what_is_missing_cut_off_or_restated_in_the_database_is_found(dataset: Dataset, release: Any) -> None:
    made = release(dataset)
    data = path_of(made)
    content = data.read_bytes()
    data.write_bytes(content[:-1])
    assert "instead of" in verify_releases(actor=None).faults[0].message
    data.unlink()
    assert "missing" in verify_releases(actor=None).faults[0].message
    # Who can write to both storage and database still can't sign.
    data.write_bytes(content + b"\n")
    from datasets_app.domain.conversations.reading import hash_file

    row = files.get_file(made, "data")
    ReleaseFile.objects.filter(pk=row.pk).update(size=len(content) + 1, sha256=hash_file(data))
    assert "signs other files" in verify_releases(actor=None).faults[0].message


def test_a_signature_of_another_key_is_no_signature_of_ours(
    dataset: Dataset, release: Any, monkeypatch: Any
) -> None:
    import base64

    release(dataset)
    ours = base64.b64encode(release_key.public_key()).decode()
    monkeypatch.setenv(release_key.ENV_VAR, "another key, long enough to be one")
    assert "an unknown key" in verify_releases(actor=None).faults[0].message
    monkeypatch.setenv(release_key.FORMER_KEYS_ENV_VAR, ours)
    assert verify_releases(actor=None).faults == []


def test_a_session_that_is_erased_goes_from_every_version(
    dataset: Dataset, release: Any, tmp_path: Path
) -> None:
    first = release(dataset)
    old_file, old_digest = path_of(first), first.sha256
    dataset.sessions.get(session_id="s2").turns.filter(turn_index=2).update(text="Corrected.")
    second = release(dataset, notes="See s2, and s3.")
    dataset.sessions.get(session_id="s2").delete()
    third = release(dataset)
    assert "s2" not in third.changelog
    assert b"`s2`" in stored(third, "changelog")  # in what 1.0.1 has changed
    done = [
        reissue_release(row, lambda name: name == "s2", actor=None, reason="asked to")
        for row in dataset.releases.order_by("pk")
    ]
    assert [row and row.version for row in done] == ["1.0.2", "1.0.3", "1.1.1"]
    first.refresh_from_db()
    assert (first.sha256, first.destroyed_reason, old_file.exists()) == (old_digest, "asked to", False)
    assert [file.file.name for file in first.files.all()] == [""] * 5
    for path in _files(default_storage.location):
        content = (
            gzip.decompress(path.read_bytes()) if path.read_bytes()[:2] == b"\x1f\x8b" else path.read_bytes()
        )
        # A signature is random, and may hold these two letters.
        assert b"s2" not in content.partition(b'"public_key"')[0]
    assert not Release.objects.filter(changelog__contains="s2").exists()
    assert not Release.objects.filter(notes__contains="s2").exists()
    left = [json.loads(line)["session_id"] for line in read_release_lines(done[0])]
    assert left == ["s1", "s1", "s3", "s3"]
    assert "[erased], and s3." in Release.objects.get(pk=second.pk).notes
    assert verify_releases(actor=None).faults == []
    again = [
        reissue_release(row, lambda name: name == "s2", actor=None, reason="asked to")
        for row in dataset.releases.all()
    ]
    assert again == [None] * 6


def test_once_ids_are_hashed_no_version_tells_whose_they_were(dataset: Dataset, release: Any) -> None:
    release(dataset)
    dataset.sessions.get(session_id="s2").turns.filter(turn_index=2).update(text="Corrected.")
    release(dataset)
    for number in (1, 2, 3):
        dataset.sessions.filter(session_id=f"s{number}").update(session_id=f"{number}" * 64, id_hashed=True)
    made = release(dataset)
    changelog = stored(made, "changelog").decode()
    assert "s2" not in changelog
    assert "[session] turn 2: text" in changelog
    assert "2" * 64 in changelog


def test_what_a_cut_short_deletion_left_is_deleted(dataset: Dataset, release: Any) -> None:
    from django.utils import timezone

    made = release(dataset)
    left = default_storage.path(f"releases/{dataset.pk}/half")
    Path(left).write_text("canary")
    Release.objects.filter(pk=made.pk).update(destroyed_at=timezone.now())
    assert files.destroy_orphans() == 5  # the other may be being stored just now
    assert files.destroy_orphans(dataset) == 1
    assert not _files(default_storage.location)
    with pytest.raises(UserError, match="was destroyed"):
        files.open_file(files.get_file(made, "data"))


def test_commands_say_what_would_be_released_and_what_differs(
    dataset: Dataset, release: Any, tmp_path: Path
) -> None:
    out, err = StringIO(), StringIO()
    Turn.objects.filter(session__session_id="s1", turn_index=2).update(text=" ")
    with pytest.raises(CommandError) as error:
        call_command("release_dataset", "support", "--dry-run", stdout=out, stderr=err)
    assert error.value.returncode == 1
    assert "support 1.0.0" in out.getvalue()
    assert "Blocker: Checks without error: The checks found 1 error (E301: 1)." in err.getvalue()
    call_command("release_dataset", "support", "--override", REASON, stdout=out)
    add(dataset, tmp_path, factories.make_session("s5"))
    out = StringIO()
    with pytest.raises(SystemExit) as found:
        call_command("compare_releases", "support", "--format", "json", stdout=out)
    assert found.value.code == 1
    told = json.loads(out.getvalue())
    assert (told["before"], told["after"], told["added"], told["proposed"]) == (
        "1.0.0",
        "now",
        ["s5"],
        "minor",
    )
    out = StringIO()
    call_command("compare_releases", "support", "1.0.0", "v1.0.0", stdout=out)
    assert "No differences" in out.getvalue()
    with pytest.raises(CommandError, match="no release 7.0.0"):
        call_command("compare_releases", "support", "7.0.0")


@pytest.mark.parametrize(
    "change", [lambda raw: b"", lambda raw: raw[:-1] + b"x", lambda raw: raw[:4] + b"x" + raw[5:]]
)
def test_a_version_that_was_changed_is_neither_compared_nor_searched(
    change: Callable[[bytes], bytes], dataset: Dataset, release: Any
) -> None:
    data = release(dataset).files.get(kind=ReleaseFile.Kind.DATA)
    path = Path(data.file.storage.path(data.file.name))
    path.chmod(0o600)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(CommandError, match="was changed after the release"):
        call_command("compare_releases", "support")
    assert find_everywhere("Theodora").unread == ["support 1.0.0"]


def test_lines_written_by_the_database_are_those_of_the_file(dataset: Dataset, release: Any) -> None:
    made = release(dataset)
    first = next(iter(read_release_lines(made)))
    assert first == encode_line(json.loads(first))


def test_text_that_becomes_raw_while_a_version_is_drafted_is_not_released(
    dataset: Dataset, release: Any, monkeypatch: Any
) -> None:
    turn = dataset.sessions.get(session_id="s1").turns.get(turn_index=2)
    drafted = draft_release.draft_release

    def change_meanwhile(*given: Any) -> Any:
        Turn.objects.filter(pk=turn.pk).update(text="Write to ana@acme.example, please.")
        text_scans.discard_scan(dataset)
        return drafted(*given)

    monkeypatch.setattr(release_operation, "draft_release", change_meanwhile)
    with pytest.raises(UserError, match=r"personal data \(e-mail addresses: 1\)"):
        release(dataset, override="")
    assert not Release.objects.exists()


def test_sessions_that_came_after_a_split_are_released_with_the_others(
    dataset: Dataset, release: Callable[..., Release]
) -> None:
    dataset.sessions.filter(session_id="s1").update(split="train")
    dataset.sessions.filter(session_id="s2").update(split="test")
    assert release(dataset).splits == {"test": 1, "train": 1}
