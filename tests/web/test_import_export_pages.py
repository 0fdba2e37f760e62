"""Tables as files in the admin: preview, confirm, all or nothing, and only for who may."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import Group, User
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations_app.demo.load_demo import load_demo
from annotations_app.models import Annotation
from datasets_app.catalog import text_gates
from datasets_app.catalog.text_scans import discard_scan
from datasets_app.models import AuditEvent, Dataset, Persona, RetentionPolicy, Session
from datasets_app.releasing.sharing.checklist import current_review
from datasets_app.releasing.sharing.sign_review import sign_review
from datasets_app.tables.uploads import delete_stale_uploads
from tests.factories import make_dataset, make_session, make_sessions

pytestmark = pytest.mark.django_db

FORMAT_NUMBER = {"jsonl": "0", "csv": "1", "xlsx": "2", "yaml": "3"}
ANNOTATION, PERSONA = "annotations_app_annotation", "datasets_app_persona"
RETENTION = "datasets_app_retentionpolicy"


@pytest.fixture
def client_of(client: Any, django_user_model: Any) -> Any:
    def login(*roles: str) -> Any:
        user = django_user_model.objects.create_user("-".join(roles) or "nobody", is_staff=True)
        user.groups.set(Group.objects.filter(name__in=roles))
        client.force_login(user)
        return client

    return login


def upload(client: Any, page: str, content: bytes, format: str, **fields: Any) -> Any:
    number = FORMAT_NUMBER[format]
    if page == RETENTION:
        number = {"yaml": "0", "jsonl": "1", "csv": "2", "xlsx": "3"}[format]
    file = SimpleUploadedFile(f"table.{format}", content)
    address = page if page.startswith("/") else reverse(f"admin:{page}_import")
    return client.post(address, {"import_file": file, "format": number, "resource": "0", **fields})


def confirm(client: Any, page: str, preview: Any) -> Any:
    form = preview.context["confirm_form"]
    data = {name: form[name].value() or "" for name in form.fields}
    data = {name: getattr(value, "pk", value) for name, value in data.items()}
    address = page if page.startswith("/") else reverse(f"admin:{page}_process_import")
    return client.post(address, data, follow=True)


def imported(client: Any, page: str, content: bytes, format: str, **fields: Any) -> Any:
    preview = upload(client, page, content, format, **fields)
    assert "confirm_form" in preview.context, preview.content.decode()
    return confirm(client, page, preview)


def downloaded(client: Any, page: str, format: str, number: str | None = None) -> bytes:
    address = page if page.startswith("/") else reverse(f"admin:{page}_export")
    response = client.post(address, {"format": number or FORMAT_NUMBER[format], "resource": "0"})
    assert response.headers["Content-Disposition"].endswith(f'.{format}"'), response.content.decode()
    return bytes(response.content)


def label(text: str, value: Any = 1, **fields: Any) -> dict[str, Any]:
    return {"text": text, "label": value, "persona_id": "p", **fields}


def jsonl(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


# --- labels -----------------------------------------------------------------------------------


def test_labels_are_previewed_then_saved_as_the_command_would(client_of: Any, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    client = client_of("curator")
    content = jsonl(label("What assistant says as number 2 of a."), label("Unheard of", 0, why=[1]))
    preview = upload(client, ANNOTATION, content, "jsonl", dataset=stored.pk)
    assert "2 rows: 2 new." in preview.content.decode()
    assert not Annotation.objects.exists()
    assert Session.objects.count() == 1

    response = confirm(client, ANNOTATION, preview)
    assert "Imported: 2 new." in response.content.decode()
    first, second = Annotation.objects.order_by("id")
    assert (first.turn.session.session_id, second.label, second.extra) == ("a", 0, {"why": [1]})
    stored.refresh_from_db()
    assert (stored.session_count, stored.turn_count) == (2, 3)
    event = AuditEvent.objects.get(action="import_annotations")
    assert (event.actor, event.dataset_name, event.details["added"]) == ("curator", "support", 2)

    again = upload(client, ANNOTATION, content, "jsonl", dataset=stored.pk)
    assert "2 rows: 2 unchanged." in again.content.decode()


def test_labels_of_another_version_are_told_before_and_after(client_of: Any, tmp_path: Path) -> None:
    """In the words of the command."""
    stored = make_dataset(tmp_path, make_session("a"))
    client = client_of("curator")
    place = {"session_id": "a", "turn_index": 1}
    preview = upload(client, ANNOTATION, jsonl(label("Otherwise", **place)), "jsonl", dataset=stored.pk)
    for page in (preview, confirm(client, ANNOTATION, preview)):
        assert "session_id and turn_index join 1 label to turns with another text." in page.content.decode()
        assert "1 label is of users’ turns, not of replies." in page.content.decode()


@pytest.mark.parametrize("format", ["jsonl", "csv", "xlsx", "yaml"])
def test_labels_that_go_out_come_in_again_unchanged(client_of: Any, format: str) -> None:
    load_demo()
    extra = {"why": ["=1+1", 2.5, None, {"a": "-x"}], "note": "é"}
    first = Annotation.objects.order_by("id")[0]
    Annotation.objects.filter(pk=first.pk).update(
        extra=extra, notes="=HYPERLINK(1)\r\n\x0b", annotator="'ada"
    )
    fields = ("turn_id", "label", "persona_id", "annotator", "notes", "confidence", "timestamp", "extra")
    before = sorted(map(repr, Annotation.objects.values_list(*fields)))
    client = client_of("curator")
    content = downloaded(client, ANNOTATION, format)
    assert AuditEvent.objects.get(action="export_table").details == {
        "table": "annotations_app.annotation",
        "rows": 90,
        "format": format,
        "source_address": "127.0.0.1",
    }
    assert "90 unchanged" in upload(client, ANNOTATION, content, format).content.decode()
    Annotation.objects.all().delete()
    imported(client, ANNOTATION, content, format)
    assert sorted(map(repr, Annotation.objects.values_list(*fields))) == before


def test_a_spreadsheet_made_by_hand_is_understood(client_of: Any, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    content = b"text,label,persona_id,session_id,turn_index,confidence,labeler\r\nx,1,p,a,2,0.5,ada\r\n"
    client = client_of("lead")
    refused = upload(client, ANNOTATION, content, "csv", dataset=stored.pk)
    assert "confirm_form" not in refused.context
    assert "adding labels to it takes the permission to read it" in refused.content.decode()
    text_gates.scan_and_describe(stored)
    imported(client, ANNOTATION, content, "csv", dataset=stored.pk)
    made = Annotation.objects.get()
    assert (made.label, made.confidence, made.annotator, made.turn.turn_index) == (1, 0.5, "ada", 2)


def test_one_bad_row_and_nothing_is_saved(client_of: Any, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    content = jsonl(label("x"), label("y", 7), label("z", dataset="nowhere"), {"text": "w", "label": 1})
    page = upload(client_of("curator"), ANNOTATION, content, "jsonl", dataset=stored.pk)
    assert "confirm_form" not in page.context
    html = page.content.decode()
    for sentence in (
        "Nothing was imported.",
        "label must be 0 (off-brand) or 1 (on-brand)",
        "persona_id is missing",
        "another dataset than support",
    ):
        assert sentence in html, sentence
    assert not Annotation.objects.exists()
    assert Session.objects.count() == 1
    assert not AuditEvent.objects.filter(action="import_annotations").exists()


def test_the_persona_of_the_form_stands_in(client_of: Any, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    content = jsonl({"text": "x", "label": 1})
    imported(client_of("curator"), ANNOTATION, content, "jsonl", dataset=stored.pk, persona="default_v1")
    assert Annotation.objects.get().persona_id == "default_v1"


def test_rows_without_a_dataset_are_asked_for_one(client_of: Any) -> None:
    page = upload(client_of("curator"), ANNOTATION, jsonl(label("x")), "jsonl")
    assert "Choose the dataset the labels are for." in page.content.decode()


def test_hundreds_of_bad_rows_are_counted_and_the_first_are_shown(client_of: Any, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    page = upload(client_of("curator"), ANNOTATION, jsonl(*[label("x", 7)] * 300), "jsonl", dataset=stored.pk)
    assert "300 rows: 300 invalid. The first 100 invalid ones are shown." in page.content.decode()
    assert len(page.context["result"].invalid_rows) == 100


def test_markup_in_a_row_is_shown_as_text(client_of: Any, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    content = jsonl(label("<script>alert(1)</script>"))
    html = upload(client_of("curator"), ANNOTATION, content, "jsonl", dataset=stored.pk).content.decode()
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>alert(1)" not in html


def test_what_goes_wrong_between_preview_and_confirmation_saves_nothing(
    client_of: Any, tmp_path: Path
) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    client = client_of("curator")
    preview = upload(client, ANNOTATION, jsonl(label("x", dataset="support")), "jsonl")
    Dataset.objects.filter(pk=stored.pk).update(name="renamed")
    assert "Nothing was imported" in confirm(client, ANNOTATION, preview).content.decode()
    assert not Annotation.objects.exists()


def test_an_upload_is_gone_once_it_is_used_or_refused(client_of: Any, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    client = client_of("curator")
    upload(client, ANNOTATION, jsonl(label("x", 7)), "jsonl", dataset=stored.pk)
    preview = upload(client, ANNOTATION, jsonl(label("x")), "jsonl", dataset=stored.pk)
    assert "1 row: 1 new." in preview.content.decode()
    assert len(default_storage.listdir("table-imports")[1]) == 1
    confirm(client, ANNOTATION, preview)
    assert default_storage.listdir("table-imports")[1] == []
    assert "upload it again" in confirm(client, ANNOTATION, preview).content.decode()


@pytest.mark.parametrize("forged", [{"format": "99"}, {"format": "-1"}, {"format": "x"}, {"resource": "7"}])
def test_a_confirmation_names_formats_there_are(client_of: Any, tmp_path: Path, forged: Any) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    client = client_of("curator")
    preview = upload(client, ANNOTATION, jsonl(label("x")), "jsonl", dataset=stored.pk)
    form = preview.context["confirm_form"]
    data = {name: form[name].value() or "" for name in form.fields} | {"dataset": stored.pk} | forged
    assert client.post(reverse(f"admin:{ANNOTATION}_process_import"), data).status_code == 200
    assert not Annotation.objects.exists()


def test_a_mistake_of_ours_is_not_taken_for_a_missing_file(
    client_of: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    client = client_of("curator")
    preview = upload(client, ANNOTATION, jsonl(label("x")), "jsonl", dataset=stored.pk)

    def fails(*_: Any, **__: Any) -> None:
        raise IndexError("ours")

    monkeypatch.setattr("annotations_app.admin.annotation.AnnotationResource.import_data", fails)
    with pytest.raises(IndexError, match="ours"):
        confirm(client, ANNOTATION, preview)


def test_uploads_that_nobody_confirms_are_deleted_after_a_day(client_of: Any, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    assert delete_stale_uploads() == 0
    client = client_of("curator")
    for _ in range(2):
        upload(client, ANNOTATION, jsonl(label("x")), "jsonl", dataset=stored.pk)
    first = default_storage.listdir("table-imports")[1][0]
    path = default_storage.path(f"table-imports/{first}")
    os.utime(path, (time.time() - 2 * 86400,) * 2)
    assert delete_stale_uploads() == 1
    assert first not in default_storage.listdir("table-imports")[1]
    assert len(default_storage.listdir("table-imports")[1]) == 1


def test_uploads_wait_for_the_person_they_are_of_and_not_too_many(
    client_of: Any, tmp_path: Path, settings: Any
) -> None:
    settings.MAX_PENDING_UPLOADS = 2
    stored = make_dataset(tmp_path, make_session("a"))
    first = client_of("curator")
    previews = []
    for age in (30, 20, 10):
        previews.append(upload(first, ANNOTATION, jsonl(label("x")), "jsonl", dataset=stored.pk))
        name = previews[-1].context["confirm_form"]["import_file_name"].value()
        os.utime(default_storage.path(f"table-imports/{name}"), (time.time() - age,) * 2)
    assert len(default_storage.listdir("table-imports")[1]) == 2
    assert "upload it again" in confirm(first, ANNOTATION, previews[0]).content.decode()
    another = client_of("lead", "curator")
    assert "upload it again" in confirm(another, ANNOTATION, previews[1]).content.decode()
    upload(another, ANNOTATION, jsonl(label("x")), "jsonl", dataset=stored.pk)
    assert len(default_storage.listdir("table-imports")[1]) == 3
    first.force_login(User.objects.get(username="curator"))
    confirm(first, ANNOTATION, previews[2])
    assert Annotation.objects.count() == 1


@pytest.mark.parametrize("name", ["../../secret_key", "/etc/passwd", "0" * 32, ""])
def test_a_confirmation_cannot_name_other_files(client_of: Any, name: str) -> None:
    data = {"import_file_name": name, "original_file_name": "x", "format": "0", "resource": "0"}
    response = client_of("curator").post(reverse(f"admin:{ANNOTATION}_process_import"), data, follow=True)
    assert response.status_code == 200
    assert not Annotation.objects.exists()


def test_the_list_of_labels_is_found_and_read(client_of: Any) -> None:
    load_demo()
    html = client_of("lead").get(reverse(f"admin:{ANNOTATION}_changelist")).content.decode()
    for text in ("On-brand", "Off-brand", "default_v1", "chi", "demo_conversations"):
        assert text in html, text


@pytest.mark.parametrize("raw", [False, True])
def test_the_list_does_not_count_all_rows(client_of: Any, raw: bool) -> None:
    load_demo()
    if raw:
        discard_scan(Dataset.objects.get())
    client = client_of("lead")
    with CaptureQueriesContext(connection) as queries:
        html = client.get(reverse(f"admin:{ANNOTATION}_changelist")).content.decode()
    assert ("Withheld" in html) == raw
    counts = [query["sql"] for query in queries if "COUNT(" in query["sql"] and "annotation" in query["sql"]]
    assert counts
    assert all("LIMIT" in sql for sql in counts)
    assert len(queries) < 20


def test_a_lead_corrects_a_label_and_the_trail_knows(client_of: Any) -> None:
    load_demo()
    made = Annotation.objects.order_by("id")[0]
    client = client_of("lead")
    page = reverse(f"admin:{ANNOTATION}_change", args=[made.pk])
    before = made.label, made.notes
    discard_scan(made.dataset)
    assert made.turn.text[:20] not in client.get(page).content.decode().replace("&#x27;", "'")
    assert client.post(page, {"label": "0", "annotator": "ada", "notes": "changed"}).status_code == 403
    made.refresh_from_db()
    assert (made.label, made.notes) == before
    text_gates.scan_and_describe(made.dataset)
    assert made.turn.text[:20] in client.get(page).content.decode().replace("&#x27;", "'")
    sign_review(made.dataset, actor=User.objects.create(username="dana", first_name="Dana"))
    assert current_review(made.dataset) is not None
    client.post(page, {"label": "0", "annotator": "ada", "notes": "changed", "confidence": "0.5"})
    made.refresh_from_db()
    assert (made.label, made.notes) == (0, "changed")
    assert current_review(made.dataset) is None
    event = AuditEvent.objects.get(action="edit_annotation")
    assert (event.dataset_name, event.details["annotation"]) == ("demo_conversations", made.pk)
    assert "changed" not in json.dumps(event.details)


# --- who may ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "page", "verb", "status"),
    [
        ("curator", ANNOTATION, "import", 200),
        ("lead", ANNOTATION, "export", 200),
        ("viewer", ANNOTATION, "import", 403),
        ("viewer", ANNOTATION, "export", 403),
        ("annotator", ANNOTATION, "export", 403),
        ("privacy officer", ANNOTATION, "export", 403),
        ("curator", PERSONA, "import", 200),
        ("curator", PERSONA, "export", 200),
        ("lead", PERSONA, "import", 403),
        ("viewer", PERSONA, "export", 403),
        ("privacy officer", RETENTION, "import", 200),
        ("privacy officer", RETENTION, "export", 200),
        ("curator", RETENTION, "import", 403),
        ("viewer", RETENTION, "export", 403),
    ],
)
def test_only_those_with_the_permission_import_and_export(
    client_of: Any, role: str, page: str, verb: str, status: int
) -> None:
    client = client_of(role)
    assert client.get(reverse(f"admin:{page}_{verb}")).status_code == status
    if status == 403:
        assert client.post(reverse(f"admin:{page}_{verb}"), {"format": "0"}).status_code == 403


@pytest.mark.parametrize("page", [ANNOTATION, PERSONA, RETENTION])
def test_confirming_needs_the_permission_too(client_of: Any, page: str) -> None:
    assert client_of("viewer").post(reverse(f"admin:{page}_process_import"), {}).status_code == 403


def test_labels_of_datasets_one_may_not_see_are_out_of_reach(client: Any, django_user_model: Any) -> None:
    from django.contrib.auth.models import Permission

    load_demo()
    user = django_user_model.objects.create_user("outsider", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__endswith="_annotation"))
    client.force_login(user)
    assert "default_v1" not in client.get(reverse(f"admin:{ANNOTATION}_changelist")).content.decode()
    assert downloaded(client, ANNOTATION, "jsonl") == b""
    page = upload(client, ANNOTATION, jsonl(label("x", dataset="demo_conversations")), "jsonl")
    assert "There is no such dataset." in page.content.decode()


# --- personas ---------------------------------------------------------------------------------

YAML_TEXT = "# kept\nid: north\ndisplay_name: North\nexemplars: [Hello.]\n"


def persona(text: str = YAML_TEXT) -> Persona:
    return Persona.objects.create(persona_id="north", display_name="North", yaml=text)


def test_a_persona_file_itself_can_be_uploaded(client_of: Any) -> None:
    imported(client_of("curator"), PERSONA, YAML_TEXT.encode(), "yaml")
    made = Persona.objects.get()
    assert (made.persona_id, made.display_name, made.yaml) == ("north", "North", YAML_TEXT)
    details = AuditEvent.objects.get(action="import_persona").details
    assert (details["sha256"], details["change"]) == (made.digest, "created")


@pytest.mark.parametrize("format", ["jsonl", "csv", "xlsx", "yaml"])
def test_personas_that_go_out_come_in_again_unchanged(client_of: Any, format: str) -> None:
    text = "id: north\r\ndescription: '=1+1'\n\nexemplars: ['\u2028 é']\n"
    Persona.objects.create(persona_id="north", description="=1+1", yaml=text)
    client = client_of("curator")
    content = downloaded(client, PERSONA, format)
    assert "1 unchanged" in upload(client, PERSONA, content, format).content.decode()
    Persona.objects.all().delete()
    imported(client, PERSONA, content, format)
    assert Persona.objects.get().yaml == text


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"persona_id": "north", "yaml": "id: 5"}, "id: expected a string"),
        ({"persona_id": "north", "yaml": "id: south"}, "differs from the YAML"),
        ({"persona_id": "north", "yaml": "id: north\nlexicon: {avoid: [no]}"}, "E701"),
        ({"persona_id": "north", "yaml": YAML_TEXT, "colour": "red"}, "Unknown column"),
        ({"persona_id": "north"}, "a YAML mapping"),
        ({"yaml": YAML_TEXT}, "persona_id"),
    ],
)
def test_a_persona_that_is_none_is_refused_with_the_reason(client_of: Any, row: Any, sentence: str) -> None:
    page = upload(client_of("curator"), PERSONA, jsonl(row), "jsonl")
    assert sentence in page.content.decode()
    assert "Traceback" not in page.content.decode()
    assert not Persona.objects.exists()


def test_a_persona_is_edited_as_yaml_with_its_errors_and_findings(client_of: Any) -> None:
    client = client_of("curator")
    add = reverse(f"admin:{PERSONA}_add")
    assert "id: expected a string" in client.post(add, {"yaml": "id: 5"}).content.decode()
    page = client.post(
        add, {"yaml": YAML_TEXT.replace("Hello.]", "Hello.]\nlexicon: {avoid: [two words]}")}, follow=True
    )
    assert "W702" in page.content.decode()
    change = reverse(f"admin:{PERSONA}_change", args=[Persona.objects.get().pk])
    assert "W702" in client.get(change).content.decode()
    assert "be changed from north" in client.post(change, {"yaml": "id: other"}).content.decode()
    assert "already" in client.post(add, {"yaml": YAML_TEXT}).content.decode()


def test_saving_a_persona_that_nobody_changed_keeps_it_byte_for_byte(client_of: Any) -> None:
    made = persona("id: north\r\nexemplars: [a]\n\n")
    change = reverse(f"admin:{PERSONA}_change", args=[made.pk])
    client_of("curator").post(change, {"yaml": "id: north\r\nexemplars: [a]\r\n\r\n"})
    made.refresh_from_db()
    assert made.yaml == "id: north\r\nexemplars: [a]\n\n"
    assert not AuditEvent.objects.filter(action="import_persona").exists()


# --- retention --------------------------------------------------------------------------------

RULES = b"""\
policies:
- {pattern: "*_prod_*.jsonl", retention: 90 days, reason: x}
- {pattern: "*.jsonl", retention: indefinite}
"""


def policies() -> list[tuple[int, str, str]]:
    return list(RetentionPolicy.objects.order_by("position").values_list("position", "pattern", "retention"))


def test_a_retention_file_replaces_all_policies_as_its_preview_says(client_of: Any) -> None:
    for position in (1, 2, 5):
        RetentionPolicy.objects.create(position=position, pattern="old", retention="1 year")
    client = client_of("privacy officer")
    preview = upload(client, RETENTION, RULES, "yaml")
    assert "2 changed, 1 deleted" in preview.content.decode()
    assert len(policies()) == 3
    confirm(client, RETENTION, preview)
    assert policies() == [(1, "*_prod_*.jsonl", "90 days"), (2, "*.jsonl", "indefinite")]
    event = AuditEvent.objects.get(action="import_retention_rules")
    assert event.details["policies"] == [["*_prod_*.jsonl", "90 days"], ["*.jsonl", "indefinite"]]
    assert event.details["replaced"] == 3
    assert not AuditEvent.objects.filter(action="import_table").exists()


def test_a_retention_file_waits_for_another(client_of: Any) -> None:
    client = client_of("privacy officer")
    preview = upload(client, RETENTION, RULES, "yaml")
    with CaptureQueriesContext(connection) as queries:
        confirm(client, RETENTION, preview)
    sql = [query["sql"] for query in queries if "retentionpolicy" in query["sql"]]
    assert sql[0].startswith("LOCK TABLE")


@pytest.mark.parametrize(("format", "number"), [("yaml", "0"), ("jsonl", "1"), ("csv", "2"), ("xlsx", "3")])
def test_policies_that_go_out_come_in_again_unchanged(client_of: Any, format: str, number: str) -> None:
    client = client_of("privacy officer")
    imported(client, RETENTION, RULES, "yaml")
    content = downloaded(client, RETENTION, format, number)
    if format == "yaml":
        assert yaml.safe_load(content)["policies"][0]["pattern"] == "*_prod_*.jsonl"
    assert "2 unchanged" in upload(client, RETENTION, content, format).content.decode()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"policies: [{pattern: '*', retention: soon}]", "retention must be like"),
        (b"policies: [{pattern: '', retention: 1 day}]", "cannot be blank"),
        (b"policies: [{pattern: '*', retention: 1 day, unless: x}]", "Unknown column"),
        (b"rules: []", "This is not a retention.yaml"),
    ],
)
def test_a_retention_file_that_is_wrong_changes_nothing(
    client_of: Any, content: bytes, sentence: str
) -> None:
    RetentionPolicy.objects.create(position=1, pattern="old", retention="1 year")
    page = upload(client_of("privacy officer"), RETENTION, content, "yaml")
    assert sentence in page.content.decode()
    assert policies() == [(1, "old", "1 year")]


def test_the_list_shows_which_datasets_a_policy_decides_for(client_of: Any, tmp_path: Path) -> None:
    for name in ("chat_prod_1", "chat_test_1"):
        make_dataset(tmp_path, make_sessions(1), name=name)
    client = client_of("privacy officer")
    imported(client, RETENTION, RULES, "yaml")
    html = client.get(reverse(f"admin:{RETENTION}_changelist")).content.decode()
    assert html.index("*_prod_*.jsonl") < html.index("chat_prod_1") < html.index("chat_test_1")


# --- dataset metadata -------------------------------------------------------------------------


@pytest.fixture
def metadata_client(client_of: Any) -> Any:
    return client_of("curator")


@pytest.mark.parametrize("format", ["jsonl", "csv", "xlsx", "yaml"])
def test_dataset_facts_go_out_and_come_in_changed(metadata_client: Any, tmp_path: Path, format: str) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    Dataset.objects.update(source="=1+1", provenance={"seed": 7, "x": [1.5, None]})
    content = downloaded(metadata_client, reverse("admin:datasets_app_dataset_metadata_export"), format)
    preview = upload(metadata_client, reverse("admin:datasets_app_dataset_metadata_import"), content, format)
    assert "1 unchanged" in preview.content.decode()
    Dataset.objects.update(source="", provenance={}, license="MIT")
    preview = upload(metadata_client, reverse("admin:datasets_app_dataset_metadata_import"), content, format)
    confirm(metadata_client, reverse("admin:datasets_app_dataset_process_import"), preview)
    stored.refresh_from_db()
    assert (stored.source, stored.provenance, stored.license) == ("=1+1", {"seed": 7, "x": [1.5, None]}, "")
    assert (stored.turn_count, stored.status) == (2, "raw")
    assert AuditEvent.objects.filter(action="edit_dataset", dataset_name="support").exists()


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"name": "nowhere", "license": "MIT"}, "There is no such dataset"),
        ({"name": "support", "origin": "stolen"}, "not a valid choice"),
        ({"name": "support", "legal_hold": "perhaps"}, "expected true or false"),
        ({"name": "support", "legal_hold": True}, "needs a reason"),
        ({"name": "support", "provenance": "[1]"}, "expected a JSON object"),
        ({"name": "support", "turn_count": 5}, "Unknown column"),
        ({"license": "MIT"}, "name"),
    ],
)
def test_facts_that_are_wrong_change_nothing(
    metadata_client: Any, tmp_path: Path, row: Any, sentence: str
) -> None:
    make_dataset(tmp_path, make_session("a"))
    page = upload(metadata_client, reverse("admin:datasets_app_dataset_metadata_import"), jsonl(row), "jsonl")
    assert sentence in page.content.decode()
    assert Dataset.objects.get().license == ""


def test_the_pages_speak_of_a_file_that_is_none(client_of: Any) -> None:
    client = client_of("curator")
    for format, content in (("csv", b"a,b\n1,2,3"), ("xlsx", b"no"), ("jsonl", b"{"), ("yaml", b"[")):
        html = upload(client, ANNOTATION, content, format).content.decode()
        assert "encountered while trying to read file" not in html
        assert "Traceback" not in html
