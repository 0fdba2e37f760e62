"""Values planted in a dataset are, after its scrub, nowhere: database, queue, logs, files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django_rq
import psycopg
import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotations_app.labels.import_annotations import import_annotations
from datasets_app.domain.pii.policy import Policy
from datasets_app.importing.parameters import ImportParameters
from datasets_app.jobs import runs
from datasets_app.jobs.parameters import OverridableParameters
from datasets_app.models import AuditEvent, Dataset, JobFile, JobRun, Turn
from datasets_app.scrubbing.parameters import ScrubParameters
from tests.campaigns import lease_for, make_campaign, submit
from tests.conftest import as_owner
from tests.environment import VAR_DIR
from tests.factories import encode_jsonl, make_turn, write_jsonl

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

POLICY = Policy(patterns=(("TICKET", r"TK-\d{6}"),), hash_session_ids=True)
SESSIONS, TURNS = 1_250, 4  # five chunks

# One of each class for each place it is put: a value found in one place proves nothing of another.
PLACES = ("text", "tag", "key", "value", "other_key", "other_value", "session_id", "note", "decision")


def canaries(place: str) -> dict[str, str]:
    """Class → a value that stands nowhere else. What varies is two digits or letters, by the place."""
    n = 10 + PLACES.index(place)
    letter = "abcdefghi"[PLACES.index(place)]
    return {
        "EMAIL": f"quill{n}@wexcanary{letter}.org",
        "PHONE": f"(646) 555-77{n}",
        "SSN": f"536-22-87{n}",
        "CREDIT_CARD": _card(f"4556 7375 86{n} 9855"),
        "IP": f"203.0.113.{n + 100}",
        "NAME": f"{('Zuzanna', 'Oluwaseun', 'Giovanni', 'Katarzyna')[n % 4]} Wex{letter}inski",
        "CREDENTIAL": f"ghp_{letter}9Q2wX7eR4tY1uI8oP5aS3dF6gH0jK{n}zLcV",
        "PATH": f"/home/wexcanary{letter}/reports/q{n}.pdf",
        "HOST": f"wexcanary{letter}{n}.corp.internal",
        "TICKET": f"TK-7744{n}",
    }


def _card(start: str) -> str:
    digits = [int(sign) for sign in start if sign.isdigit()][:15]
    total = sum(digit if place % 2 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits))
    return f"{start[:-1]}{-total % 10}"


def sentence(kind: str, value: str) -> str:
    return {"NAME": f"Hello, my name is {value} and I need help.", "CREDENTIAL": f"my token is {value}"}.get(
        kind, f"Please note {value} for me."
    )


def filler(number: int, index: int) -> str:
    """Few different ones, as each is searched once."""
    return f"Order {number % 50} arrives on day {index}, thanks for waiting."


def planted() -> list[dict[str, Any]]:
    """5,000 turns. The first sessions hold what is to be found, the others what is said everywhere."""
    lines: list[dict[str, Any]] = []
    kinds = list(canaries("text"))
    for number in range(SESSIONS):
        kind = kinds[number] if number < len(kinds) else None
        name = sentence(kind, canaries("session_id")[kind]) if kind else f"call-{number}"
        for index in range(1, TURNS + 1):
            fields: dict[str, Any] = {"text": filler(number, index)}
            if kind and index == 1:
                fields["text"] = sentence(kind, canaries("text")[kind])
                fields["tags"] = [sentence(kind, canaries("tag")[kind])]
                fields["metadata"] = {
                    sentence(kind, canaries("key")[kind]): 1,
                    "comment": sentence(kind, canaries("value")[kind]),
                }
                fields[sentence(kind, canaries("other_key")[kind])] = True
                fields["remark"] = sentence(kind, canaries("other_value")[kind])
            lines.append(make_turn(name, index, **fields))
    return lines


def notes() -> list[dict[str, Any]]:
    kinds = canaries("note")
    return [
        {
            "session_id": f"call-{100 + number}",
            "turn_index": 2,
            "text": filler(100 + number, 2),
            "label": 1,
            "persona_id": "default_v1",
            "notes": sentence(kind, value),
            "hint": sentence(kind, value),
        }
        for number, (kind, value) in enumerate(kinds.items())
    ]


def press_with_notes(stored: Dataset) -> None:
    """Notes beside decisions: of some nothing is left but the history, as they were taken back."""
    made = make_campaign(stored, "ana", override="a test")
    for kind, value in canaries("decision").items():
        current = lease_for(made, "ana").current
        submit(current, "flag", notes=sentence(kind, value))
        submit(current, "undo")
        submit(current)


def needles() -> dict[str, bytes]:
    """What is looked for: of a name the word that is no other's, as it is and in small letters."""
    found = {}
    for place in PLACES:
        for kind, value in canaries(place).items():
            word = value.split()[-1] if kind == "NAME" else value
            found[f"{kind} of {place}"] = word.encode()
            found[f"{kind} of {place}, small"] = word.lower().encode()
    return found


# --- where everything is -----------------------------------------------------------------------------


def rows_of_all_tables() -> Iterator[tuple[str, bytes]]:
    settings = connection.settings_dict
    with psycopg.connect(host=settings["HOST"], dbname=settings["NAME"], user="postgres") as administrator:
        tables = administrator.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname IN ('public', 'pg_catalog') UNION ALL SELECT 'pg_stats'"
        ).fetchall()
        assert len(tables) > 30
        for (table,) in tables:
            rows = administrator.execute(f"SELECT t::text FROM {table} t").fetchall()
            yield f"table {table}", "\n".join(row[0] or "" for row in rows).encode()


def everything_in_redis() -> Iterator[tuple[str, bytes]]:
    server = django_rq.get_connection("default")
    for key in server.scan_iter("*"):
        yield f"redis {key!r}", key + (server.dump(key) or b"")


def all_files(*folders: Path) -> Iterator[tuple[str, bytes]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                try:
                    yield str(path), path.read_bytes()
                except FileNotFoundError:
                    continue


# What the values of a class have in common: where it is not, none of them is. Most places are hundreds of
# megabytes of the database's own files, read through for each of these and not for each value.
COMMON = {
    "EMAIL": b"@wexcanary",
    "PHONE": b" 555-77",
    "SSN": b"536-22-87",
    "CREDIT_CARD": b"4556 7375 86",
    "IP": b"203.0.113.",
    "NAME": b"inski",
    "CREDENTIAL": b"9Q2wX7eR4tY1uI8oP5aS3dF6gH0jK",
    "PATH": b"/home/wexcanary",
    "HOST": b".corp.internal",
    "TICKET": b"TK-7744",
}


def common(name: str) -> bytes:
    """Of a needle by its name: "EMAIL of text, small"."""
    part = COMMON[name.split()[0]]
    return part.lower() if name.endswith("small") else part


def where_found(*places: Iterator[tuple[str, bytes]]) -> dict[str, set[str]]:
    wanted = needles()
    parts = {common(name) for name in wanted}
    found: dict[str, set[str]] = {}
    for source in places:
        for place, held in source:
            there = {part for part in parts if part in held}
            hits = {name for name, needle in wanted.items() if common(name) in there and needle in held}
            if hits:
                found.setdefault(place, set()).update(hits)
    return found


def everywhere(media_root: Path, log: Path) -> dict[str, set[str]]:
    return where_found(
        rows_of_all_tables(),
        everything_in_redis(),
        all_files(VAR_DIR, media_root),
        iter([(str(log), log.read_bytes())]),
    )


def finished(job: JobRun) -> str:
    job.refresh_from_db()
    return job.state if job.is_finished else ""


def upload(lines: list[dict[str, Any]], **parameters: Any) -> JobRun:
    job = runs.create_job(
        "import_dataset", actor=None, dataset_name="support", parameters=ImportParameters(**parameters)
    )
    content = encode_jsonl(lines)
    job_file = JobFile(job_run=job, kind="upload", name="support.jsonl", size=len(content))
    job_file.file.save(f"{job.pk}/upload/support", ContentFile(content))
    runs.enqueue_job(job)
    return job


def test_after_a_scrub_the_values_are_nowhere(
    processes: Any, wait_until: Any, tmp_path: Path, media_root: Path, admin_user: Any
) -> None:
    processes.environment["LOG_LEVEL"] = "DEBUG"
    for _ in range(2):
        processes.start("worker")
    lines = planted()
    refused = upload([*lines[:40], {**lines[0], "turn_index": 7}])
    assert wait_until(lambda: finished(refused)) == "failed"
    kept = upload(
        [*lines, {**lines[0], "turn_index": 7, "session_id": lines[4]["session_id"] + " once more"}],
        on_error="quarantine",
        origin="production",
    )
    assert wait_until(lambda: finished(kept), 60) == "done"
    stored = Dataset.objects.get()
    assert stored.turn_count == SESSIONS * TURNS
    import_annotations(write_jsonl(tmp_path / "labels.jsonl", notes()), dataset_name="support")
    press_with_notes(stored)
    for operation in ("check_dataset", "export_dataset"):
        job = runs.start_job(
            operation, actor=admin_user, dataset=stored, parameters=OverridableParameters(override="a test")
        )
        assert wait_until(lambda job=job: finished(job), 60) == "done", (operation, job.error)
    with as_owner() as cursor:
        cursor.execute("ANALYZE")
    before = everywhere(media_root, processes.log)
    assert set().union(*before.values()) >= set(needles()) - {name for name in needles() if "small" in name}

    job = runs.start_job(
        "scrub_dataset", actor=None, dataset=stored, parameters=ScrubParameters(policy=POLICY.as_json())
    )
    with _failing_updates():
        assert wait_until(lambda: finished(job), 60) == "failed"
        assert "Unexpected error" in job.error
    assert _error_page(admin_user)
    assert runs.retry_job(job, actor=None)
    assert wait_until(lambda: finished(job), 120) == "done", job.error
    assert "traces" not in job.result
    assert everywhere(media_root, processes.log) == {}
    assert Turn.objects.filter(text__contains="[").count() == len(canaries("text"))
    assert AuditEvent.objects.filter(action="scrub").count() == 1


class _failing_updates:
    """The database refuses the scrub's writing, with a message that quotes the row."""

    def __enter__(self) -> None:
        with as_owner() as cursor:
            cursor.execute(
                "CREATE FUNCTION quote_row() RETURNS trigger LANGUAGE plpgsql AS $$"
                " BEGIN RAISE EXCEPTION 'row %', OLD USING DETAIL = OLD.text; END $$"
            )
            cursor.execute(
                "CREATE TRIGGER quote_row BEFORE UPDATE ON datasets_app_turn"
                " FOR EACH ROW EXECUTE FUNCTION quote_row()"
            )

    def __exit__(self, *_: object) -> None:
        with as_owner() as cursor:
            cursor.execute("DROP FUNCTION quote_row CASCADE")


def _error_page(admin_user: Any) -> bool:
    """A page that fails in the middle of a session says nothing of it."""
    client = Client(raise_request_exception=False)
    client.force_login(admin_user)
    first = Turn.objects.in_order().first()
    with as_owner() as cursor:
        cursor.execute("ALTER TABLE datasets_app_turn RENAME COLUMN tags TO other")
    try:
        response = client.get(reverse("admin:datasets_app_session_change", args=[first.session_id]))
    finally:
        with as_owner() as cursor:
            cursor.execute("ALTER TABLE datasets_app_turn RENAME COLUMN other TO tags")
    assert response.status_code == 500
    return not any(needle in response.content for needle in needles().values())


def test_the_planted_lines_are_what_they_are_meant_to_be() -> None:
    assert len(planted()) == 5_000
    assert len(set(needles().values())) >= len(PLACES) * len(canaries("text"))
    assert json.dumps(planted())
    assert all(common(name) in needle for name, needle in needles().items())
