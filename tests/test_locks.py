"""What `make` installs (locks/) is what requirements*.txt asks for, and names the hash of every file."""

import re
from pathlib import Path

import pytest

from tests.conftest import PROJECT

LOCKS = PROJECT / "locks"
PACKAGE = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]+\])?==([^\s;]+)")
LOCKED = {
    "requirements.txt": "run.txt",
    "requirements-s3.txt": "s3.txt",
    "requirements-onnx.txt": "onnx.txt",
    "requirements-parquet.txt": "parquet.txt",
    "requirements-dev.txt": "dev.txt",
    "requirements-peers.txt": "peers.txt",
    "requirements-alignmenter.txt": "alignmenter.txt",
}


def read_versions(path: Path) -> set[tuple[str, str]]:
    """Names, normalized, with versions."""
    found = map(PACKAGE.match, path.read_text().splitlines())
    return {(re.sub(r"[-_.]+", "-", match[1]).lower(), match[2]) for match in found if match}


def test_every_list_of_requirements_has_a_lock() -> None:
    assert {path.name for path in PROJECT.glob("requirements*.txt")} == LOCKED.keys()
    assert {path.name for path in LOCKS.iterdir()} == set(LOCKED.values())


@pytest.mark.parametrize(("requirements", "lock"), LOCKED.items())
def test_a_lock_has_what_is_required_in_that_version(requirements: str, lock: str) -> None:
    required = read_versions(PROJECT / requirements)
    assert required
    assert required - read_versions(LOCKS / lock) == set(), "locks/ is out of date: make lock"


@pytest.mark.parametrize("lock", ["run.txt", "s3.txt", "onnx.txt", "parquet.txt"])
def test_what_is_installed_for_development_is_what_runs(lock: str) -> None:
    locked = read_versions(LOCKS / lock)
    assert locked - read_versions(LOCKS / "dev.txt") == set(), "locks/ is out of date: make lock"


@pytest.mark.parametrize("lock", LOCKED.values())
def test_every_locked_file_is_known_by_its_hash_alone(lock: str) -> None:
    text = (LOCKS / lock).read_text()
    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash=sha256:[0-9a-f]{64}( \\)?$)", text, re.MULTILINE)
    entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(read_versions(LOCKS / lock))
    assert all("--hash=sha256:" in entry for entry in entries)
