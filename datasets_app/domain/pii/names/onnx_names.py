"""Finds names of people with a token classifier in ONNX, as Hugging Face's models are exported.

A folder has ``config.json`` (its labels), ``tokenizer.json`` and ``model.onnx``. onnxruntime and tokenizers
are an optional extra (requirements-onnx.txt). Nothing is ever downloaded.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from datasets_app.domain.pii.detector import NAME, Match, merge_matches
from datasets_app.domain.pii.names.model_error import PERSON_LABELS, NameModelError
from datasets_app.domain.pii.names.name_words import split_pieces

REQUIREMENTS = "locks/onnx.txt"
NETWORK_FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
THRESHOLD = 0.5  # probability from which a word is part of a name
_MAX_WINDOW_TOKENS = 512
_BATCH_TOKENS = 8192
# Their positions are counted from behind the padding token.
_SHIFTED_POSITIONS = frozenset("roberta xlm-roberta camembert xlm-roberta-xl data2vec-text mpnet".split())
# Between two words of one name.
_NAME_SIGNS = frozenset(("", " ", "-", "'", "’", ".", ". ", "\u00a0"))


class _Word(NamedTuple):
    """``text[start:end]`` with the probability to be part of a name, and to begin one."""

    start: int
    end: int
    score: float
    begins: bool


class OnnxTagger:
    """A model in a folder. Raises :class:`NameModelError` where one can't be used."""

    def __init__(self, folder: str) -> None:
        self._path = Path(folder)
        if not self._path.is_dir():
            raise self._make_error("there is no such folder")
        config = self._read_config()
        labels = {int(number): str(label) for number, label in config["id2label"].items()}
        self._person = [number for number, label in labels.items() if _split_label(label)[1] in PERSON_LABELS]
        self._begin = [
            number for number in self._person if _split_label(labels[number])[0] in ("B", "S", "U")
        ]
        if not self._person:
            raise self._make_error(
                f"none of its labels is {' or '.join(sorted(PERSON_LABELS))}: {', '.join(labels.values())}"
            )
        self._tokenizer, self._session = self._load()
        inputs = {item.name: item.type for item in self._session.get_inputs()}
        if not {"input_ids"} <= inputs.keys() <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise self._make_error(f"its inputs are {', '.join(inputs)}; a token classifier has input_ids")
        self._types = {name: np.int32 if "int32" in kind else np.int64 for name, kind in inputs.items()}
        size = _get_window_size(config)
        self._tokenizer.enable_truncation(size, stride=size // 4)
        self._tokenizer.no_padding()

    def find_many(self, texts: Sequence[str]) -> list[list[Match]]:
        """The names in each text. Long texts are read in windows that overlap."""
        clean = ["".join(split_pieces(text)) for text in texts]  # the same without lone surrogates
        windows = [
            (number, window)
            for number, encoding in enumerate(self._tokenizer.encode_batch(clean))
            for window in (encoding, *encoding.overflowing)
            if window.ids
        ]
        found: list[list[Match]] = [[] for _ in texts]
        for batch in _split_batches(sorted(windows, key=lambda item: len(item[1].ids))):
            scores, begins = self._score([window for _number, window in batch])
            for (number, window), row, begin in zip(batch, scores, begins, strict=True):
                words = _collect_words(window, row, begin, clean[number])
                found[number] += _join_words(words, clean[number])
        return [merge_matches(matches) for matches in found]

    def _score(self, windows: Sequence[Any]) -> tuple[Any, Any]:
        """Of each token [windows, tokens]: the probability to be in a name, and whether it begins one."""
        width = max(len(window.ids) for window in windows)
        inputs = {name: np.zeros((len(windows), width), dtype=kind) for name, kind in self._types.items()}
        for row, window in enumerate(windows):
            for name, values in (
                ("input_ids", window.ids),
                ("attention_mask", window.attention_mask),
                ("token_type_ids", window.type_ids),
            ):
                if name in inputs:
                    inputs[name][row, : len(values)] = values
        logits = self._session.run(None, inputs)[0].astype(np.float64)
        if logits.ndim != 3 or logits.shape[2] <= max(self._person):
            raise self._make_error("its output is not a number for each token and label")
        logits -= logits.max(axis=2, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=2, keepdims=True)
        person = logits[:, :, self._person].sum(axis=2)
        return person, logits[:, :, self._begin].sum(axis=2) > person / 2

    def _read_config(self) -> dict[str, Any]:
        try:
            config = json.loads((self._path / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise self._make_error("config.json is missing, or no JSON") from None
        if not isinstance(config, dict) or not isinstance(config.get("id2label"), dict):
            raise self._make_error("config.json has no labels (id2label)")
        return config

    def _load(self) -> tuple[Any, Any]:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise NameModelError(
                f"The name model “onnx:{self._path}” needs the packages onnxruntime and tokenizers, which are"
                f" not installed. Install them on every machine that scrubs: pip install -r {REQUIREMENTS}"
            ) from None
        network = next((path for name in NETWORK_FILES if (path := self._path / name).is_file()), None)
        if network is None:
            raise self._make_error(f"there is no {NETWORK_FILES[0]} in it")
        tokenizer = self._path / "tokenizer.json"
        if not tokenizer.is_file():
            raise self._make_error("there is no tokenizer.json in it")
        options = onnxruntime.SessionOptions()
        # Processes use the cores; threads in each would only compete.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library's own, which have no common base
            raise self._make_error(f"{network.name} can't be loaded ({type(error).__name__})") from None
        try:
            return Tokenizer.from_file(str(tokenizer)), session
        except Exception:  # the library raises nothing more special
            raise self._make_error("tokenizer.json can't be read") from None

    def _make_error(self, problem: str) -> NameModelError:
        return NameModelError(
            f"The name model “onnx:{self._path}” cannot be used: {problem}. A folder needs config.json with"
            f" labels such as B-PER and I-PER, tokenizer.json and {NETWORK_FILES[0]}, on every machine that"
            " scrubs; “optimum-cli export onnx --task token-classification” writes one."
        )


def _split_label(label: str) -> tuple[str, str]:
    """``B-PER`` → ("B", "PER"); ``PERSON`` → ("", "PERSON")."""
    prefix, sign, name = label.upper().partition("-")
    return (prefix, name) if sign and len(prefix) == 1 else ("", label.upper())


def _get_window_size(config: dict[str, Any]) -> int:
    limit = config.get("max_position_embeddings")
    if not isinstance(limit, int) or limit < 8:
        return _MAX_WINDOW_TOKENS
    if config.get("model_type") in _SHIFTED_POSITIONS:
        limit -= 2
    return min(limit, _MAX_WINDOW_TOKENS)


def _split_batches(windows: Iterable[tuple[int, Any]]) -> Iterator[list[tuple[int, Any]]]:
    """Windows of about the same length; a batch has a bounded number of tokens, padding included."""
    batch: list[tuple[int, Any]] = []
    for window in windows:
        if batch and (len(batch) + 1) * len(window[1].ids) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def _collect_words(window: Any, scores: Any, begins: Any, text: str) -> Iterator[_Word]:
    """The words of a window; one is as likely a name as the likeliest of its tokens."""
    word: _Word | None = None
    last: int | None = None
    for place, (start, end) in enumerate(window.offsets):
        number = window.word_ids[place]
        if window.special_tokens_mask[place] or start == end:
            continue
        token = _Word(start, end, float(scores[place]), bool(begins[place]))
        if word is not None and number is not None and number == last:
            word = _Word(word.start, end, max(word.score, token.score), word.begins)
        else:
            if word is not None:
                yield _trim(word, text)
            word = token
        last = number
    if word is not None:
        yield _trim(word, text)


def _trim(word: _Word, text: str) -> _Word:
    """Without spaces and punctuation at its ends, which some tokenizers leave at words."""
    start, end = word.start, word.end
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return word._replace(start=start, end=end)


def _join_words(words: Iterable[_Word], text: str) -> Iterator[Match]:
    name: Match | None = None
    for word in words:
        if word.start == word.end:
            continue
        if word.score < THRESHOLD:
            if name:
                yield name
            name = None
        elif name and not word.begins and text[name.end : word.start] in _NAME_SIGNS:
            name = name._replace(end=word.end, score=max(name.score, word.score))
        else:
            if name:
                yield name
            name = Match(NAME, word.start, word.end, word.score)
    if name:
        yield name
