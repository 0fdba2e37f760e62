"""Uploads and downloads that resume where they broke off, also in another process."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from alignmenter_datasets.connection import Connection
from alignmenter_datasets.errors import ClientError, RequestRefused, ServerUnreachable

PART_BYTES = 8 << 20
BLOCK_BYTES = 1 << 20
# In a row, without a byte that arrived.
MAX_FAILURES = 3

OnBytes = Callable[[int, int], None]


class Pulled(NamedTuple):
    """A downloaded file, whose SHA-256 was compared with the server's. ``notices`` say what isn't in it."""

    path: Path
    size: int
    sha256: str
    notices: tuple[str, ...] = ()


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def upload(connection: Connection, path: Path, options: dict[str, Any], on_bytes: OnBytes) -> dict[str, Any]:
    """Send a file and start its import; returns the job. What an interrupted call with the same file and
    options has sent is not sent again: a small file beside it (``FILE.upload``) remembers it."""
    digest = hash_file(path)
    state = _UploadState(path, digest, options)
    started = state.read()
    upload = _find_upload(connection, started) if started else None
    if upload is None:
        upload = connection.request("POST", "/imports", json=options)
        state.write(upload["id"])
    total, sent = path.stat().st_size, upload["offset"]
    with path.open("rb") as file:
        while sent < total:
            file.seek(sent)
            part = file.read(min(PART_BYTES, upload["max_part_bytes"]))
            sent = _send_part(connection, upload["id"], sent, part)
            on_bytes(sent, total)
    job: dict[str, Any] = connection.request(
        "POST",
        f"/imports/{upload['id']}/finish",
        json={"sha256": digest},
        headers={"Idempotency-Key": f"finish-{upload['id']}-{digest[:16]}"},
    )
    state.forget()
    return job


def _find_upload(connection: Connection, number: int) -> dict[str, Any] | None:
    """The upload that was begun, unless it was deleted or finished meanwhile."""
    try:
        found: dict[str, Any] = connection.request("GET", f"/imports/{number}")
    except RequestRefused as refusal:
        if refusal.status in {404, 409}:
            return None
        raise
    return found


def _send_part(connection: Connection, number: int, offset: int, part: bytes) -> int:
    """Where the next part begins. A part that arrived although its answer got lost is not sent twice."""
    headers = {"Upload-Offset": str(offset), "Content-Type": "application/octet-stream"}
    try:
        answer = connection.request("PATCH", f"/imports/{number}/content", content=part, headers=headers)
    except RequestRefused as refusal:
        if refusal.code == "wrong_offset":
            return int(refusal.problem["offset"])
        raise
    return int(answer["offset"])


class _UploadState:
    """Which upload a file is in, between one process and the next. It holds no token and no text."""

    def __init__(self, path: Path, digest: str, options: dict[str, Any]) -> None:
        self._path = path.with_name(f"{path.name}.upload")
        self._what = {"sha256": digest, "options": options}

    def read(self) -> int | None:
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        number = known.pop("import", None) if isinstance(known, dict) else None
        return number if isinstance(number, int) and known == self._what else None

    def write(self, number: int) -> None:
        self._path.write_text(json.dumps({**self._what, "import": number}), encoding="utf-8")

    def forget(self) -> None:
        self._path.unlink(missing_ok=True)


def download(
    connection: Connection, address: str, target: Path, size: int, sha256: str, on_bytes: OnBytes
) -> Pulled:
    """Get a file of a job. It appears under its name once all of it arrived and its digest is right; until
    then it is in ``NAME.part``, where the next call goes on."""
    part = target.with_name(f"{target.name}.part")
    have = _measure(part)
    if have > size:
        part.unlink()
        have = 0
    failures = 0
    while have < size:
        try:
            _append(connection, address, part, have, size, sha256, on_bytes)
        except ServerUnreachable:
            now = _measure(part)
            failures = failures + 1 if now <= have else 0
            if failures == MAX_FAILURES:
                raise
        have = _measure(part)
    if not part.exists():
        part.touch()
    found = hash_file(part)
    if found != sha256:
        part.unlink()
        raise ClientError(f"{target} did not arrive as it is on the server (SHA-256). Try again.")
    part.replace(target)
    return Pulled(target, size, found)


def _measure(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _append(
    connection: Connection, address: str, part: Path, have: int, size: int, sha256: str, on_bytes: OnBytes
) -> None:
    headers = {"Range": f"bytes={have}-", "If-Range": f'"{sha256}"'} if have else {}
    with connection.stream(address, headers=headers) as answer:
        # The whole file comes if it is another one by now.
        continues = answer.status_code == 206
        done = have if continues else 0
        with part.open("ab" if continues else "wb") as file:
            for block in answer.iter_raw(BLOCK_BYTES):
                file.write(block)
                done += len(block)
                on_bytes(done, size)
