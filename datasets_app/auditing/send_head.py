"""Send a head of the audit log to one place. Errors have no address in them: it may contain a token."""

import os
import socket
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from alignmenter_site.head_places import HeadPlace
from datasets_app.core.append_file import append_text

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
