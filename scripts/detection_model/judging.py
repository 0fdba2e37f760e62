"""Cross-validation: templates left out by fifths, and whole languages; rules alone, and with the model."""

import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from benchmarks.bench_pii import scrub_rows
from datasets_app.domain.pii.learned import detection_model
from datasets_app.domain.pii.learned.candidates import DATE, NUMBER
from datasets_app.domain.pii.learned.features import CLASSIFY
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from scripts.detection_model import training
from scripts.detection_model.examples import SORTS, Example, Row

FOLDS = 5
ROWS_PER_GROUP = 6
TRIED = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


class _NoModel:
    """In the place of the packaged model: what rules find alone."""

    def find(self, text: str, question: str = "", known: Sequence[Any] = ()) -> list[Any]:
        return []


def judge(
    rows: Sequence[Row], examples: Sequence[Example], thresholds: Mapping[str, float], shown: int = 0
) -> None:
    """``shown`` is how many missed values of each class are printed."""
    detection_model.load_detection_model = _NoModel  # type: ignore[assignment]
    by_group = lambda example: str(zlib.crc32(example.row.group.encode()) % FOLDS)  # noqa: E731
    by_language = lambda example: example.row.language  # noqa: E731
    for title, get_fold in (("templates left out", by_group), ("languages left out", by_language)):
        scores = cross_validate(examples, get_fold)
        for sort in thresholds:
            print_thresholds(f"{sort}, {title}", examples, scores, sort)
        print_leaks(title, rows, examples, scores, thresholds, shown)


def cross_validate(examples: Sequence[Example], get_fold: Callable[[Example], str]) -> Any:
    """The score of each example by weights that were fitted without its fold."""
    scores = np.zeros(len(examples))
    folds = np.array([get_fold(example) for example in examples])
    for sort in (NUMBER, DATE):
        places = np.array([place for place, example in enumerate(examples) if example.candidate.sort == sort])
        of_sort = [examples[place] for place in places]
        matrix, weights = training.make_matrix(of_sort), training.weigh(of_sort)
        labels = np.array([bool(example.kind) for example in of_sort])
        for fold in sorted(set(folds[places])):
            rest = folds[places] != fold
            if len(set(labels[rest])) == 2 and not rest.all():
                coefficients = training.fit(
                    matrix[rest], labels[rest], weights[rest], training.STRENGTHS[sort]
                )
                scores[places[~rest]] = matrix[~rest] @ coefficients
    return scores


def print_thresholds(title: str, examples: Sequence[Example], scores: Any, sort: str) -> None:
    kinds: dict[str, list[float]] = defaultdict(list)
    for example, score in zip(examples, scores, strict=True):
        if example.candidate.sort == sort:
            where = (
                "corpus"
                if not example.row.is_reliable
                else "chat"
                if example.row.group[:4] == "chat"
                else "lines"
            )
            kinds[example.kind or f"taken of {where}"].append(score)
    print(title, *(f"{threshold:>7}" for threshold in TRIED))
    for kind, values in sorted(kinds.items()):
        shares = [
            np.mean(np.array(values) >= threshold)
            if kind.startswith("taken")
            else np.mean(np.array(values) < threshold)
            for threshold in TRIED
        ]
        print(f"  {kind:<16} {len(values):>6}", *(f"{100 * share:7.2f}" for share in shares))


def print_leaks(
    title: str,
    rows: Sequence[Row],
    examples: Sequence[Example],
    scores: Any,
    thresholds: Mapping[str, float],
    shown: int,
) -> None:
    """Of each class and source of templates: what rules leave, and what is left of that by the model."""
    found_by_model: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for example, score in zip(examples, scores, strict=True):
        sort, start, end = example.candidate
        looks = CLASSIFY[sort](example.row.text[start:end])
        further = detection_model.get_further_odds(sort, looks)
        if score >= thresholds[sort] + further:
            found_by_model[id(example.row)].append(example.candidate[1:])
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    missed: dict[str, set[str]] = defaultdict(set)
    for row in choose_rows(rows):
        by_rules = find_by_rules(row)
        for span in row.spans:
            if span["type"] in SORTS:
                source = "tune" if row.group.startswith("tune") else "own"
                if title.startswith("languages"):
                    source += f" {row.language}"
                left = [
                    covers(row.text, span, spans) for spans in (by_rules, by_rules + found_by_model[id(row)])
                ]
                count = counts[span["type"], source]
                count[0] += 1
                count[1] += not left[0]
                count[2] += not left[1]
                if not left[1]:
                    missed[span["type"]].add(_mark(row, span))
    print(f"{title}: leak % by rules, united with the model")
    for (kind, source), (total, rules, united) in sorted(counts.items()):
        print(f"  {kind:<14} {source:<9} {total:>6} {100 * rules / total:7.2f} {100 * united / total:7.2f}")
    for kind, texts in sorted(missed.items()):
        print(
            *(f"  {kind}: {text}" for text in sorted(texts)[:: max(1, len(texts) // max(shown, 1))][:shown]),
            sep="\n",
        )


def _mark(row: Row, span: Mapping[str, Any]) -> str:
    question = f"{row.question} >> " if row.question else ""
    start, end = span["start"], span["end"]
    return repr(f"{question}{row.text[:start]}<<{row.text[start:end]}>>{row.text[end:]}")


def choose_rows(rows: Sequence[Row]) -> list[Row]:
    """A few of each line that has values."""
    seen: dict[str, int] = defaultdict(int)
    chosen = []
    for row in rows:
        if any(span["type"] in SORTS for span in row.spans):
            seen[row.group] += 1
            if seen[row.group] <= ROWS_PER_GROUP:
                chosen.append(row)
    return chosen


def find_by_rules(row: Row) -> list[tuple[int, int]]:
    if not isinstance(detection_model.load_detection_model(), _NoModel):
        raise RuntimeError("The packaged model would be judged with the rules.")
    shift = len(row.text) - len(row.rendered["text"])
    [found] = scrub_rows([row.rendered], _load_scrubber())
    return [(span["start"] + shift, span["end"] + shift) for span in found["spans"]]


@cache
def _load_scrubber() -> Scrubber:
    return Scrubber(Policy(), key=b"a key for measurements only")


def covers(text: str, span: Mapping[str, Any], found: Sequence[tuple[int, int]]) -> bool:
    """Whether no letter or digit of a value is left, but for an article before it."""
    start, end = span["start"], span["end"]
    if text[start : start + 4].lower() == "the ":
        start += 4
    return all(
        any(first <= place < last for first, last in found)
        for place in range(start, end)
        if text[place].isalnum()
    )
