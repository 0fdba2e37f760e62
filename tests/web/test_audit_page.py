"""The page of the audit trail: what is asked of it, page by page; its export and its verification."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from datasets_app.auditing.heads import heads_path
from datasets_app.auditing.verify_audit import get_head
from datasets_app.core import audit
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, AuditSeal, JobFile, JobRun
from tests.conftest import as_owner
from tests.operations.test_verify_audit import EVENTS, seal, tampered

PAGE = reverse("admin:datasets_app_auditevent_changelist")
BEGIN = datetime(2025, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def trail(db: None) -> None:
    """One event a day, from two people, on two datasets."""
    for day in range(120):
        AuditEvent.objects.create(
            at=BEGIN + timedelta(days=day),
            actor=("ana", "ben")[day % 2],
            action=("probe", "other")[day % 3 == 0],
            dataset_name=("support", "sales")[day % 5 == 0],
            details={"day": f"day{day}."},
        )
    seal()


def days(html: str) -> list[int]:
    return [int(day) for day in re.findall(r"day(\d+)\.", html)]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({}, lambda day: True),
        ({"action": "other"}, lambda day: day % 3 == 0),
        ({"actor": "ana", "dataset": "sales"}, lambda day: day % 10 == 0),
        ({"since": "2025-03-11", "until": "2025-05-10"}, lambda day: 10 <= day <= 70),
        ({"action": "probe", "until": "2025-03-05"}, lambda day: day <= 4 and day % 3),
        ({"actor": "an"}, lambda day: False),
    ],
)
@pytest.mark.parametrize("way", ["next", "prev"])
def test_what_is_asked_for_comes_the_latest_first(
    sign_in: Any, trail: None, asked: dict[str, str], wanted: Any, way: str
) -> None:
    client = sign_in("privacy officer")
    # Logging in has left an event, which is later than all of these.
    asked = {"until": "2025-12-31", **asked}
    found: list[int] = []
    html = client.get(PAGE, asked | ({"last": "1"} if way == "prev" else {})).content.decode()
    while True:
        found = found + days(html) if way == "next" else days(html) + found
        link = re.search(rf'rel="{way}" href="([^"]+)"', html)
        if not link:
            break
        html = client.get(PAGE + link[1].replace("&amp;", "&")).content.decode()
    assert found == [day for day in reversed(range(120)) if wanted(day)]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"since": "yesterday"}, "From: Enter a valid date."),
        ({"since": "2025-03-02", "until": "2025-03-01"}, "To: The last day must not be before the first."),
        ({"action": "n" * 51}, "Action: Ensure this value has at most 50 characters"),
        ({"action": "never_done"}, "No matching events"),
        ({"after": f"{'9' * 18}.1"}, "day119."),
        ({"until": "9999-12-31"}, "day119."),
    ],
)
def test_what_can_not_be_asked_is_told(sign_in: Any, trail: None, asked: dict[str, str], told: str) -> None:
    page = sign_in("privacy officer").get(PAGE, asked)
    assert page.status_code == 200
    assert told in page.content.decode()


def test_it_is_exported_as_it_is_shown_and_that_is_in_the_trail(
    sign_in: Any, trail: None, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    client = sign_in("privacy officer")
    for format in ("csv", "jsonl"):
        asked = {"actor": "ben", "until": "2025-03-11", "format": format}
        assert client.post(reverse("admin:datasets_app_auditevent_export"), asked).status_code == 302
        job = JobRun.objects.latest("pk")
        perform(job.pk)
        job.refresh_from_db()
        assert (job.state, job.result["events"]) == ("done", 5), job.error
        kept = JobFile.objects.get(job_run=job)
        given = b"".join(client.get(reverse("download", args=[kept.pk])).streaming_content)
        if format == "csv":
            rows = list(csv.DictReader(io.StringIO(given.decode())))
            found = [json.loads(row["details"])["day"] for row in rows]
        else:
            rows = [json.loads(line) for line in given.splitlines()]
            found = [row["details"]["day"] for row in rows]
            sealed = AuditSeal.objects.get(event_id=rows[0]["id"])
            assert (rows[0]["position"], rows[0]["digest"]) == (sealed.position, sealed.digest)
        assert found == [f"day{day}." for day in (1, 3, 5, 7, 9)]
        event = AuditEvent.objects.get(action="export_audit", details__format=format)
        assert event.actor == "privacy_officer"
        assert event.details["sha256"] == kept.sha256
        assert AuditEvent.objects.filter(action="download", details__sha256=kept.sha256).exists()
    curator = sign_in("curator")
    assert curator.get(reverse("download", args=[kept.pk])).status_code == 403
    assert curator.post(reverse("admin:datasets_app_auditevent_export"), asked).status_code == 403


def test_a_cell_is_no_formula(trail: None, tmp_path: Path) -> None:
    audit.record("import", actor=None, dataset_name="=cmd|' /C calc'!A0")
    out = tmp_path / "trail.csv"
    call_command("export_audit", f"--out={out}", "--action=import", "--from=2026-01-01")
    (row,) = csv.DictReader(out.open())
    assert row["dataset"] == "'=cmd|' /C calc'!A0"


def test_it_is_verified_from_the_page(sign_in: Any, trail: None, settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    client = sign_in("privacy officer")
    seal()
    for state, told in (("done", "no changes found"), ("failed", "tampering found")):
        client.post(reverse("admin:datasets_app_auditevent_verify"))
        job = JobRun.objects.latest("pk")
        perform(job.pk)
        job.refresh_from_db()
        assert job.state == state, job.error
        assert told in client.get(PAGE).content.decode()
        seal()
        first = AuditEvent.objects.order_by("id").first()
        assert first
        tampered(f"UPDATE {EVENTS} SET actor = 'eve' WHERE id = {first.pk}")
    shown = client.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk])).content.decode()
    assert f"Event {first.pk} is not what was sealed at position" in shown


def test_the_commands_say_what_is_wrong_and_end_so(
    trail: None, settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.VAR_DIR = tmp_path
    call_command("verify_audit", head=True)
    noted = capsys.readouterr().out.strip()
    assert noted == str(get_head())
    call_command("verify_audit", expect=[noted], note=True)
    assert f" events, unchanged. Head {noted}" in capsys.readouterr().out
    assert noted.split(":")[1] in heads_path().read_text()
    first = AuditEvent.objects.order_by("id").first()
    assert first
    tampered(f"UPDATE {EVENTS} SET details = '{{}}' WHERE id = {first.pk}")
    with pytest.raises(CommandError) as ended:
        call_command("verify_audit")
    assert ended.value.returncode == 1
    assert f"Event {first.pk} is not what was sealed at position" in capsys.readouterr().err
    with pytest.raises(CommandError) as ended:
        call_command("verify_audit", expect=["12"])
    assert ended.value.returncode == 2


def test_the_page_takes_a_few_questions_however_long_the_trail_is(
    sign_in: Any, trail: None, django_assert_max_num_queries: Any
) -> None:
    client = sign_in("privacy officer")
    with django_assert_max_num_queries(12):
        client.get(PAGE, {"actor": "ana", "since": "2025-03-02"})
    with as_owner() as cursor:
        cursor.execute("SELECT count(*) FROM datasets_app_audit_unsealed")
        assert cursor.fetchone() == (0,)


def test_events_are_sentences(sign_in: Any, db: None) -> None:
    client = sign_in("privacy officer")
    for action in ("import", "tag_sessions", "scrub", "read_raw_text", "log_in"):
        dataset = "" if action == "log_in" else "support"
        AuditEvent.objects.create(at=BEGIN, actor="ana", action=action, dataset_name=dataset, details={})
    html = client.get(PAGE, {"until": "2025-12-31"}).content.decode()
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", html))
    for phrase in ("imported support", "tagged sessions in support", "scrubbed support"):
        assert f"ana {phrase}" in text
    assert "ana read raw text of support" in text
    assert "ana logged in " in text


@pytest.mark.parametrize(
    ("action", "details", "said"),
    [
        ("import", {"sessions": 1, "turns": 4}, "ana imported 1 session into support"),
        ("create_campaign", {"campaign": "<i>tone"}, "ana created the campaign &lt;i&gt;tone in support"),
        ("create_campaign", {}, "ana created a campaign in support"),
        ("permissions", {"account": "ben", "change": "created"}, "ana created the account ben"),
        ("permissions", {"account": "ben", "added": ["lead"]}, "ana gave the account ben the role lead"),
        (
            "permissions",
            {"account": "ben", "password": "changed"},
            "ana changed the password of ",
        ),
        ("permissions", {"role": "lead", "was_called": "boss"}, "ana renamed the role boss to lead"),
        ("permissions", {"account": "ben", "is_active": False}, "ana deactivated the account ben"),
    ],
)
def test_sentences_say_the_details(
    sign_in: Any, db: None, action: str, details: dict[str, Any], said: str
) -> None:
    dataset = "" if action == "permissions" else "support"
    AuditEvent.objects.create(at=BEGIN, actor="ana", action=action, dataset_name=dataset, details=details)
    html = sign_in("privacy officer").get(PAGE, {"until": "2025-12-31"}).content.decode()
    assert said in re.sub(r"\s+", " ", re.sub("<[^>]+>", "", html))
