"""`import_persona` and the retention commands as a person runs them."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from datasets_app.models import AuditEvent, Persona, RetentionPolicy

pytestmark = pytest.mark.django_db(transaction=True)

GOOD = b"# a comment\r\nid: north\r\ndisplay_name: N\xc3\xb6rd\nexemplars: [Hello.]\n"


def test_a_persona_is_created_then_brought_up_to_date(tmp_path: Path, manage: Any) -> None:
    file = tmp_path / "north.yaml"
    file.write_bytes(GOOD)
    assert "north: created." in manage("import_persona", file).stdout
    made = Persona.objects.get()
    assert made.yaml.encode() == GOOD
    assert made.digest == hashlib.sha256(GOOD).hexdigest()
    assert "north: unchanged." in manage("import_persona", file).stdout
    file.write_bytes(GOOD.replace(b"Hello", b"Hi"))
    assert "north: updated." in manage("import_persona", file).stdout
    events = AuditEvent.objects.filter(action="import_persona").order_by("id")
    assert [event.details["change"] for event in events] == ["created", "updated"]
    assert events[0].details["sha256"] == made.digest


def test_warnings_are_told_and_strict_refuses_them(manage: Any) -> None:
    text = b"id: north\nexemplars: [a]\nlexicon: {avoid: [two words]}\n"
    strict = manage("import_persona", "-", "--strict", input=text)
    assert strict.returncode == 1
    assert "standard input:lexicon.avoid: W702" in strict.stderr
    assert not Persona.objects.exists()
    done = manage("import_persona", "-", input=text)
    assert done.returncode == 0
    assert "W702" in done.stderr
    assert Persona.objects.exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"id: n\nlexicon: {preferred: [yes]}", "E701"),
        (b"id: 5", "id: expected a string"),
        (b"id: [", "line 2"),
    ],
)
def test_what_alignmenter_would_crash_on_is_refused_with_exit_code_1(
    manage: Any, text: bytes, sentence: str
) -> None:
    done = manage("import_persona", "-", input=text)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not Persona.objects.exists()


def test_of_several_files_the_sound_ones_are_saved(tmp_path: Path, manage: Any) -> None:
    (tmp_path / "a.yaml").write_text("id: a\nexemplars: [x]")
    (tmp_path / "b.yaml").write_text("id: 1")
    (tmp_path / "c.yaml").write_text("id: c\nexemplars: [x]")
    done = manage("import_persona", "a.yaml", "b.yaml", "c.yaml")
    assert done.returncode == 1
    assert "1 of 3 files were refused." in done.stderr
    assert list(Persona.objects.values_list("persona_id", flat=True)) == ["a", "c"]


@pytest.mark.parametrize("content", [None, b"\xff\xfeid"])
def test_a_file_that_can_not_be_read_is_exit_code_2(
    tmp_path: Path, manage: Any, content: bytes | None
) -> None:
    if content:
        (tmp_path / "p.yaml").write_bytes(content)
    done = manage("import_persona", "p.yaml")
    assert done.returncode == 2
    assert "p.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_retention_rules_go_in_and_come_out(tmp_path: Path, manage: Any) -> None:
    RetentionPolicy.objects.create(position=3, pattern="old", retention="1 day")
    text = "policies:\n- pattern: '*_prod_*.jsonl'\n  retention: 90 days\n  reason: Delete after analysis\n"
    assert manage("import_retention_rules", "-", input=text.encode()).returncode == 0
    assert manage("export_retention_rules").stdout == text
    wrong = manage("import_retention_rules", "-", input=b"policies: [{pattern: x, retention: soon}]")
    assert wrong.returncode == 1
    assert "policy 1: retention must be like" in wrong.stderr
    assert "standard input" in wrong.stderr
    assert RetentionPolicy.objects.get().pattern == "*_prod_*.jsonl"
