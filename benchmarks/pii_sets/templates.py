"""Templates: text with slots. ``<PHONE>`` is filled with a marked value, ``<city>`` with any word."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.pii_sets.values import ALL_LOCALES, ANY_CASE, LOCALES_BY_LANGUAGE, Part, ValueSource, Words

FOLDER = Path(__file__).parent
_SLOT = re.compile(r"<([A-Z_]+|[a-z]+)>")
_SIGNS = re.compile(r"[.,!?;:'\"()](?!\w)|'(?=\w)")
_QUESTION = " >> "
# How people write: as it is, in lower case, without punctuation, both, in capitals.
STYLES = ("plain", "lower", "bare", "lower bare", "upper")
STYLE_SHARES = {
    "chat": (50, 28, 5, 15, 2),
    "form": (88, 12, 0, 0, 0),
    "data": (100, 0, 0, 0, 0),
    "keys": (100, 0, 0, 0, 0),
}


class Template(NamedTuple):
    """``before`` is what the other side said; ``key`` the metadata key under which the text stands."""

    language: str
    layout: str
    text: str
    before: str = ""
    key: str = ""

    @property
    def slots(self) -> set[str]:
        return set(_SLOT.findall(self.text))


def read_templates(name: str) -> list[Template]:
    """Of a file in which ``# en chat`` begins a section, and each other line is a template."""
    language, layout, found = "en", "chat", []
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            language, _, layout = line[2:].partition(" ") if " " in line[2:] else ("en", "", line[2:])
        elif line:
            found.append(parse_template(language, layout, line.replace("\\n", "\n")))
    return found


def parse_template(language: str, layout: str, line: str) -> Template:
    if layout == "keys":
        key, _, text = line.partition(" ")
        return Template(language, layout, text, key=key)
    before, sign, text = line.partition(_QUESTION)
    return Template(language, layout, text, before) if sign else Template(language, layout, line)


def render_row(template: Template, choose: random.Random, words: Words) -> dict[str, Any]:
    """A filled template, its values marked."""
    source = ValueSource(choose, choose_locale(choose, template.language), template.language, words)
    style = choose.choices(STYLES, STYLE_SHARES[template.layout])[0]
    before = "".join(part.text for part in fill_parts(template.before, source))
    return {
        **build_row([restyle_part(part, style) for part in fill_parts(template.text, source)]),
        "locale": source.locale,
        **({"before": before} if before else {}),
        **({"key": template.key} if template.key else {}),
    }


def build_row(parts: list[Part]) -> dict[str, Any]:
    text, spans = "", []
    for part in parts:
        if part.kind:
            spans.append({"start": len(text), "end": len(text) + len(part.text), "type": part.kind})
        text += part.text
    return {"text": text, "spans": spans}


def choose_locale(choose: random.Random, language: str) -> str:
    """People write English with numbers and addresses of everywhere."""
    if language == "en" and choose.random() < 0.4:
        return choose.choice(ALL_LOCALES)
    return choose.choice(LOCALES_BY_LANGUAGE[language])


def fill_parts(text: str, source: ValueSource) -> Iterator[Part]:
    at = 0
    for slot in _SLOT.finditer(text):
        if slot.start() > at:
            yield Part(text[at : slot.start()])
        yield from source.make(slot[1], in_lines=_has_own_line(text, slot) and source.choose.random() < 0.7)
        at = slot.end()
    if at < len(text):
        yield Part(text[at:])


def _has_own_line(text: str, slot: re.Match[str]) -> bool:
    return (
        "\n" in text
        and text[slot.start() - 1 : slot.start()] in ("", "\n")
        and text[slot.end() : slot.end() + 1] in ("", "\n")
    )


def restyle_part(part: Part, style: str) -> Part:
    text = part.text
    if part.kind is None and "bare" in style:
        text = _SIGNS.sub("", text)
    if part.kind is None or part.kind in ANY_CASE:
        text = text.lower() if "lower" in style else text.upper() if style == "upper" else text
    return part._replace(text=text)
