"""Writes marked texts to score the scrubber by: to tune on, and held out.

    python -m benchmarks.make_pii_sets FOLDER [--seed 14]

Each set has values of all classes in templates, technical chat, and chats of made-up brands with their
personas. The two share no template, and few words. What "tune" has of the latter is written to mislead;
"tune_natural" has it as it is said, like "held_out". Nobody who works on the detectors should read
``held_out.txt`` and its companions: what was tuned on them can't be judged by them. Once they were read,
move them to "tune" and write new ones. "held_out_numbers" has new ones for two classes, whose rules were
widened by what was lost in "held_out". The same seed writes the same bytes. A line is
``{"text": …, "spans": [{"start", "end", "type"}]}``, and may have "before" (what the other side said
last), "key" (the metadata key under which the text stands) or "brand" (whose persona speaks).
Where a brand's file has whole conversations, a row has its "session" and its "role" too; in
``brand_sessions`` the customers' names are marked.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.pii_sets import negatives
from benchmarks.pii_sets.templates import Template, read_templates, render_row
from benchmarks.pii_sets.values import Words
from benchmarks.pii_sets.vocabulary import HELD_OUT_WORDS, TUNE_WORDS

TUNE, HELD_OUT = "tune", "held_out"
PARTS = (TUNE, HELD_OUT)
NUMBERS, NUMBER_SLOTS = "held_out_numbers", ("PHONE", "ACCOUNT")
DEFAULT_SEED = 14
KINDS_OF_CHAT = {
    "tech_chat": negatives.make_tech_rows,
    "brand_chat": negatives.make_brand_rows,
    "tech_people": negatives.make_tech_people_rows,
    "brand_sessions": negatives.make_brand_session_rows,
}
# Rows in which a slot occurs, at least.
ROWS_BY_SLOT = {
    "PHONE": 420,
    "ADDRESS": 360,
    "ID_NUMBER": 360,
    "IBAN": 220,
    "HANDLE": 300,
    "AT_HANDLE": 140,
    "DOB": 300,
    "AGE": 60,
    "ACCOUNT": 160,
    "WALLET": 120,
    "MAC": 100,
    "URL": 80,
    "EMAIL": 120,
    "PASSPORT": 30,
    "SSN": 80,
    "CARD": 80,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where to write the sets")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    given = parser.parse_args()
    for path in write_sets(given.folder, seed=given.seed):
        print(path, sum(1 for _ in path.open(encoding="utf-8")))


def write_sets(folder: Path, parts: Iterable[str] = PARTS, *, seed: int = DEFAULT_SEED) -> Iterator[Path]:
    """Write the sets and their brands' personas (``personas/ID.yaml``); yields the files of texts."""
    personas = folder / "personas"
    personas.mkdir(parents=True, exist_ok=True)
    for part in parts:
        words = TUNE_WORDS if part == TUNE else HELD_OUT_WORDS
        sets = {part: tuple(ROWS_BY_SLOT)} | ({NUMBERS: NUMBER_SLOTS} if part == HELD_OUT else {})
        for name, slots in sets.items():
            rows = make_rows(read_templates(f"{name}.txt"), random.Random(f"{name} {seed}"), words, slots)
            yield _write_rows(folder / f"{name}.jsonl", rows)
        for name in (part, f"{part}_natural"):
            _write_personas(name, personas)
            chat = random.Random(f"{name} chat {seed}")
            for kind, make in KINDS_OF_CHAT.items():
                if rows := list(make(name, chat)):
                    yield _write_rows(folder / f"{name}_{kind}.jsonl", rows)


def _write_personas(name: str, folder: Path) -> None:
    for brand in (*negatives.read_brands(name)[0], *negatives.read_session_brands(name)[0]):
        persona = negatives.render_persona(brand)
        (folder / f"{brand['id']}.yaml").write_text(persona, encoding="utf-8")


def make_rows(
    templates: list[Template], choose: random.Random, words: Words, slots: Iterable[str]
) -> Iterator[dict[str, Any]]:
    """Each class gets its number of rows, from its templates in turns, and each template a row."""
    for slot in slots:
        having = [template for template in templates if has_slot(template, slot)]
        if not having:
            print(f"no template has <{slot}> yet: the set is without it", file=sys.stderr)
            continue
        choose.shuffle(having)
        for number in range(max(ROWS_BY_SLOT[slot], len(having))):
            yield render_row(having[number % len(having)], choose, words)


def has_slot(template: Template, slot: str) -> bool:
    """``HANDLE_PLAIN`` is a form of ``HANDLE``."""
    return any(name == slot or name.startswith(f"{slot}_") for name in template.slots)


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            file.write(json.dumps({"id": f"{path.stem}-{number}", **row}, ensure_ascii=False) + "\n")
    return path


if __name__ == "__main__":
    main()
