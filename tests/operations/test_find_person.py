"""Sessions of a person are found wherever the person is named, erased at once, and named nowhere else."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent, Dataset, JobRun, Session, SessionComment
from datasets_app.retention.find_person import find_person
from tests.factories import make_dataset, make_turn

CANARY = "jane.roe@mailbox.org"
TURNS = [
    make_turn("in-text", text=f"Write to {CANARY.upper()}, please"),
    make_turn("in-tags", tags=[f"from:{CANARY}"]),
    make_turn("in-metadata", metadata={"user": {"mail": CANARY}}),
    make_turn(f"chat {CANARY}"),
    make_turn("in-comment"),
    make_turn("longer", text=f"Write to x{CANARY}uk, or to jane.roeder@mailbox.org"),
    make_turn("nobody", text="Write to us"),
]


@pytest.fixture
def dataset(db: None, tmp_path: Path) -> Dataset:
    dataset = make_dataset(tmp_path, TURNS)
    session = Session.objects.get(dataset=dataset, session_id="in-comment")
    SessionComment.objects.create(dataset=dataset, session=session, text=f"ask {CANARY} again")
    return dataset


def test_a_person_is_found_wherever_they_are_named(dataset: Dataset) -> None:
    found = {match.session.session_id: dict(match.places) for match in find_person(f" {CANARY} ")}
    assert found == {
        "in-text": {"text": 1},
        "in-tags": {"tags": 1},
        "in-metadata": {"metadata": 1},
        f"chat {CANARY}": {"session ID": 1, "text": 1},
        "in-comment": {"comments": 1},
    }


@pytest.mark.parametrize(
    ("value", "turn"),
    [
        ("Jörg Müller", {"text": "J\u0075\u0308rg und Jo\u0308rg Mu\u0308ller"}),
        ("Jo\u0308rg Mu\u0308ller", {"text": "Jörg Müller"}),
        ("Jörg Müller", {"metadata": {"note": "Agent:\nJörg\tMüller"}}),
        ("CORP\\jroe", {"metadata": {"user": "CORP\\jroe"}}),
        ('"Jogi" Müller', {"metadata": {"names": ['Jörg "Jogi" Müller']}}),
        ("471100", {"metadata": {"user": {"id": 471100}}}),
        ("jroe@mailbox.org", {"metadata": {"jroe@mailbox.org": True}}),
        ("Jörg Müller", {"persona_id": "Jörg Müller"}),
    ],
)
def test_a_person_is_found_in_every_notation(
    db: None, tmp_path: Path, value: str, turn: dict[str, Any]
) -> None:
    make_dataset(tmp_path, [make_turn("named", **turn), make_turn("other", text="Jose\u0301")])
    assert [match.session.session_id for match in find_person(value)] == ["named"]
    assert find_person("jose") == []


@pytest.mark.parametrize("value", ["", "ab", "x" * 201, "   "])
def test_what_would_be_found_everywhere_is_refused(dataset: Dataset, value: str) -> None:
    with pytest.raises(UserError, match="Give a user ID"):
        find_person(value)


def test_all_of_a_person_is_erased_and_written_nowhere(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{CANARY}\n"))
    call_command("erase_person", "-", reason="Request of 3 May")
    assert set(Session.objects.values_list("session_id", flat=True)) == {"longer", "nobody"}
    assert "support: 5 sessions" in capsys.readouterr().out
    rows = [*AuditEvent.objects.values_list("details", flat=True)]
    rows += [
        *JobRun.objects.values_list("parameters", flat=True),
        *JobRun.objects.values_list("result", flat=True),
    ]
    assert CANARY not in str(rows)
    assert AuditEvent.objects.filter(action="erase").exists() or AuditEvent.objects.exists()
    assert find_person(CANARY) == []
