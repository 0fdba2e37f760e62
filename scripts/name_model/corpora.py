"""The corpora that the name model learns from and is judged by, as texts with spans."""

import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from datasets_app.domain.pii.names.gazetteer import look_up_word

NAME, PLACE, ORGANIZATION, UNSURE = "NAME", "PLACE", "ORGANISATION", "UNSURE"
_LABELS = {"PERSON": NAME, "NAME": NAME, "LOC": PLACE, "ORG": ORGANIZATION}
# The four domains of the MultiDoGO turns stand one after the other. These are the shares of the
# file that one of them alone fills; what lies between is left out where a domain is left out.
DOMAIN_SHARES = {
    "airline": (0.0, 0.262),
    "fastfood": (0.262, 0.526),
    "media": (0.526, 0.752),
    "software": (0.752, 1.0),
}


class Span(NamedTuple):
    start: int
    end: int
    label: str


class Text(NamedTuple):
    """A text, what is in it, and how much it counts in training."""

    text: str
    spans: tuple[Span, ...] = ()
    weight: float = 1.0


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    read = gzip.open if path.suffix == ".gz" else open
    with read(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def read_texts(path: Path, weight: float = 1.0) -> list[Text]:
    """A JSONL file of ``text`` and ``spans`` (``start``, ``end`` and ``label`` or ``type``)."""
    return [Text(row["text"], tuple(_parse_spans(row["spans"])), weight) for row in read_lines(path)]


def _parse_spans(spans: Iterable[dict[str, Any]]) -> Iterator[Span]:
    for span in spans:
        label = _LABELS.get(span.get("label") or span.get("type") or "")
        if label:
            yield Span(span["start"], span["end"], label)


def mark_unsure_spans(text: Text) -> Text:
    """The same text, with what may be marked wrongly left unsaid: roles that are marked as people
    ("the lender"), and first names that are not."""
    spans = [
        span._replace(label=UNSURE)
        if span.label == NAME and _is_role(text.text[span.start : span.end])
        else span
        for span in text.spans
    ]
    for word in _WORD_PATTERN.finditer(text.text):
        known = look_up_word(word[0])
        if (
            known.first == 2
            and not known.common
            and not any(s.start < word.end() and word.start() < s.end for s in spans)
        ):
            spans.append(Span(word.start(), word.end(), UNSURE))
    return text._replace(spans=tuple(spans))


def _is_role(value: str) -> bool:
    known = [look_up_word(word) for word in _WORD_PATTERN.findall(value)]
    return value.islower() and all(fact.common == 2 and not fact.first for fact in known)


def domain_range(corpus: list[Text], name: str) -> range:
    """Which of the MultiDoGO turns belong to a domain."""
    low, high = DOMAIN_SHARES[name]
    return range(round(low * len(corpus)), round(high * len(corpus)))


_WORD_PATTERN = re.compile(r"[^\W\d_]+")
_CAPITALIZED_PATTERN = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")


def read_dialogues(path: Path, share: float, seed: int) -> list[Text]:
    """Turns about restaurants, films and flights. Nobody marked people in them: capitalised words
    within a sentence are left unsaid, all others are taken for ordinary."""
    chosen = random.Random(seed)
    found = []
    for row in read_lines(path):
        if chosen.random() < share:
            text = row["text"]
            found.append(
                Text(
                    text, tuple(Span(m.start(), m.end(), UNSURE) for m in _CAPITALIZED_PATTERN.finditer(text))
                )
            )
    return found
