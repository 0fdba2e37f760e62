"""Nothing in the audit trail can be changed without being found: see operations/verify_audit.py."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, transaction

from datasets_app.auditing.heads import heads_path, read_heads, verify_and_append_head, verify_with_heads
from datasets_app.auditing.verify_audit import get_head, verify_audit
from datasets_app.core import audit
from datasets_app.domain.audit_chain import GENESIS_DIGEST, Head, Link, compute_digest, find_faults
from datasets_app.models import AuditEvent, AuditSeal, Dataset, SourceFile
from tests.conftest import as_owner

EVENTS, SEALS = "datasets_app_auditevent", "datasets_app_auditseal"


def sql(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def tampered(*statements: str) -> None:
    """As the owner of the tables could do it: triggers off, rights given, and all as it was afterwards."""
    with as_owner():
        for table in (EVENTS, SEALS):
            sql(
                f"ALTER TABLE {table} DISABLE TRIGGER USER",
                f"GRANT UPDATE, DELETE ON {table} TO CURRENT_USER",
            )
        sql(*statements)
        for table in (EVENTS, SEALS):
            sql(
                f"ALTER TABLE {table} ENABLE TRIGGER USER",
                f"REVOKE UPDATE, DELETE ON {table} FROM CURRENT_USER",
            )


def seal() -> None:
    """What otherwise a commit does."""
    sql("SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL DEFERRED")


@pytest.fixture
def trail(db: Any) -> list[int]:
    """Five sealed events; their ids by position."""
    seal()
    for number in range(5):
        audit.record("probe", actor=None, dataset_name="support", number=number, reason='"ü"\n€ 1.50')
    seal()
    return list(AuditSeal.objects.order_by("position").values_list("event_id", flat=True))


@pytest.fixture
def no_heads() -> Iterator[None]:
    heads_path().unlink(missing_ok=True)
    yield
    heads_path().unlink(missing_ok=True)


def told(expected: tuple[Head, ...] = ()) -> list[str]:
    return [fault.message for fault in verify_audit(expected).faults]


def test_a_trail_that_nobody_touched_is_sound(trail: list[int]) -> None:
    verified = verify_audit([Head(0, GENESIS_DIGEST), get_head()])
    assert verified.fault_count == 0
    assert verified.events == len(trail) == AuditEvent.objects.count()
    assert verified.head == get_head() == Head(len(trail), AuditSeal.objects.latest("position").digest)


Attack = Callable[[list[int]], str]
ATTACKS: dict[str, tuple[Attack, str]] = {
    "an event altered": (
        lambda ids: f"UPDATE {EVENTS} SET actor = 'nobody' WHERE id = {ids[-3]}",
        "Event {event} is not what was sealed at position {position}: it has been altered.",
    ),
    "its time altered by a microsecond": (
        lambda ids: f"UPDATE {EVENTS} SET at = at + interval '1 us' WHERE id = {ids[-3]}",
        "Event {event} is not what was sealed at position {position}: it has been altered.",
    ),
    "a detail altered": (
        lambda ids: f"UPDATE {EVENTS} SET details = details || '{{\"number\": 9}}' WHERE id = {ids[-3]}",
        "Event {event} is not what was sealed at position {position}: it has been altered.",
    ),
    "an event deleted": (
        lambda ids: f"DELETE FROM {EVENTS} WHERE id = {ids[-3]}",
        "Event {event} (position {position}) has been deleted.",
    ),
    "a seal deleted": (
        lambda ids: f"DELETE FROM {SEALS} WHERE event_id = {ids[-3]}",
        "Event {event} has no seal",
    ),
    "an event and its seal deleted": (
        lambda ids: (
            f"DELETE FROM {EVENTS} WHERE id = {ids[-3]}; DELETE FROM {SEALS} WHERE event_id = {ids[-3]}"
        ),
        "The seals after position {before} and before {after} are missing.",
    ),
    "a seal altered": (
        lambda ids: f"UPDATE {SEALS} SET digest = repeat('a', 64) WHERE event_id = {ids[-3]}",
        "The seal at position {position}, of event {event}, has been altered.",
    ),
    "what a seal follows altered": (
        lambda ids: f"UPDATE {SEALS} SET previous = repeat('b', 64) WHERE event_id = {ids[-3]}",
        "The seal at position {position}, of event {event}, has been altered.",
    ),
    "two events exchanged": (
        lambda ids: (
            f"UPDATE {SEALS} SET event_id = -1 WHERE event_id = {ids[-3]};"
            f"UPDATE {SEALS} SET event_id = {ids[-3]} WHERE event_id = {ids[-2]};"
            f"UPDATE {SEALS} SET event_id = {ids[-2]} WHERE event_id = -1"
        ),
        "Event {event} is not what was sealed at position {after}: it has been altered.",
    ),
    "an event hidden beside the chain": (
        lambda ids: (
            f"INSERT INTO {EVENTS} (id, at, actor, action, dataset_name, details) "
            "VALUES (987654, now(), 'x', 'probe', '', '{}');"
            f"INSERT INTO {SEALS} VALUES (-7, 987654, 'x', 'y')"
        ),
        "The seal at position -7 is out of place.",
    ),
    "an event added without a seal": (
        lambda ids: (
            f"INSERT INTO {EVENTS} (id, at, actor, action, dataset_name, details) "
            "VALUES (987654, now(), 'x', 'probe', '', '{}')"
        ),
        "Event 987654 has no seal",
    ),
    "the last event altered": (
        lambda ids: f"UPDATE {EVENTS} SET action = 'other' WHERE id = {ids[-1]}",
        "Event {last}, or its seal at position {end}, has been altered.",
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_was_done_in_sql_is_found(trail: list[int], attack: str) -> None:
    done, sentence = ATTACKS[attack]
    position = len(trail) - 2
    tampered(done(trail))
    wanted = sentence.format(
        event=trail[-3],
        position=position,
        before=position - 1,
        after=position + 1,
        last=trail[-1],
        end=len(trail),
    )
    assert any(message.startswith(wanted) for message in told()), told()


def test_a_trail_cut_off_or_made_anew_is_found_by_a_head_that_was_noted(trail: list[int]) -> None:
    noted = get_head()
    tampered(
        f"DELETE FROM {EVENTS} WHERE id = {trail[-1]}", f"DELETE FROM {SEALS} WHERE event_id = {trail[-1]}"
    )
    assert told() == []
    assert told((noted,)) == [
        f"The chain ends at position {noted.position - 1}, but had reached {noted.position}. "
        "Missing at its end: 1 event."
    ]
    audit.record("probe", actor=None, number="in its place")
    seal()
    assert told() == []
    assert told((noted,)) == [
        f"The digest at position {noted.position} is not the one recorded: "
        f"seals or events from position 1 to {noted.position} were replaced."
    ]


def test_a_chain_made_wholly_anew_is_found_by_the_heads_of_the_nights(
    trail: list[int], no_heads: None
) -> None:
    assert verify_and_append_head().fault_count == 0
    audit.record("probe", actor=None)
    seal()
    assert verify_and_append_head().fault_count == 0
    assert len(read_heads()[0]) == 2
    tampered(
        f"UPDATE {EVENTS} SET actor = 'nobody' WHERE id = {trail[0]}",
        f"DELETE FROM {SEALS}",
    )
    with as_owner():
        for event in AuditEvent.objects.order_by("id"):
            sql(f"SELECT datasets_app_seal_audit_event({event.pk})")
    assert verify_audit().fault_count == 0
    (fault,) = verify_and_append_head().faults  # the first head tells all
    assert f"from position 1 to {len(trail)} were replaced." in fault.message
    assert len(read_heads()[0]) == 2  # what is not sound is not noted


def test_a_line_of_heads_that_was_changed_is_told(trail: list[int], no_heads: None) -> None:
    verify_and_append_head()
    written = heads_path().read_text()
    heads_path().write_text(written.replace(f'"position": {len(trail)}', '"position": 0') + "no line\n")
    assert [fault.message for fault in verify_with_heads().faults] == [
        "Line 1 of audit_heads was not signed by this installation.",
        "Line 2 of audit_heads was not signed by this installation.",
    ]
    assert heads_path().stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("table", [EVENTS, SEALS])
@pytest.mark.parametrize("statement", ["UPDATE {} SET {}", "DELETE FROM {}", "TRUNCATE {}"])
def test_the_tables_take_nothing_but_new_rows(trail: list[int], table: str, statement: str) -> None:
    column = "actor = 'x'" if table == EVENTS else "digest = 'x'"
    with pytest.raises(Exception, match="append-only|permission denied"), transaction.atomic():
        sql(statement.format(table, column))


def test_a_trigger_that_is_off_or_gone_is_told(trail: list[int]) -> None:
    with as_owner():
        sql(
            f"ALTER TABLE {EVENTS} DISABLE TRIGGER audit_event_append_only",
            f"DROP TRIGGER audit_seal_append_only ON {SEALS}",
        )
    assert told() == [
        f"The trigger audit_event_append_only on {EVENTS} is disabled, so the audit log is not protected.",
        f"The trigger audit_seal_append_only on {SEALS} is missing, so the audit log is not protected.",
    ]


def test_the_seal_that_was_altered_is_told_from_the_event_that_was() -> None:
    links, previous = [], GENESIS_DIGEST
    for position in range(1, 5):
        made = compute_digest(previous, f"[{position}]")
        links.append(Link(position, position + 10, previous, made, f"[{position}]"))
        previous = made
    assert list(find_faults(links)) == []
    for place in range(4):
        other = [*links]
        other[place] = links[place]._replace(event_text="[0]")
        assert [(fault.position, fault.event) for fault in find_faults(other)] == [(place + 1, place + 11)]


@pytest.mark.django_db(transaction=True)
def test_many_writers_make_one_chain() -> None:
    def write(name: str) -> None:
        try:
            for number in range(10):
                with transaction.atomic():
                    audit.record("probe", actor=None, dataset_name=name, number=number)
                    audit.record("probe", actor=None, dataset_name=name, number=number)
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=[f"writer-{number}"]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    verified = verify_audit()
    assert (verified.events, verified.fault_count) == (120, 0)


@pytest.mark.django_db(transaction=True)
def test_a_commit_waits_for_rows_before_it_takes_its_place_in_the_chain() -> None:
    """Otherwise the two would wait for each other: the one for the dataset's row, to check a foreign key, the
    other for the chain."""
    dataset = Dataset.objects.create(name="support")
    inserted, locked = threading.Event(), threading.Event()
    failed: list[Exception] = []

    def refer() -> None:
        try:
            with transaction.atomic():
                audit.record("probe", actor=None, dataset_name="first")
                SourceFile.objects.create(
                    dataset_id=dataset.pk, name="f", size=1, session_count=1, turn_count=1
                )
                inserted.set()
                locked.wait(10)
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    other = threading.Thread(target=refer)
    with transaction.atomic():
        other.start()
        assert inserted.wait(10)
        Dataset.objects.select_for_update().get(pk=dataset.pk)
        locked.set()
        other.join(1)
        assert other.is_alive()  # its commit waits for the row
        audit.record("probe", actor=None, dataset_name="second")
    other.join(10)
    assert not failed
    assert verify_audit().fault_count == 0
    assert list(AuditSeal.objects.values_list("event_id", flat=True)) == list(
        AuditEvent.objects.order_by("-dataset_name").values_list("id", flat=True)
    )
