"""The origin is set at the first import, and nothing but a recorded override changes it."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from datasets_app.catalog.edit import change_origin
from datasets_app.core.errors import UserError
from datasets_app.importing.stated_origins import PreparedUpload
from datasets_app.models import AuditEvent, Dataset, SourceFile
from tests.factories import import_file, make_session, make_turn, write_jsonl

pytestmark = pytest.mark.django_db

UNSOUND = [make_turn("a", 2)]


def with_role(role: str) -> User:
    user = User.objects.create(username=role, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    return user


def events(action: str) -> list[dict[str, Any]]:
    return [event.details for event in AuditEvent.objects.filter(action=action).order_by("id")]


def test_an_import_that_saves_no_session_leaves_no_dataset_behind(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", UNSOUND)
    result = import_file(path, origin="external", quarantine=True, quarantine_dir=tmp_path)
    assert result["notice"] == "No session was imported, so the dataset was not created."
    assert (tmp_path / "a.quarantine.jsonl").exists()
    assert not Dataset.objects.exists()
    assert not SourceFile.objects.exists()
    import_file(write_jsonl(tmp_path / "b.jsonl", make_session()), origin="production")
    assert Dataset.objects.get().origin == "production"
    assert [event["origin"] for event in events("import")] == ["external", "production"]


def test_an_empty_dataset_keeps_its_origin_too(tmp_path: Path) -> None:
    Dataset.objects.create(name="support", origin="external")
    path = write_jsonl(tmp_path / "a.jsonl", make_session())
    with pytest.raises(UserError, match="has the origin external, not production"):
        import_file(path, origin="production")
    with pytest.raises(UserError, match="has the origin external, not production"):
        import_file(write_jsonl(tmp_path / "b.jsonl", UNSOUND), origin="production", quarantine=True)
    assert not SourceFile.objects.exists()


@pytest.mark.parametrize(
    ("given", "stated", "becomes"),
    [
        (None, "production", "production"),
        ("production", "synthetic", "production"),
        (None, "unknown", "external"),
        ("external", "production", None),
        ("external", "synthetic", None),
    ],
)
def test_a_metadata_file_states_an_origin_that_is_not_ignored(
    tmp_path: Path, given: str | None, stated: str, becomes: str | None
) -> None:
    (tmp_path / "a.meta.yaml").write_text(f"origin: {stated}\n")
    path = write_jsonl(tmp_path / "a.jsonl", make_session())
    if becomes is None:
        with pytest.raises(UserError, match=rf"metadata file of a.jsonl states the origin {stated}"):
            import_file(path, origin=given)
        assert not Dataset.objects.exists()
    else:
        import_file(path, origin=given)
        assert Dataset.objects.get().origin == becomes


def test_metadata_brings_no_other_origin_into_a_dataset(tmp_path: Path) -> None:
    import_file(write_jsonl(tmp_path / "a.jsonl", make_session("a")))
    (tmp_path / "b.meta.yaml").write_text("origin: production\n")
    with pytest.raises(UserError, match="has the origin external, not production"):
        import_file(write_jsonl(tmp_path / "b.jsonl", make_session("b")))


def test_what_was_uploaded_as_production_is_imported_as_external_only_by_override(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", make_session())
    upload = PreparedUpload("ann", "production")
    for actor, override, refusal in (
        (with_role("curator"), "", "The upload states the origin production"),
        (with_role("lead"), "It is public", "don't have permission to change the origin"),
    ):
        with pytest.raises(UserError, match=refusal):
            import_file(path, origin="external", upload=upload, override=override, actor=actor)
    assert events("override") == events("import") == []
    officer = with_role("privacy officer")
    import_file(path, origin="external", upload=upload, override="It is public", actor=officer)
    override = AuditEvent.objects.get(action="override")
    assert (override.actor, override.details) == (
        "privacy officer",
        {"purpose": "change origin", "reason": "It is public"},
    )
    assert (events("import")[0]["origin"], events("import")[0]["uploaded_by"]) == ("external", "ann")


def test_the_origin_changes_for_a_reason_that_is_recorded(tmp_path: Path) -> None:
    import_file(write_jsonl(tmp_path / "a.jsonl", make_session()), origin="production")
    dataset = Dataset.objects.get()
    officer = with_role("privacy officer")
    for actor, reason, refusal in (
        (with_role("curator"), "A mistake", "don't have permission to change the origin"),
        (officer, " ", "decides which rules apply"),
    ):
        with pytest.raises(UserError, match=refusal):
            change_origin(dataset, "external", override=reason, actor=actor)
    assert Dataset.objects.get().origin == "production"
    change_origin(dataset, "external", override="A mistake", actor=officer)
    assert Dataset.objects.get().origin == "external"
    assert events("change_origin") == [{"origin": ["production", "external"], "reason": "A mistake"}]
    with pytest.raises(UserError, match="already has the origin external"):
        change_origin(dataset, "external", override="Again", actor=officer)


@pytest.mark.django_db(transaction=True)
def test_the_commands_need_a_reason(manage: Any, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", make_session())
    (tmp_path / "a.meta.yaml").write_text("origin: production\n")
    imported = ["import_dataset", "a.jsonl", "--name", "support", "--origin", "external"]
    refused = manage(*imported)
    assert (refused.returncode, "Pass it with --override" in refused.stderr) == (2, True)
    assert manage(*imported, "--override", "Public").returncode == 0
    assert manage("change_origin", "support", "production").returncode == 2
    done = manage("change_origin", "support", "production", "--override", "Was stated wrongly")
    assert done.stdout == "support: the origin is production now; it was external.\n"
