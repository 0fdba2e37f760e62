"""The network learns: batches of texts in varying case, cross-entropy over the labels of words."""

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from thinc.api import Adam, Model, NumpyOps, set_dropout_rate, warmup_linear
from thinc.util import fix_random_seed

from datasets_app.domain.pii.names.name_pipeline import NameTokenizer
from datasets_app.domain.pii.names.name_words import LABELS, place_words, select_words, split_pieces
from scripts.name_model.corpora import NAME, UNSURE, Text
from scripts.name_model.misspelling import misspell

HIDDEN_WORD_SHARE = 0.3  # of the words are shown as if the gazetteer had never heard of them
_WORDS_PER_BATCH = 3000
_DROPOUT_RATE = 0.1
_LABEL_SMOOTHING = 0.02
_LOWERCASE_SHARE, _UPPERCASE_SHARE, _TITLE_CASE_SHARE = 0.35, 0.04, 0.03  # of the texts that have capitals
_OUTSIDE_LABEL = LABELS.index("O")


class _FastOps(NumpyOps):
    """Matrix products by numpy's library, which takes half the time of thinc's."""

    def gemm(self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
        left, right = (x.T if trans1 else x), (y.T if trans2 else y)
        return np.matmul(left, right) if out is None else np.matmul(left, right, out=out)


def new_pipeline(width: int, depth: int, seed: int) -> Any:
    """An untrained pipeline of our components; the same seed gives the same weights."""
    fix_random_seed(seed)
    nlp = spacy.blank("en", config={"nlp": {"tokenizer": {"@tokenizers": "alignmenter.name_words.v1"}}})
    network = {"@architectures": "alignmenter.name_network.v1", "width": width, "depth": depth}
    nlp.add_pipe("alignmenter_names", config={"model": network}).model.initialize()
    return nlp


def load_weights(nlp: Any, path: Path) -> None:
    """Takes over the weights of a pipeline trained before."""
    nlp.get_pipe("alignmenter_names").model.from_disk(path / "alignmenter_names" / "model")


def train_pipeline(nlp: Any, corpus: Sequence[Text], epochs: float, seed: int, learning_rate: float) -> None:
    """Leaves the averaged weights in ``nlp``; the same seed and texts give the same weights."""
    fix_random_seed(seed)
    model, tokenizer = nlp.get_pipe("alignmenter_names").model, NameTokenizer(nlp.vocab)
    model._to_ops(_FastOps())
    model.layers[0].attrs["hidden_share"] = HIDDEN_WORD_SHARE
    set_dropout_rate(model, _DROPOUT_RATE)
    batches = _make_batches(corpus, seed)
    size = sum(len(select_words(split_pieces(text.text))) for text in corpus)
    steps = int(epochs * size / _WORDS_PER_BATCH)
    optimizer = Adam(
        warmup_linear(learning_rate, steps // 20, int(steps * 1.02)),
        L2=0.001,
        L2_is_weight_decay=True,
        use_averages=True,
    )
    started, lost = time.monotonic(), 0.0
    for step in range(1, steps + 1):
        lost += _train_step(model, tokenizer, next(batches), optimizer)
        optimizer.step_schedules()
        if step % 200 == 0:
            print(
                f"step {step}/{steps}  loss {lost / 200:.4f}  {time.monotonic() - started:.0f} s", flush=True
            )
            lost = 0.0
    with model.use_params(optimizer.averages):
        averaged = model.to_bytes()
    model.from_bytes(averaged)
    set_dropout_rate(model, 0.0)
    model.layers[0].attrs["hidden_share"] = 0.0
    model.layers[0].attrs["seed"] = 0
    model._to_ops(NumpyOps())


def _make_batches(corpus: Sequence[Text], seed: int) -> Iterator[list[Text]]:
    chosen = random.Random(seed)
    order = list(range(len(corpus)))
    batch: list[Text] = []
    size = 0
    while True:
        chosen.shuffle(order)
        for number in order:
            text = _vary_case(misspell(corpus[number], chosen), chosen.random())
            batch.append(text)
            size += len(text.text) // 5 + 1
            if size >= _WORDS_PER_BATCH:
                yield batch
                batch, size = [], 0


def _vary_case(text: Text, draw: float) -> Text:
    for share, change in (
        (_LOWERCASE_SHARE, str.lower),
        (_UPPERCASE_SHARE, str.upper),
        (_TITLE_CASE_SHARE, str.title),
    ):
        if draw < share:
            changed = change(text.text)
            return text._replace(text=changed) if len(changed) == len(text.text) else text
        draw -= share
    return text


def _train_step(model: Model, tokenizer: NameTokenizer, batch: list[Text], optimizer: Any) -> float:
    docs, targets, weights = [], [], []
    for text in batch:
        doc = tokenizer(text.text)
        if len(doc):
            docs.append(doc)
            labels, counts = _word_labels(text)
            targets += labels
            weights += counts
    truth = np.full((len(targets), len(LABELS)), _LABEL_SMOOTHING / len(LABELS), dtype="f")
    truth[np.arange(len(targets)), targets] += 1 - _LABEL_SMOOTHING
    scores, backward = model.begin_update(docs)
    flat = np.concatenate(scores)
    weight = np.array(weights, dtype="f")[:, None]
    gradient = (flat - truth) * weight / len(targets)
    ends = np.cumsum([len(doc) for doc in docs])[:-1]
    backward(np.split(gradient, ends))
    model.finish_update(optimizer)
    return float(-(np.log(flat + 1e-9) * truth * weight).sum() / len(targets))


def _word_labels(text: Text) -> tuple[list[int], list[float]]:
    """The label of each word and how much it counts: what nobody is sure of does not."""
    forms, starts = place_words(text.text)
    labels, weights = [_OUTSIDE_LABEL] * len(forms), [text.weight] * len(forms)
    for span in text.spans:
        inside = False
        for number, start in enumerate(starts):
            if start < span.end and start + len(forms[number]) > span.start:
                if span.label == UNSURE:
                    weights[number] = 0.0
                else:
                    label = span.label if span.label != NAME else ("NAME-I" if inside else "NAME-B")
                    labels[number] = LABELS.index(label)
                inside = True
    return labels, weights
