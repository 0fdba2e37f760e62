"""Texts with marked values, of templates: a line of ``texts/`` is one, in which ``{a|b|}`` is one of several
wordings."""

import random
import re
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
from scripts.marked_texts.sources import make_source

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
    """A text with its marked spans, and the question it answers."""

    text: str
    spans: list[dict[str, Any]]
    language: str
    question: str = ""


def read_own_templates(name: str) -> Iterator[Template]:
    language, layout = "en", "chat"
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            language, layout = line[2:].split()
        elif line:
            yield Template(language, layout, line.replace("\\n", "\n").replace("\\t", "\t"))


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
        for template in read_own_templates(name):
            for _ in range(per_line):
                yield _make_row(render_own(template, choose), template.language)
    for template in read_templates("tune.txt"):
        for _ in range(max(1, per_line // 3)):
            language = "keys" if template.layout == "keys" else template.language
            yield _make_row(render(template, choose), language)
    for row in _make_chat_rows(choose):
        yield _make_row(row, "en")


def _make_chat_rows(choose: random.Random) -> Iterator[dict[str, Any]]:
    """Technical chat and chats of brands, with the names of people marked."""
    for part in ("tune", "tune_natural"):
        for _line, row in negatives.fill_tech_templates(part, choose):
            yield row
        for _line, row in negatives.fill_brand_lines(part, choose):
            yield row
        yield from negatives.make_tech_people_rows(part, choose)
        yield from negatives.make_brand_session_rows(part, choose)
    yield from read_chats()


def _make_row(rendered: dict[str, Any], language: str) -> Row:
    prefix = f"{rendered['key'].replace('_', ' ')}: " if "key" in rendered else ""
    shift = len(prefix)
    spans = [
        {"start": span["start"] + shift, "end": span["end"] + shift, "type": span["type"]}
        for span in rendered["spans"]
    ]
    return Row(prefix + rendered["text"], spans, language, rendered.get("before", ""))
