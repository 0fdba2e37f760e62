"""The packaged network computed for many texts at once: same findings, a fraction of the time.

spaCy works through layers of Python for each text. Here texts of any length are laid in one
matrix, words are embedded once and kept, and each convolution is one matrix product in numpy.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from datasets_app.domain.pii.detector import Match
from datasets_app.domain.pii.name_pipeline import NAME_COLUMNS
from datasets_app.domain.pii.name_spans import name_spans
from datasets_app.domain.pii.name_words import features, pieces, places, readings, words

_BATCH = 8192  # pieces of texts that are looked at together
_ROWS = 1024  # words that are computed at once
_MOST_KEPT = 100_000  # words whose embedding is kept: 100,000 × 96 numbers are 38 MB
_EPSILON = 1e-8


class FastTagger:
    """Reads the weights of a pipeline of ours and finds with them what the pipeline finds."""

    def __init__(self, nlp: Any) -> None:
        embedding, encoder, output = nlp.get_pipe("alignmenter_names").model.layers
        self._embed = embedding.layers[0]
        self._blocks = [_Convolution(block) for block in _residuals(encoder)]
        softmax = output.layers[0]
        self._weights = np.ascontiguousarray(softmax.get_param("W").T)
        self._bias = softmax.get_param("b")
        self._pad = len(self._blocks)
        self._known: dict[str, int] = {}
        self._table = np.zeros((1024, self._weights.shape[0]), dtype="f")

    def find_many(self, texts: Sequence[str]) -> list[list[Match]]:
        """For each text its names."""
        found: list[list[Match]] = []
        batch: list[tuple[str, list[str]]] = []
        size = 0
        for text in texts:
            batch.append((text, pieces(text)))
            size += len(batch[-1][1])
            if size >= _BATCH:
                found += self._find(batch)
                batch, size = [], 0
        return found + self._find(batch)

    def _find(self, batch: list[tuple[str, list[str]]]) -> list[list[Match]]:
        scores = self._scores([readings(cut) for _text, cut in batch])
        return [
            name_spans(text, words(cut), places(cut), score)
            for (text, cut), score in zip(batch, scores, strict=True)
        ]

    def _scores(self, texts: list[list[str]]) -> list[list[float]]:
        """For each word of each text the probability of being part of a name."""
        self._learn({form for forms in texts for form in forms})
        # Row 0 is nothing: as many of it as there are convolutions keep neighbours apart.
        gap, known = [0] * self._pad, self._known
        rows = list(gap)
        for forms in texts:
            rows += map(known.__getitem__, forms)
            rows += gap
        probabilities = self._probabilities(np.array(rows)).tolist()
        scores, place = [], self._pad
        for forms in texts:
            scores.append(probabilities[place : place + len(forms)])
            place += len(forms) + self._pad
        return scores

    def _probabilities(self, rows: Any) -> Any:
        """In blocks, each with as much around it as the convolutions see: memory stays bounded."""
        result = np.empty(len(rows), dtype="f")
        for start in range(0, len(rows), _ROWS):
            low, end = max(0, start - self._pad), min(start + _ROWS, len(rows))
            hidden = self._table[rows[low : end + self._pad]]
            for block in self._blocks:
                hidden = block(hidden)
            result[start:end] = self._names(hidden[start - low : end - low])
        return result

    def _names(self, hidden: Any) -> Any:
        logits = hidden @ self._weights + self._bias
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        return logits[:, NAME_COLUMNS].sum(axis=1) / logits.sum(axis=1)

    def _learn(self, forms: set[str]) -> None:
        """Embeds the words that were not met before and keeps what came out."""
        if len(self._known) + len(forms) > _MOST_KEPT:
            self._known.clear()
        new = [form for form in forms if form not in self._known]
        for start in range(0, len(new), _ROWS):
            some = new[start : start + _ROWS]
            embedded = self._embed.predict(np.array([features(form) for form in some], dtype="uint64"))
            first = len(self._known) + 1
            while first + len(some) > len(self._table):
                self._table = np.concatenate([self._table, np.zeros_like(self._table)])
            self._table[first : first + len(some)] = embedded
            self._known.update(zip(some, range(first, first + len(some)), strict=True))


class _Convolution:
    """Window of three words, maxout of pieces, layer normalisation, added to what came in."""

    def __init__(self, block: Any) -> None:
        maxout = next(node for node in block.walk() if node.name == "maxout")
        normal = next(node for node in block.walk() if node.name == "layernorm")
        weights, bias = maxout.get_param("W"), maxout.get_param("b")
        self._width, self._pieces, _inputs = weights.shape
        # Piece by piece, so that the best of each is one comparison of two matrices.
        flat = weights.transpose(1, 0, 2).reshape(self._width * self._pieces, -1).T
        self._left, self._here, self._right = (np.ascontiguousarray(part) for part in np.split(flat, 3))
        self._bias = np.ascontiguousarray(bias.T.reshape(-1))
        self._mean = np.full((self._width, 1), 1 / self._width, dtype="f")
        self._scale, self._shift = normal.get_param("G"), normal.get_param("b")

    def __call__(self, rows: Any) -> Any:
        """The same number of rows; beyond the first and the last there is nothing."""
        width = self._width
        parts = rows @ self._here
        parts += self._bias
        parts[1:] += rows[:-1] @ self._left
        parts[:-1] += rows[1:] @ self._right
        best = np.maximum(parts[:, :width], parts[:, width : 2 * width])
        for start in range(2 * width, parts.shape[1], width):
            np.maximum(best, parts[:, start : start + width], out=best)
        best -= best @ self._mean
        spread = np.sqrt(np.einsum("ij,ij->i", best, best) / width + _EPSILON)
        best *= np.divide(1, spread, out=spread)[:, None]
        best *= self._scale
        best += self._shift
        best += rows
        return best


def _residuals(encoder: Any) -> list[Any]:
    # Not by name: the chain that holds them is named after the first of them.
    return list(encoder.layers[0].layers)
