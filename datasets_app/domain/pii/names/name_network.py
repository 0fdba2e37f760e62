"""Runs the packaged network on many texts at once: the probabilities of spaCy in a fraction of the time.

spaCy runs layers of Python for each text. Here all texts share one matrix, words are embedded once and
cached, and each convolution is computed once for the same words in the same order.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from datasets_app.domain.pii.names.name_words import build_readings, compute_features, split_pieces

# Reads the weights of the packaged network with numpy, without spaCy or thinc.
#
# spaCy takes more than a second to load, too slow for a git hook or a command. The file is as spaCy writes
# it (thinc's `Model.to_disk`): MessagePack, layers in breadth-first order.

# thinc's layer names for a word's own features and for the four convolutions.
_TABLE, _MAXOUT, _LAYER_NORM, _SOFTMAX = "hashembed", "maxout", "layernorm", "softmax"


class Maxout(NamedTuple):
    """``weights`` [width, pieces, inputs], ``bias`` [width, pieces]; the highest piece is normalized,
    multiplied by ``scale`` [width] and shifted by ``shift`` [width]."""

    weights: Any
    bias: Any
    scale: Any
    shift: Any


class EmbeddingTable(NamedTuple):
    """Embeddings [rows, width] of one feature of a word; ``seed`` makes its hash differ from the others'."""

    rows: Any
    seed: int


class NetworkWeights(NamedTuple):
    """``softmax`` are the weights [labels, width] and the bias [labels] of the last layer."""

    tables: list[EmbeddingTable]
    mix: Maxout
    convolutions: list[Maxout]
    softmax: tuple[Any, Any]


def read_weights(model: bytes) -> NetworkWeights:
    """The packaged network as written by :func:`thinc.model.Model.to_bytes`."""
    layers = msgspec.msgpack.decode(model)
    found: dict[str, list[dict[str, Any]]] = {}
    for node, attributes, parameters in zip(layers["nodes"], layers["attrs"], layers["params"], strict=True):
        arrays = {name: _decode_array(value) for name, value in parameters.items()}
        found.setdefault(node["name"], []).append(arrays | {"attributes": attributes})
    tables = [
        EmbeddingTable(table["E"], msgspec.msgpack.decode(table["attributes"]["seed"]))
        for table in found[_TABLE]
    ]
    maxouts = [
        Maxout(maxout["W"], maxout["b"], normal["G"], normal["b"])
        for maxout, normal in zip(found[_MAXOUT], found[_LAYER_NORM], strict=True)
    ]
    [softmax] = found[_SOFTMAX]
    return NetworkWeights(tables, maxouts[0], maxouts[1:], (softmax["W"], softmax["b"]))


def _decode_array(value: dict[bytes, Any]) -> Any:
    """Decode an array from msgpack-numpy's format."""
    return np.frombuffer(value[b"data"], value[b"type"]).reshape(value[b"shape"])


_BODY_MULTIPLIER_1, _BODY_MULTIPLIER_2 = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)
_FINAL_MULTIPLIER_1, _FINAL_MULTIPLIER_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_LOW_32_BITS = np.uint64(0xFFFFFFFF)
_KEY_BYTES = np.uint64(8)


def hash_numbers(numbers: Any, seed: int) -> tuple[Any, Any, Any, Any]:
    """Four hashes of 32 bits for each of ``numbers`` (uint64): MurmurHash3 in the form thinc gives it."""
    first = numbers * _BODY_MULTIPLIER_1
    first = ((first << np.uint64(31)) | (first >> np.uint64(33))) * _BODY_MULTIPLIER_2
    second = np.uint64(seed) ^ _KEY_BYTES
    first = (first ^ np.uint64(seed) ^ _KEY_BYTES) + second
    second = second + first
    first, second = _mix_bits(first), _mix_bits(second)
    first = first + second
    second = second + first
    return first & _LOW_32_BITS, first >> np.uint64(32), second & _LOW_32_BITS, second >> np.uint64(32)


def _mix_bits(number: Any) -> Any:
    number = (number ^ (number >> np.uint64(33))) * _FINAL_MULTIPLIER_1
    number = (number ^ (number >> np.uint64(33))) * _FINAL_MULTIPLIER_2
    return number ^ (number >> np.uint64(33))


_BATCH_WORDS = 8192
_BLOCK_ROWS = 8192  # words in which repeated ones are looked for
_ROWS_AT_ONCE = 1024  # of a matrix that stays in the cache of the processor
_MAX_CACHED_WORDS = 40_000  # cached word embeddings: 40,000 × 96 numbers are 15 MB
_EPSILON = 1e-8


class FastTagger:
    """Says of words what one of our pipelines says, from its weights."""

    def __init__(self, weights: NetworkWeights) -> None:
        self._embed = _Embedding(weights.tables, weights.mix)
        self._blocks = [_Convolution(layer) for layer in weights.convolutions]
        self._weights = np.ascontiguousarray(weights.softmax[0].T)
        self._bias = weights.softmax[1]
        self._pad = len(self._blocks)
        self._known: dict[str, int] = {}
        self._table = np.zeros((1024, self._weights.shape[0]), dtype="f")

    def score_many(self, texts: Sequence[str]) -> list[Any]:
        """The probabilities of the words of each text [words, labels]."""
        found: list[Any] = []
        batch: list[list[str]] = []
        size = 0
        for text in texts:
            batch.append(build_readings(split_pieces(text)))
            size += len(batch[-1])
            if size >= _BATCH_WORDS:
                found += self._score_words(batch)
                batch, size = [], 0
        return found + self._score_words(batch)

    def _score_words(self, texts: list[list[str]]) -> list[Any]:
        self._embed_new_words({form for forms in texts for form in forms})
        # Row 0 is padding: one row per convolution separates neighboring texts.
        gap, known = [0] * self._pad, self._known
        rows = list(gap)
        for forms in texts:
            rows += map(known.__getitem__, forms)
            rows += gap
        probabilities = self._compute_probabilities(np.array(rows))
        scores, place = [], self._pad
        for forms in texts:
            scores.append(probabilities[place : place + len(forms)])
            place += len(forms) + self._pad
        return scores

    def _compute_probabilities(self, rows: Any) -> Any:
        """Compute in blocks, with the context that the convolutions need, to limit memory."""
        result = np.zeros((len(rows), len(self._bias)), dtype="f")
        for start in range(0, len(rows), _BLOCK_ROWS):
            low, end = max(0, start - self._pad), min(start + _BLOCK_ROWS, len(rows))
            block = rows[low : end + self._pad]
            is_wanted = block > 0
            is_wanted[: start - low] = is_wanted[end - low :] = False
            if is_wanted.any():
                result[low : low + len(block)][is_wanted] = self._compute_block(block, is_wanted)
        return result

    def _compute_block(self, rows: Any, is_wanted: Any) -> Any:
        """The probabilities of the rows that are wanted. What a layer makes of a word depends on the words
        around it: a state is a row of ``hidden``, and each layer makes new ones of three neighbors."""
        distinct, states = np.unique(rows, return_inverse=True)
        hidden = self._table[distinct]
        for number, block in enumerate(self._blocks, 1):
            places = _list_places(is_wanted, self._pad - number)
            keys = (states[places - 1] * len(hidden) + states[places]) * len(hidden) + states[places + 1]
            keys, inverse = np.unique(keys, return_inverse=True)
            pairs, behind = np.divmod(keys, len(hidden))
            hidden = block(hidden, np.stack((*np.divmod(pairs, len(hidden)), behind), axis=1))
            states = np.zeros_like(states)
            states[places] = inverse
        return self._soften(hidden)[inverse]

    def _soften(self, hidden: Any) -> Any:
        logits = hidden @ self._weights + self._bias
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        return logits / logits.sum(axis=1, keepdims=True)

    def _embed_new_words(self, forms: set[str]) -> None:
        """Embed words not seen before, and cache the result."""
        if len(self._known) + len(forms) > _MAX_CACHED_WORDS:
            self._known.clear()
        new = [form for form in forms if form not in self._known]
        for start in range(0, len(new), _ROWS_AT_ONCE):
            some = new[start : start + _ROWS_AT_ONCE]
            embedded = self._embed(np.array([compute_features(form) for form in some], dtype="uint64"))
            first = len(self._known) + 1
            while first + len(some) > len(self._table):
                self._table = np.concatenate([self._table, np.zeros_like(self._table)])
            self._table[first : first + len(some)] = embedded
            self._known.update(zip(some, range(first, first + len(some)), strict=True))


class _Embedding:
    """Features of a word → its first vector: hashed table rows, summed, and maxout."""

    def __init__(self, tables: Sequence[EmbeddingTable], mix: Maxout) -> None:
        self._tables = tables
        self._best = _MaxoutLayer(mix)

    def __call__(self, seen: Any) -> Any:
        """``seen`` [words, features] → [words, width]."""
        parts = []
        for column, (rows, seed) in enumerate(self._tables):
            part = np.zeros((len(seen), rows.shape[1]), dtype="f")
            for hashed in hash_numbers(seen[:, column], seed):
                part += rows[hashed % np.uint64(len(rows))]
            parts.append(part)
        inputs = np.concatenate(parts, axis=1)
        return self._best(inputs @ self._best.flat)


class _MaxoutLayer:
    """The highest of the pieces of each output, normalized."""

    def __init__(self, layer: Maxout) -> None:
        weights, bias = layer.weights, layer.bias
        self._width, pieces, _inputs = weights.shape
        # Piece by piece, so that each maximum is one comparison of two matrices.
        self.flat = np.ascontiguousarray(weights.transpose(1, 0, 2).reshape(self._width * pieces, -1).T)
        self._bias = np.ascontiguousarray(bias.T.reshape(-1))
        self._mean = np.full((self._width, 1), 1 / self._width, dtype="f")
        self._scale, self._shift = layer.scale, layer.shift

    def __call__(self, parts: Any) -> Any:
        """``parts`` [rows, pieces × width], modified in place → [rows, width]."""
        width = self._width
        parts += self._bias
        best = np.maximum(parts[:, :width], parts[:, width : 2 * width])
        for start in range(2 * width, parts.shape[1], width):
            np.maximum(best, parts[:, start : start + width], out=best)
        best -= best @ self._mean
        spread = np.sqrt(np.einsum("ij,ij->i", best, best) / width + _EPSILON)
        best *= np.divide(1, spread, out=spread)[:, None]
        best *= self._scale
        best += self._shift
        return best


class _Convolution:
    """A window of three words, maxout and layer normalization, added to the input."""

    def __init__(self, layer: Maxout) -> None:
        self._best = _MaxoutLayer(layer)
        self._parts = [np.ascontiguousarray(part) for part in np.split(self._best.flat, 3)]

    def __call__(self, hidden: Any, windows: Any) -> Any:
        """``hidden`` [states, width], ``windows`` [windows, 3]: the states before, at and behind a word →
        [windows, width]."""
        # Where a state is in many windows, it is multiplied once for all of them.
        products = [hidden @ part for part in self._parts] if 2 * len(hidden) < len(windows) else []
        result = np.empty((len(windows), hidden.shape[1]), dtype="f")
        for start in range(0, len(windows), _ROWS_AT_ONCE):
            before, here, behind = block = windows[start : start + _ROWS_AT_ONCE].T
            if products:
                left, middle, right = products
                parts = middle[here]
                parts += left[before]
                parts += right[behind]
            else:
                parts = hidden[block.T].reshape(len(here), -1) @ self._best.flat
            np.add(self._best(parts), hidden[here], out=result[start : start + len(here)])
        return result


def _list_places(is_wanted: Any, reach: int) -> Any:
    """The places that are wanted, and as many as ``reach`` on both sides of each."""
    near = is_wanted.copy()
    for distance in range(1, reach + 1):
        near[distance:] |= is_wanted[:-distance]
        near[:-distance] |= is_wanted[distance:]
    return np.flatnonzero(near)
