"""Marked texts, wherever they are: files of a folder, WNUT17 in its two parts, and the generated sets."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.make_pii_sets import HELD_OUT, write_sets

MULTIDOGO_PATH = "data/multidogo_names_train.jsonl"  # beside the folder
# Thresholds are chosen on dev, comments on videos; test, mostly tweets, is only reported.
WNUT17_DEV_ROWS = 1_009

_HARDWARE_ADDRESS = re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.IGNORECASE)

Row = Mapping[str, Any]


class Corpus(NamedTuple):
    """``brand_folder`` has the personas of rows that name a brand. What is ``held_out`` is never shown."""

    name: str
    rows: list[Row]
    brand_folder: Path | None = None
    held_out: bool = False


def read_rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as file:
        return [_mark_hardware_addresses(json.loads(line)) for line in file if line.strip()]


def _mark_hardware_addresses(row: Row) -> Row:
    """Corpora that were marked before hardware addresses were a class leave them out."""
    known = {span["start"] for span in row["spans"]}
    found = [
        {"start": match.start(), "end": match.end(), "type": "OTHER:MAC"}
        for match in _HARDWARE_ADDRESS.finditer(row["text"])
        if match.start() not in known
    ]
    return {**row, "spans": [*row["spans"], *found]} if found else row


def read_given(paths: Iterable[Path]) -> Iterator[Corpus]:
    for path in paths:
        rows = read_rows(path)
        if path.stem.startswith("gold_wnut17"):
            yield Corpus(f"{path.stem}_dev", rows[:WNUT17_DEV_ROWS])
            yield Corpus(f"{path.stem}_test", rows[WNUT17_DEV_ROWS:])
        else:
            yield Corpus(path.stem, rows)


def find_gold(data: Path) -> list[Path]:
    found = [*sorted((data / "gold").glob("*.jsonl")), data.parent / MULTIDOGO_PATH]
    return [path for path in found if path.exists()]


def generate_sets(parts: Iterable[str], folder: Path) -> Iterator[Corpus]:
    """The sets of ``make_pii_sets``, written to ``folder``."""
    for path in write_sets(folder, parts):
        yield Corpus(path.stem, read_rows(path), folder / "personas", path.stem.startswith(HELD_OUT))
