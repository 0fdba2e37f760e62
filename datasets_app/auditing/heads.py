"""Where the audit trail ended, night after night, written down outside the database.

Whoever can change the database can make its whole chain anew, or cut off its end. Against that stand these
lines, in ``audit_heads`` under var, each signed with the installation's key: a copy of the file elsewhere
proves that nothing which was there then has changed since. The log has them too.
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
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.audit_chain import Fault, Head

log = logging.getLogger(__name__)


def heads_path() -> Path:
    return Path(settings.VAR_DIR) / "audit_heads"


def read_heads() -> tuple[list[Head], list[Fault]]:
    """The heads noted so far, and which lines of their file this installation did not sign."""
    heads, found = [], []
    try:
        lines = heads_path().read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return [], []
    for number, line in enumerate(lines, 1):
        if head := _parse_signed_line(line):
            heads.append(head)
        else:
            found.append(Fault(f"Line {number} of {heads_path().name} is not as this installation wrote it."))
    return heads, found


def verify_with_heads(
    expected: tuple[Head, ...] = (), *, report_progress: ProgressCallback = ignore_progress
) -> AuditVerification:
    """:func:`verify_audit` against all heads that were noted here, and against those given."""
    heads, found = read_heads()
    verified = verify_audit([*heads, *expected], report_progress=report_progress)
    return verified._replace(faults=[*found, *verified.faults], fault_count=len(found) + verified.fault_count)


def verify_and_append_head(
    expected: tuple[Head, ...] = (), *, report_progress: ProgressCallback = ignore_progress
) -> AuditVerification:
    """What is done every night: verify, and if nothing is wrong, write down where the trail ends."""
    verified = verify_with_heads(expected, report_progress=report_progress)
    if verified.fault_count:
        log.error("the audit trail has been tampered with: %s faults", verified.fault_count)
        for fault in verified.faults:
            log.error("audit trail: %s", fault.message)
        return verified
    log.info("audit trail verified: %s events, head %s", verified.events, verified.head)
    _append_line(_format_line(verified.head))
    return verified


def verify_audit_for_job(*, report_progress: ProgressCallback = ignore_progress) -> dict[str, Any]:
    """:func:`note_head`; Refused, with the faults listed, if the trail has been tampered with."""
    verified = verify_and_append_head(report_progress=report_progress)
    if verified.fault_count:
        problems = [{"message": fault.message, "line": None, "code": ""} for fault in verified.faults]
        raise UserError(
            "The audit trail was changed by other ways than this application's: see the faults.",
            {"problems": problems, "problem_total": verified.fault_count},
        )
    return {"events": verified.events, "position": verified.head.position, "head": verified.head.digest}


def _format_line(head: Head) -> str:
    noted: dict[str, Any] = {
        "at": timezone.now().isoformat(),
        "position": head.position,
        "digest": head.digest,
    }
    noted["key"] = base64.b64encode(release_key.public_key()).decode()
    noted["signature"] = base64.b64encode(release_key.sign(_signed_message(noted))).decode()
    return json.dumps(noted) + "\n"


def _signed_message(noted: dict[str, Any]) -> bytes:
    return f"audit head {noted['at']} {noted['position']} {noted['digest']}".encode()


def _parse_signed_line(line: str) -> Head | None:
    try:
        noted = json.loads(line)
        public, signature = (base64.b64decode(noted[name], validate=True) for name in ("key", "signature"))
        head = Head.parse(f"{noted['position']}:{noted['digest']}")
        ours = release_key.is_own_key(public) and release_key.is_valid_signature(
            _signed_message(noted), signature, public
        )
    except (ValueError, KeyError, TypeError):
        return None
    return head if ours else None


def _append_line(line: str) -> None:
    """One write of one line: what two do at once is two lines."""
    path = heads_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
