"""Texts with marked values, and the examples they make: one for each candidate.

A line of ``texts/`` is a template in which ``{a|b|}`` is one of several wordings. It is a group, as is a
template of the benchmarks' "tune" set: what is judged by cross-validation comes from groups left out.
"""

import random
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.pii_sets import negatives
from benchmarks.pii_sets.templates import (
    STYLE_SHARES,
    STYLES,
    Template,
    build_row,
    choose_locale,
    fill_parts,
    parse_template,
    read_templates,
    restyle_part,
)
from scripts.chats.texts import read_chats
from scripts.detection_model.sources import make_source

FOLDER = Path(__file__).parent / "texts"
TEXTS = (
    "personal_en.txt",
    "personal_other.txt",
    "personal_more.txt",
    "personal_users.txt",
    "other_en.txt",
    "other_other.txt",
    "other_more.txt",
    "other_accounts.txt",
    "other_users.txt",
)
_CHOICE = re.compile(r"\{([^{}]*\|[^{}]*)\}")


class Row(NamedTuple):
    """A text with its marked spans; ``rendered`` is the row as the benchmarks have it."""

    text: str
    spans: list[dict[str, Any]]
    group: str
    language: str
    rendered: dict[str, Any]
    question: str = ""
    is_reliable: bool = True


def read_own_templates(name: str) -> Iterator[tuple[str, Template]]:
    language, layout = "en", "chat"
    for number, line in enumerate((FOLDER / name).read_text(encoding="utf-8").splitlines()):
        if line.startswith("# "):
            language, layout = line[2:].split()
        elif line:
            yield (
                f"{name}:{number}",
                Template(language, layout, line.replace("\\n", "\n").replace("\\t", "\t")),
            )


def render_own(template: Template, choose: random.Random) -> dict[str, Any]:
    text = template.text
    while choice := _CHOICE.search(text):
        text = text[: choice.start()] + choose.choice(choice[1].split("|")) + text[choice.end() :]
    return render(parse_template(template.language, template.layout, text), choose)


def render(template: Template, choose: random.Random) -> dict[str, Any]:
    source = make_source(choose, choose_locale(choose, template.language), template.language)
    style = choose.choices(STYLES, STYLE_SHARES[template.layout])[0]
    before = "".join(part.text for part in fill_parts(template.before, source))
    row = build_row([restyle_part(part, style) for part in fill_parts(template.text, source)])
    return row | ({"before": before} if before else {}) | ({"key": template.key} if template.key else {})


def make_rows(choose: random.Random, per_line: int) -> Iterator[Row]:
    """Of templates: our own, and those of the benchmarks that are there to tune on."""
    for name in TEXTS:
        for group, template in read_own_templates(name):
            for _ in range(per_line):
                yield _make_row(render_own(template, choose), group, template.language)
    for number, template in enumerate(read_templates("tune.txt")):
        for _ in range(max(1, per_line // 3)):
            language = "keys" if template.layout == "keys" else template.language
            yield _make_row(render(template, choose), f"tune:{number}", language)
    for line, row in _make_chat_rows(choose):
        yield _make_row(row, f"chat:{zlib.crc32(line.encode())}", "en")


def _make_chat_rows(choose: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Technical chat and chats of brands, each row behind its template; people's names are marked."""
    for part in ("tune", "tune_natural"):
        yield from negatives.fill_tech_templates(part, choose)
        yield from negatives.fill_brand_lines(part, choose)
        for make in (negatives.make_tech_people_rows, negatives.make_brand_session_rows):
            for row in make(part, choose):
                yield row["text"], row
    for row in read_chats():
        yield row["text"], row


def _make_row(rendered: dict[str, Any], group: str, language: str) -> Row:
    prefix = f"{rendered['key'].replace('_', ' ')}: " if "key" in rendered else ""
    shift = len(prefix)
    spans = [
        {"start": span["start"] + shift, "end": span["end"] + shift, "type": span["type"]}
        for span in rendered["spans"]
    ]
    return Row(prefix + rendered["text"], spans, group, language, rendered, rendered.get("before", ""))
