"""What is in a backup: a tar archive, in this order, which tar and pg_restore can read without us.

manifest.json       versions, migrations, fingerprints of keys
files/NAME          stored files, by their names in the storage
database/000001 …   the dump of the database (pg_dump --format=custom), in parts
contents.json       counts and digests of all of that
signature           of contents.json, by the installation's release key
"""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from typing import IO, Any, BinaryIO, NamedTuple

from datasets_app.backups.manifest import is_signed, sign
from datasets_app.core.errors import UserError

MANIFEST, CONTENTS, SIGNATURE = "manifest.json", "contents.json", "signature"
FILES, DATABASE = "files/", "database/"
# A part of the dump is kept in memory, because its size stands before it.
PART_BYTES = 4 << 20
BLOCK_BYTES = 1 << 20
MAX_DOCUMENT_BYTES = 16 << 20
# Of what a name of more than a hundred characters takes.
MAX_HEADER_BYTES = 64 << 10
_OTHER_CONTENT = "The backup has another content than backups of this application."


class _Digests:
    """Of all members: a line for each file, and the dump as a whole."""

    def __init__(self) -> None:
        self._files, self._database = hashlib.sha256(), hashlib.sha256()
        self.counts = {"files": 0, "file_bytes": 0, "database_bytes": 0}
        self.manifest = ""

    def add_file(self, name: str, size: int, sha256: str) -> None:
        self._files.update(json.dumps([name, size, sha256]).encode() + b"\n")
        self.counts["files"] += 1
        self.counts["file_bytes"] += size

    def add_part(self, part: bytes) -> None:
        self._database.update(part)
        self.counts["database_bytes"] += len(part)

    def as_json(self) -> dict[str, Any]:
        return {
            **self.counts,
            "manifest_sha256": self.manifest,
            "files_sha256": self._files.hexdigest(),
            "database_sha256": self._database.hexdigest(),
        }


class ArchiveWriter:
    def __init__(self, out: BinaryIO) -> None:
        self._tar = tarfile.open(  # noqa: SIM115  (closed by finish)
            fileobj=out, mode="w|", bufsize=BLOCK_BYTES, format=tarfile.PAX_FORMAT
        )
        self._digests = _Digests()
        self._parts = 0

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        content = json.dumps(manifest, indent=1).encode()
        self._digests.manifest = hashlib.sha256(content).hexdigest()
        self._add(MANIFEST, content)

    def write_file(self, name: str, size: int, content: IO[bytes]) -> str:
        """Returns its SHA-256. Raises OSError if ``content`` is shorter than ``size``."""
        digest = hashlib.sha256()
        self._tar.addfile(_make_info(FILES + name, size), WatchedSource(content, digest.update))
        _forget_members(self._tar)
        self._digests.add_file(name, size, digest.hexdigest())
        return digest.hexdigest()

    def write_database(self, dump: BinaryIO) -> None:
        while part := _read_fully(dump, PART_BYTES):
            self._parts += 1
            self._digests.add_part(part)
            self._add(f"{DATABASE}{self._parts:06}", part)

    def finish(self, facts: dict[str, Any]) -> dict[str, Any]:
        """End the archive with its digests, ``facts`` and a signature; returns what is signed."""
        contents = {**self._digests.as_json(), **facts}
        document = json.dumps(contents, indent=1).encode()
        self._add(CONTENTS, document)
        self._add(SIGNATURE, sign(document))
        self._tar.close()
        return contents

    def abandon(self) -> None:
        """End it without a list of contents; else the tar complains when it is collected."""
        with suppress(OSError):
            self._tar.fileobj.close()

    def _add(self, name: str, content: bytes) -> None:
        self._tar.addfile(_make_info(name, len(content)), io.BytesIO(content))
        _forget_members(self._tar)


def _forget_members(tar: tarfile.TarFile) -> None:
    """Else it remembers all of them."""
    tar.members.clear()  # type: ignore[attr-defined]


def _make_info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info


class WatchedSource:
    """``on_read`` gets what is read."""

    def __init__(self, source: IO[bytes], on_read: Callable[[bytes], None]) -> None:
        self._source, self._on_read = source, on_read

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self._on_read(data)
        return data


def _read_fully(source: BinaryIO, size: int) -> bytes:
    """As many bytes as there are, up to ``size``: a pipe gives fewer at a time."""
    parts = []
    while size and (part := source.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Handlers(NamedTuple):
    """What a reader of an archive does with it. ``file`` must read its content to the end, and returns
    nothing; ``part`` gets the parts of the dump."""

    manifest: Callable[[dict[str, Any]], None] = lambda manifest: None
    file: Callable[[str, BinaryIO], None] = lambda name, content: _read_to_end(content)
    part: Callable[[bytes], None] = lambda part: None


def read_archive(stream: BinaryIO, handlers: Handlers) -> dict[str, Any]:
    """Pass on what an archive contains; returns its contents.json, once all digests agree with it.

    Raises :class:`UserError` if anything is missing or doesn't agree.
    """
    digests = _Digests()
    documents: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=BLOCK_BYTES, tarinfo=_Member) as tar:
            for info, content in _iterate(tar):
                _refuse_unknown(info, documents)
                if info.name.startswith(FILES):
                    digest = hashlib.sha256()
                    source = WatchedSource(content, digest.update)
                    handlers.file(info.name.removeprefix(FILES), source)  # type: ignore[arg-type]
                    _read_to_end(source)  # type: ignore[arg-type]
                    digests.add_file(info.name.removeprefix(FILES), info.size, digest.hexdigest())
                elif info.name.startswith(DATABASE):
                    part = content.read()
                    digests.add_part(part)
                    handlers.part(part)
                else:
                    documents[info.name] = content.read()
                if info.name == MANIFEST:
                    digests.manifest = hashlib.sha256(documents[MANIFEST]).hexdigest()
                    handlers.manifest(_parse(documents[MANIFEST]))
    except (tarfile.TarError, EOFError):
        raise UserError(_OTHER_CONTENT) from None
    return _check(documents, digests)


class _Member(tarfile.TarInfo):
    """Of a header that extends another one, the library would read any size into memory."""

    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if self.size > MAX_HEADER_BYTES and not self.isreg():
            raise tarfile.ReadError
        return super()._proc_member(tar)  # type: ignore[misc]


def _refuse_unknown(info: tarfile.TarInfo, documents: Container[str]) -> None:
    """Whatever :class:`ArchiveWriter` doesn't write: the signature is known only when all was read."""
    if info.name.startswith(FILES):
        name = info.name.removeprefix(FILES)
        is_known = bool(name) and ".." not in name.split("/") and not name.startswith("/")
    elif info.name.startswith(DATABASE):
        is_known = info.size <= PART_BYTES
    else:
        is_known = info.name in (MANIFEST, CONTENTS, SIGNATURE) and info.size <= MAX_DOCUMENT_BYTES
    if not is_known or not info.isreg() or info.issparse() or info.name in documents:
        raise UserError(_OTHER_CONTENT)


def _iterate(tar: tarfile.TarFile) -> Iterable[tuple[tarfile.TarInfo, Any]]:
    while info := tar.next():
        content = tar.extractfile(info)
        if content is None:
            raise UserError(_OTHER_CONTENT)
        yield info, content
        _forget_members(tar)


def _check(documents: dict[str, bytes], digests: _Digests) -> dict[str, Any]:
    if CONTENTS not in documents or SIGNATURE not in documents:
        raise UserError("The backup is not complete: its list of contents is missing.")
    if not is_signed(documents[CONTENTS], documents[SIGNATURE]):
        raise UserError(
            "The backup was not signed by this installation. Put the release key of the "
            "installation that made "
            "it in place (var/release_key or ALIGNMENTER_RELEASE_KEY), or name its public key in "
            "ALIGNMENTER_FORMER_RELEASE_KEYS."
        )
    contents = _parse(documents[CONTENTS])
    wrong = [name for name, value in digests.as_json().items() if contents.get(name) != value]
    if wrong:
        raise UserError(f"The content of the backup differs from its own list: {', '.join(wrong)}.")
    return contents


def _parse(document: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(document)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise UserError("A document in the backup can't be read.")
    return parsed


def _read_to_end(content: BinaryIO) -> None:
    while content.read(BLOCK_BYTES):
        pass
