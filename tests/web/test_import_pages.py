"""The import form, its preview and the job that comes of it. Nothing is imported in a request."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError
from django.urls import reverse

from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent, Dataset, JobFile, JobRun, TableMapping
from tests import factories
from tests.traces.exports import HELLO, HI, OBSERVATIONS

FORM = "/admin/datasets_app/dataset/import/"
OPTIONS = {"origin": "synthetic", "format": "auto", "on_error": "abort", "dataset_name": ""}


def upload(client: Any, content: bytes, name: str = "My logs (May).jsonl", **options: Any) -> Any:
    return client.post(FORM, {**OPTIONS, **options, "file": SimpleUploadedFile(name, content)}, follow=True)


@pytest.fixture
def prepared(curator: Any, db: None) -> JobRun:
    upload(curator, factories.encode_jsonl(factories.make_session("s1", 3)))
    return JobRun.objects.get()


def test_an_upload_is_kept_with_a_prepared_job(curator: Any) -> None:
    content = factories.encode_jsonl(factories.make_session("s1", 3))
    response = upload(curator, content, persona="p1", renumber="on")
    job = JobRun.objects.get()
    assert (job.operation, job.state, job.dataset_name) == ("import_dataset", "prepared", "My_logs_May")
    assert job.actor == curator.user
    assert job.parameters == {
        "format": "auto",
        "origin": "synthetic",
        "renumber": True,
        "on_error": "abort",
        "append": False,
        "persona": "p1",
        "prepared_origin": "synthetic",
        "uploaded_by": "curator",
    }
    kept = job.files.get()
    assert (kept.kind, kept.name, kept.size) == ("upload", "My logs (May).jsonl", len(content))
    assert kept.sha256 == hashlib.sha256(content).hexdigest()
    assert kept.expires_at is not None
    assert kept.file.name.startswith(f"jobs/{job.pk}/upload/")
    assert kept.file.read() == content
    page = response.content.decode()
    assert "What user says as number 1 of s1." in page
    assert "Nothing has been imported yet." in page
    assert not Dataset.objects.exists()


def test_files_are_kept_when_another_field_is_wrong(curator: Any) -> None:
    content = factories.encode_jsonl(factories.make_session("s1", 3))
    response = upload(curator, content, dataset_name="no good name", persona="p1")
    job = JobRun.objects.get()
    assert response.redirect_chain[-1][0] == f"{FORM}{job.pk}/"
    assert (job.dataset_name, job.parameters["persona"]) == ("no_good_name", "p1")
    assert "Use letters, digits, dots, dashes and underscores" in response.content.decode()


def test_the_origin_is_chosen_by_people_and_has_no_default(curator: Any, dataset: Dataset) -> None:
    page = curator.get(FORM).content.decode()
    select = re.search(r'<select name="origin".*?</select>', page, re.DOTALL)[0]  # type: ignore[index]
    assert "required" in select.partition(">")[0]
    assert '<option value="" selected>Choose an origin</option>' in select
    # Browsers ask for it before they send the file. A file that came without one waits for it.
    page = upload(
        curator, factories.encode_jsonl(factories.make_session("s1", 3)), origin=""
    ).content.decode()
    job = JobRun.objects.get(state="prepared")
    assert (job.parameters.get("origin"), job.parameters.get("prepared_origin")) == (None, None)
    assert "Choose the origin: it decides which rules apply" in page
    assert AuditEvent.objects.filter(action="read_raw_text", details__job_run=job.pk).exists()
    answers = {**OPTIONS, "dataset_name": "may", "import": "1"}
    page = curator.post(f"{FORM}{job.pk}/", {**answers, "origin": ""}).content.decode()
    assert "Choose the origin: it decides which rules apply" in page
    job.refresh_from_db()
    assert job.state == "prepared"
    # A dataset keeps the one that it has.
    page = curator.get(FORM, {"dataset": dataset.name}).content.decode()
    assert f'<option value="{dataset.origin}" selected>' in page


def test_several_files_each_get_a_preview(curator: Any) -> None:
    files = [
        SimpleUploadedFile(f"{name}.jsonl", factories.encode_jsonl(factories.make_session(name, 3)))
        for name in ("may", "june")
    ]
    response = curator.post(FORM, {**OPTIONS, "file": files}, follow=True)
    assert [job.dataset_name for job in JobRun.objects.order_by("pk")] == ["may", "june"]
    page = response.content.decode()
    assert "Also uploaded" in page
    assert "june.jsonl" in page
    # Nothing of it is a job yet: the import page lists it.
    assert "june" not in curator.get(reverse("admin:datasets_app_jobrun_changelist")).content.decode()
    assert "june.jsonl" in curator.get(FORM).content.decode()


def test_an_import_that_would_fail_says_so_at_its_button(curator: Any) -> None:
    turns = factories.make_session("s1", 3)
    turns[1]["turn_index"] = 7
    page = upload(curator, factories.encode_jsonl(turns)).content.decode()
    job = JobRun.objects.get()
    assert "The import would fail" in page
    assert re.search(r"<button[^>]*data-import[^>]*disabled", page)
    curator.post(
        f"{FORM}{job.pk}/", {**OPTIONS, "dataset_name": "may", "on_error": "quarantine", "look": "1"}
    )
    page = curator.get(f"{FORM}{job.pk}/").content.decode()
    assert not re.search(r"<button[^>]*data-import[^>]*disabled", page)


def test_recognized_columns_can_be_chosen_anew(curator: Any) -> None:
    table = b"thread,author,body,remark\n1,user,Hello there,First\n1,assistant,Hi,Second\n"
    page = upload(curator, table, "table.csv")
    job = JobRun.objects.get()
    columns = [("", "none"), *((name, name) for name in ("thread", "author", "body", "remark"))]
    assert ("text", "body", columns) in page.context["mapping"]
    chosen = {"column-session_id": "thread", "column-role": "author", "column-text": "body"}
    answers = {
        **OPTIONS,
        "dataset_name": "may",
        "look": "1",
        "detected-columns": page.context["detected_columns"],
    }
    curator.post(f"{FORM}{job.pk}/", {**answers, **chosen})
    job.refresh_from_db()
    assert "columns" not in job.parameters
    curator.post(f"{FORM}{job.pk}/", {**answers, **chosen, "column-text": "remark"})
    job.refresh_from_db()
    assert job.parameters["columns"] == "session_id=thread, role=author, text=remark"
    curator.post(f"{FORM}{job.pk}/", {**answers, **chosen, "column-session_id": ""})
    job.refresh_from_db()
    assert job.parameters["columns"] == "session_id=, role=author, text=body"


def test_a_sender_whose_name_has_a_comma_is_left_out(curator: Any) -> None:
    table = b'ticket,author,body\n1,user,Hello\n1,"Roe, Jane",He is cross\n1,assistant,Hi\n'
    page = upload(curator, table, "table.csv")
    job = JobRun.objects.get()
    (number,) = (n for n, (sender, *_) in enumerate(page.context["sides"]) if sender == "Roe, Jane")
    chosen = {f"sender-{number}": "Roe, Jane", f"side-{number}": "leave-out", "sender-9": "user"}
    curator.post(f"{FORM}{job.pk}/", {**OPTIONS, "dataset_name": "may", "look": "1", **chosen})
    page = curator.get(f"{FORM}{job.pk}/")
    assert "1 message of a sender that is left out by choice" in page.content.decode()
    assert ("Roe, Jane", "leave-out", 1, "leave-out") in page.context["sides"]


def test_confirming_queues_the_job_and_runs_nothing(
    curator: Any, prepared: JobRun, empty_queue: None, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks() as sent:
        response = curator.post(f"{FORM}{prepared.pk}/", {**OPTIONS, "dataset_name": "may", "import": "1"})
    prepared.refresh_from_db()
    assert response["Location"] == reverse("admin:datasets_app_jobrun_change", args=[prepared.pk])
    assert (prepared.state, prepared.dataset_name) == ("queued", "may")
    assert len(sent) == 1
    assert not Dataset.objects.exists()
    again = curator.get(f"{FORM}{prepared.pk}/")
    assert again.status_code == 302


def test_options_can_be_changed_on_the_preview(curator: Any, prepared: JobRun) -> None:
    response = curator.post(
        f"{FORM}{prepared.pk}/",
        {**OPTIONS, "dataset_name": "may", "format": "openai", "look": "1"},
        follow=True,
    )
    prepared.refresh_from_db()
    assert (prepared.state, prepared.parameters["format"]) == ("prepared", "openai")
    assert "E1" in response.content.decode()


def test_a_name_no_file_could_have_is_refused(curator: Any, prepared: JobRun) -> None:
    for name in ("", "../up", "a b", "x" * 101):
        response = curator.post(f"{FORM}{prepared.pk}/", {**OPTIONS, "dataset_name": name, "import": "1"})
        assert response.status_code == 200
    prepared.refresh_from_db()
    assert prepared.state == "prepared"


def test_discarding_deletes_the_job_and_its_file(curator: Any, prepared: JobRun) -> None:
    kept = prepared.files.get()
    storage, name = kept.file.storage, kept.file.name
    curator.post(f"{FORM}{prepared.pk}/discard/")
    assert not JobRun.objects.exists()
    assert not JobFile.objects.exists()
    assert not storage.exists(name)


def test_a_discarded_upload_leaves_an_event(sign_in: Any, prepared: JobRun) -> None:
    digest = prepared.files.get().sha256
    sign_in("superuser").post(f"{FORM}{prepared.pk}/discard/")
    event = AuditEvent.objects.get(action="discard_upload")
    assert (event.actor, event.dataset_name) == ("superuser", "My_logs_May")
    assert event.details.items() >= {"job_run": prepared.pk, "uploaded_by": "curator"}.items()
    assert event.details["files"] == [digest]


def test_uploads_of_a_held_dataset_are_not_discarded(curator: Any, prepared: JobRun) -> None:
    Dataset.objects.create(name="My_logs_May", legal_hold=True)
    page = curator.post(f"{FORM}{prepared.pk}/discard/", follow=True).content.decode()
    assert "My_logs_May is on legal hold" in page
    assert JobFile.objects.get().file


def test_what_was_uploaded_as_production_stays_so(
    curator: Any, sign_in: Any, empty_queue: None, tmp_path: Path
) -> None:
    """Whoever finishes the import is its actor, and needs the override permission for another origin."""
    upload(curator, factories.encode_jsonl(factories.make_session()), origin="production")
    job = JobRun.objects.get()
    address = f"{FORM}{job.pk}/"
    answers = {**OPTIONS, "dataset_name": "may", "origin": "external", "import": "1"}
    for client, extra in ((sign_in("superuser"), {}), (curator, {"override": "It is public"})):
        page = client.post(address, {**answers, **extra}).content.decode()
        assert "The upload states the origin production, so it can&#x27;t be imported as external" in page
        assert ('name="override"' in page) == (client is not curator)
    assert AuditEvent.objects.filter(action="read_raw_text").exists()
    officer = client_with_permission(sign_in)
    officer.post(address, {**answers, "override": "It is public"})
    job.refresh_from_db()
    assert (job.state, job.actor) == ("queued", officer.user)
    factories.run_task(job)
    event = AuditEvent.objects.get(action="import")
    assert (event.actor, event.details["uploaded_by"], event.details["origin"]) == (
        officer.user.username,
        "curator",
        "external",
    )
    assert AuditEvent.objects.get(action="override").details["reason"] == "It is public"


def client_with_permission(sign_in: Any) -> Any:
    """Someone who may both import and override: no role may by itself."""
    client = sign_in("privacy officer")
    client.user.groups.add(Group.objects.get(name="curator"))
    return client


def test_the_preview_says_that_the_dataset_has_another_origin(curator: Any, prepared: JobRun) -> None:
    Dataset.objects.create(name="may", origin="external")
    page = curator.post(f"{FORM}{prepared.pk}/", {**OPTIONS, "dataset_name": "may", "import": "1"})
    assert "may has the origin external, not synthetic" in page.content.decode()
    prepared.refresh_from_db()
    assert prepared.state == "prepared"


def test_a_started_job_is_not_discarded(curator: Any, prepared: JobRun) -> None:
    JobRun.objects.update(state="running")
    assert curator.post(f"{FORM}{prepared.pk}/discard/").status_code == 404
    assert JobFile.objects.count() == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "E100"),
        (b"\x89PNG\r\n\x1a\n\0\xff", "E1"),
        (b'{"text": "Hi", "label": 1, "persona_id": "p"}\n', "looks like a file of labels"),
        (b'{"session_id": "s", "turn_index": 1, "role": "system", "text": "x"}\n', "E103"),
        (b'{"session_id": "s", "turn_index": 1, "role": "user", "text": "x", "scenario": 1}\n', "scenario"),
        (b'{"messages": [{"role": "user", "content": "<b>Hi</b>"}]}\n', "&lt;b&gt;Hi&lt;/b&gt;"),
    ],
)
def test_the_preview_says_what_it_saw(curator: Any, content: bytes, said: str) -> None:
    assert said in upload(curator, content).content.decode()


def test_the_same_file_and_the_same_name_are_told(curator: Any, dataset: Dataset, tmp_path: Any) -> None:
    same = (tmp_path / "support.jsonl").read_bytes()
    assert "imported into support" in upload(curator, same, "support.jsonl").content.decode()
    other = factories.encode_jsonl([factories.make_turn("new")])
    assert "Dataset support already exists." in upload(curator, other, "support.jsonl").content.decode()


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a/b\\c.jsonl", ".jsonl", "ü" * 120 + ".jsonl", "会" * 100 + ".jsonl"]
)
def test_file_names_lead_nowhere_and_may_be_long(curator: Any, name: str, media_root: Any) -> None:
    assert upload(curator, b"{}", name).status_code == 200
    kept = JobFile.objects.get()
    assert re.fullmatch(rf"jobs/{kept.job_run_id}/upload/[0-9a-f]{{32}}", kept.file.name)
    assert str(media_root) in kept.file.path
    assert kept.name == name.replace("\\", "/").split("/")[-1]


def test_a_file_whose_row_is_not_committed_is_deleted(
    curator: Any, media_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Any, **_: Any) -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr(JobFile, "save", fails)
    with pytest.raises(DatabaseError):
        upload(curator, b"{}")
    assert [path for path in media_root.rglob("*") if path.is_file()] == []
    assert not JobRun.objects.exists()


def test_a_form_without_a_file_says_so(curator: Any) -> None:
    response = curator.post(FORM, OPTIONS)
    assert "This field is required" in response.content.decode()
    assert not JobRun.objects.exists()


def test_a_failed_import_can_be_tried_with_other_options(curator: Any, prepared: JobRun) -> None:
    JobRun.objects.update(state="failed", error="2 problems", attempt=1, result={"problem_total": 2})
    page = curator.get(reverse("admin:datasets_app_jobrun_change", args=[prepared.pk])).content.decode()
    assert "Change options" in page
    curator.post(f"{FORM}{prepared.pk}/reopen/")
    prepared.refresh_from_db()
    assert (prepared.state, prepared.error, prepared.result) == ("prepared", "", None)
    # A worker of the earlier try must not be taken for one of the next; and the trail knows.
    assert prepared.attempt == 1
    event = AuditEvent.objects.get(action="retry_job")
    assert (event.actor, event.details["job_run"]) == ("curator", prepared.pk)
    JobRun.objects.update(state="done")
    curator.post(f"{FORM}{prepared.pk}/reopen/")
    prepared.refresh_from_db()
    assert prepared.state == "done"


def test_the_preview_says_what_an_export_becomes(curator: Any) -> None:
    content = b"".join(json.dumps(line).encode() + b"\n" for line in OBSERVATIONS)
    page = upload(curator, content, "langfuse.jsonl").content.decode()
    assert "Langfuse traces, 2 traces with 2 calls → 1 conversation of 4 turns" in page
    assert HI in page
    assert "input_tokens" in page
    table = f"Who;What\nAnna;{HI}\nBot;{HELLO}\n".encode()
    page = upload(curator, table, "t.csv").content.decode()
    assert "no columns that look like a conversation" in page
    page = upload(curator, table, "t.csv", columns="role=Who, text=What", assistant="Bot").content.decode()
    assert "CSV table, 2 records → 1 conversation of 2 turns" in page
    job = JobRun.objects.latest("pk")
    assert (job.parameters["columns"], job.parameters["assistant"]) == ("role=Who, text=What", "Bot")
    assert "name columns like this" in upload(curator, table, "t.csv", columns="Who").content.decode().lower()


def test_labels_of_a_label_tool_are_counted_and_mapped(curator: Any) -> None:
    chat = [{"role": "user", "content": HI}, {"role": "assistant", "content": HELLO}]
    answers = {"tone": [{"value": "warm", "user_id": "a"}, {"value": "cold", "user_id": "b"}]}
    content = json.dumps([{"id": "1", "fields": {"chat": chat}, "responses": answers}]).encode()
    page = " ".join(upload(curator, content, "argilla.json").content.decode().split())
    assert "by 2 annotators" in page
    assert "2 kept in the metadata" in page
    assert "labels of sessions without one stay in the metadata" in page
    job = JobRun.objects.get()
    fields = {**OPTIONS, "dataset_name": "a", "persona": "p", "label_map": "warm=1, cold=0", "look": "1"}
    page = curator.post(f"{FORM}{job.pk}/", fields, follow=True).content.decode()
    assert "1 on-brand, 1 off-brand" in page
    assert "stay in the metadata" not in page
    page = curator.post(f"{FORM}{job.pk}/", fields | {"label_map": "warm"}).content.decode()
    assert "Name values of labels like this: good=1, bad=0." in page
    job.refresh_from_db()
    result = factories.run_task(job)
    assert result["annotations"] == 2


def test_a_table_without_sessions_is_imported_only_as_somebody_chose(curator: Any, empty_queue: None) -> None:
    table = (
        b"Bundle,Sender,Sent at,Body,Labels\na,user,soon,Hi,x;y\na,Bot 7,,Hello,\nb,user,,Bye,\nb,user,,,\n"
    )
    page = upload(curator, table, "t.csv")
    shown = page.content.decode()
    assert "No column says which of the 4 rows belong to the same conversation" in " ".join(shown.split())
    assert re.search(r'name="import"[^>]*disabled', shown)
    assert 'aria-describedby="no-sessions"' in shown
    assert ("Bot 7", "assistant", 1) in page.context["preview"].speakers
    job = JobRun.objects.get()
    with pytest.raises(UserError, match="no column says which of the 4 rows"):
        factories.run_task(job)
    menus = {f"column-{field}": column for field, column, _ in page.context["mapping"]}
    fields = {**OPTIONS, "dataset_name": "t", "detected-columns": page.context["detected_columns"], **menus}
    page = curator.post(
        f"{FORM}{job.pk}/", {**fields, "column-session_id": "Bundle", "look": "1"}, follow=True
    )
    assert not re.search(r'name="import"[^>]*disabled', page.content.decode())
    assert "Left out</dt><dd>1 empty message (line 5)" in page.content.decode()
    job.refresh_from_db()
    result = factories.run_task(job)
    assert (result["sessions"], result["files"][0]["left_out_rows"]) == (2, ["1 empty message (line 5)"])
    JobRun.objects.update(state="done", result=result)
    page = curator.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk])).content.decode()
    assert "Left out: 1 empty message (line 5)" in page
    assert "1 timestamp (like A) can&#x27;t be read as a date (line 2)" in page
    assert "1 message by 1 sender without a known role, read 1 as assistant (line 3)" in page
    assert "Bot 7" not in page


def test_errors_of_a_preview_are_at_its_top_and_keep_what_was_chosen(curator: Any) -> None:
    content = b"Ticket,Who wrote,Said\n1,customer,Is it open?\n1,agent,It is.\n"
    upload(curator, content, "t.csv")
    job = JobRun.objects.get()
    fields = {**OPTIONS, "dataset_name": "t", "detected-columns": "", "look": "1"}
    menus = {"column-text": "Said", "column-role": "Who wrote"}
    page = curator.post(f"{FORM}{job.pk}/", {**fields, **menus, "save_mapping": "a\x07b"})
    text = page.content.decode()
    assert 'href="#id_save_mapping">Save columns as</a>' in text
    assert text.index("Use up to 100 printable characters.") < text.index("Import options")
    assert (
        "text",
        "Said",
        [("", "none"), *((name, name) for name in ("Ticket", "Who wrote", "Said"))],
    ) in page.context["mapping"]
    page = curator.post(f"{FORM}{job.pk}/", {**fields, "column-text": "Said"})
    chosen = {field: column for field, column, _ in page.context["mapping"] if column}
    assert chosen == {"text": "Said"}
    page = page.content.decode()
    assert 'href="#columns"' in page
    assert "The mapping needs at least text and role." in page
    curator.post(f"{FORM}{job.pk}/", {**fields, **menus, "save_mapping": "Helpdesk export (März)"})
    assert TableMapping.objects.get().columns == {"text": "Said", "role": "Who wrote"}


def test_columns_of_a_table_are_saved_by_name_used_again_and_deleted(curator: Any) -> None:
    content = b"Ticket,Who wrote,Said\n1,customer,Is it open?\n1,agent,It is.\n"
    page = upload(curator, content, "t.csv").content.decode()
    assert "has no columns that look like a conversation" in page
    job = JobRun.objects.get()
    fields = {**OPTIONS, "dataset_name": "t", "columns": "text=Said, role=Who wrote, session_id=Ticket"}
    curator.post(f"{FORM}{job.pk}/", {**fields, "save_mapping": "tickets", "look": "1"})
    assert "Columns saved as tickets." in curator.get(f"{FORM}{job.pk}/").content.decode()
    saved = TableMapping.objects.get()
    assert (saved.name, saved.columns["text"]) == ("tickets", "Said")
    page = upload(curator, content, "u.csv", saved_mapping="tickets").content.decode()
    assert "session_id=Ticket" in page
    assert "Is this the right file?" not in page
    refused = {**fields, "columns": "words=Said", "save_mapping": "other", "look": "1"}
    page = curator.post(f"{FORM}{job.pk}/", refused, follow=True).content.decode()
    assert "The mapping names &#x27;words&#x27;" in page
    assert "text=Said" in curator.get(FORM).content.decode()
    curator.post(reverse("admin:datasets_app_dataset_import_mapping_remove"), {"name": "tickets"})
    assert not TableMapping.objects.exists()


def test_an_unknown_role_is_chosen_on_the_page_without_a_flag(curator: Any) -> None:
    table = b"ticket,role,body\n1,customer,Hi\n1,agent,Hello\n1,Trigger,Assigned\n1,Trigger,Assigned\n"
    page = upload(curator, table, "t.csv").content.decode()
    shown = " ".join(page.split())
    assert "2 messages with 1 unknown role" in shown
    assert "Choose what each unknown role is and update the preview" in shown
    assert "--" not in re.sub(r"<!--.*?-->|<[^>]*>", "", page[page.index("Problems in the first lines") :])
    assert '<option value="" selected >Kept</option>' in shown
    menus = {"sender-0": "Trigger", "side-0": "leave-out", "look": "1"}
    job = JobRun.objects.get()
    page = curator.post(f"{FORM}{job.pk}/", {**OPTIONS, "dataset_name": "t", **menus}, follow=True)
    assert not re.search(r'name="import"[^>]*disabled', page.content.decode())


def test_more_senders_than_are_listed_are_said(curator: Any) -> None:
    rows = "".join(f"{n},Customer {n},Hi\n{n},Customer {n},Bye\n{n},agent,Hello\n" for n in range(70))
    page = upload(curator, f"ticket,author,body\n{rows}0,narrator,Meanwhile\n".encode(), "t.csv")
    assert len(page.context["sides"]) == 50
    assert page.context["sides"][0][:2] == ("narrator", "unknown")
    assert "And 22 more senders with fewer messages: 44 messages as user." in page.content.decode()


def test_senders_are_mapped_to_sides_and_left_out(curator: Any) -> None:
    rows = "ticket,author,body\n1,Dora,Hi\n1,Sam,Hello\n1,Supervisor bot,Be nice\n"
    page = upload(curator, rows.encode(), "desk.csv", origin="external")
    numbers = {sender: number for number, (sender, *_) in enumerate(page.context["sides"])}
    assert numbers.keys() == {"Dora", "Sam", "Supervisor bot"}
    posted = {**OPTIONS, "origin": "external", "dataset_name": "desk"}
    posted |= {f"sender-{number}": sender for sender, number in numbers.items()}
    posted |= {f"side-{numbers['Supervisor bot']}": "leave-out", f"side-{numbers['Sam']}": "assistant"}
    page = curator.post(page.redirect_chain[-1][0], posted, follow=True)
    turns = page.context["preview"].turns
    assert [(turn.role, turn.text) for turn in turns] == [("user", "Hi"), ("assistant", "Hello")]
    assert "1 message of a sender that is left out by choice" in page.context["preview"].left_out[0]


def test_the_encoding_of_a_table_is_chosen_on_the_page(curator: Any) -> None:
    content = "Ticket;Role;Text\nT1;user;H\xe9llo\nT1;assistant;Hi\n".encode("windows-1252")
    page = upload(curator, content, "desk.csv")
    assert "encoding=" not in page.content.decode().split("ad-note")[1].split("</div>")[0]
    job = JobRun.objects.get()
    assert [field for field, _, _ in page.context["mapping"]] == ["encoding"]
    fields = {"dataset_name": "desk", "origin": "external", "on_error": "abort", "format": "auto"}
    page = curator.post(
        f"{FORM}{job.pk}/", {**fields, "column-encoding": "windows-1252", "look": "1"}, follow=True
    )
    assert "H\xe9llo" in page.content.decode()
    chosen = {field: column for field, column, _ in page.context["mapping"] if column}
    assert chosen["text"] == "Text"
    assert chosen["encoding"] == "windows-1252"
