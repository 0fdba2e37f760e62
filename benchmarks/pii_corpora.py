"""Marked texts, wherever they are: files of a folder, WNUT17 in its two parts, and the generated sets."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.make_pii_sets import HELD_OUT, TUNE, write_sets

MULTIDOGO_PATH = "data/multidogo_names_train.jsonl"  # beside the folder
# Thresholds are chosen on dev, comments on videos; test, mostly tweets, is only reported.
WNUT17_DEV_ROWS = 1_009

# Read with the persona of a made-up brand as well.
CUSTOMER_CORPORA, PERSONA = ("gold_nlupp", "multidogo"), "hollis_home"

_HARDWARE_ADDRESS = re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.IGNORECASE)

Row = Mapping[str, Any]


class Corpus(NamedTuple):
    """``brand_folder`` has the personas of rows that name a brand, and of ``brand``, whose chat all rows are.
    ``is_dataset``: the rows of a brand are sessions of one dataset, searched for brands before its scrub;
    rows of the same "session" are its turns.
    What is ``held_out`` is never shown."""

    name: str
    rows: list[Row]
    brand_folder: Path | None = None
    held_out: bool = False
    brand: str = ""
    is_dataset: bool = False

    @property
    def label(self) -> str:
        return (
            self.name + (", a brand's" if self.brand else "") + (", as a dataset" if self.is_dataset else "")
        )


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
    """The sets of ``make_pii_sets``, written to ``folder``; chats of brands also as a dataset for each."""
    for path in write_sets(folder, parts):
        corpus = Corpus(path.stem, read_rows(path), folder / "personas", path.stem.startswith(HELD_OUT))
        yield corpus
        if path.stem.endswith(("brand_chat", "brand_sessions")):
            yield corpus._replace(is_dataset=True)


def list_brand_variants(corpora: Iterable[Corpus], folder: Path) -> Iterator[Corpus]:
    """People in the chat of a brand: the corpora with names of customers, read with a persona."""
    list(write_sets(folder, [TUNE]))
    for corpus in corpora:
        if corpus.name.startswith(CUSTOMER_CORPORA):
            of_brand = corpus._replace(brand_folder=folder / "personas", brand=PERSONA)
            yield from (of_brand, of_brand._replace(is_dataset=True))
