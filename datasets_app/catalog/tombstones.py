"""Recognizes erased sessions that would come back, in what is about to be added to a dataset."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.catalog import gates, policies
from datasets_app.catalog.rows.turn_reader import Selection, read_turns
from datasets_app.core.append_file import append_text
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import Finding, LineError, TurnRecord
from datasets_app.domain.tombstones import digest_content, digest_dataset, digest_erased_id, digest_ids
from datasets_app.models import Dataset, Session, Tombstone


# The copy of all tombstones outside the database: the file `erasures` under var.
#
# A line adds a digest, or lifts one that an override brought back; the last line of a digest counts.
def erasures_path() -> Path:
    return Path(settings.VAR_DIR) / "erasures"


def append(tombstones: Iterable[Tombstone]) -> None:
    _append_lines({"digest": row.digest, "erased_at": row.erased_at.isoformat()} for row in tombstones)


def append_lifted(digests: Iterable[str]) -> None:
    _append_lines({"digest": digest, "lifted": True} for digest in digests)


def read(path: Path | None = None) -> dict[str, datetime]:
    """Digest → when it was erased. Raises UserError if a line can't be read."""
    path = path or erasures_path()
    known: dict[str, datetime] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if entry.get("lifted"):
                known.pop(entry["digest"], None)
            else:
                known[entry["digest"]] = datetime.fromisoformat(entry["erased_at"])
        except (ValueError, KeyError, AttributeError, TypeError):
            raise UserError(
                f"Line {number} of {path.name} can't be read; restore the file from a copy."
            ) from None
    return known


def append_missing() -> int:
    """Add the tombstones of the database that the file lacks; returns how many."""
    known = read()
    missing = [row for row in Tombstone.objects.order_by("erased_at") if row.digest not in known]
    append(missing)
    return len(missing)


def list_missing_in_database(known: dict[str, datetime]) -> list[Tombstone]:
    """As after restoring a backup that is older than an erasure."""
    stored = set(Tombstone.objects.values_list("digest", flat=True))
    return [
        Tombstone(digest=digest, erased_at=erased_at)
        for digest, erased_at in known.items()
        if digest not in stored
    ]


def _append_lines(entries: Iterable[dict[str, Any]]) -> None:
    if text := "".join(json.dumps(entry) + "\n" for entry in entries):
        append_text(erasures_path(), text)


MAX_LISTED = 100


def bury_sessions(dataset: Dataset, sessions: Iterable[Session], erased_at: datetime) -> None:
    """Store the digests of ``sessions``, in the transaction that erases them.

    The id of production data counts in every dataset, because it names a person's conversation; other ids,
    such as "1", only in this one. The content counts everywhere.
    """
    key = hash_key()
    scope = "" if dataset.origin == Dataset.Origin.PRODUCTION else dataset.name
    digests = []
    for session in sessions:
        digests.append(digest_erased_id(session.session_id, scope, key, id_hashed=session.id_hashed))
        turns = read_turns(dataset, Selection(sessions=[session.session_id]))
        if content := digest_content(((turn.role, turn.text) for turn in turns), key):
            digests.append(content)
    _bury(digests, erased_at)


def bury_datasets(names: Iterable[str], deleted_at: datetime) -> None:
    """Store the digests of ``names``, in the transaction from which on the datasets count as deleted."""
    key = hash_key()
    _bury((digest_dataset(name, key) for name in names), deleted_at)


def _bury(digests: Iterable[str], erased_at: datetime) -> None:
    rows = [Tombstone(digest=digest, erased_at=erased_at) for digest in digests]
    Tombstone.objects.bulk_create(rows, ignore_conflicts=True)
    transaction.on_commit(lambda: append(rows), robust=True)


def list_deleted_datasets(additional: Iterable[Tombstone] = ()) -> list[Dataset]:
    """Stored datasets that were deleted, as a restored backup brings them back."""
    known = {*Tombstone.objects.values_list("digest", flat=True), *(row.digest for row in additional)}
    if not known:
        return []
    key = hash_key()
    stored = Dataset.objects.exclude(status=Dataset.Status.EXPIRED).order_by("name")
    return [dataset for dataset in stored if digest_dataset(dataset.name, key) in known]


class ErasedSessions:
    """All tombstones, and which sessions of a source they match. False if there are none to compare with."""

    def __init__(self, dataset_name: str, *, additional: Iterable[Tombstone] = ()) -> None:
        self._dataset_name, self._key = dataset_name, hash_key()
        self._known = dict(Tombstone.objects.values_list("digest", "erased_at"))
        self._stored_count = len(self._known)
        self._known.update((row.digest, row.erased_at) for row in additional)
        # Session id → the digests that match.
        self.found: dict[str, list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def is_outdated(self) -> bool:
        """Whether a session was erased, or brought back, since these tombstones were read."""
        return Tombstone.objects.count() != self._stored_count

    def watch(self, records: Iterator[Any]) -> Iterator[TurnRecord | LineError]:
        """Pass on ``records``, whose sessions are in one piece, and note the erased ones."""
        if not self:
            yield from records
            return
        session_id: str | None = None
        turns: list[tuple[str, str]] = []
        for record in records:
            # An invalid line between two turns may name any session: it doesn't end theirs.
            if type(record) is TurnRecord:
                if record.session_id != session_id:
                    self._check_session(session_id, turns)
                    session_id, turns = record.session_id, []
                turns.append((record.role, record.text))
            yield record
        self._check_session(session_id, turns)

    def _check_session(self, session_id: str | None, turns: list[tuple[str, str]]) -> None:
        if session_id is not None:
            self.check_id(session_id)
            self._note(session_id, [digest_content(turns, self._key)])

    def check_id(self, session_id: str) -> bool:
        """Note the session if one with this id was erased; whether it was."""
        if not self:
            return False
        self._note(session_id, digest_ids(session_id, self._dataset_name, self._key))
        return session_id in self.found

    def _note(self, session_id: str, digests: Iterable[str | None]) -> None:
        if matching := [digest for digest in digests if digest in self._known]:
            self.found.setdefault(session_id, []).extend(matching)

    def make_finding(self, session_id: str, line: int = 0) -> Finding:
        day = max(self._known[digest] for digest in self.found[session_id])
        message = f"the session was erased on {day:%-d %B %Y}"
        return Finding("E208", message, line, session_id)

    def enforce(self, dataset: Dataset, *, actor: Any, override: str) -> None:
        """Raises UserError if anything was found. An override removes the tombstones that were found."""
        request = gates.request_override(actor, override)
        gates.enforce(policies.decide_erased_sessions(len(self.found), request), dataset, actor)
        if lifted := sorted({digest for digests in self.found.values() for digest in digests}):
            Tombstone.objects.filter(digest__in=lifted).delete()
            transaction.on_commit(lambda: append_lifted(lifted), robust=True)


def list_problems(findings: Iterable[Finding], file_name: str = "") -> dict[str, Any]:
    """The details of an error: the first findings, and how many there are."""
    listed = list(findings)
    problems = [{"file": file_name, **finding._asdict()} for finding in listed[:MAX_LISTED]]
    return {"problems": problems, "problem_total": len(listed)}


def refuse_erased(dataset: Dataset, records: Iterator[TurnRecord], *, actor: Any, override: str) -> None:
    """For copies into ``dataset``: raises UserError, with the ids, if ``records`` have erased sessions."""
    erased = ErasedSessions(dataset.name)
    if not erased:
        return
    for _ in erased.watch(records):
        pass
    try:
        erased.enforce(dataset, actor=actor, override=override)
    except UserError as refusal:
        details = list_problems(map(erased.make_finding, sorted(erased.found)))
        raise UserError(refusal.message, details, remedy=refusal.remedy) from None
