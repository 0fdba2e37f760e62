"""A file is complete or absent, and a disk without room names the file."""

import errno
import resource
from pathlib import Path

import pytest

from datasets_app.core.atomic_files import write_atomically


def test_a_disk_without_room_names_the_file_that_was_to_be_written(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as raised:
            _write(target, 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (raised.value.errno, raised.value.filename) == (errno.EFBIG, str(target))
    assert list(tmp_path.iterdir()) == []


def test_a_whole_file_appears_and_is_private(tmp_path: Path) -> None:
    with write_atomically(tmp_path / "out.jsonl") as file:
        file.write(b"{}\n")
        assert not (tmp_path / "out.jsonl").exists()
        assert Path(file.name).parent == tmp_path
    assert (tmp_path / "out.jsonl").read_bytes() == b"{}\n"
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600


def _write(target: Path, length: int) -> None:
    with write_atomically(target) as file:
        file.write(b"x" * length)
