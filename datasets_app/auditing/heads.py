"""Heads of the audit log, recorded outside the database.

An administrator of the database can rebuild its whole chain or cut off its end. To detect that, heads are
written elsewhere, signed with the installation's key: to the file ``audit_heads`` under var and to the places
of ALIGNMENTER_AUDIT_HEADS. The scheduler does it within seconds of important events, and after some time or
number of others; the nightly verification does it, too.
"""

import base64
import json
import logging
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from alignmenter_site.head_places import HeadPlace, file_place
from alignmenter_site.keys import release_key
from datasets_app.auditing.verify_audit import AuditVerification, get_head, verify_audit
from datasets_app.core.append_file import append_text
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.queries import fetch_value
from datasets_app.domain.audit_chain import GENESIS_DIGEST, Fault, Head, RecordedHead
from datasets_app.models import AuditHeadPlace, AuditSeal

# Send a head of the audit log to one place. Errors have no address in them: it may contain a token.
WEBHOOK_TIMEOUT_SECONDS = 5.0
# Facility 13 (log audit), severity 5 (notice).
SYSLOG_PRIORITY = 13 * 8 + 5


class SendError(Exception):
    """The head was not recorded. The message says why."""


def send_head(place: HeadPlace, entry: str) -> None:
    """Record ``entry``, a line of JSON, for good. Raises :class:`SendError`."""
    try:
        _SENDERS[place.kind](place.target, entry)
    except urllib.error.HTTPError as error:
        raise SendError(f"the server answered {error.code}") from None
    except urllib.error.URLError as error:
        raise SendError(f"the server can't be reached ({type(error.reason).__name__})") from None
    except OSError as error:
        raise SendError(error.strerror or type(error).__name__) from None


def _append_line(path: str, entry: str) -> None:
    append_text(Path(path), f"{entry}\n")


def _send_to_syslog(path: str, entry: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
        connection.connect(path)
        connection.send(f"<{SYSLOG_PRIORITY}>alignmenter[{os.getpid()}]: audit head {entry}".encode())


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any, **options: Any) -> None:
        return None


def _post(address: str, entry: str) -> None:
    request = urllib.request.Request(
        address, data=entry.encode(), headers={"Content-Type": "application/json"}, method="POST"
    )
    opener = urllib.request.build_opener(_NoRedirects)
    with opener.open(request, timeout=WEBHOOK_TIMEOUT_SECONDS):
        pass  # any other status than 2xx is an error


_SENDERS = {"file": _append_line, "syslog": _send_to_syslog, "webhook": _post}


log = logging.getLogger(__name__)

MAX_EVENTS_BETWEEN = 100
MAX_TIME_BETWEEN = timedelta(minutes=10)
RETRY_AFTER = timedelta(minutes=1)
# After these, a head is recorded within seconds.
IMPORTANT_ACTIONS = (
    "release",
    "reissue",
    "retention",
    "erase_session",
    "export_audit",
    "override",
    "lift_hold",
)
_HAS_IMPORTANT_EVENT = """
    SELECT EXISTS (
        SELECT FROM datasets_app_auditseal AS seal
        JOIN datasets_app_auditevent AS event ON event.id = seal.event_id
        WHERE seal.position > %s AND event.action = ANY(%s)
    )
"""


def heads_path() -> Path:
    return Path(settings.VAR_DIR) / "audit_heads"


def all_places() -> list[HeadPlace]:
    """The file in var, which is always written, and the configured places."""
    return [file_place(str(heads_path())), *settings.AUDIT_HEAD_PLACES]


# --- verification ----------------------------------------------------------------------------------


def read_heads() -> tuple[list[RecordedHead], list[Fault]]:
    """The heads in this machine's files, and a fault for each line that this installation did not sign."""
    heads: list[RecordedHead] = []
    faults: list[Fault] = []
    for place in all_places():
        if place.kind != "file":
            continue
        try:
            lines = Path(place.target).read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            continue
        found, altered = parse_heads(lines, Path(place.target).name)
        heads += found
        faults += altered
    return heads, faults


def parse_heads(lines: Iterable[str], name: str) -> tuple[list[RecordedHead], list[Fault]]:
    """Heads of a file as it was written, of an extract of syslog, or of what a webhook received."""
    heads, faults = [], []
    for number, line in enumerate(lines, 1):
        if head := _parse_signed_line(line[max(line.find("{"), 0) :]):
            heads.append(head)
        else:
            faults.append(Fault(f"Line {number} of {name} was not signed by this installation."))
    return heads, faults


def verify_with_heads(
    expected: tuple[Head | RecordedHead, ...] = (), *, report_progress: ProgressCallback = ignore_progress
) -> AuditVerification:
    """Call :func:`verify_audit` with all recorded heads and the ``expected`` ones."""
    heads, faults = read_heads()
    result = verify_audit([*heads, *expected], report_progress=report_progress)
    return result._replace(faults=[*faults, *result.faults], fault_count=len(faults) + result.fault_count)


def verify_and_append_head(
    expected: tuple[Head | RecordedHead, ...] = (), *, report_progress: ProgressCallback = ignore_progress
) -> AuditVerification:
    """Verify the audit log and, if it has no faults, record its head everywhere. Runs every night."""
    result = verify_with_heads(expected, report_progress=report_progress)
    if result.fault_count:
        log.error("the audit log has been tampered with: %s faults", result.fault_count)
        for fault in result.faults:
            log.error("audit log: %s", fault.message)
        return result
    log.info("audit log verified: %s events, head %s", result.events, result.head)
    for place in all_places():
        _record(place, even_if_not_due=True)
    return result


# --- recording -------------------------------------------------------------------------------------


def record_due_heads() -> int:
    """Record the head in each place where it is due; returns in how many. Cheap if it is due nowhere."""
    return sum(_record(place) for place in all_places())


def head_place_rows() -> list[AuditHeadPlace]:
    """A row for each place of the settings, saved or not, for the page."""
    labels = [place.label for place in all_places()]
    rows = {row.label: row for row in AuditHeadPlace.objects.filter(label__in=labels)}
    return [rows.get(label) or AuditHeadPlace(label=label) for label in labels]


def _record(place: HeadPlace, *, even_if_not_due: bool = False) -> bool:
    """Whether the head was recorded. A place that fails keeps its position, so that it is tried again."""
    head, now = get_head(), timezone.now()
    row, _ = AuditHeadPlace.objects.get_or_create(label=place.label)
    if not (even_if_not_due or _is_due(row, head, now)):
        return False
    with transaction.atomic():
        row = AuditHeadPlace.objects.select_for_update().get(pk=row.pk)
        if not (even_if_not_due or _is_due(row, head, now)):  # another scheduler was faster
            return False
        try:
            _check_continues(row)
            send_head(place, _format_entry(head, now))
        except SendError as error:
            log.error("the head of the audit log can't be recorded in %s: %s", place.label, error)
            row.failing_since, row.failure = row.failing_since or now, str(error)[:200]
        else:
            row.position, row.digest, row.recorded_at = head.position, head.digest, now
            row.failing_since, row.failure = None, ""
        row.tried_at = now
        row.save()
    return not row.failure


def _is_due(row: AuditHeadPlace, head: Head, now: datetime) -> bool:
    if head.position == row.position and head.digest == row.digest:
        return False
    if row.failing_since and row.tried_at and now - row.tried_at < RETRY_AFTER:
        return False
    if row.failing_since or not row.recorded_at or now - row.recorded_at >= MAX_TIME_BETWEEN:
        return True
    if not 0 < head.position - row.position < MAX_EVENTS_BETWEEN:
        return True
    return bool(fetch_value(_HAS_IMPORTANT_EVENT, [row.position, list(IMPORTANT_ACTIONS)]))


def _check_continues(row: AuditHeadPlace) -> None:
    """Don't record a head of a chain that doesn't contain the one recorded before."""
    seal = AuditSeal.objects.filter(position=row.position).first()
    if (seal.digest if seal else GENESIS_DIGEST) != row.digest:
        raise SendError(
            f"the log no longer contains the head recorded before, at position {row.position}: verify it"
        )


# --- lines -----------------------------------------------------------------------------------------


def _format_entry(head: Head, now: datetime) -> str:
    seal = AuditSeal.objects.filter(position=head.position).first()
    entry: dict[str, Any] = {"at": now.isoformat(), "position": head.position, "digest": head.digest}
    if seal:
        entry["event"] = seal.event_id
    entry["key"] = base64.b64encode(release_key.public_key()).decode()
    entry["signature"] = base64.b64encode(release_key.sign(_signed_message(entry))).decode()
    return json.dumps(entry)


def _signed_message(entry: dict[str, Any]) -> bytes:
    event = f" {entry['event']}" if "event" in entry else ""
    return f"audit head {entry['at']} {entry['position']} {entry['digest']}{event}".encode()


def _parse_signed_line(line: str) -> RecordedHead | None:
    try:
        entry = json.loads(line)
        public, signature = (base64.b64decode(entry[name], validate=True) for name in ("key", "signature"))
        head = Head.parse(f"{entry['position']}:{entry['digest']}")
        ours = release_key.is_own_key(public) and release_key.is_valid_signature(
            _signed_message(entry), signature, public
        )
        event = int(entry["event"]) if "event" in entry else None
    except (ValueError, KeyError, TypeError):
        return None
    return RecordedHead(*head, event, str(entry["at"])) if ours else None
