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
    "process of a job",
    "supervisor",
    "watchdog",
    "PostgreSQL",
    "database session",
    "Valkey",
    "keeper",
)
# In /proc/PID/stat: forked, and running the program that its parent ran.
_FORKED = 0x40


class Process(NamedTuple):
    """``forked`` is false for one that has started a program; ``leads`` a group of processes."""

    pid: int
    command: str
    folder: str
    forked: bool
    leads: bool


def find_roles(var: Path) -> dict[str, list[int]]:
    """Process ids by role. Also right for those whose parent was killed."""
    roles: dict[str, list[int]] = defaultdict(list)
    for process in _list_processes(var):
        if role := _name_role(process, var):
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
            facts = (place / "stat").read_text().rpartition(")")[2].split()
            folder = os.readlink(place / "cwd")
            environment = (place / "environ").read_bytes().split(b"\0")
            if command and (mark in environment or folder.startswith(f"{var}/") or f" {var}" in command):
                forked, group = bool(int(facts[6]) & _FORKED), facts[2]
                yield Process(int(place.name), command, folder, forked, group == place.name)


def _name_role(process: Process, var: Path) -> str:
    command, forked = process.command, process.forked
    if process.folder == str(var / "postgres/data"):
        if not forked:
            return "PostgreSQL"
        return "database session" if command.startswith("postgres: alignmenter ") else ""
    if process.folder == str(var / "valkey"):
        return "Valkey"
    if "-m alignmenter_site.embedded" in command:
        return "keeper"
    if "multiprocessing.spawn" in command:
        return "process of a job"
    if "manage.py worker" in command:
        # RQ gives each job a group of its own.
        return ("job" if process.leads else "worker or scheduler") if forked else "worker master"
    if "manage.py run" in command:
        return "watchdog" if forked else "supervisor"
    if "gunicorn" in command:
        return "web worker" if forked else "web master"
    return ""
