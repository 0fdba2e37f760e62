"""The network as it is trained (jax): the same layers as ``datasets_app/domain/pii/network/runtime.py``
computes."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from datasets_app.domain.pii.network.features import EXACT, FEATURES, TABLE_ROWS, VECTOR, FeatureReader
from datasets_app.domain.pii.network.runtime import CLASSES, LANGUAGES
from datasets_app.domain.pii.network.vectors import load_vectors
from scripts.network.rows import Row
from scripts.network.spoken import read_language

WIDTH, VECTOR_WIDTH, DEPTH_WIDTH = 64, 48, 144
SEEN_WIDTH = 2 * WIDTH + VECTOR_WIDTH
DILATIONS = (1, 1, 2, 4, 1)
GAPS = 3
LENGTHS = (8, 16, 32, 64, 128)
WORDS_A_BATCH = 4096
# The part that the language of a text has in the loss, and how slowly the weights that are kept follow
# training.
_LANGUAGE_SHARE, _AVERAGE = 0.1, 0.998
UNTOLD = -1  # the language of a row that tells none
# Shares left out in training: of the features of a word, of whole words, of what layers make of them.
_DROPPED, _DROPPED_WORDS, _DROPPED_HIDDEN, _DROPPED_VECTORS = 0.3, 0.06, 0.2, 0.15


def encode(rows: Sequence[Row], readers: Sequence[FeatureReader], seed: int) -> dict[int, tuple[Any, ...]]:
    """By length: features [rows, length, FEATURES + 1], gaps and allowed classes [rows, length], languages
    [rows].

    A row is read by one of the readers: each hides other names.
    """
    draw = np.random.default_rng(seed)
    by_length: dict[int, list[tuple[Any, ...]]] = {length: [] for length in LENGTHS}
    for row in rows:
        words, allowed = row.words[: LENGTHS[-1]], row.allowed[: LENGTHS[-1]]
        if not words:
            continue
        reader = readers[draw.integers(len(readers))]
        features, gaps = reader.read(row.text, words)
        length = next(length for length in LENGTHS if len(words) <= length)
        by_length[length].append(
            (
                np.array(features, np.int32),
                np.array(gaps, np.int8),
                np.array(allowed, np.int16),
                LANGUAGES.index(language) if (language := read_language(row)) else UNTOLD,
            )
        )
    return {length: _pad(items, length) for length, items in by_length.items() if items}


def _pad(items: list[tuple[Any, ...]], length: int) -> tuple[Any, ...]:
    features = np.zeros((len(items), length, FEATURES + 1), np.int32)
    gaps = np.zeros((len(items), length), np.int8)
    allowed = np.zeros((len(items), length), np.int16)
    languages = np.array([language for *_, language in items], np.int32)
    for number, (some, gap, classes, _language) in enumerate(items):
        features[number, : len(some)], gaps[number, : len(gap)], allowed[number, : len(classes)] = (
            some,
            gap,
            classes,
        )
    return features, gaps, allowed, languages


def make_batches(encoded: dict[int, tuple[Any, ...]], seed: int) -> Iterator[tuple[Any, ...]]:
    """Each row once, in an order of its own for each seed."""
    draw = np.random.default_rng(seed)
    batches = []
    for length, (features, *_rest) in encoded.items():
        order, size = draw.permutation(len(features)), WORDS_A_BATCH // length
        batches += [(length, order[start : start + size]) for start in range(0, len(order) - size + 1, size)]
    for place in draw.permutation(len(batches)):
        length, numbers = batches[place]
        features, *rest = (part[numbers] for part in encoded[length])
        vectors = load_vectors().read(features[..., VECTOR].ravel()).reshape(*features.shape[:2], -1)
        yield (features[..., :VECTOR], vectors, *rest)


def make_parameters(seed: int) -> dict[str, Any]:
    keys = iter(jax.random.split(jax.random.PRNGKey(seed), 20))

    def draw(*shape: int, scale: float) -> Any:
        return jax.random.normal(next(keys), shape) * scale

    parameters = {
        "table": draw(TABLE_ROWS, WIDTH, scale=0.05),
        "gap": draw(GAPS, DEPTH_WIDTH, scale=0.1),
        "in": draw(SEEN_WIDTH, DEPTH_WIDTH, scale=0.1),
        "in_bias": jnp.zeros(DEPTH_WIDTH),
        "text": draw(SEEN_WIDTH, DEPTH_WIDTH, scale=0.03),
        "out": draw(DEPTH_WIDTH, len(CLASSES), scale=0.05),
        "language": draw(SEEN_WIDTH, len(LANGUAGES), scale=0.03),
        "language_bias": jnp.zeros(len(LANGUAGES)),
        "out_bias": jnp.zeros(len(CLASSES)).at[0].set(2.0),
    }
    for number in range(len(DILATIONS)):
        parameters[f"conv{number}"] = draw(
            3 * DEPTH_WIDTH, DEPTH_WIDTH, scale=(1.5 / (3 * DEPTH_WIDTH)) ** 0.5
        )
        parameters[f"conv{number}_bias"] = jnp.zeros(DEPTH_WIDTH)
    return parameters


def forward(parameters: dict[str, Any], features: Any, vectors: Any, gaps: Any, key: Any = None) -> Any:
    """Logits of classes [rows, length, classes] and of languages [rows, languages]."""
    is_word = (features[..., 0] > 0)[..., None].astype(jnp.float32)
    rows = parameters["table"][features] * (features > 0)[..., None]
    grams = features[..., EXACT:] > 0
    exact = rows[:, :, :EXACT].sum(2)
    if key is not None:
        keep = jax.random.bernoulli(key, 1 - _DROPPED, (*features.shape[:2], EXACT, 1)) / (1 - _DROPPED)
        exact = (rows[:, :, :EXACT] * keep).sum(2)
        key = jax.random.fold_in(key, 99)
        is_seen = jax.random.bernoulli(key, 1 - _DROPPED_WORDS, (*features.shape[:2], 1))
        exact, rows = exact * is_seen, rows * is_seen[..., None]
        keep = jax.random.bernoulli(jax.random.fold_in(key, 98), 1 - _DROPPED_VECTORS, is_seen.shape)
        vectors = vectors * is_seen * keep / (1 - _DROPPED_VECTORS)
    mean = rows[:, :, EXACT:].sum(2) / jnp.maximum(grams.sum(2), 1)[..., None]
    seen = jnp.concatenate([exact, mean, vectors], -1)
    text = (seen * is_word).sum(1) / jnp.maximum(is_word.sum(1), 1)
    hidden = seen @ parameters["in"] + parameters["in_bias"] + parameters["gap"][gaps]
    hidden = _normalize(jax.nn.relu(hidden + (text @ parameters["text"])[:, None]) * is_word)
    for number, step in enumerate(DILATIONS):
        before = jnp.pad(hidden[:, :-step], ((0, 0), (step, 0), (0, 0)))
        behind = jnp.pad(hidden[:, step:], ((0, 0), (0, step), (0, 0)))
        window = jnp.concatenate([before, hidden, behind], -1)
        change = jax.nn.relu(window @ parameters[f"conv{number}"] + parameters[f"conv{number}_bias"])
        if key is not None:
            key = jax.random.fold_in(key, number)
            change = (
                change * jax.random.bernoulli(key, 1 - _DROPPED_HIDDEN, change.shape) / (1 - _DROPPED_HIDDEN)
            )
        hidden = _normalize(hidden + change) * is_word
    return hidden @ parameters["out"] + parameters["out_bias"], text @ parameters["language"] + parameters[
        "language_bias"
    ]


def _normalize(hidden: Any) -> Any:
    return hidden / jnp.sqrt(jnp.mean(hidden * hidden, -1, keepdims=True) + 1e-6)


def compute_loss(
    parameters: dict[str, Any],
    features: Any,
    vectors: Any,
    gaps: Any,
    allowed: Any,
    languages: Any,
    key: Any,
) -> Any:
    logits, spoken = map(jax.nn.log_softmax, forward(parameters, features, vectors, gaps, key))
    is_told = languages >= 0
    said = (jnp.take_along_axis(spoken, jnp.maximum(languages, 0)[:, None], 1)[:, 0] * is_told).sum()
    said = said / jnp.maximum(is_told.sum(), 1)
    bits = (allowed[..., None].astype(jnp.int32) >> jnp.arange(len(CLASSES))) & 1
    likely = jax.nn.logsumexp(jnp.where(bits > 0, logits, -1e9), -1)
    counts = (allowed > 0).astype(jnp.float32)
    return -(likely * counts).sum() / jnp.maximum(counts.sum(), 1) - _LANGUAGE_SHARE * said


def train(
    encoded_epochs: Iterator[dict[int, Any]],
    steps: int,
    rate: float,
    seed: int,
    start: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """``encoded_epochs``: the rows of each epoch. Stops when the steps are done. ``start``: the parameters to
    go on with."""
    parameters = start or make_parameters(seed)
    schedule = optax.warmup_cosine_decay_schedule(rate / 10, rate, min(300, steps // 4), steps, rate / 50)
    optimizer = optax.adamw(schedule, b2=0.99, weight_decay=0.02)
    state, average = optimizer.init(parameters), jax.tree.map(jnp.copy, parameters)

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(parameters: Any, average: Any, state: Any, batch: Any, key: Any) -> Any:
        loss, slopes = jax.value_and_grad(compute_loss)(parameters, *batch, key)
        updates, state = optimizer.update(slopes, state, parameters)
        parameters = optax.apply_updates(parameters, updates)
        return parameters, optax.incremental_update(parameters, average, 1 - _AVERAGE), state, loss

    key, count, mean, begun = jax.random.PRNGKey(seed + 1), 0, 1.0, time.monotonic()
    for epoch, encoded in enumerate(encoded_epochs):
        for batch in make_batches(encoded, seed + epoch):
            key, some = jax.random.split(key)
            parameters, average, state, loss = step(parameters, average, state, batch, some)
            mean = 0.99 * mean + 0.01 * float(loss)
            count += 1
            if count % 200 == 0:
                print(f"step {count}/{steps} loss {mean:.4f} {time.monotonic() - begun:.0f} s", flush=True)
            if count >= steps:
                return average
    return average
