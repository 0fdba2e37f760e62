"""The API: tokens, paging, uploads that resume, exports, jobs, errors."""

import hashlib
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from datasets_app.access import limit_access
from datasets_app.access.tokens import create_token, forget_answers, revoke_token
from datasets_app.catalog.text_scans import scan_new_text
from datasets_app.core.errors import UserError
from datasets_app.importing.mappings import get_mapping, save_mapping
from datasets_app.jobs.permissions import refuse_unauthorized_job
from datasets_app.models import ApiAnswer, ApiToken, AuditEvent, Dataset, JobFile, JobRun, Turn
from tests import factories
from tests.api.calls import BASE, Caller, make_user, read_content

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_queue")]


@pytest.fixture
def curator() -> Caller:
    return Caller(make_user("curator"))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(5))
    scan_new_text(dataset)
    return dataset


def check_problem(response: Any, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert (problem["status"], problem["code"]) == (status, code)
    return problem


# --- tokens ---------------------------------------------------------------------------------------------


def test_a_token_is_stored_as_a_digest_and_recorded_without_its_secret() -> None:
    user = make_user("curator")
    token, secret = create_token(user, name="nightly", scopes=["datasets:read"])
    row = ApiToken.objects.values().get()
    assert secret not in json.dumps(row, default=str)
    assert secret.startswith(token.prefix)
    event = AuditEvent.objects.get(action="create_token")
    assert event.details["scopes"] == ["datasets:read"]
    assert secret not in str(event.details)
    caller = Caller(user)
    assert caller("GET", "/datasets").status_code == 200
    caller.token.refresh_from_db()
    assert caller.token.last_used_at is not None
    assert caller.token.last_used_from == "127.0.0.1"


def test_what_is_no_valid_token_is_refused(curator: Caller, settings: LazySettings) -> None:
    for header in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Basic {curator.secret}"}):
        response = Client(headers=header).get(f"{BASE}/datasets")
        check_problem(response, 401, "unauthorized")
        assert response["WWW-Authenticate"] == "Bearer"
    for change in ({"expires_at": timezone.now()}, {"revoked_at": timezone.now()}):
        ApiToken.objects.update(expires_at=timezone.now() + timedelta(days=1), revoked_at=None)
        assert curator("GET", "/datasets").status_code == 200
        ApiToken.objects.update(**change)
        check_problem(curator("GET", "/datasets"), 401, "unauthorized")


def test_a_token_never_exceeds_or_outlives_its_person(dataset: Dataset) -> None:
    viewer = Caller(make_user("viewer"))
    problem = check_problem(viewer("POST", "/datasets/support/checks"), 403, "forbidden")
    assert problem["permission"] == "datasets_app.check_dataset"
    viewer.user.groups.clear()
    check_problem(viewer("GET", "/datasets"), 403, "forbidden")
    viewer.user.is_active = False
    viewer.user.save()
    check_problem(viewer("GET", "/datasets"), 401, "unauthorized")
    annotator = Caller(make_user("annotator"))
    check_problem(annotator("GET", "/datasets"), 403, "forbidden")


def test_a_role_that_needs_a_second_factor_needs_it_for_its_tokens(settings: LazySettings) -> None:
    curator = Caller(make_user("curator"))
    settings.SECOND_FACTOR_ROLES = ["curator"]
    check_problem(curator("GET", "/datasets"), 403, "forbidden")
    with_factor = Caller(curator.user, second_factor=True)
    assert with_factor("GET", "/datasets").status_code == 200


def test_a_token_limited_to_a_dataset_sees_no_other(tmp_path: Path, dataset: Dataset) -> None:
    other = factories.make_dataset(tmp_path, factories.make_sessions(1), name="other")
    caller = Caller(make_user("curator"), datasets=[dataset])
    listed = caller("GET", "/datasets").json()["items"]
    assert [each["name"] for each in listed] == ["support"]
    check_problem(caller("GET", "/datasets/other"), 404, "not_found")
    check_problem(caller("POST", "/datasets/other/checks"), 404, "not_found")
    check_problem(caller("POST", "/imports", {"dataset": "other"}), 422, "invalid")
    check_problem(caller("POST", "/imports", {"dataset": "new"}), 403, "outside_token")
    job = JobRun.objects.create(operation="check_dataset", dataset=other, dataset_name="other", state="done")
    check_problem(caller("GET", f"/jobs/{job.pk}"), 404, "not_found")
    own = JobRun.objects.create(operation="nightly", actor=caller.user, state="done")
    check_problem(caller("GET", f"/jobs/{own.pk}"), 404, "not_found")
    officer = Caller(make_user("privacy officer"), datasets=[dataset])
    check_problem(officer("GET", "/audit"), 403, "outside_token")
    # Without its only dataset it sees nothing, not everything.
    caller.token.datasets.clear()
    assert caller("GET", "/datasets").json()["items"] == []


def test_restricted_datasets_do_not_exist_for_others(dataset: Dataset, curator: Caller) -> None:
    limit_access.restrict_dataset(dataset, actor=None)
    assert curator("GET", "/datasets").json()["items"] == []
    for path in ("", "/sessions", "/turns", "/checks/latest", "/splits"):
        check_problem(curator("GET", f"/datasets/support{path}"), 404, "not_found")
    assert Caller(make_user("privacy officer"))("GET", "/datasets/support").status_code == 200


def test_a_job_names_its_token_and_does_not_begin_once_it_is_revoked(
    dataset: Dataset, curator: Caller
) -> None:
    curator("POST", "/datasets/support/checks")
    job = JobRun.objects.get(operation="check_dataset")
    assert job.api_token == curator.token.pk
    refuse_unauthorized_job(job)
    revoke_token(curator.token, actor=curator.user)
    with pytest.raises(UserError, match="revoked"):
        refuse_unauthorized_job(job)


def test_events_name_the_token_and_refusals_are_recorded(dataset: Dataset, curator: Caller) -> None:
    assert curator("POST", "/datasets/support/checks").status_code == 202
    job = JobRun.objects.get(operation="check_dataset")
    assert curator("POST", f"/jobs/{job.pk}/cancel").json()["state"] == "canceled"
    event = AuditEvent.objects.get(action="cancel_job")
    assert (event.actor, event.details["api_token"]) == ("curator", curator.token.pk)
    check_problem(Caller(curator.user, ["exports:write"])("GET", "/datasets"), 403, "missing_scope")
    assert AuditEvent.objects.get(action="refused").actor == "curator"


# --- reading --------------------------------------------------------------------------------------------


def test_pages_follow_each_other(tmp_path: Path, dataset: Dataset, curator: Caller) -> None:
    factories.make_dataset(tmp_path, factories.make_sessions(1), name="other")
    for path, key, expected in (
        ("/datasets?", "name", ["other", "support"]),
        ("/datasets/support/sessions?", "session_id", ["s1", "s2", "s3", "s4", "s5"]),
    ):
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            page = curator("GET", f"{path}limit=1&after={after}").json()
            found, after = [*found, *(item[key] for item in page["items"])], page["next"]
        assert found == expected
    check_problem(curator("GET", "/datasets/support/sessions?after=x"), 422, "invalid")
    check_problem(curator("GET", "/datasets?limit=201"), 422, "invalid")


def test_raw_text_takes_the_permission_and_the_scope_and_is_recorded(tmp_path: Path) -> None:
    lines = factories.make_session("jane@example.com", text="Write to jane@example.com", persona_id="jane")
    dataset = factories.make_dataset(tmp_path, lines, name="raw")
    scan_new_text(dataset)
    session = dataset.sessions.get()
    addresses = [
        "/datasets/raw",
        "/datasets/raw/sessions",
        f"/datasets/raw/sessions/{session.pk}/turns",
        "/datasets/raw/checks/latest/findings",
        "/jobs",
    ]
    user = make_user("curator")
    narrow = Caller(user, ["datasets:read", "exports:write"])
    viewer = Caller(make_user("lead"))
    for caller in (narrow, viewer):
        for address in addresses:
            response = caller("GET", address)
            assert response.status_code == 200, address
            assert b"jane" not in response.content, address
    assert not AuditEvent.objects.filter(action="read_raw_text").exists()
    full = Caller(user)
    assert full("GET", addresses[2]).json()["items"][0]["text"] == "Write to jane@example.com"
    event = AuditEvent.objects.get(action="read_raw_text")
    assert event.details["place"] == "api session"
    assert event.details["turns"] == 2
    # Nobody exports it, not even with every scope: an override takes a recent sign-in.
    for caller in (narrow, full, Caller(make_user("privacy officer"))):
        check_problem(caller("GET", "/datasets/raw/turns"), 409, "refused")
        check_problem(caller("POST", "/datasets/raw/exports", {"format": "turns"}), 409, "refused")


def test_turns_stream_as_they_were_imported(dataset: Dataset, curator: Caller, tmp_path: Path) -> None:
    response = curator("GET", "/datasets/support/turns")
    content = read_content(response)
    assert response["Content-Type"] == "application/x-ndjson"
    assert response["ETag"] == f'"{hashlib.sha256(content).hexdigest()}"'
    assert (response["X-Sessions"], response["X-Turns"]) == ("5", "10")
    assert int(response["Content-Length"]) == len(content)
    assert [json.loads(line)["text"] for line in content.splitlines()] == [
        line["text"] for line in factories.make_sessions(5)
    ]
    assert AuditEvent.objects.filter(action="export").count() == 1
    unchanged = curator("GET", "/datasets/support/turns", If_None_Match=response["ETag"])
    assert unchanged.status_code == 304
    assert not read_content(unchanged)
    check_problem(curator("GET", "/datasets/support/turns?persona=nobody"), 409, "refused")


def test_a_stream_does_not_search_the_text_itself(tmp_path: Path, curator: Caller) -> None:
    factories.make_dataset(tmp_path, factories.make_sessions(1), name="fresh")
    for _ in range(2):
        response = curator("GET", "/datasets/fresh/turns")
        check_problem(response, 503, "not_searched")
        assert response["Retry-After"] == "10"
    factories.run_task(JobRun.objects.get(operation="scan_text"))
    assert curator("GET", "/datasets/fresh/turns").status_code == 200


def test_an_unchanged_answer_is_not_sent_again(dataset: Dataset, curator: Caller) -> None:
    first = curator("GET", "/datasets/support")
    again = curator("GET", "/datasets/support", If_None_Match=first["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    dataset.license = "CC0-1.0"
    dataset.save()
    assert curator("GET", "/datasets/support", If_None_Match=first["ETag"]).status_code == 200


# --- imports --------------------------------------------------------------------------------------------


def test_an_upload_resumes_where_it_broke_off(curator: Caller) -> None:
    content = factories.encode_jsonl(factories.make_sessions(3))
    upload = curator("POST", "/imports", {"dataset": "support", "file_name": "may.jsonl"})
    assert upload.status_code == 201
    assert upload.json()["offset"] == 0
    address = f"/imports/{upload.json()['id']}"
    assert curator("PATCH", f"{address}/content", content[:100], Upload_Offset="0").json()["offset"] == 100
    # The answer got lost, and the part is sent again.
    response = curator("PATCH", f"{address}/content", content[:100], Upload_Offset="0")
    assert check_problem(response, 409, "wrong_offset")["offset"] == 100
    assert curator("GET", address).json()["offset"] == 100
    check_problem(curator("PATCH", f"{address}/content", b"", Upload_Offset="100"), 400, "bad_request")
    check_problem(curator("PATCH", f"{address}/content", b"x"), 422, "invalid")
    curator("PATCH", f"{address}/content", content[100:], Upload_Offset="100")
    wrong = {"sha256": "0" * 64}
    check_problem(curator("POST", f"{address}/finish", wrong), 409, "refused")
    started = curator("POST", f"{address}/finish", {"sha256": hashlib.sha256(content).hexdigest()})
    assert (started.status_code, started.json()["state"]) == (202, "queued")
    job = JobRun.objects.get()
    upload_file = job.files.get(kind="upload")
    assert upload_file.file.read() == content
    assert upload_file.name == "may.jsonl"
    factories.run_task(job)
    assert Dataset.objects.get().turn_count == 6
    check_problem(curator("PATCH", f"{address}/content", b"x", Upload_Offset="0"), 409, "refused")
    check_problem(curator("POST", f"{address}/finish", {}), 409, "refused")


def test_uploads_belong_to_their_person_and_are_limited(curator: Caller, settings: LazySettings) -> None:
    upload = curator("POST", "/imports", {"dataset": "support"}).json()
    other = Caller(make_user("curator", name="other"))
    for method, path in (("GET", ""), ("PATCH", "/content"), ("POST", "/finish"), ("DELETE", "")):
        body: Any = b"x" if method == "PATCH" else {} if method == "POST" else None
        response = other(method, f"/imports/{upload['id']}{path}", body, Upload_Offset="0")
        check_problem(response, 404, "not_found")
    settings.MAX_UPLOAD_BYTES = 10
    content = f"/imports/{upload['id']}/content"
    assert curator("PATCH", content, b"x" * 8, Upload_Offset="0").status_code == 200
    check_problem(curator("PATCH", content, b"x" * 8, Upload_Offset="8"), 409, "refused")
    settings.MAX_PENDING_UPLOADS = 1
    check_problem(curator("POST", "/imports", {"dataset": "support"}), 409, "refused")
    assert curator("DELETE", f"/imports/{upload['id']}").status_code == 204
    assert not JobRun.objects.exists()
    assert not JobFile.objects.exists()
    assert AuditEvent.objects.filter(action="discard_upload").count() == 1


def test_a_help_desk_is_imported_by_a_mapping_that_was_saved(curator: Caller) -> None:
    columns = {"session_id": "ticket", "text": "body", "role": "author", "sender:sam": "assistant"}
    save_mapping("desk", {**columns, "sender:rule": "leave-out", "repeated": "drop"})
    rows = "ticket,author,type,body\n1,Dora,reply,<p>Late?</p><ul><li>Yes</li></ul>\n"
    rows += "1,Sam,internal note,Be nice\n"
    rows += "1,Sam,reply,Order 4411 is sent\n" * 2 + "1,Rule,reply,Moved\n"
    options = {"dataset": "desk", "file_name": "desk.csv"}
    check_problem(curator("POST", "/imports", {**options, "saved_mapping": "other"}), 422, "invalid")
    upload = curator("POST", "/imports", {**options, "saved_mapping": "desk"}).json()
    curator("PATCH", f"/imports/{upload['id']}/content", rows.encode(), Upload_Offset="0")
    assert curator("POST", f"/imports/{upload['id']}/finish", {}).status_code == 202
    factories.run_task(JobRun.objects.get())
    turns = Turn.objects.filter(dataset__name="desk").order_by("turn_index").values_list("role", "text")
    assert list(turns) == [("user", "Late?\n\n- Yes"), ("assistant", "Order 4411 is sent")]


def test_senders_of_an_upload_are_listed_mapped_and_saved(curator: Caller) -> None:
    rows = "ticket,author,body\n1,Dora,Late?\n1,Sam,Sent\n1,Sam,Bye\n1,Rule,Moved\n"
    options = {"dataset": "desk", "file_name": "desk.csv", "origin": "production"}
    upload = curator("POST", "/imports", options).json()
    address = f"/imports/{upload['id']}"
    check_problem(curator("GET", f"{address}/preview"), 409, "refused")
    curator("PATCH", f"{address}/content", rows.encode(), Upload_Offset="0")
    shown = curator("GET", f"{address}/preview").json()
    assert [(each["sender"], each["messages"]) for each in shown["senders"]] == [
        ("Sam", 2),
        ("Dora", 1),
        ("Rule", 1),
    ]
    assert "text=body" in shown["columns"]
    assert AuditEvent.objects.get(action="read_raw_text").details["place"] == "import preview"
    few = Caller(curator.user, ["imports:write"])
    check_problem(few("GET", f"{address}/preview"), 403, "missing_scope")
    columns = "session_id=ticket, text=body, role=author, sender:Sam=assistant, sender:Dora=user, "
    chosen = {"columns": f"{columns}sender:Rule=leave-out", "save_mapping": "desk"}
    check_problem(curator("POST", f"{address}/finish", {"columns": "nonsense"}), 422, "invalid")
    assert curator("POST", f"{address}/finish", chosen).status_code == 202
    factories.run_task(JobRun.objects.get())
    turns = Turn.objects.filter(dataset__name="desk").order_by("turn_index").values_list("role", "text")
    assert list(turns) == [("user", "Late?"), ("assistant", "Sent"), ("assistant", "Bye")]
    assert get_mapping("desk")["sender:Sam"] == "assistant"


def test_options_of_an_import_are_checked_like_on_its_page(dataset: Dataset, curator: Caller) -> None:
    for options in (
        {"dataset": "support", "format": "nonsense"},
        {"dataset": "new", "columns": "nonsense"},
        {"dataset": "../etc"},
        {"dataset": "new", "override": "because"},
    ):
        check_problem(curator("POST", "/imports", options), 422, "invalid")
    other_origin = {"dataset": "support", "origin": "production"}
    check_problem(curator("POST", "/imports", other_origin), 409, "refused")


# --- jobs and files -------------------------------------------------------------------------------------


def test_an_export_is_downloaded_in_parts(dataset: Dataset, curator: Caller) -> None:
    started = curator("POST", "/datasets/support/exports", {"format": "openai"}).json()
    job = JobRun.objects.get(pk=started["id"])
    job.result = factories.run_task(job)
    job.state = "done"
    job.save()
    finished = curator("GET", f"/jobs/{job.pk}").json()
    assert finished["result"]["turns"] == 10
    file = next(each for each in finished["files"] if each["kind"] == "export")
    address = f"/jobs/{job.pk}/files/{file['id']}"
    whole = curator("GET", address)
    content = read_content(whole)
    assert hashlib.sha256(content).hexdigest() == file["sha256"] == whole["ETag"].strip('"')
    part = curator("GET", address, Range="bytes=10-19")
    assert (part.status_code, read_content(part)) == (206, content[10:20])
    assert part["Content-Range"] == f"bytes 10-19/{len(content)}"
    rest = curator("GET", address, Range=f"bytes={len(content) - 5}-", If_Range=whole["ETag"])
    assert read_content(rest) == content[-5:]
    check_problem(curator("GET", address, Range="bytes=99999-"), 416, "range")
    assert curator("GET", address, If_None_Match=whole["ETag"]).status_code == 304
    assert AuditEvent.objects.filter(action="download").count() == 3
    JobFile.objects.update(file="")
    check_problem(curator("GET", address), 410, "gone")
    check_problem(Caller(curator.user, ["datasets:read"])("GET", address), 403, "forbidden")


def test_jobs_of_a_dataset_are_listed_the_latest_first(dataset: Dataset, curator: Caller) -> None:
    first = curator("POST", "/datasets/support/checks").json()
    second = curator("POST", "/datasets/support/scrubs", {"dry_run": True, "sample": 10}).json()
    listed = curator("GET", "/jobs?dataset=support&limit=1").json()
    assert [job["id"] for job in listed["items"]] == [second["id"]]
    rest = curator("GET", f"/jobs?dataset=support&limit=1&after={listed['next']}").json()
    assert [job["id"] for job in rest["items"]] == [first["id"]]


# --- requests sent again, limits, errors ----------------------------------------------------------------


def test_a_repeated_request_happens_once(dataset: Dataset, curator: Caller) -> None:
    options = {"dataset": "new"}
    first = curator("POST", "/imports", options, Idempotency_Key="a")
    again = curator("POST", "/imports", options, Idempotency_Key="a")
    assert (again.status_code, again.json()) == (201, first.json())
    assert again["Idempotent-Replayed"] == "true"
    assert JobRun.objects.count() == 1
    other = curator("POST", "/imports", {"dataset": "another"}, Idempotency_Key="a")
    check_problem(other, 422, "key_reused")
    # A person who has lost a role is not told again what they learned with it.
    roles = list(curator.user.groups.all())
    curator.user.groups.clear()
    check_problem(curator("POST", "/imports", options, Idempotency_Key="a"), 422, "key_reused")
    curator.user.groups.set(roles)
    # What was refused is not kept, and leaves nothing.
    check_problem(curator("POST", "/imports", {"dataset": "!"}, Idempotency_Key="b"), 422, "invalid")
    assert curator("POST", "/imports", options, Idempotency_Key="b").status_code == 201
    ApiAnswer.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert forget_answers() == 2


def test_a_token_sends_so_many_requests_in_a_minute(curator: Caller, settings: LazySettings) -> None:
    settings.API_REQUESTS_PER_MINUTE = 3
    answers = [curator("GET", "/datasets") for _ in range(7)]
    # A minute may have ended between them.
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    check_problem(refused[0], 429, "too_many_requests")
    assert 1 <= int(refused[0]["Retry-After"]) <= 60
    assert Caller(curator.user)("GET", "/datasets").status_code == 200


def test_every_error_is_a_problem(curator: Caller) -> None:
    check_problem(curator("GET", "/nothing"), 404, "not_found")
    response = curator("DELETE", "/datasets")
    check_problem(response, 405, "method_not_allowed")
    assert response["Allow"] == "GET"
    check_problem(curator("POST", "/imports", b"x"), 415, "unsupported_media_type")
    check_problem(curator("GET", "/datasets/a%00b"), 400, "bad_request")
    check_problem(curator("POST", "/imports", {"dataset": "a\0b"}), 400, "bad_request")
    check_problem(curator("POST", "/imports", {"dataset": "a" * (1 << 20)}), 413, "too_large")
    client = Client(headers={"Authorization": f"Bearer {curator.secret}"})
    broken = client.post(f"{BASE}/imports", b"{", "application/json")
    check_problem(broken, 400, "bad_request")
    chunked = client.post(f"{BASE}/imports", headers={"Transfer-Encoding": "chunked"})
    check_problem(chunked, 411, "error")
    # What was sent is not repeated.
    secret = curator("POST", "/imports", {"dataset": "jane@example.com"})
    assert b"jane" not in secret.content


def test_nothing_is_told_without_a_token_and_the_schema_is_public() -> None:
    for method in ("get", "post", "delete"):
        check_problem(getattr(Client(), method)(f"{BASE}/datasets/x"), 401, "unauthorized")
    schema = Client().get(f"{BASE}/openapi.json")
    assert schema.json()["openapi"].startswith("3.")


def test_a_revoked_token_is_recorded_once() -> None:
    curator = Caller(make_user("curator"))
    revoke_token(curator.token, actor=curator.user)
    revoke_token(curator.token, actor=curator.user)
    assert AuditEvent.objects.filter(action="revoke_token").count() == 1


def test_the_first_split_has_the_shares_of_the_page_unless_others_are_given(
    curator: Caller, tmp_path: Path
) -> None:
    made = factories.make_dataset(tmp_path, factories.make_sessions(10))
    answer = curator("POST", f"/datasets/{made.name}/splits", {"stratify": "none"})
    assert answer.status_code == 202
    job = JobRun.objects.get(pk=answer.json()["id"])
    assert job.parameters["settings"]["ratios"] == [60, 20, 20]
