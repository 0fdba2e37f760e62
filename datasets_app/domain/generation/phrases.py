"""The phrases of the offline writer, read from ``phrases/``, one file per subject.

A file is plain text, so that writers need not know Python: ``== name`` begins a group,
``key:`` a list, and each indented line is one entry. In an entry ``<this|that>`` is a choice and ``{doc}``
a blank, filled from the list of that name (``slots.txt``) or by what the conversation is about.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("phrases")
_INDENT = "    "

PhraseLists = dict[str, tuple[str, ...]]


Sentences = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Case:
    """A request and all that is said about it, each in several wordings that fit all others of the case.

    ``information`` tells a question about the product from a problem. ``questions`` may be asked back before
    the solution, which fits without them as well. ``solution``, ``failed`` (after a user says that it didn't
    help) and the replies of ``follow_ups`` are sentences one after the other; of more than two, those after
    the second may be left out. ``thanks`` are the user's last words, ``closings`` follow "You're welcome".
    """

    name: str
    information: bool
    openings: tuple[str, ...]
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    solution: Sentences
    failed: Sentences
    follow_ups: tuple[tuple[tuple[str, ...], Sentences], ...]
    thanks: tuple[str, ...]
    closings: tuple[str, ...]


@cache
def load_groups(name: str) -> dict[str, PhraseLists]:
    """The groups of ``phrases/<name>.txt`` by name; "" holds the lists before the first group."""
    found: dict[str, dict[str, list[str]]] = {}
    group, entries = "", None
    for line in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            group, entries = line[2:].strip(), None
        elif line.startswith(_INDENT) and entries is not None:
            entries.append(line.strip())
        elif line.endswith(":") and not line.startswith("#"):
            entries = found.setdefault(group, {}).setdefault(line[:-1], [])
        elif line and not line.startswith("#"):
            raise ValueError(f"phrases/{name}.txt: what is {line!r}?")
    return {key: {section: tuple(items) for section, items in lists.items()} for key, lists in found.items()}


def load_lists(name: str) -> PhraseLists:
    """The lists of a file without groups."""
    return load_groups(name)[""]


def load_lines(name: str) -> list[str]:
    """The lines of a file without lists."""
    lines = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@cache
def load_cases(scenario: str) -> tuple[Case, ...]:
    """The cases of a scenario; an unknown name means "general"."""
    known = (_FOLDER / f"{scenario}.txt").is_file() if scenario.isidentifier() else False
    return tuple(
        _build_case(name, lists) for name, lists in load_groups(scenario if known else "general").items()
    )


def _build_case(name: str, lists: PhraseLists) -> Case:
    def sentences(key: str) -> Sentences:
        return tuple(lists[f"{key}{letter}"] for letter in "abcd" if f"{key}{letter}" in lists)

    return Case(
        name,
        "information" in lists.get("manner", ()),
        lists["open"],
        lists.get("ask", ()),
        lists.get("answer", ()),
        sentences("solve "),
        sentences("failed "),
        tuple(
            (lists[f"more {number}"], sentences(f"reply {number}"))
            for number in range(1, 10)
            if f"more {number}" in lists
        ),
        lists["thanks"],
        lists["close"],
    )


@cache
def compute_digest() -> str:
    """SHA-256 over all phrases: a change gives another plan and other session ids."""
    total = hashlib.sha256()
    for path in sorted(_FOLDER.glob("*.txt")):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()
