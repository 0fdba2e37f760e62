"""A backup that somebody else has written, or exchanged, gets nothing into the database or the storage."""

import io
import json
import tarfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session as SignIn
from django.utils import timezone

from alignmenter_site.monitoring import doctor
from datasets_app.backups import keys, manifest, restore_backup, schedule
from datasets_app.backups.archive import ArchiveWriter, Handlers, read_archive
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, JobRun, Session
from datasets_app.retention import erase_session
from tests.conftest import RunManage
from tests.factories import make_dataset, make_sessions


def make_archive(*members: tuple[Any, bytes]) -> bytes:
    """Members before what a backup contains; the whole is signed."""
    buffer = io.BytesIO()
    writer = ArchiveWriter(buffer)
    for info, content in members:
        if isinstance(info, str):
            info = tarfile.TarInfo(info)
            info.size = len(content)
        writer._tar.addfile(info, io.BytesIO(content))
    writer.write_manifest({"format": manifest.FORMAT})
    writer.write_file("a", 3, io.BytesIO(b"abc"))
    writer.finish({})
    return buffer.getvalue()


def read(content: bytes) -> dict[str, int]:
    found: dict[str, int] = {}

    def store(name: str, stream: Any) -> None:
        found[name] = len(stream.read(1000))

    read_archive(io.BytesIO(content), Handlers(file=store))
    return found


def make_info(name: str, **fields: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


MANIFEST = json.dumps({"schema": "other"}).encode()
HOSTILE: dict[str, tuple[Any, bytes]] = {
    "leaves the folder": ("files/../../x", b"x"),
    "absolute": ("files//etc/x", b"x"),
    "no name": ("files/", b"x"),
    "a manifest of its own": ("manifest.json", MANIFEST),
    "another document": ("anything", b"x"),
    "a large document": (make_info("signature", size=17 << 20), bytes(17 << 20)),
    "a large part": (make_info("database/000001", size=5 << 20), bytes(5 << 20)),
    "a symbolic link": (make_info("files/x", type=tarfile.SYMTYPE, linkname="/etc/passwd"), b""),
    "a hard link": (make_info("files/x", type=tarfile.LNKTYPE, linkname="files/a"), b""),
    "a device": (make_info("files/x", type=tarfile.CHRTYPE), b""),
    "a folder": (make_info("files/x", type=tarfile.DIRTYPE), b""),
    "a large header": (make_info("files/x", pax_headers={"comment": "x" * 100_000}), b""),
    "a sparse file": (
        make_info(
            "files/x",
            pax_headers={
                "GNU.sparse.major": "0",
                "GNU.sparse.minor": "1",
                "GNU.sparse.map": "0,0",
                "GNU.sparse.size": str(1 << 50),
            },
        ),
        b"",
    ),
}


@pytest.mark.parametrize("member", HOSTILE.values(), ids=HOSTILE)
def test_what_no_backup_contains_is_refused(member: tuple[Any, bytes]) -> None:
    assert read(make_archive()) == {"a": 3}
    with pytest.raises(UserError, match="has another content than backups"):
        read(make_archive(member))


@pytest.fixture
def backup(manage: RunManage, tmp_path: Path, empty_queue: None) -> Callable[[str], tuple[str, list[Any]]]:
    """Makes a backup; returns (place, the keys that open it)."""
    public = manage("backup", "--new-key", tmp_path / "key.txt").stdout.strip()

    def make(name: str) -> tuple[str, list[Any]]:
        done = manage("backup", "--out", tmp_path / name, "--recipient", public)
        assert done.returncode == 0, done.stderr
        return str(tmp_path / name), keys.read_identities(tmp_path / "key.txt", "")

    return make


@pytest.mark.django_db(transaction=True)
def test_a_backup_that_is_exchanged_after_its_verification_is_not_executed(
    backup: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_dataset(tmp_path, make_sessions(2))
    place, identities = backup("verified")
    make_dataset(tmp_path, make_sessions(3), "later")
    other, _ = backup("other")
    verify = restore_backup.verify_backup
    executed: list[bytes] = []
    monkeypatch.setattr(restore_backup.DatabaseLoader, "add_part", lambda self, part: executed.append(part))

    def verify_and_exchange(*arguments: Any) -> Any:
        verified = verify(*arguments)
        Path(place).write_bytes(Path(other).read_bytes())
        return verified

    monkeypatch.setattr(restore_backup, "verify_backup", verify_and_exchange)
    with pytest.raises(UserError, match="was exchanged while it was read"):
        restore_backup.load_backup(place, identities, replace=True)
    assert executed == []
    assert Dataset.objects.filter(name="later").exists()


@pytest.mark.django_db(transaction=True)
def test_a_restore_that_stops_once_the_backup_is_loaded_is_reported_and_can_be_finished(
    backup: Any, manage: RunManage, tmp_path: Path
) -> None:
    support = make_dataset(tmp_path, make_sessions(2))
    SignIn.objects.create(session_key="k", session_data="d", expire_date=timezone.now() + timedelta(days=1))
    place, identities = backup("all")
    erase_session.erase_session(support.sessions.get(session_id="s1"), "Request of 3 May")
    assert doctor.CHECKS["erasures"]()
    restore_backup.load_backup(place, identities, replace=True)
    assert Session.objects.count() == 2
    assert not SignIn.objects.exists()
    with pytest.raises(doctor.Fault, match=r"not in the database, .* Run reapply_erasures"):
        doctor.CHECKS["erasures"]()
    assert manage("reapply_erasures").returncode == 0
    assert list(Session.objects.values_list("session_id", flat=True)) == ["s2"]
    assert doctor.CHECKS["erasures"]()


@pytest.mark.django_db
def test_backups_of_a_wrong_clock_neither_replace_new_ones_nor_count_as_the_last(
    tmp_path: Path, settings: Any
) -> None:
    names = [f"alignmenter-{year}0101T000000.000000Z.age" for year in (2024, 2025, 2026, 2039)]
    for name in names:
        (tmp_path / name).touch()
    assert schedule.delete_old_backups(str(tmp_path), 2, names[2]) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == names[1:]
    made = JobRun.objects.create(operation="backup", state="done", finished_at=timezone.now())
    JobRun.objects.create(operation="backup", state="done", finished_at=timezone.now() + timedelta(days=4000))
    assert schedule.last_backup_at() == made.finished_at
