"""Record the head of the audit log outside the database every night.

Anyone who can change the database can rebuild its whole chain or cut off its end. To detect that, the file
``audit_heads`` under var lists the heads, each signed with the installation's key. A copy of the file kept
elsewhere proves that no earlier event has changed since. The application log has the heads, too.
"""

import base64
import json
import logging
import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from alignmenter_site.keys import release_key
from datasets_app.auditing.verify_audit import AuditVerification, verify_audit
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.audit_chain import Fault, Head

log = logging.getLogger(__name__)


def heads_path() -> Path:
    return Path(settings.VAR_DIR) / "audit_heads"


def read_heads() -> tuple[list[Head], list[Fault]]:
    """The recorded heads, and a fault for each line that this installation did not sign."""
    heads, faults = [], []
    try:
        lines = heads_path().read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return [], []
    for number, line in enumerate(lines, 1):
        if head := _parse_signed_line(line):
            heads.append(head)
        else:
            faults.append(Fault(f"Line {number} of {heads_path().name} was not signed by this installation."))
    return heads, faults


def verify_with_heads(
    expected: tuple[Head, ...] = (), *, report_progress: ProgressCallback = ignore_progress
) -> AuditVerification:
    """Call :func:`verify_audit` with all recorded heads and the ``expected`` ones."""
    heads, faults = read_heads()
    result = verify_audit([*heads, *expected], report_progress=report_progress)
    return result._replace(faults=[*faults, *result.faults], fault_count=len(faults) + result.fault_count)


def verify_and_append_head(
    expected: tuple[Head, ...] = (), *, report_progress: ProgressCallback = ignore_progress
) -> AuditVerification:
    """Verify the audit log and, if it has no faults, record its head. Runs every night."""
    result = verify_with_heads(expected, report_progress=report_progress)
    if result.fault_count:
        log.error("the audit log has been tampered with: %s faults", result.fault_count)
        for fault in result.faults:
            log.error("audit log: %s", fault.message)
        return result
    log.info("audit log verified: %s events, head %s", result.events, result.head)
    _append_line(_format_line(result.head))
    return result


def _format_line(head: Head) -> str:
    entry: dict[str, Any] = {
        "at": timezone.now().isoformat(),
        "position": head.position,
        "digest": head.digest,
    }
    entry["key"] = base64.b64encode(release_key.public_key()).decode()
    entry["signature"] = base64.b64encode(release_key.sign(_signed_message(entry))).decode()
    return json.dumps(entry) + "\n"


def _signed_message(entry: dict[str, Any]) -> bytes:
    return f"audit head {entry['at']} {entry['position']} {entry['digest']}".encode()


def _parse_signed_line(line: str) -> Head | None:
    try:
        entry = json.loads(line)
        public, signature = (base64.b64decode(entry[name], validate=True) for name in ("key", "signature"))
        head = Head.parse(f"{entry['position']}:{entry['digest']}")
        ours = release_key.is_own_key(public) and release_key.is_valid_signature(
            _signed_message(entry), signature, public
        )
    except (ValueError, KeyError, TypeError):
        return None
    return head if ours else None


def _append_line(line: str) -> None:
    """Append the line with a single write, so that concurrent runs don't mix their lines."""
    path = heads_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
