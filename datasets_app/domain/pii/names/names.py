"""Finds names of people with one or several models: the packaged ones, spaCy pipelines, networks in ONNX.

The packaged ones need only numpy; others load spaCy or onnxruntime. Nothing is ever downloaded: a missing
model is an error that says what to do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datasets_app.domain.pii.detector import NAME, RECALL, Match, merge_matches
from datasets_app.domain.pii.names.model_error import PERSON_LABELS, NameModelError
from datasets_app.domain.pii.names.name_spans import find_name_spans
from datasets_app.domain.pii.names.name_words import place_words, split_pieces

if TYPE_CHECKING:
    from datasets_app.domain.pii.names.name_network import FastTagger
    from datasets_app.domain.pii.network.judged import JudgedText, ReplyHint

BUILT_IN = "builtin"
# What may stand before the name of a model; without one it is a spaCy pipeline.
SPACY_PREFIX, ONNX_PREFIX = "spacy:", "onnx:"
PIPELINE_PATH = Path(__file__).parent / "name_model" / "pipeline"
WEIGHTS_PATH = PIPELINE_PATH / "alignmenter_names" / "model"
# Components that other spaCy pipelines need for entities; all others stay off.
_NEEDED_COMPONENTS = frozenset(
    "alignmenter_names tok2vec transformer curated_transformer ner entity_ruler span_ruler".split()
)
_WINDOW_CHARACTERS = 20_000  # characters per window
_DEFAULT_SCORE = 0.85  # score of pipelines that give no probability, as in presidio

JudgedTexts = Mapping[str, "JudgedText"]
FindMany = Callable[[Sequence[str]], list[list[Match]]]


class NameFinder:
    """Finds the names of people; with several models, the union of their findings."""

    kinds = frozenset({NAME})

    def __init__(self, models: Sequence[str] = (BUILT_IN,), prefer: str = RECALL) -> None:
        if not models:
            raise NameModelError(f"No name model is set. Set “{BUILT_IN}”, spacy:NAME or onnx:FOLDER.")
        self._has_built_in, self._prefer = BUILT_IN in models, prefer
        further = (model for model in dict.fromkeys(models) if model != BUILT_IN)
        self._finders: list[FindMany] = [_make_finder(model) for model in further]

    def find(self, text: str) -> list[Match]:
        """The names in ``text``, by start, without overlaps."""
        return self.find_many([text])[0]

    def find_many(self, texts: Sequence[str], judged: JudgedTexts | None = None) -> list[list[Match]]:
        """The result of :meth:`find` for each of ``texts``; repeated texts are read once. ``judged`` is what
        the network made of them, if it has read them already."""
        distinct = list(dict.fromkeys(texts))
        found = [finder(distinct) for finder in self._finders]
        if self._has_built_in:
            found.append(find_by_built_in(distinct, judged or {}, self._prefer))
        merged = [
            merge_matches(match for matches in each for match in matches) for each in zip(*found, strict=True)
        ]
        by_text = dict(zip(distinct, merged, strict=True))
        return [list(by_text[text]) for text in texts]


@cache
def load_name_finder(models: tuple[str, ...], prefer: str = RECALL) -> NameFinder:
    """One finder per process for each choice."""
    return NameFinder(models, prefer)


def load_built_in_pipeline() -> Any:
    """The packaged pipeline as spaCy loads it; its entities are what :class:`NameFinder` finds."""
    import spacy

    import datasets_app.domain.pii.names.name_pipeline  # noqa: F401  (registers the components)

    return spacy.load(PIPELINE_PATH)


@cache
def load_built_in_tagger() -> "FastTagger":
    from datasets_app.domain.pii.names.name_network import FastTagger, read_weights

    return FastTagger(read_weights(WEIGHTS_PATH.read_bytes()))


def _make_finder(model: str) -> FindMany:
    if model.startswith(ONNX_PREFIX):
        from datasets_app.domain.pii.names.onnx_names import OnnxTagger

        return OnnxTagger(model.removeprefix(ONNX_PREFIX)).find_many
    return _InstalledPipeline(model.removeprefix(SPACY_PREFIX)).find_many


def find_by_built_in(texts: Sequence[str], judged: JudgedTexts, prefer: str) -> list[list[Match]]:
    """The names in each text, by the packaged models: in English by what both say, in every other language by
    the network."""
    judged = _complete(texts, judged)
    scored = _score_english(texts, judged)
    names = {
        text: find_name_spans(text, *place_words(text), scores, prefer) for text, scores in scored.items()
    }
    return [
        names.get(text, []) if judged[text].is_english else judged[text].find(frozenset({NAME}), prefer)
        for text in texts
    ]


def score_by_built_in(texts: Sequence[str]) -> list[float]:
    """The highest probability in each text that a word is part of a name."""
    judged = _complete(texts, {})
    scored = _score_english(texts, judged)
    return [
        max(scored.get(text, ()), default=0.0)
        if judged[text].is_english
        else judged[text].reading.likeliest_name
        for text in texts
    ]


def _complete(texts: Sequence[str], judged: JudgedTexts) -> JudgedTexts:
    return {**read_texts([text for text in texts if text not in judged]), **judged}


def _score_english(texts: Sequence[str], judged: JudgedTexts) -> dict[str, list[float]]:
    """The probability of each word to be part of a name, for the English texts that may have one."""
    from datasets_app.domain.pii.names.joined import TaggedText, join_scores, may_name

    english = {text: judged[text].reading for text in texts if judged[text].is_english}
    readings = {text: reading for text, reading in english.items() if may_name(reading)}
    tagged = map(TaggedText, readings, load_built_in_tagger().score_many(list(readings)))
    return join_scores(list(tagged), readings)


def read_texts(texts: Sequence[str]) -> JudgedTexts:
    """Each text as the network reads it; see :func:`judge_texts`."""
    from datasets_app.domain.pii.network.judged import judge_texts

    return dict(zip(texts, judge_texts(texts), strict=True))


def read_replies(replies: Sequence[tuple[str, str]], hints: "dict[str, ReplyHint]") -> JudgedTexts:
    """Texts that end with a reply (text, reply), as the network reads them; see :func:`judge_replies`."""
    from datasets_app.domain.pii.network.judged import judge_replies

    return judge_replies(replies, hints)


class _InstalledPipeline:
    """A spaCy pipeline, by package name or path, with only the components that names need."""

    def __init__(self, model: str) -> None:
        import spacy

        import datasets_app.domain.pii.names.name_pipeline  # noqa: F401  (a path may be one of ours)

        if not spacy.util.is_package(model) and not Path(model).is_dir():
            raise NameModelError(_explain_not_installed(model))
        try:
            self._nlp = spacy.load(model)
        except (OSError, ValueError, ImportError) as error:
            raise NameModelError(_explain_load_failure(model, error)) from error
        self._disabled = [name for name in self._nlp.pipe_names if name not in _NEEDED_COMPONENTS]

    def find_many(self, texts: Sequence[str]) -> list[list[Match]]:
        """Read long texts in windows, and batch texts of similar length."""
        windows = [
            (number, start, part) for number, text in enumerate(texts) for start, part in _split_windows(text)
        ]
        windows.sort(key=lambda window: len(window[2]))
        found: list[list[Match]] = [[] for _ in texts]
        # Joined pieces are the text without lone surrogates, which spaCy rejects.
        stream = (("".join(split_pieces(part)), (number, start)) for number, start, part in windows)
        for doc, (number, start) in self._nlp.pipe(
            stream, as_tuples=True, batch_size=256, disable=self._disabled
        ):
            found[number] += (
                Match(NAME, start + entity.start_char, start + entity.end_char, _DEFAULT_SCORE)
                for entity in doc.ents
                if entity.label_ in PERSON_LABELS
            )
        return [merge_matches(matches) for matches in found]


def _split_windows(text: str) -> Iterator[tuple[int, str]]:
    """Parts of a long text with their offsets, cut after nearby white space if there is any."""
    start = 0
    while start < len(text):
        end = min(start + _WINDOW_CHARACTERS, len(text))
        if end < len(text):
            blank = max(
                text.rfind(" ", start + _WINDOW_CHARACTERS // 2, end),
                text.rfind("\n", start + _WINDOW_CHARACTERS // 2, end),
            )
            end = blank + 1 or end
        yield start, text[start:end]
        start = end


def _explain_not_installed(model: str) -> str:
    return (
        f"The name model “{model}” is not installed. Install the spaCy pipeline of that name on every"
        f" machine that scrubs, give the path of one, or set “{BUILT_IN}”."
    )


def _explain_load_failure(model: str, error: Exception) -> str:
    return (
        f"The name model “{model}” cannot be loaded ({type(error).__name__}). It must be a pipeline for the"
        f" installed version of spaCy, with all it needs; or set “{BUILT_IN}”."
    )
