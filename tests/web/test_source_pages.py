"""The pages of sources: what they refuse, and that no token is shown again."""

from pathlib import Path
from typing import Any

from django.conf import LazySettings
from django.urls import reverse

from datasets_app.access import limit_access
from datasets_app.access.tokens import digest_token
from datasets_app.models import AuditEvent, Dataset, JobRun, Source
from datasets_app.sources.secrets import decrypt_credential
from tests.conftest import as_owner

ADD = "/admin/datasets_app/source/add/"
LANGFUSE = {
    "name": "shop",
    "kind": "langfuse",
    "dataset_name": "prod",
    "location": "https://cloud.langfuse.com/",
    "token": "pk-lf:sk-wexkeyquill",
    "rate": "10",
    "quiet_minutes": "10",
    "active": "on",
}


def change(client: Any, source: Source, **fields: str) -> Any:
    return client.post(reverse("admin:datasets_app_source_change", args=[source.pk]), {**LANGFUSE, **fields})


def errors(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200
    return dict(response.context["adminform"].form.errors)


def test_a_token_is_stored_encrypted_and_never_shown(curator: Any) -> None:
    assert curator.post(ADD, LANGFUSE).status_code == 302
    source = Source.objects.get()
    assert (source.location, source.created_by) == ("https://cloud.langfuse.com", curator.user)
    assert decrypt_credential(source.credential) == LANGFUSE["token"]
    with as_owner() as cursor:
        for table in ("source", "auditevent"):
            cursor.execute(f"SELECT string_agg(t::text, '') FROM datasets_app_{table} t")
            assert "quill" not in cursor.fetchone()[0]
    page = curator.get(reverse("admin:datasets_app_source_change", args=[source.pk])).content.decode()
    assert "quill" not in page
    assert source.credential not in page
    assert change(curator, source, token="", rate="20", location=source.location).status_code == 302
    source.refresh_from_db()
    assert decrypt_credential(source.credential) == LANGFUSE["token"]
    events = AuditEvent.objects.filter(action__endswith="_source").order_by("pk")
    assert [event.action for event in events] == ["add_source", "edit_source"]
    assert events[1].details["fields"] == ["rate"]


def test_a_stored_token_is_not_sent_to_another_address(curator: Any) -> None:
    curator.post(ADD, LANGFUSE)
    source = Source.objects.get()
    moved = errors(change(curator, source, token="", location="https://elsewhere.example"))
    assert moved == {"token": ["The address has changed. Enter the token for it."]}
    source.refresh_from_db()
    assert source.location == LANGFUSE["location"].rstrip("/")
    assert change(curator, source, token="a:b", location="https://elsewhere.example").status_code == 302


def test_what_the_form_refuses(curator: Any, settings: LazySettings, tmp_path: Path) -> None:
    settings.SOURCE_ROOTS = [str(tmp_path)]
    Dataset.objects.create(name="made-up", origin="synthetic")
    hidden = Dataset.objects.create(name="hidden", origin="production")
    limit_access.restrict_dataset(hidden, actor=None)
    cases: list[tuple[str, dict[str, str]]] = [
        ("token", {"token": ""}),
        ("token", {"token": "no colon"}),
        ("token", {"token": "only-one-key"}),
        ("location", {"location": "https://user:pw@host"}),
        ("location", {"kind": "folder", "location": "/etc"}),
        ("project", {"kind": "langsmith"}),
        ("dataset_name", {"dataset_name": "made-up"}),
        ("dataset_name", {"dataset_name": "hidden"}),
        ("dataset_name", {"dataset_name": "a b"}),
        ("rate", {"rate": "101"}),
        ("max_conversations", {"max_conversations": "0"}),
        ("quiet_minutes", {"quiet_minutes": "5000"}),
    ]
    for field, fields in cases:
        assert field in errors(curator.post(ADD, {**LANGFUSE, **fields})), fields
    assert not Source.objects.exists()
    folder = {"kind": "folder", "location": str(tmp_path), "token": ""}
    assert curator.post(ADD, {**LANGFUSE, **folder}).status_code == 302


def test_a_receivers_token_is_shown_once_replaced_and_revoked(curator: Any) -> None:
    curator.post(ADD, {**LANGFUSE, "kind": "otlp", "location": "ignored", "token": ""})
    source = Source.objects.get()
    assert (source.location, source.credential, source.token_digest) == ("", "", None)

    def make() -> str:
        page = curator.post(reverse("admin:datasets_app_source_token", args=[source.pk]))
        assert "no-store" in page["Cache-Control"]
        source.refresh_from_db()
        return str(page.context["token"])

    first = make()
    assert source.token_digest == digest_token(first)
    assert make() != first
    assert source.token_digest != digest_token(first)
    curator.post(reverse("admin:datasets_app_source_revoke", args=[source.pk]))
    source.refresh_from_db()
    assert source.token_digest is None
    assert curator.get(reverse("admin:datasets_app_source_token", args=[source.pk])).status_code == 405
    recorded = AuditEvent.objects.filter(action__endswith="source_token").order_by("pk")
    assert [event.action for event in recorded] == ["make_source_token"] * 2 + ["revoke_source_token"]


def test_pulling_by_hand_starts_one_job(curator: Any, sign_in: Any) -> None:
    source = Source.objects.create(name="apps", kind="otlp", dataset_name="prod")
    address = reverse("admin:datasets_app_source_pull", args=[source.pk])
    for _ in range(2):
        assert "/jobrun/" in curator.post(address)["Location"]
    assert JobRun.objects.get().parameters == {
        "source": source.pk,
        "since": None,
        "dry_run": False,
        "scrub": True,
    }
    assert sign_in("viewer").post(address).status_code == 403


def test_sources_of_hidden_datasets_and_of_those_on_hold(curator: Any) -> None:
    source = Source.objects.create(name="collector-7", kind="otlp", dataset_name="prod")
    dataset = Dataset.objects.create(name="prod", origin="production", legal_hold=True)
    listed = reverse("admin:datasets_app_source_changelist")
    delete = reverse("admin:datasets_app_source_delete", args=[source.pk])
    assert "collector-7" in curator.get(listed).content.decode()
    assert curator.post(delete, {"post": "yes"}).status_code == 403
    limit_access.restrict_dataset(dataset, actor=None)
    assert "collector-7" not in curator.get(listed).content.decode()
    for name in ("pull", "token", "revoke"):
        address = reverse(f"admin:datasets_app_source_{name}", args=[source.pk])
        assert curator.post(address).status_code == 404
    limit_access.grant_access(dataset, curator.user, actor=None)
    Dataset.objects.update(legal_hold=False)
    assert curator.post(delete, {"post": "yes"}).status_code == 302
    assert not Source.objects.exists()
