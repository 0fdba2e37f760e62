"""Text of others within Markdown: it is shown, never taken for headings, links or tables."""

import re

_SPECIAL_CHARACTERS = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")


def escape_markdown(text: str) -> str:
    """One line in which no character means anything to Markdown or HTML."""
    return (
        _SPECIAL_CHARACTERS.sub(r"\\\1", " ".join(text.split()))
        .replace(r"\<", "&lt;")
        .replace(r"\&", "&amp;")
    )


def format_code(text: str) -> str:
    """A name as code; what would end it is left out, and so is what would end a table's cell."""
    return f"`{' '.join(text.replace('`', ' ').replace('|', ' ').split())}`"


def format_table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
