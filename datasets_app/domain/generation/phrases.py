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


@dataclass(frozen=True)
class Case:
    """A subject of conversations, with what both sides say about it.

    ``questions`` are (questions back, answers to them), ``fixes`` the sentences of a solution one after the
    other, ``follow_ups`` (further questions, sentences of the answer); each of them in several wordings.
    For a problem, topic and solution wordings match the openings by position; for ``information``, any
    combination works. Answers belong to their questions.
    """

    name: str
    information: bool
    topics: tuple[str, ...]
    actions: tuple[str, ...]
    openings: tuple[str, ...]
    questions: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    fixes: tuple[tuple[str, ...], ...]
    follow_ups: tuple[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]], ...]


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


@cache
def load_cases(scenario: str) -> tuple[Case, ...]:
    """The cases of a scenario; an unknown name means "general"."""
    known = (_FOLDER / f"{scenario}.txt").is_file() if scenario.isidentifier() else False
    return tuple(
        _build_case(name, lists) for name, lists in load_groups(scenario if known else "general").items()
    )


def _build_case(name: str, lists: PhraseLists) -> Case:
    def numbered(key: str) -> list[int]:
        return [number for number in range(1, 10) if f"{key} {number}" in lists]

    return Case(
        name,
        "information" in lists.get("manner", ()),
        lists["topic"],
        lists["action"],
        lists["open"],
        tuple((lists[f"ask {number}"], lists[f"answer {number}"]) for number in numbered("ask")),
        tuple(lists[f"fix {number}"] for number in numbered("fix")),
        tuple(
            (lists[f"more {number}"], (lists[f"reply {number}a"], lists[f"reply {number}b"]))
            for number in numbered("more")
        ),
    )


@cache
def compute_digest() -> str:
    """SHA-256 over all phrases: a change gives another plan and other session ids."""
    total = hashlib.sha256()
    for path in sorted(_FOLDER.glob("*.txt")):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()
