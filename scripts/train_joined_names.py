"""Trains the layer that joins the name model with the network, and writes it into the package; see
docs/name-model.md.

    python -m scripts.train_joined_names --names ../shared/data/names --english ../shared/pii/train

``--names`` has chat lines (``chat/en.txt``), ``--english`` the mixed corpus (``train.jsonl.gz``, and
``dev.jsonl.gz``, on which neither was trained) and the pools of names and places. The same input gives the
same weights.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from datasets_app.domain.pii.names.joined import (
    WEIGHTS_PATH,
    JoinedWeights,
    TaggedText,
    describe_words,
)
from datasets_app.domain.pii.names.name_spans import is_plain_word
from datasets_app.domain.pii.names.name_words import place_words
from datasets_app.domain.pii.names.names import load_built_in_tagger
from datasets_app.domain.pii.network.runtime import load_network
from scripts.network import rows
from scripts.train_network import TEXTS, make_epoch, read_english, read_lines, read_sentences

ENGLISH = "en"
_HIDDEN, _BATCH, _PASSES, _RATE, _DECAY, _RUNS = 48, 4096, 5, 3e-3, 1e-4, 2
_EPOCHS, _MARKED, _TEXTS_AT_ONCE = 2, 40_000, 5000
# How much a word counts: of texts that both were trained on as they are, and of those they weren't.
_MARKED_WEIGHT, _UNSEEN_WEIGHT = 0.6, 3.0

Examples = tuple[Any, Any, Any]


def read_rows(arguments: argparse.Namespace) -> Iterator[tuple[rows.Row, float]]:
    """Rows with their weight: those of the network's training with other names; marked ones as they are."""
    choose = random.Random(7)
    names = rows.Names(choose)
    marked = [*read_english(arguments, choose), *read_sentences(arguments)]
    fixed = [row for row in marked if row.language == ENGLISH]
    lines = [line for line in read_lines([arguments.names / "chat", TEXTS]) if line[1] == ENGLISH]
    for epoch in range(_EPOCHS):
        for row in make_epoch(epoch, fixed, lines, names, arguments.share):
            yield row, 1.0
    for name, weight in (("train", _MARKED_WEIGHT), ("dev", _UNSEEN_WEIGHT)):
        with gzip.open(arguments.english / f"{name}.jsonl.gz", "rt") as file:
            entries = file.readlines()
        for line in choose.sample(entries, min(_MARKED, len(entries))):
            yield _read_marked(json.loads(line)), weight


def _read_marked(marked: dict[str, Any]) -> rows.Row:
    """Nobody is named but who is marked."""
    spans = [(span["start"], span["end"], rows.NAME) for span in marked["spans"] if span["type"] == "PERSON"]
    return rows.make_row(marked["text"], spans, rows.ORDINARY, ENGLISH)


def make_examples(weighted: Iterable[tuple[rows.Row, float]]) -> Examples:
    """Features [words, features], whether a word is of a name [words], and how much it weighs [words]; those
    that nobody can tell are left out."""
    given = list(weighted)
    parts: list[Examples] = []
    for start in range(0, len(given), _TEXTS_AT_ONCE):
        some = given[start : start + _TEXTS_AT_ONCE]
        texts = [row.text for row, _weight in some]
        scores, readings = load_built_in_tagger().score_many(texts), load_network().read_many(texts)
        for (row, weight), tags, reading in zip(some, scores, readings, strict=True):
            described = describe_words(TaggedText(row.text, tags), reading, least=0)
            labels = _label(row)[described.places]
            is_known = labels >= 0
            if is_known.any():
                weights = np.full(is_known.sum(), weight, np.float32)
                parts.append((described.features[is_known], labels[is_known], weights))
    seen, labels, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return seen, labels.astype(np.float32), weights


def _label(row: rows.Row) -> Any:
    """For each word as the name model cuts them: 1 part of a name, 0 not, -1 unknown."""
    words, starts = place_words(row.text)
    labels = np.full(len(words), -1, np.int8)
    place = 0
    for number, (word, start) in enumerate(zip(words, starts, strict=True)):
        if not is_plain_word(word):
            continue
        while place < len(row.words) and row.words[place].end <= start:
            place += 1
        beside = place
        allowed = []
        while beside < len(row.words) and row.words[beside].start < start + len(word):
            allowed.append(row.allowed[beside])
            beside += 1
        if allowed:
            is_name = any(bits == rows.NAME for bits in allowed)
            labels[number] = 1 if is_name else -1 if any(bits & rows.NAME for bits in allowed) else 0
    return labels


def train(examples: Examples, seed: int) -> JoinedWeights:
    """A dense layer, by Adam; the last batch of each pass, which is shorter, is left out."""
    seen, labels, weights = examples
    mean, spread = seen.mean(axis=0), seen.std(axis=0) + 1e-3
    seen = (seen - mean) / spread
    first, second = jax.random.split(jax.random.PRNGKey(seed))
    layers = (
        jax.random.normal(first, (seen.shape[1], _HIDDEN)) * seen.shape[1] ** -0.5,
        jnp.zeros(_HIDDEN),
        jax.random.normal(second, (_HIDDEN, 1)) * 0.1,
        jnp.zeros(1),
    )
    steps = _PASSES * (len(seen) // _BATCH)
    optimizer = optax.adamw(optax.cosine_decay_schedule(_RATE, steps), weight_decay=_DECAY)
    state = optimizer.init(layers)

    def compute_loss(layers: Any, batch: Examples) -> Any:
        hidden = jax.nn.relu(batch[0] @ layers[0] + layers[1])
        logits = (hidden @ layers[2] + layers[3])[:, 0]
        return (optax.sigmoid_binary_cross_entropy(logits, batch[1]) * batch[2]).mean()

    @jax.jit
    def step(layers: Any, state: Any, batch: Examples) -> Any:
        updates, state = optimizer.update(jax.grad(compute_loss)(layers, batch), state, layers)
        return optax.apply_updates(layers, updates), state

    draw = np.random.default_rng(seed)
    for _ in range(_PASSES):
        order = draw.permutation(len(seen))
        for start in range(0, len(seen) - _BATCH + 1, _BATCH):
            some = order[start : start + _BATCH]
            layers, state = step(layers, state, (seen[some], labels[some], weights[some]))
    return JoinedWeights(mean, spread, *map(np.asarray, layers))


def _place_side_by_side(runs: Sequence[JoinedWeights]) -> JoinedWeights:
    """The mean of several trainings as one layer."""
    return JoinedWeights(
        runs[0].mean,
        runs[0].spread,
        np.concatenate([run.hidden for run in runs], axis=1),
        np.concatenate([run.hidden_bias for run in runs]),
        np.concatenate([run.out for run in runs]) / len(runs),
        sum(run.out_bias for run in runs) / len(runs),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--names", type=Path, required=True)
    parser.add_argument("--english", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.5, help="of the rows")
    parser.add_argument("--out", type=Path, default=WEIGHTS_PATH)
    arguments = parser.parse_args()
    examples = make_examples(read_rows(arguments))
    print(f"{len(examples[0]):,} words, {int(examples[1].sum()):,} of names", flush=True)
    runs = [train(examples, seed) for seed in range(_RUNS)]
    np.savez(arguments.out, **_place_side_by_side(runs)._asdict())


if __name__ == "__main__":
    main()
