"""Backups are made and restored for real; faults of a backup are refused and change nothing."""

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone
from psycopg.conninfo import make_conninfo

from alignmenter_site import embedded
from alignmenter_site.monitoring import doctor
from alignmenter_site.monitoring.metrics import render_metrics
from datasets_app.backups import make_backup, schedule
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, JobRun, Release, ReleaseFile, Session
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.verify import verify_releases
from datasets_app.retention import apply, erase_session
from tests.conftest import RunManage
from tests.factories import make_dataset, make_session, make_sessions
from tests.tls_relay import make_certificate, serve_with_tls

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "My parcel has not arrived, and I have been waiting for two weeks now."


@pytest.fixture
def key(manage: RunManage, tmp_path: Path) -> tuple[str, str]:
    """(public key, file of the private one)"""
    done = manage("backup", "--new-key", tmp_path / "key.txt")
    assert (tmp_path / "key.txt").stat().st_mode & 0o777 == 0o600
    return done.stdout.strip(), str(tmp_path / "key.txt")


def export(manage: RunManage, name: str, path: Path) -> bytes:
    path.unlink(missing_ok=True)
    done = manage("export_dataset", name, "--out", path, "--override", "a test")
    assert done.returncode == 0, done.stderr
    return path.read_bytes()


def write_file(content: bytes, path: Path) -> Path:
    path.write_bytes(content)
    return path


def move_to_tablespace(table: str) -> Callable[[], object]:
    """To one that only administrators may use; what removes it again."""
    database = connection.settings_dict
    place = make_conninfo(host=database["HOST"], user=embedded.ADMINISTRATOR, dbname=database["NAME"])

    def execute(*statements: bytes) -> None:
        with psycopg.connect(place, autocommit=True) as session:
            for statement in statements:
                session.execute(statement)

    execute(
        b"SET allow_in_place_tablespaces = on",
        b"CREATE TABLESPACE archive LOCATION ''",
        f"ALTER TABLE {table} SET TABLESPACE archive".encode(),
    )
    return lambda: execute(
        b"ALTER TABLE ALL IN TABLESPACE archive SET TABLESPACE pg_default", b"DROP TABLESPACE archive"
    )


def test_a_backup_brings_back_everything_but_what_was_deleted_since(
    manage: RunManage,
    tmp_path: Path,
    key: tuple[str, str],
    empty_queue: None,
    request: pytest.FixtureRequest,
) -> None:
    public, identity = key
    support = make_dataset(
        tmp_path, [*make_session("kept"), *make_session("gone", text=TEXT)], origin="synthetic"
    )
    other = make_dataset(tmp_path, make_sessions(3), "other")
    request.addfinalizer(move_to_tablespace(f"datasets_app_turn_{other.pk}"))
    make_dataset(tmp_path, make_sessions(2), "doomed")
    release_dataset(support, folder=tmp_path, override="a test", actor=None)
    before = export(manage, "other", tmp_path / "export")
    stored = {file.file.name: file.sha256 for file in ReleaseFile.objects.all()}

    backup = tmp_path / "all.age"
    done = manage("backup", "--out", backup, "--recipient", public, "--identity", identity)
    assert (done.returncode, done.stderr) == (0, "")
    assert "all.age: unchanged and complete" in done.stdout
    assert f"{len(stored)} stored files" in done.stdout
    assert TEXT.encode() not in backup.read_bytes()
    assert "alignmenter_backup_age_seconds" in render_metrics()

    # Afterwards a session is erased, a dataset deleted, another one made, and files are lost.
    erase_session.erase_session(support.sessions.get(session_id="gone"), "Request of 3 May")
    apply.apply_retention(dataset=Dataset.objects.get(name="doomed"), reason="Contract ended")
    make_dataset(tmp_path, make_sessions(1), "later")
    lost = next(iter(stored))
    default_storage.delete(lost)
    events = AuditEvent.objects.count()

    _faults_change_nothing(manage, tmp_path, backup, identity)
    assert AuditEvent.objects.count() == events
    assert Dataset.objects.filter(name="later").exists()

    done = manage("restore", backup, "--identity", identity, "--replace")
    assert (done.returncode, done.stderr) == (0, "")
    assert "doomed: deleted dataset\nsupport: 1 erased session\n" in done.stdout
    assert export(manage, "other", tmp_path / "export") == before
    assert set(Session.objects.values_list("session_id", flat=True)) >= {"kept", "s1"}
    assert not Session.objects.filter(session_id="gone").exists()
    assert Dataset.objects.get(name="doomed").status == "expired"
    assert not Dataset.objects.filter(name="later").exists()
    # The release without the erased session replaces the one that had it.
    assert sorted(Release.objects.filter(destroyed_at=None).values_list("patch", flat=True)) == [1]
    assert not default_storage.exists(lost)
    assert verify_releases(actor=None).faults == []
    assert AuditEvent.objects.get(action="restore").details["datasets"] == ["doomed"]
    assert JobRun.objects.get(operation="restore").state == "done"
    assert JobRun.objects.get(operation="backup").state == "cancelled"
    assert manage("verify_audit").returncode == 0


def _faults_change_nothing(manage: RunManage, folder: Path, backup: Path, identity: str) -> None:
    content = backup.read_bytes()
    other = manage(
        "backup", "--new-key", folder / "other.txt", "--passphrase-file", write_file(b"x\n", folder / "x")
    )
    assert other.stdout.startswith("age1")
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    faults: list[tuple[Path, list[Any], str]] = [
        (backup, ["--identity", identity], "pass --replace"),
        (backup, ["--identity", folder / "other.txt"], "protected by a passphrase"),
        (backup, ["--identity", folder / "other.txt", "--passphrase-file", folder / "x"], "does not open"),
        (write_file(content[:-5_000], folder / "cut"), ["--identity", identity], "changed or cut off"),
        (write_file(flipped, folder / "flipped"), ["--identity", identity], "changed or cut off"),
        (folder / "other.txt", ["--identity", identity], "does not open"),
        (folder / "key.txt", ["--identity", identity], "not a backup"),
        (folder / "nowhere", ["--identity", identity], "There is no file"),
    ]
    for place, options, sentence in faults:
        replace = [] if sentence == "pass --replace" else ["--replace"]
        done = manage("restore", place, *options, *replace)
        assert (done.returncode, done.stdout) == (2, ""), sentence
        assert sentence in done.stderr
    assert manage("backup", "--verify", folder / "flipped").returncode == 1
    assert "by its digest" in manage("backup", "--verify", backup).stdout


def test_backups_of_the_night_are_made_by_a_job_and_the_oldest_are_deleted(
    tmp_path: Path, key: tuple[str, str], settings: Any, empty_queue: None
) -> None:
    assert schedule.start_nightly_backup() == {}
    folder = tmp_path / "backups"
    folder.mkdir()
    for name in ("alignmenter-20200101T000000Z.age", "alignmenter-20210101T000000Z.age", "mine.age"):
        (folder / name).touch()
    settings.BACKUP_TO, settings.BACKUP_RECIPIENTS, settings.BACKUP_KEEP = str(folder), [key[0]], 2
    job = JobRun.objects.get(pk=schedule.start_nightly_backup()["job"])
    perform(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result["deleted_backups"]) == ("done", 1), job.error
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["alignmenter-20210101T000000Z.age", job.result["file"], "mine.age"]
    # Those of the same second have names of their own, as that of a job that was killed and begins again.
    now = timezone.now()
    assert make_backup.backup_name(now) < make_backup.backup_name(now + timedelta(microseconds=1))
    assert doctor.CHECKS["backup"]().startswith("the last one was made on")
    JobRun.objects.update(finished_at=timezone.now() - timedelta(days=3))
    with pytest.raises(doctor.Fault, match="Run `manage.py backup`"):
        doctor.CHECKS["backup"]()


def test_a_file_that_is_lost_is_counted_and_one_that_was_deleted_is_not(
    manage: RunManage, tmp_path: Path, key: tuple[str, str], empty_queue: None
) -> None:
    support = make_dataset(tmp_path, make_sessions(2), origin="synthetic")
    release_dataset(support, folder=tmp_path, override="a test", actor=None)
    first, second, *_ = ReleaseFile.objects.all()
    default_storage.delete(first.file.name)
    changed = Path(default_storage.path(second.file.name))
    changed.write_bytes(changed.read_bytes()[:-1] + b"x")
    done = manage("backup", "--out", tmp_path / "all.age", "--recipient", key[0])
    assert done.returncode == 1
    assert "1 file missing and 1 file changed in the file storage" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, other client programs are asked for")
def test_a_server_that_asks_for_tls_is_backed_up_and_verified(
    manage: RunManage, tmp_path: Path, key: tuple[str, str], settings: Any
) -> None:
    make_dataset(tmp_path, make_sessions(2))
    public, private = make_certificate(tmp_path)
    database = connection.settings_dict
    place = f"{database['HOST']}/.s.PGSQL.{database['PORT'] or 5432}"
    owner = database.get("OWNER", database)
    encrypted = {"sslmode": "verify-full", "sslrootcert": str(public)}
    with serve_with_tls(place, (public, private)) as port:
        settings.BACKUP_DATABASE = {**owner, "HOST": "localhost", "PORT": str(port), "OPTIONS": encrypted}
        done = manage("backup", "--out", tmp_path / "all.age", "--recipient", key[0], "--identity", key[1])
    assert (done.returncode, done.stderr) == (0, "")
    assert "unchanged and complete" in done.stdout
    done = manage("backup", "--out", tmp_path / "other.age", "--recipient", key[0])  # nothing listens now
    assert done.returncode == 2
    assert "with the address in ALIGNMENTER_BACKUP_DATABASE_URL" in done.stderr


def test_without_a_key_or_a_place_a_sentence_says_what_to_do(
    manage: RunManage, tmp_path: Path, key: tuple[str, str]
) -> None:
    assert "--new-key FILE" in manage("backup", "--out", tmp_path / "b").stderr
    assert (
        "must begin with age1" in manage("backup", "--out", tmp_path / "b", "--recipient", "ssh-rsa").stderr
    )
    assert "ALIGNMENTER_BACKUP_TO" in manage("backup").stderr
    assert "exists already" in manage("backup", "--new-key", tmp_path / "key.txt").stderr
    taken = manage("backup", "--out", tmp_path / "key.txt", "--recipient", key[0])
    assert "never overwritten" in taken.stderr
    nowhere = manage("backup", "--out", tmp_path / "none" / "b", "--recipient", key[0])
    assert (nowhere.returncode, "No such file or directory" in nowhere.stderr) == (2, True)
    assert not (tmp_path / "b").exists()
