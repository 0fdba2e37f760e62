"""The spaCy components of the packaged name model: tokenizer, network and entities.

For training, Presidio and other pipelines: the application itself runs the packaged
network without spaCy (``name_network.py``), which takes a second to load. Importing this registers the
components, after which ``spacy.load`` can read the packaged pipeline.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.attrs import IS_SPACE, ORTH, SPACY
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import (
    HashEmbed,
    Maxout,
    Model,
    Softmax,
    chain,
    clone,
    concatenate,
    expand_window,
    residual,
    with_array,
)

from datasets_app.domain.pii.names.joined import TaggedText, join_scores, may_name
from datasets_app.domain.pii.names.name_spans import find_name_spans
from datasets_app.domain.pii.names.name_words import (
    FEATURES,
    GLUED,
    LABELS,
    compute_features,
    place_words,
)
from datasets_app.domain.pii.network.judged import judge_texts

ENTITY_LABEL = "PERSON"  # the usual label in spaCy pipelines
# Rows of the embedding tables, in the order of word features.
EMBEDDING_ROWS = (4500, 100, 3000, 600, 2500, 4000, 200, 60)


class NameTokenizer:
    """Splits text into words; lemmas are plain forms, which presidio's context words need."""

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab

    def __call__(self, text: str) -> Doc:
        forms, starts = place_words(text)
        followers = [*starts[1:], len(text)][: len(starts)]
        spaces = [
            start + len(form) < after for form, start, after in zip(forms, starts, followers, strict=True)
        ]
        return Doc(self.vocab, words=forms, spaces=spaces, lemmas=[form.lower() for form in forms])

    def to_disk(self, path: str | Path, **options: Any) -> None:
        """This component has no state."""

    def from_disk(self, path: str | Path, **options: Any) -> "NameTokenizer":
        return self

    def to_bytes(self, **options: Any) -> bytes:
        return b""

    def from_bytes(self, data: bytes, **options: Any) -> "NameTokenizer":
        return self


@spacy.registry.tokenizers("alignmenter.name_words.v1")
def name_tokenizer() -> Callable[[Language], NameTokenizer]:
    return lambda nlp: NameTokenizer(nlp.vocab)


@spacy.registry.architectures("alignmenter.name_network.v1")
def name_network(width: int, depth: int) -> Model[list[Doc], list[Any]]:
    """Probabilities of :data:`LABELS` for each word: hashed features, convolutions, softmax.

    Features are embedded once for each distinct word of a batch.
    """
    tables = [
        HashEmbed(width, rows, column=column, seed=column + 1, dropout=0.0)
        for column, rows in enumerate(EMBEDDING_ROWS)
    ]
    mix = Maxout(nO=width, nI=width * FEATURES, nP=2, normalize=True, dropout=0.0)
    block = residual(
        chain(expand_window(window_size=1), Maxout(nO=width, nI=width * 3, nP=2, normalize=True, dropout=0.0))
    )
    return chain(
        _make_distinct_word_layer(chain(concatenate(*tables), mix)),
        with_array(clone(block, depth), pad=depth),
        with_array(Softmax(nO=len(LABELS), nI=width)),
    )


def _make_distinct_word_layer(embed: Model[Any, Any]) -> Model[list[Doc], list[Any]]:
    def initialize(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:
        model.layers[0].initialize()

    attributes = {"hidden_share": 0.0, "seed": 0}
    return Model("by_distinct_word", _embed_words, init=initialize, layers=[embed], attrs=attributes)


def _embed_words(model: Model[Any, Any], docs: Sequence[Doc], is_train: bool) -> tuple[list[Any], Any]:
    """In training, a share of the words is hidden from the gazetteer."""
    keys, distinct = _find_distinct_words(docs)
    rows = [compute_features(reading) for reading in distinct]
    if is_train and model.attrs["hidden_share"]:
        rows += [compute_features(reading, hidden=True) for reading in distinct]
        model.attrs["seed"] += 1
        chance = np.random.default_rng(model.attrs["seed"]).random(len(keys))
        keys = keys + (chance < model.attrs["hidden_share"]) * len(distinct)
    embedded, backward = model.layers[0](np.array(rows, dtype="uint64").reshape(-1, FEATURES), is_train)
    ends = np.cumsum([len(doc) for doc in docs])[:-1]

    def finish(gradients: list[Any]) -> list[Doc]:
        total = np.zeros_like(embedded)
        model.ops.scatter_add(total, keys.astype("int32"), np.concatenate(gradients))
        backward(total)
        return []

    return np.split(embedded[keys], ends), finish


def _find_distinct_words(docs: Sequence[Doc]) -> tuple[Any, list[str]]:
    """The words of all texts as indexes of the distinct ones from :func:`readings`."""
    strings = docs[0].vocab.strings
    columns = np.concatenate([doc.to_array([ORTH, SPACY, IS_SPACE]).reshape(-1, 3) for doc in docs])
    parted = (columns[:, 1] | columns[:, 2]).astype(bool)
    glued = np.concatenate([[False], ~parted[:-1]])
    firsts = np.cumsum([0, *(len(doc) for doc in docs)])[:-1]
    glued[firsts[firsts < len(glued)]] = False
    # An odd number separates the two readings of a word; its hash comes from its first occurrence.
    _values, first, keys = np.unique(
        columns[:, 0] ^ (glued * np.uint64(0x9E3779B97F4A7C15)), return_index=True, return_inverse=True
    )
    return keys, [(GLUED if glued[n] else "") + strings[int(columns[n, 0])] for n in first]


class NameTagger(TrainablePipe):
    """Sets ``doc.ents`` to the names of people that this pipeline and the network of all languages find."""

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        docs = list(docs)
        if not any(len(doc) for doc in docs):
            return [np.zeros((0, len(LABELS)), dtype="f") for _ in docs]
        return list(self.model.predict(docs))

    def set_annotations(self, docs: Iterable[Doc], scores: list[Any]) -> None:
        docs = list(docs)
        judged = judge_texts([doc.text for doc in docs])
        readings = {said.reading.text: said.reading for said in judged if may_name(said.reading)}
        tagged = (TaggedText(doc.text, tags) for doc, tags in zip(docs, scores, strict=True))
        joined = join_scores([item for item in tagged if item.text in readings], readings)
        for doc in docs:
            starts = [token.idx for token in doc]
            likely = joined.get(doc.text, [])
            found = find_name_spans(doc.text, [token.text for token in doc], starts, likely)
            spans = [
                doc.char_span(m.start, m.end, label=ENTITY_LABEL, alignment_mode="expand") for m in found
            ]
            doc.set_ents(spans)


@Language.factory("alignmenter_names", assigns=["doc.ents"])
def name_tagger(nlp: Language, name: str, model: Model[Any, Any]) -> NameTagger:
    return NameTagger(nlp.vocab, model, name)
