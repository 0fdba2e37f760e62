"""Escapes foreign text in Markdown, so that it never forms headings, links or tables."""

import re

_SPECIAL_CHARACTERS = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")


def escape_markdown(text: str) -> str:
    """Escape to one line in which no character is special to Markdown or HTML."""
    return (
        _SPECIAL_CHARACTERS.sub(r"\\\1", " ".join(text.split()))
        .replace(r"\<", "&lt;")
        .replace(r"\&", "&amp;")
    )


def format_code(text: str) -> str:
    """A name as code, without characters that would end it or a table cell."""
    return f"`{' '.join(text.replace('`', ' ').replace('|', ' ').split())}`"


def format_table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
