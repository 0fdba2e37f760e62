"""Reads the weights of the packaged network with numpy, without spaCy or thinc.

spaCy takes more than a second to load, too slow for a git hook or a command. The file is as spaCy writes it
(thinc's ``Model.to_disk``): MessagePack, layers in breadth-first order.
"""

from typing import Any, NamedTuple

import msgspec
import numpy as np

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
