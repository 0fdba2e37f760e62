"""Trains the packaged detection model, or judges it by cross-validation. See docs/detection-model.md.

    python -m scripts.train_detection_model --corpus train.jsonl.gz sgd_dev.jsonl.gz [--judge]

``--judge`` leaves out a fifth of the templates in turns, then each language, and prints what is missed and
what is taken at several thresholds, and what rules leave without the model and with it.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from datasets_app.domain.pii.learned.candidates import DATE, NUMBER
from datasets_app.domain.pii.learned.detection_model import KIND_BUCKETS, NUMBER_KINDS, WEIGHTS_PATH
from datasets_app.domain.pii.learned.features import BUCKETS
from scripts.detection_model import judging, training
from scripts.detection_model.examples import Example, list_examples, make_message_rows, make_rows, read_corpus

# Natural logarithms of odds, chosen by cross-validation.
THRESHOLDS = {NUMBER: 1.5, DATE: -0.5}
_STEPS = 127


def main() -> None:
    options = _parse_options()
    choose = random.Random(options.seed)
    rows = list(make_rows(choose, options.per_line))
    rows += make_message_rows(choose, options.per_line)
    for path in options.corpus:
        rows += read_corpus(path, choose, options.texts)
    examples = [example for row in rows for example in list_examples(row)]
    print(f"{len(rows)} texts, {len(examples)} candidates")
    if options.judge:
        judging.judge(rows, examples, THRESHOLDS, options.show)
        return
    weights = np.zeros(BUCKETS)
    for sort in THRESHOLDS:
        of_sort = [example for example in examples if example.candidate.sort == sort]
        labels = np.array([bool(example.kind) for example in of_sort])
        matrix, of_group = training.make_matrix(of_sort), training.weigh(of_sort)
        weights += training.fit(matrix, labels, of_group, training.STRENGTHS[sort])
    save(weights, fit_kinds(examples), options.out)


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], help="JSONL of text and spans, gzipped")
    parser.add_argument("--texts", type=int, default=6_000, help="texts of each corpus")
    parser.add_argument("--per-line", type=int, default=15, help="texts of each line of the templates")
    parser.add_argument("--judge", action="store_true", help="cross-validate instead of writing weights")
    parser.add_argument("--show", type=int, default=0, help="missed values of each class, with --judge")
    parser.add_argument("--out", type=Path, default=WEIGHTS_PATH)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def fit_kinds(examples: Sequence[Example]) -> Any:
    """Weights [kinds, buckets] that tell the class of a number that is personal."""
    personal = [example for example in examples if example.kind and example.candidate.sort == NUMBER]
    names = {"ID_BY_CUE": "ID_NUMBER", "SSN": "ID_NUMBER"}
    kinds = [names.get(example.kind, example.kind) for example in personal]
    matrix = training.make_matrix(personal, KIND_BUCKETS)
    weights = training.weigh(personal)
    return np.stack(
        [
            training.fit(matrix, np.array([kind == wanted for kind in kinds]), weights)
            for wanted in NUMBER_KINDS
        ]
    )


def save(weights: Any, kinds: Any, path: Path) -> None:
    """As whole numbers of eight bits: the steps are smaller than what decides."""
    scale = np.abs(weights).max() / _STEPS
    np.savez_compressed(
        path,
        weights=np.round(weights / scale).astype(np.int8),
        scale=np.array(scale),
        kinds=np.round(kinds / np.abs(kinds).max() * _STEPS).astype(np.int8),
        thresholds=np.array([THRESHOLDS[sort] for sort in (NUMBER, DATE)]),
    )
    print(f"{path.stat().st_size / 1e6:.2f} MB, {np.count_nonzero(np.round(weights / scale))} weights")


if __name__ == "__main__":
    main()
