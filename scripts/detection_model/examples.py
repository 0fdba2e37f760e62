"""Texts with marked values, and the examples they make: one for each candidate.

A line of ``texts/`` is a template in which ``{a|b|}`` is one of several wordings. It is a group, as is a
template of the benchmarks' "tune" set: what is judged by cross-validation comes from groups left out.
"""

import gzip
import json
import random
import re
import zlib
from collections.abc import Iterable, Iterator
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
from datasets_app.domain.pii.learned.candidates import (
    DATE,
    NUMBER,
    Candidate,
    find_dates,
    find_numbers,
)
from scripts.chats.texts import read_chats
from scripts.detection_model.messages import read_messages
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
SORTS = {
    "PHONE": NUMBER,
    "ID_NUMBER": NUMBER,
    "ID_BY_CUE": NUMBER,
    "ACCOUNT": NUMBER,
    "SSN": NUMBER,
    "DATE_OF_BIRTH": DATE,
}
FINDERS = {NUMBER: find_numbers, DATE: find_dates}


class Row(NamedTuple):
    """A text with its marked spans; ``rendered`` is the row as the benchmarks have it."""

    text: str
    spans: list[dict[str, Any]]
    group: str
    language: str
    rendered: dict[str, Any]
    question: str = ""
    is_reliable: bool = True


class Example(NamedTuple):
    row: Row
    candidate: Candidate
    kind: str
    """Its class; "" of what is nobody's."""


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


def make_message_rows(choose: random.Random, per_line: int) -> Iterator[Row]:
    """Of messages of installed packages: the few with a user name several times, the others once."""
    for message in read_messages():
        template = Template(message.language, "chat", message.text)
        for _ in range(max(1, per_line // 3) if "<HANDLE>" in message.text else 1):
            group = f"message:{zlib.crc32(message.source.encode())}"
            yield _make_row(render(template, choose), group, message.language)


def _make_row(rendered: dict[str, Any], group: str, language: str) -> Row:
    prefix = f"{rendered['key'].replace('_', ' ')}: " if "key" in rendered else ""
    shift = len(prefix)
    spans = [
        {"start": span["start"] + shift, "end": span["end"] + shift, "type": span["type"]}
        for span in rendered["spans"]
    ]
    return Row(prefix + rendered["text"], spans, group, language, rendered, rendered.get("before", ""))


def read_corpus(path: Path, choose: random.Random, count: int) -> Iterator[Row]:
    """Texts that people wrote: what is marked in them or looks like a name on a page isn't judged."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in choose.sample(rows, min(count, len(rows))):
        text = row.get("text") or ""
        spans = [{**span, "type": "OTHER"} for span in row.get("spans", ())]
        if text and "@" not in text and "http" not in text and not re.match(r"[\w|`^-]+[:,] ", text):
            yield Row(text, spans, f"corpus:{hash_text(text)}", "en", row, is_reliable=False)


def hash_text(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % 1000


def list_examples(row: Row) -> Iterator[Example]:
    for _sort, find in FINDERS.items():
        for candidate in find(row.text):
            kind = _get_kind(row.spans, candidate)
            if kind is not None:
                yield Example(row, candidate, kind)


def _get_kind(spans: Iterable[dict[str, Any]], candidate: Candidate) -> str | None:
    """Its class, "" for none; None where it can't be told: a part of something else that is personal."""
    for span in spans:
        if span["start"] < candidate.end and candidate.start < span["end"]:
            shared = min(span["end"], candidate.end) - max(span["start"], candidate.start)
            whole = max(span["end"], candidate.end) - min(span["start"], candidate.start)
            if SORTS.get(span["type"]) == candidate.sort and shared >= 0.7 * whole:
                return str(span["type"])
            return None
    return ""
