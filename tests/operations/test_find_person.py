"""Sessions of a person are found wherever the person is named, erased at once, and named nowhere else."""

import io
from base64 import b64encode, encodebytes
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command

from datasets_app.core.errors import UserError
from datasets_app.models import (
    AuditEvent,
    Dataset,
    JobFile,
    JobRun,
    ReceivedSpan,
    Session,
    SessionComment,
    Source,
)
from datasets_app.retention.find_person import find_everywhere, find_person
from datasets_app.sources.receive import receive
from tests.api.calls import make_user
from tests.factories import make_dataset, make_turn
from tests.spans import encode_request, make_span

CANARY = "jane.roe@mailbox.org"
# The same address behind one, two and three characters.
ENCODED = [b64encode(f"{'x' * n}:{CANARY.title()}".encode()).decode() for n in range(3)]
# In lines of 76 characters, as mail has it.
MAILED = [encodebytes(f"{'x ' * n}{CANARY}, Jane Roe {'. ' * 30}".encode()).decode() for n in (20, 25)]
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
        ("jroe@mailbox.org", {"text": "https://shop.example/?e=jroe%40mailbox.org&x=1"}),
        ("Jörg Müller", {"metadata": {"url": "/search?q=J%c3%b6rg+M%c3%bcller"}}),
        (CANARY, {"text": "It is ｊａｎｅ.ｒｏｅ＠ｍａｉｌｂｏｘ。ｏｒｇ"}),
        (CANARY, {"metadata": {"mail": "jane.\u200broe@mail\u00adbox.org"}}),
        ("ｊａｎｅ.roe@mail\u200bbox.org", {"tags": [CANARY]}),
        ("Anne-Marie Roe", {"text": "Anne\u2011Marie\u00a0Roe called"}),
        ("0171 5550", {"text": "call ٠١٧١\u202f٥٥٥٠"}),
        *((CANARY, {"text": f"data:text/plain;base64,{coded}"}) for coded in ENCODED),
        *((value, {"text": f"See:\n{coded}"}) for value in (CANARY, "Jane Roe") for coded in MAILED),
        (CANARY, {"metadata": {"mail": {"body": MAILED[0].replace("\n", "\r\n")}}}),
    ],
)
def test_a_person_is_found_in_every_notation(
    db: None, tmp_path: Path, value: str, turn: dict[str, Any]
) -> None:
    other = f"Jose\u0301 {b64encode(b'xjane.roe@mailbox.org').decode()}"
    make_dataset(tmp_path, [make_turn("named", **turn), make_turn("other", text=other)])
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


def make_source(*spans: Any) -> Source:
    source = Source.objects.create(name="shop", kind="otlp", dataset_name="shop_prod")
    receive(source, encode_request(*spans), "application/json")
    return source


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("max_spans", [0, 100])
def test_received_spans_of_a_person_are_erased_before_they_become_sessions(
    max_spans: int, settings: Any, capsys: Any
) -> None:
    settings.OTLP_MAX_SPANS = max_spans
    spans = [make_span(question="Wer ist Jörg Müller?"), make_span(span=2), make_span(2)]
    make_source(*spans)
    call_command("erase_person", "jörg müller", dry_run=True)
    assert "shop_prod: 1 received span that will become sessions" in capsys.readouterr().out
    assert ReceivedSpan.objects.count() == 3
    call_command("erase_person", "jörg müller", reason="Request of 3 May")
    assert ReceivedSpan.objects.count() == 1, "a trace is erased as a whole"
    event = AuditEvent.objects.get(action="erase_session")
    assert (event.dataset_name, event.details["deleted"]) == ("shop_prod", {"received_spans": 2})
    assert "ller" not in str([*AuditEvent.objects.values(), *JobRun.objects.values()])
    with pytest.raises(SystemExit):
        call_command("erase_person", "jörg müller", dry_run=True)


@pytest.mark.django_db(transaction=True)
def test_received_spans_on_legal_hold_stay(tmp_path: Path) -> None:
    make_dataset(tmp_path, [make_turn("other")], "shop_prod")
    Dataset.objects.update(legal_hold=True)
    make_source(make_span(question=f"Write to {CANARY}"))
    assert find_everywhere(CANARY).list_held() == ["shop_prod"]
    with pytest.raises(CommandError, match="legal hold"):
        call_command("erase_person", CANARY, reason="Request of 3 May")
    assert ReceivedSpan.objects.count() == 1


def test_it_is_said_what_remains(dataset: Dataset, tmp_path: Path) -> None:
    make_dataset(tmp_path, TURNS, "restricted")
    Dataset.objects.filter(name="restricted").update(restricted=True)
    job = JobRun.objects.create(operation="import_dataset", dataset_name="new", state="prepared")
    JobFile.objects.create(job_run=job, kind="upload", name="new.jsonl", file="jobs/1/upload/x")
    reader = make_user("viewer")
    reader.user_permissions.add(Permission.objects.get(codename="read_raw"))
    found = find_everywhere(CANARY, type(reader).objects.get(pk=reader.pk))
    assert {match.session.dataset.name for match in found.sessions} == {"support"}
    hidden, files = found.describe_rest()
    assert hidden.startswith("Not searched: 1 dataset that you can't open.")
    assert files.startswith("Not searched: 1 stored file of jobs that can't be read, or not by you.")
    # Whether they name somebody is told to nobody who can't open them.
    assert find_everywhere("John Doe", type(reader).objects.get(pk=reader.pk)).hidden == 1
