"""Writes a small name model in ONNX: a table with the scores of each word.

The format's messages are few enough to write by hand (https://onnx.ai/onnx/intro/, onnx.proto).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

LABELS = ("O", "B-PER", "I-PER", "B-LOC")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_FLOAT, _INT64 = 1, 7


def _field(number: int, value: int | bytes | str) -> bytes:
    """A field of a protocol buffer: a whole number, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes((*parts, value))


def _tensor_type(name: str, kind: int, *dimensions: str | int) -> bytes:
    shape = b"".join(
        _field(1, _field(1, size) if isinstance(size, int) else _field(2, size)) for size in dimensions
    )
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _encode_network(
    table: "np.ndarray[tuple[int, int], np.dtype[np.float32]]", inputs: Sequence[str]
) -> bytes:
    """``logits = table[input_ids]``; other inputs are declared and not used."""
    weights = b"".join(_field(1, size) for size in table.shape)
    weights += _field(2, _FLOAT) + _field(8, "table") + _field(9, table.tobytes())
    node = _field(1, "table") + _field(1, "input_ids") + _field(2, "logits") + _field(4, "Gather")
    graph = _field(1, node) + _field(2, "names") + _field(5, weights)
    graph += b"".join(_field(11, _tensor_type(name, _INT64, "batch", "tokens")) for name in inputs)
    graph += _field(12, _tensor_type("logits", _FLOAT, "batch", "tokens", table.shape[1]))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13))


def write_onnx_model(
    folder: Path,
    label_by_word: Mapping[str, str],
    *,
    labels: Sequence[str] = LABELS,
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"),
    window: int = 512,
) -> Path:
    """A model that gives each word its label whatever stands around it, and all others the first label."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = [*SPECIAL, *label_by_word]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.zeros((len(words), len(labels)), dtype=np.float32)
    for number, word in enumerate(words):
        table[number, labels.index(label_by_word.get(word, labels[0]))] = 5
    (folder / "model.onnx").write_bytes(_encode_network(table, inputs))
    config = {"id2label": dict(enumerate(labels)), "max_position_embeddings": window, "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(config))
    return folder
