"""Folders of Hugging Face ``datasets``: those of ``save_to_disk``, and downloads from the hub."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.reading import hash_file

_FILES = ("*.arrow", "*.parquet", "*.jsonl", "*.jsonl.gz", "*.csv", "*.json")
# Beside the data, or made of it.
_OTHER_FILES = re.compile(r"(cache-|tmp).*|(dataset_info|dataset_dict|dataset_infos|state)\.json")
_SPLIT = re.compile(r"(train|test|validation|valid|dev|eval)(?![a-z])", re.IGNORECASE)


def list_files(folder: Path) -> list[Path]:
    """Files of the first of these kinds, those that ``state.json`` names, if there is one."""
    for pattern in _FILES:
        paths = [path for path in folder.rglob(pattern) if path.is_file() and _is_data(path, folder)]
        if paths:
            return sorted(paths)
    raise UnreadableFile("is a folder without Parquet, Arrow, JSON or CSV files; name a file")


def find_split(path: Path, folder: Path) -> str:
    """The split that a file belongs to by its name, or that of its folder; empty if neither names one."""
    for name in (path.name, *(parent.name for parent in path.relative_to(folder).parents)):
        if match := _SPLIT.match(name):
            return match[1].lower()
    return ""


def hash_source(path: Path) -> str:
    """The SHA-256 of a file; of a folder, over the names of its files and theirs."""
    if not path.is_dir():
        return hash_file(path)
    whole = hashlib.sha256()
    for file in sorted(item for item in path.rglob("*") if item.is_file()):
        whole.update(f"{file.relative_to(path).as_posix()}\0{hash_file(file)}\n".encode(errors="replace"))
    return whole.hexdigest()


def measure(path: Path) -> int:
    """The bytes of a file, or of all files of a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(item.stat().st_size for item in path.rglob("*") if item.is_file())


def _is_data(path: Path, folder: Path) -> bool:
    if _OTHER_FILES.fullmatch(path.name) or any(part[:1] == "." for part in path.relative_to(folder).parts):
        return False
    state = path.with_name("state.json")
    try:
        listed: Any = json.loads(state.read_bytes()[: 1 << 20])["_data_files"] if state.is_file() else None
        return listed is None or any(item["filename"] == path.name for item in listed)
    except (ValueError, LookupError, TypeError, OSError):
        return True
