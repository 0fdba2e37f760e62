"""Marked texts: files of a folder, WNUT17 in its two parts, values alone, and the generated sets."""

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
# Written in technical chat as an example or not: what it is, nobody can tell, and it is found on purpose.
_PRIVATE_NETWORK = re.compile(
    r"(?<![\w.])(?:10\.\d{1,3}|172\.(?:1[6-9]|2\d|3[01])|192\.168)(?:\.\d{1,3}){2}(?!\.?\w)"
)

Row = Mapping[str, Any]


class Corpus(NamedTuple):
    """``brand_folder`` has the personas of rows that name a brand, and of ``brand``, whose chat all rows are.
    ``is_dataset``: rows of the same "session" are its turns. ``is_answered``: somebody decided on what is
    proposed. What is ``held_out`` is never shown."""

    name: str
    rows: list[Row]
    brand_folder: Path | None = None
    held_out: bool = False
    brand: str = ""
    is_dataset: bool = False
    is_answered: bool = False

    @property
    def label(self) -> str:
        parts = {", a brand's": self.brand, ", as a dataset": self.is_dataset, ", answered": self.is_answered}
        return self.name + "".join(part for part, applies in parts.items() if applies)


def read_rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as file:
        rows = [_mark(json.loads(line), "OTHER:MAC", _HARDWARE_ADDRESS) for line in file if line.strip()]
    if path.stem.endswith("tech_chat"):
        rows = [_mark(row, "OTHER:IP", _PRIVATE_NETWORK) for row in rows]
    return rows


def _mark(row: Row, label: str, pattern: re.Pattern[str]) -> Row:
    """What a corpus leaves unmarked, because it wasn't a class or its authors didn't think of it."""
    known = {span["start"] for span in row["spans"]}
    found = [
        {"start": match.start(), "end": match.end(), "type": label}
        for match in pattern.finditer(row["text"])
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


_MARKED_LINES = Path(__file__).parent / "pii_sets" / "bare.txt"
_MARK = re.compile(r"«([NUAD]):([^»]*)»")
_MARK_TYPES = {"N": "NAME", "U": "HANDLE", "A": "ADDRESS", "D": "DATE_OF_BIRTH"}


def read_bare() -> Corpus:
    """Values alone, in fragments and behind a question, and near misses of them."""
    lines = _MARKED_LINES.read_text(encoding="utf-8").splitlines()
    return Corpus("bare", [_read_bare_line(line) for line in lines if line and not line.startswith("#")])


def _read_bare_line(line: str) -> Row:
    question, is_answer, answer = line.partition("?\\n")
    text, spans = "", []
    for number, part in enumerate(_MARK.split(answer if is_answer else line)):
        part = part.replace("\\n", "\n")
        if number % 3 == 1:
            spans.append({"start": len(text), "type": _MARK_TYPES[part]})
            continue
        text += part
        if number % 3 == 2:
            spans[-1]["end"] = len(text)
    return {"text": text, "spans": spans} | ({"before": f"{question}?"} if is_answer else {})


def find_gold(data: Path) -> list[Path]:
    found = [*sorted((data / "gold").glob("*.jsonl")), data.parent / MULTIDOGO_PATH]
    return [path for path in found if path.exists()]


def generate_sets(parts: Iterable[str], folder: Path) -> Iterator[Corpus]:
    """The sets of ``make_pii_sets``, written to ``folder``; chats of brands also as a dataset for each, and
    with what its preview proposes decided."""
    for path in write_sets(folder, parts):
        corpus = Corpus(path.stem, read_rows(path), folder / "personas", path.stem.startswith(HELD_OUT))
        yield corpus
        if path.stem.endswith(("brand_chat", "brand_sessions")):
            yield corpus._replace(is_dataset=True)
            yield corpus._replace(is_dataset=True, is_answered=True)


def list_brand_variants(corpora: Iterable[Corpus], folder: Path) -> Iterator[Corpus]:
    """People in the chat of a brand: the corpora with names of customers, read with a persona."""
    list(write_sets(folder, [TUNE]))
    for corpus in corpora:
        if corpus.name.startswith(CUSTOMER_CORPORA):
            of_brand = corpus._replace(brand_folder=folder / "personas", brand=PERSONA)
            yield from (of_brand, of_brand._replace(is_dataset=True))
