"""Processes a scrub in chunks of sessions, which any number of workers take one by one.

A transaction claims a chunk by locking its row, and commits all changes together with the ``done`` flag. If
the worker is killed, the lock ends with its connection and the chunk is unchanged and free again. See
docs/decisions/0005-claim-chunks-by-row-lock.md.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, Sum

from datasets_app.catalog import gates
from datasets_app.core.progress import ProgressCallback
from datasets_app.core.queries import execute, fetch_one
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii import session_ids
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.rebuilding import ScrubbedSession
from datasets_app.domain.pii.scrubber import RemainingValue, Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from datasets_app.domain.wording import format_count
from datasets_app.models import ScrubChunk, ScrubRun
from datasets_app.models.session_data import list_said
from datasets_app.scrubbing import rows as scrub_rows
from datasets_app.scrubbing.rows import SessionChange, StoredSession

MAX_TURNS_PER_CHUNK = 1000
# Places that a message names.
MAX_PLACES = 5
WAIT_SECONDS = 0.2

_CREATE_CHUNKS = """
INSERT INTO datasets_app_scrubchunk (scrub_id, session_keys, turn_count)
SELECT %(scrub)s, array_agg(id ORDER BY id), sum(turn_count)
FROM (
    SELECT id, turn_count, (sum(turn_count) OVER (ORDER BY id) - turn_count) / %(turns)s AS part
    FROM ({sessions}) chosen
) numbered
GROUP BY part ORDER BY min(id)
"""
_ALL_SESSIONS = """
SELECT id, turn_count FROM datasets_app_session WHERE dataset_id = %(dataset)s AND id > %(after)s
"""
# Ordered by a hash of the key, so that the same seed selects the same sessions.
_SOME_SESSIONS = f"""
SELECT * FROM ({_ALL_SESSIONS}) every ORDER BY hashint8extended(id, %(seed)s), id LIMIT %(sample)s
"""  # constants of this module # nosec B608
_COUNT_CHUNKS = """
SELECT coalesce(sum(turn_count), 0), coalesce(sum(cardinality(session_keys)), 0),
       coalesce(max(session_keys[cardinality(session_keys)]), 0)
FROM datasets_app_scrubchunk WHERE scrub_id = %s
"""
# Skips scrubs that must not continue: the job was canceled or has failed, or a worker has stored an error.
_CLAIM_CHUNK = """
SELECT c.id FROM datasets_app_scrubchunk c
JOIN datasets_app_scrubrun r ON r.id = c.scrub_id
LEFT JOIN datasets_app_jobrun j ON j.id = r.job_run_id
WHERE c.scrub_id = %s AND NOT c.done AND r.error = ''
  AND (j.id IS NULL OR j.state IN ('queued', 'running') AND NOT j.cancel_requested)
ORDER BY c.id LIMIT 1
FOR UPDATE OF c SKIP LOCKED
"""
# So that a stopped worker does not keep its chunk forever.
_IDLE_TIMEOUT = "SET idle_in_transaction_session_timeout = '30min'"


class PatternMatchesRemain(Exception):
    """Raised if patterns still match in a scrubbed chunk, which then must not be written.

    The message says where, and what to do about it.
    """

    def __init__(self, remaining: Mapping[str, int], places: Iterable[str]) -> None:
        super().__init__(describe_remaining(remaining, places))


def describe_remaining(remaining: Mapping[str, int], places: Iterable[str]) -> str:
    """The error message of a scrub that stopped because of remaining matches.

    ``places`` are some of them, as :func:`describe_place` words them.
    """
    left = ", ".join(f"{count:,} × {kind}" for kind, count in sorted(remaining.items()))
    remedies = []
    if custom := sorted(set(remaining) - set(KINDS)):
        remedies.append(f"narrow your pattern {' and '.join(custom)}")
    if set(remaining) & set(KINDS):
        remedies.append("exempt the value (exempt_term, or the Scrub tab) if it is not personal")
    remedies.append("erase the session if it isn't needed")
    return (
        f"Verification still finds {left}: {'; '.join(places)}. The dataset is not marked as scrubbed, and "
        f"these sessions are unchanged. To go on, {', or '.join(remedies)}; then retry."
    )


def describe_place(session_key: int, value: RemainingValue) -> str:
    """Where a value is, for a message; never the value, nor an id that may be one."""
    turn = "" if value.turn_index is None else f" turn {value.turn_index}"
    return (
        f"session #{session_key}{turn}, {value.kind} in {value.field} at column {value.start + 1} "
        f"({format_count(value.length, 'character')})"
    )


_SessionPair = tuple[StoredSession, ScrubbedSession]


# --- creating and counting -----------------------------------------------------------------------


def make_chunks(scrub: ScrubRun, *, seed: int = 0) -> None:
    """Create chunks for the sessions added since the last call, or for the sample, and update the counts."""
    sessions = _ALL_SESSIONS if scrub.sample is None else _SOME_SESSIONS
    values = {
        "scrub": scrub.pk,
        "dataset": scrub.dataset_id,
        "after": scrub.last_session,
        "turns": MAX_TURNS_PER_CHUNK,
        "sample": scrub.sample,
        "seed": seed,
    }
    execute(_CREATE_CHUNKS.format(sessions=sessions), values)
    scrub.turn_count, scrub.session_count, scrub.last_session = fetch_one(_COUNT_CHUNKS, [scrub.pk])
    scrub.save(update_fields=["turn_count", "session_count", "last_session"])


def count_progress(scrub: ScrubRun) -> tuple[int, int]:
    """Returns (turns in finished chunks, open chunks)."""
    counts = ScrubChunk.objects.filter(scrub=scrub).aggregate(
        turns=Sum("turn_count", filter=Q(done=True)), left=Count("pk", filter=Q(done=False))
    )
    return counts["turns"] or 0, counts["left"]


def sum_totals(scrub: ScrubRun) -> tuple[dict[str, int], int]:
    """Returns (findings by type, changed turns) of all chunks."""
    totals: Counter[str] = Counter()
    changed = 0
    rows = ScrubChunk.objects.filter(scrub=scrub).values_list("totals", "changed_turns")
    for chunk_totals, chunk_changed in rows.iterator():
        totals.update(chunk_totals)
        changed += chunk_changed
    return dict(sorted(totals.items())), changed


# --- processing ------------------------------------------------------------------------------------


def process_chunks(
    scrub: ScrubRun, make_scrubber: Callable[[], Scrubber], report_progress: ProgressCallback
) -> int:
    """Process chunks until no unclaimed one is left; returns how many.

    ``report_progress`` gets the turns done by all workers and may raise between chunks. Raises
    :class:`PatternMatchesRemain`.
    """
    execute(_IDLE_TIMEOUT)
    scrubber: Scrubber | None = None
    count = 0
    while True:
        done, left = count_progress(scrub)
        report_progress(done, scrub.turn_count)
        if not left:
            return count
        # Created late, because it loads the name model.
        scrubber = scrubber or make_scrubber()
        if not _process_next_chunk(scrub, scrubber):
            return count
        count += 1


def wait_for_others(scrub: ScrubRun, report_progress: ProgressCallback) -> bool:
    """Whether all chunks are done; if other workers still process some, waits a moment."""
    done, left = count_progress(scrub)
    report_progress(done, scrub.turn_count)
    if left:
        time.sleep(WAIT_SECONDS)
    return not left


def _process_next_chunk(scrub: ScrubRun, scrubber: Scrubber) -> bool:
    """Scrub one chunk and commit it; False if there is none to claim."""
    with transaction.atomic():
        claimed = _claim_chunk(scrub)
        if claimed is None:
            return False
        stored = scrub_rows.read_sessions(scrub.dataset_id, claimed.session_keys)
        said = Said(scrub.dataset_id, claimed.session_keys)
        stated = session_ids.is_key_stated(scrubber.key, _anonymization(scrub))
        texts = [
            SessionInput(
                item.turns,
                said.list_objects(item.key),
                # An id must not be hashed again: those of a file whose metadata states so are hashes already.
                item.id_hashed or (stated and session_ids.is_hashed_id(item.turns[0].session_id)),
            )
            for item in stored
        ]
        results = scrubber.scrub(texts)
        pairs = list(zip(stored, results, strict=True))
        changes = list(chain.from_iterable(_list_changed_turns(*pair) for pair in pairs))
        if not scrub.dry_run:
            _require_no_matches(scrubber, results, [item.key for item in stored])
            _refuse_during_hold(scrub)
            _write_changes(scrub.dataset_id, pairs, changes)
            said.write(pairs, scrubber)
        _store_findings(scrub, pairs)
        _mark_done(claimed, pairs, len(changes))
    return True


def _claim_chunk(scrub: ScrubRun) -> ScrubChunk | None:
    row = fetch_one(_CLAIM_CHUNK, [scrub.pk])
    return ScrubChunk.objects.get(pk=row[0]) if row else None


def _anonymization(scrub: ScrubRun) -> list[str]:
    stated = scrub.dataset.provenance.get("anonymization")
    return [item for item in stated if isinstance(item, str)] if isinstance(stated, list) else []


def _require_no_matches(scrubber: Scrubber, results: list[ScrubbedSession], keys: list[int]) -> None:
    remaining = list(
        scrubber.find_remaining(
            [SessionInput(result.turns, result.attached, result.id_hashed) for result in results]
        )
    )
    if remaining:
        places = [describe_place(keys[value.session], value) for value in remaining[:MAX_PLACES]]
        raise PatternMatchesRemain(Counter(value.kind for value in remaining), places)


def _refuse_during_hold(scrub: ScrubRun) -> None:
    """Raises UserError if the dataset was put on legal hold since the scrub began.

    The shared lock, taken just before writing, makes a hold wait until this chunk is committed: once it is
    set, nothing is replaced any more.
    """
    execute("SELECT FROM datasets_app_dataset WHERE id = %s FOR SHARE", [scrub.dataset_id])
    gates.check_can_replace_text(scrub.dataset)


def _write_changes(dataset_id: int, pairs: list[_SessionPair], changes: list[tuple[int, TurnRecord]]) -> None:
    if changes:
        scrub_rows.write_turns(dataset_id, changes)
    sessions = [change for change in (_make_session_change(*pair) for pair in pairs) if change]
    if sessions:
        scrub_rows.write_sessions(dataset_id, sessions)


def _list_changed_turns(before: StoredSession, after: ScrubbedSession) -> Iterator[tuple[int, TurnRecord]]:
    """Turns whose rows change; ids and personas are stored in the session's row."""
    for place in after.changed:
        old, new = before.turns[place], after.turns[place]
        if old != new._replace(session_id=old.session_id, persona_id=old.persona_id):
            yield before.turn_keys[place], new


def _make_session_change(before: StoredSession, after: ScrubbedSession) -> SessionChange | None:
    old = before.turns[0].session_id, before.turns[0].persona_id, before.id_hashed
    new = after.session_id, after.turns[0].persona_id, after.id_hashed
    return None if old == new else (before.key, *new)


def _store_findings(scrub: ScrubRun, pairs: list[_SessionPair]) -> None:
    findings = ((session.key, found) for session, result in pairs for found in result.findings)
    count = scrub_rows.copy_findings(scrub.pk, findings, raw_positions=scrub.dry_run)
    if count and not scrub.dry_run:
        scrub_rows.delete_outdated_findings(scrub.pk, [session.key for session, _ in pairs])


def _mark_done(claimed: ScrubChunk, pairs: list[_SessionPair], changed: int) -> None:
    """Mark the chunk as done and add to the counts of earlier passes over it."""
    totals = Counter(claimed.totals)
    totals.update(found.kind for _, result in pairs for found in result.findings)
    ScrubChunk.objects.filter(pk=claimed.pk).update(
        done=True, totals=dict(totals), changed_turns=claimed.changed_turns + changed
    )


class Said:
    """Reads and writes what people say of the sessions of a chunk."""

    def __init__(self, dataset_id: int, session_keys: list[int]) -> None:
        self._dataset_id = dataset_id
        self._found = [(data, data.read_said(dataset_id, session_keys)) for data in list_said()]

    def list_objects(self, session: int) -> list[dict[str, Any]]:
        return [value for _, found in self._found for _, value in found.get(session, ())]

    def write(self, pairs: list[_SessionPair], scrubber: Scrubber) -> None:
        def hash_id(session_id: str) -> str:
            return session_ids.hash_session_id(session_id, scrubber.key)

        scrubbed = {session.key: iter(result.attached) for session, result in pairs}
        for data, found in self._found:
            changes = [
                (own, old, next(scrubbed[session]))
                for session, objects in found.items()
                if session in scrubbed
                for own, old in objects
            ]
            if changes:
                hashed = hash_id if scrubber.policy.hash_session_ids else None
                data.write_said(self._dataset_id, changes, hashed)
