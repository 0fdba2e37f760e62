"""The processes of one installation by what they do, found in /proc by its folder alone (Linux)."""

import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ROLES = (
    "web worker",
    "web master",
    "worker master",
    "worker or scheduler",
    "job",
    "supervisor",
    "PostgreSQL",
    "database session",
    "Valkey",
    "keeper",
)
# By how deep below `manage.py worker` a fork is: it forks workers and the scheduler, and these fork jobs.
_WORKER_ROLES = ("worker master", "worker or scheduler", "job")


class Process(NamedTuple):
    pid: int
    parent: int
    command: str
    folder: str


def find_roles(var: Path) -> dict[str, list[int]]:
    """Process ids by role."""
    found = {process.pid: process for process in _list_processes(var)}
    roles: dict[str, list[int]] = defaultdict(list)
    for process in found.values():
        if role := _name_role(process, found, var):
            roles[role].append(process.pid)
    return roles


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _list_processes(var: Path) -> Iterator[Process]:
    mark = f"ALIGNMENTER_VAR_DIR={var}".encode()
    for place in Path("/proc").iterdir():
        if not place.name.isdecimal() or int(place.name) == os.getpid():
            continue
        with suppress(OSError, IndexError, ValueError):
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            folder = os.readlink(place / "cwd")
            environment = (place / "environ").read_bytes().split(b"\0")
            if command and (mark in environment or folder.startswith(f"{var}/") or f" {var}" in command):
                yield Process(int(place.name), parent, command, folder)


def _name_role(process: Process, found: dict[int, Process], var: Path) -> str:
    parent = found.get(process.parent)
    above = parent.command if parent else ""
    if process.folder == str(var / "postgres/data"):
        if parent is None or parent.folder != process.folder:
            return "PostgreSQL"
        return "database session" if process.command.startswith("postgres: alignmenter ") else ""
    if process.folder == str(var / "valkey"):
        return "Valkey"
    if "-m alignmenter_site.embedded" in process.command:
        return "keeper"
    if "manage.py worker" in process.command:
        return _WORKER_ROLES[min(_count_ancestors(process, found, "manage.py worker"), 2)]
    for words, role, below in (("manage.py run", "supervisor", ""), ("gunicorn", "web master", "web worker")):
        if words in process.command:
            return below if words in above else role
    return ""


def _count_ancestors(process: Process, found: dict[int, Process], words: str) -> int:
    parent = found.get(process.parent)
    return 1 + _count_ancestors(parent, found, words) if parent and words in parent.command else 0
