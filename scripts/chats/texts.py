"""Chats that the network is trained with: of made-up companies, and of people who work with software.

In ``brands.txt`` what is a company's or a product's stands in angle brackets, and in it and
``tech_people.txt`` a person's name in braces. ``tech.txt`` names nobody.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.pii_sets.negatives import mark_people

FOLDER = Path(__file__).parent
_BRAND = re.compile(r"<([^{}<>]+)>")


def read_chats() -> Iterator[dict[str, Any]]:
    """The turns of all three files, people's names marked; "before" is what the other side said last."""
    yield from _read_conversations()
    yield from map(mark_people, filter(None, _read_lines("tech_people.txt")))
    for line in filter(None, _read_lines("tech.txt")):
        yield {"text": line, "spans": []}


def _read_conversations() -> Iterator[dict[str, Any]]:
    """A blank line begins another."""
    before = last_role = ""
    for line in _read_lines("brands.txt"):
        role, _, said = line.partition(": ")
        row = mark_people(_BRAND.sub(r"\1", said))
        if line:
            yield row | ({"before": before} if before and role != last_role else {})
        before, last_role = row["text"], role


def _read_lines(name: str) -> Iterator[str]:
    """The lines without headings."""
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            yield line
