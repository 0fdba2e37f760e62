"""Text of others within Markdown: it is shown, never taken for headings, links or tables."""

import re

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")


def plain(text: str) -> str:
    """One line in which no character means anything to Markdown or HTML."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split())).replace(r"\<", "&lt;").replace(r"\&", "&amp;")


def code(text: str) -> str:
    """A name as code; what would end it is left out, and so is what would end a table's cell."""
    return f"`{' '.join(text.replace('`', ' ').replace('|', ' ').split())}`"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
