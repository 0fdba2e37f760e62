"""A person is found and erased in stored files, too: uploads, quarantined lines, exports; packed or not."""

import gzip
import io
import json
import tarfile
import zipfile
from base64 import encodebytes
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from datasets_app.models import AuditEvent, Dataset, JobFile, JobRun, SourceFile
from datasets_app.retention.find_person import find_everywhere
from tests.api.calls import Caller, make_user
from tests.factories import make_dataset, make_turn, run_task

pytestmark = pytest.mark.django_db(transaction=True)

PERSON = "Jürgen Müller"
LINE = json.dumps({"text": f"Call {PERSON}"}, ensure_ascii=False)


def make_tar(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def make_zip(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


FOUND = {
    "lines": (f"{LINE}\nother\n{LINE}".encode(), 2),
    "escaped": (json.dumps({"text": f"Call\n{PERSON}"}).encode(), 1),
    "decomposed": ("Call Ju\u0308rgen Mu\u0308ller".encode(), 1),
    "utf16": (f"a;b\nc;{PERSON}".encode("utf-16"), 1),
    "windows": (f"a;b\nc;{PERSON}\n".encode("cp1252"), 1),
    "base64 of a mail": (encodebytes(f"{'x ' * 26}{PERSON}{' x' * 30}".encode()) * 2, 1),
    "base64 of a mail in JSON": (
        json.dumps({"text": encodebytes(f"{'x ' * 26}{PERSON}{' x' * 30}".encode()).decode()}).encode(),
        1,
    ),
    "gzip": (gzip.compress(LINE.encode()), 1),
    "tar": (make_tar(a=LINE.encode(), b=gzip.compress(LINE.encode()), c=b"other"), 2),
    "zip": (make_zip(a=LINE.encode(), b=gzip.compress(LINE.encode()), c=b"other"), 2),
    "one long line": (b"[" + b"1, " * 900_000 + LINE.encode() + b", 1" * 900_000 + b"]\n" + LINE.encode(), 2),
    "at the edge of a block": (b"x " * (512 * 1024 - 8) + LINE.encode() + b" x" * 1_000_000, 1),
}


def store(content: bytes, dataset: str = "new", kind: str = "upload", state: str = "done") -> JobFile:
    job = JobRun.objects.create(
        operation="import_dataset", dataset_name=dataset, state=state, result={"problems": ["x"], "turns": 3}
    )
    row = JobFile(job_run=job, kind=kind, name="new.jsonl", size=len(content))
    row.file.save(f"{job.pk}/{kind}/x", ContentFile(content), save=True)
    return row


@pytest.mark.parametrize("name", FOUND)
def test_files_are_searched_in_every_form(name: str) -> None:
    content, lines = FOUND[name]
    store(content)
    found = find_everywhere(PERSON)
    assert ([match.lines for match in found.files], found.unsearched_files) == ([lines], 0)


def test_what_cannot_be_searched_is_counted() -> None:
    damaged = gzip.compress(LINE.encode() * 1000)[:-20]
    for content in (b"SQLite format 3\0", damaged, make_zip(a=damaged), b"PAR1 damaged"):
        store(content)
    store(b"Jurgen Mullers")
    found = find_everywhere(PERSON)
    assert (found.files, found.unsearched_files) == ([], 4)
    assert found.describe_rest()[0].startswith("Not searched: 4 stored files of jobs that can't be read")


def test_the_command_lists_and_deletes_files(tmp_path: Path, capsys: Any) -> None:
    make_dataset(tmp_path, [make_turn("a", text=f"I am {PERSON}"), make_turn("b")])
    upload = store(FOUND["lines"][0], state="prepared")
    lines = store(LINE.encode(), dataset="support", kind="quarantine")
    kept = store(b"nobody")
    call_command("erase_person", PERSON, dry_run=True)
    listed = capsys.readouterr().out
    assert f"new: uploaded file of job {upload.job_run_id} (2 lines), erased as a whole" in listed
    assert f"support: quarantined lines of job {lines.job_run_id} (1 line), erased as a whole" in listed
    call_command("erase_person", PERSON, reason="Request of 3 May")
    assert "Erased 1 session, 0 received spans, 2 files." in capsys.readouterr().out
    assert not upload.file.storage.exists(upload.file.name)
    assert not lines.file.storage.exists(lines.file.name)
    assert kept.file.storage.exists(kept.file.name)
    job = JobRun.objects.get(pk=upload.job_run_id)
    assert (job.state, job.result) == ("cancelled", {"turns": 3})
    events = AuditEvent.objects.filter(action="erase_session", dataset_name="new")
    assert [event.details["deleted"] for event in events] == [
        {"files": 1, "file_bytes": len(FOUND["lines"][0])}
    ]
    assert not find_everywhere(PERSON)
    with pytest.raises(SystemExit):
        call_command("erase_person", PERSON, reason="Request of 3 May")


def test_the_name_of_an_imported_file_goes_with_the_person(tmp_path: Path, capsys: Any) -> None:
    make_dataset(tmp_path, [make_turn("a")])
    SourceFile.objects.update(name=f"Chats of {PERSON}.jsonl")
    digest = SourceFile.objects.get().sha256
    call_command("erase_person", PERSON, dry_run=True)
    assert "support: 1 imported file named after this person" in capsys.readouterr().out
    call_command("erase_person", PERSON, reason="Request of 3 May")
    assert "Erased 0 sessions, 0 received spans, 0 files, 1 file name." in capsys.readouterr().out
    kept = SourceFile.objects.get()
    assert (kept.name, kept.sha256) == ("erased", digest)
    event = AuditEvent.objects.get(action="erase_session")
    assert (event.dataset_name, event.details["deleted"]) == ("support", {"file_names": 1})
    assert not find_everywhere(PERSON)


def test_files_of_a_dataset_on_legal_hold_stay(tmp_path: Path) -> None:
    make_dataset(tmp_path, [make_turn("a")])
    Dataset.objects.update(legal_hold=True)
    row = store(LINE.encode(), dataset="support")
    assert find_everywhere(PERSON).list_held() == ["support"]
    with pytest.raises(CommandError, match="legal hold"):
        call_command("erase_person", PERSON, reason="Request of 3 May")
    assert row.file.storage.exists(row.file.name)


def test_page_and_api_list_and_erase_files(client: Any, empty_queue: Any) -> None:
    row = store(LINE.encode())
    officer = make_user("privacy officer")
    call = Caller(officer, ["datasets:read", "people:erase"])
    found = call("POST", "/people/find", {"person": PERSON}).json()
    assert found["files"] == [{"job": row.job_run_id, "dataset": "new", "kind": "uploaded file", "lines": 1}]
    client.force_login(officer)
    address = reverse("admin:datasets_app_dataset_erase_person")
    page = client.post(address, {"person": PERSON, "do": "find"}).content.decode()
    assert "(1 line), erased as a whole" in page
    assert "Erase permanently" in page
    body = {"person": PERSON, "reason": "Request 118", "sessions": 0}
    assert call("POST", "/people/erase", body, Idempotency_Key="two").status_code == 202
    run_task(JobRun.objects.get(operation="erase_session"))
    assert not row.file.storage.exists(row.file.name)
    assert call("POST", "/people/erase", body).status_code == 404


def test_only_those_who_may_read_uploads_are_told(client: Any) -> None:
    store(LINE.encode())
    viewer = make_user("viewer")
    found = find_everywhere(PERSON, viewer)
    assert (found.files, found.unsearched_files) == ([], 1)
