"""Verify the whole audit log, to detect changes made outside the application.

Computes all digests here: anyone who changes rows could change the database's functions, too.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db import connection

from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.queries import fetch_all
from datasets_app.domain.audit_chain import (
    GENESIS_DIGEST,
    Fault,
    Head,
    Link,
    RecordedHead,
    find_faults,
    find_missed_heads,
)
from datasets_app.models import AuditSeal

SEAL_BATCH_SIZE = 5_000
MAX_FAULTS_LISTED = 100
_MIN_POSITION = -(1 << 63)
_LINKS = """
    SELECT seal.position, seal.event_id, seal.previous, seal.digest,
           CASE WHEN event.id IS NOT NULL THEN jsonb_build_array(
               event.id, (extract(epoch FROM event.at) * 1000000)::bigint, event.actor, event.action,
               event.dataset_name, event.details)::text END
    FROM (SELECT * FROM datasets_app_auditseal WHERE position >= %s ORDER BY position LIMIT %s) AS seal
    LEFT JOIN datasets_app_auditevent AS event ON event.id = seal.event_id
    ORDER BY seal.position
"""
_FIND_UNSEALED = """
    SELECT id FROM datasets_app_auditevent AS event
    WHERE NOT EXISTS (SELECT FROM datasets_app_auditseal AS seal WHERE seal.event_id = event.id)
    ORDER BY id
"""
_TRIGGERS = (
    ("datasets_app_auditevent", "audit_event_append_only"),
    ("datasets_app_auditevent", "audit_event_seal_last"),
    ("datasets_app_audit_unsealed", "audit_event_seal"),
    ("datasets_app_auditseal", "audit_seal_append_only"),
)


class AuditVerification(NamedTuple):
    """``events`` counts the sealed events; ``faults`` has the first MAX_FAULTS_LISTED of ``fault_count``.

    ``compared`` is the last of the recorded heads that the chain was compared with.
    """

    events: int
    head: Head
    faults: list[Fault]
    fault_count: int
    compared: RecordedHead | None = None


def get_head() -> Head:
    """The current head of the chain."""
    last = AuditSeal.objects.order_by("-position").values_list("position", "digest").first()
    return Head(*last) if last else Head(0, GENESIS_DIGEST)


def verify_audit(
    expected: Sequence[Head | RecordedHead] = (), *, report_progress: ProgressCallback = ignore_progress
) -> AuditVerification:
    """Recompute the chain and compare it with the ``expected`` heads, which were recorded earlier.

    Can run while events are recorded: each event is appended together with its seal.
    """
    chain = _ChainReader(get_head().position, {head.position for head in expected}, report_progress)
    faults: list[Fault] = []
    count = 0
    recorded = [RecordedHead(*head) for head in expected]
    for fault in _find_faults(chain, recorded):
        count += 1
        if len(faults) < MAX_FAULTS_LISTED:
            faults.append(fault)
    compared = max(recorded, key=lambda head: head.position, default=None)
    return AuditVerification(chain.count, chain.end, faults, count, compared)


def _find_faults(chain: "_ChainReader", expected: Sequence[RecordedHead]) -> Iterator[Fault]:
    yield from _find_missing_triggers()
    yield from _find_excess_rights()
    yield from find_faults(chain.links(), time.time_ns() // 1000)
    yield from find_missed_heads(expected, chain.digests, chain.end, chain.last_event)
    yield from _find_reset_sequence(max([chain.last_event, *(head.event or 0 for head in expected)]))
    yield from _find_unsealed_events()


class _ChainReader:
    """Reads the links of the chain, remembers the digests at some positions, and reports the progress."""

    def __init__(self, total: int, positions: set[int], report_progress: ProgressCallback) -> None:
        self.total, self.positions, self.report_progress = total, positions, report_progress
        self.digests = {0: GENESIS_DIGEST}
        self.end = Head(0, GENESIS_DIGEST)
        self.count = self.last_event = 0

    def links(self) -> Iterator[Link]:
        for link in _read_links():
            if link.position in self.positions:
                self.digests[link.position] = link.digest
            self.end = Head(link.position, link.digest)
            self.count += 1
            self.last_event = max(self.last_event, link.event_id)
            if self.count % SEAL_BATCH_SIZE == 0:
                self.report_progress(self.count, max(self.total, self.count))
            yield link


def _read_links() -> Iterator[Link]:
    start = _MIN_POSITION
    while rows := fetch_all(_LINKS, [start, SEAL_BATCH_SIZE]):
        yield from (Link(*row) for row in rows)
        start = rows[-1][0] + 1


def _find_unsealed_events() -> Iterator[Fault]:
    with connection.cursor() as cursor:
        cursor.execute(_FIND_UNSEALED)
        while rows := cursor.fetchmany(SEAL_BATCH_SIZE):
            for (event,) in rows:
                yield Fault(
                    f"Event {event} has no seal. It was added from outside, or its seal was deleted.",
                    event=event,
                )


def _find_missing_triggers() -> Iterator[Fault]:
    """Check that the triggers that protect the audit log exist and are enabled."""
    rows = fetch_all(
        "SELECT relname, tgname, tgenabled FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
        "WHERE tgname = ANY(%s) AND pg_table_is_visible(tgrelid)",
        [[name for _, name in _TRIGGERS]],
    )
    enabled_by_trigger = {(table, name): enabled for table, name, enabled in rows}
    for table, name in _TRIGGERS:
        if (table, name) not in enabled_by_trigger:
            yield Fault(f"The trigger {name} on {table} is missing, so the audit log is not protected.")
        elif enabled_by_trigger[table, name] not in ("O", "A"):
            yield Fault(f"The trigger {name} on {table} is disabled, so the audit log is not protected.")


def _find_excess_rights() -> Iterator[Fault]:
    """Check that the application's role has no right to change the tables, if they belong to another."""
    rows = fetch_all(
        "SELECT current_user, relname, string_agg(name, ', ' ORDER BY name) FROM pg_class,"
        " unnest(ARRAY['UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) AS name"
        " WHERE pg_class.oid = ANY(%s::regclass[]) AND has_table_privilege(pg_class.oid, name)"
        " AND NOT pg_has_role(relowner, 'MEMBER')"
        " GROUP BY relname ORDER BY relname",
        [sorted({table for table, _ in _TRIGGERS})],
    )
    for role, table, rights in rows:
        yield Fault(
            f"The application's role {role} has the rights {rights} on {table}, so the audit log is not "
            "protected. Run migrate to revoke them."
        )


def _find_reset_sequence(last_event: int) -> Iterator[Fault]:
    """Ids have gaps where a transaction was rolled back, but they never go back."""
    ((last_id,),) = fetch_all("SELECT last_value FROM datasets_app_auditevent_id_seq")
    if last_id < last_event:
        yield Fault(
            f"The sequence of event ids was set back to {last_id}: there was an event {last_event}.",
            event=last_event,
        )
