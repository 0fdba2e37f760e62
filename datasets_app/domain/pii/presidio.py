"""Our detectors as presidio's recognizers.

Users of presidio can add it to their own engine, which needs no model download and no network::

    from datasets_app.domain.pii.presidio import make_name_recognizer, make_nlp_engine, make_recognizer
    from datasets_app.domain.pii.rules.finder import RuleDetector

    engine = AnalyzerEngine(nlp_engine=make_nlp_engine(), registry=RecognizerRegistry())
    engine.registry.add_recognizer(make_recognizer(RuleDetector()))
    engine.registry.add_recognizer(make_name_recognizer())

or the whole of it: ``make_analyzer_engine().analyze(text, language="en")``. Classes that presidio knows go by
its names there (EMAIL_ADDRESS, PERSON), ours alone by our own (CREDENTIAL, PATH, HOST).

That engine is the plain path, text by text: what the scrubber finds in a text must be what it finds, and
it is what the scrubber's speed is measured against. The scrubber itself does without presidio, which is
loaded with the first call of anything in here.
"""

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from datasets_app.domain.pii.ages import find_ages
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detection import drop_matches_in_codes as outside_codes
from datasets_app.domain.pii.detector import DATE_OF_BIRTH, KINDS, NAME, Detector, Match, merge_matches
from datasets_app.domain.pii.names.names import (
    BUILT_IN,
    load_built_in_pipeline,
    load_name_finder,
    read_texts,
)
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.recognizer_files import ENTITY_BY_KIND, KIND_BY_ENTITY

if TYPE_CHECKING:
    from presidio_analyzer import AnalyzerEngine, EntityRecognizer, RecognizerResult
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

# Presidio asks for a language; our rules are the same in all of them.
LANGUAGE = "en"


def get_entity(kind: str) -> str:
    """What presidio calls a class of ours."""
    return ENTITY_BY_KIND.get(kind, kind)


def convert_results(results: Iterable["RecognizerResult"]) -> list[Match]:
    """The findings of an engine as ours, overlapping ones as one, in order."""
    return merge_matches(
        Match(KIND_BY_ENTITY.get(r.entity_type, r.entity_type), r.start, r.end, r.score) for r in results
    )


def make_recognizer(
    detector: Detector, kinds: Iterable[str] = (), *, language: str = LANGUAGE
) -> "EntityRecognizer":
    """Any detector for a presidio registry, with the detector's own scores.

    ``kinds`` limits it to some of its classes. Context words are the detector's affair: presidio's
    enhancer neither raises nor lowers a score.
    """
    recognizer: EntityRecognizer = _define_recognizers()[0](
        detector, frozenset(kinds) or detector.kinds, language
    )
    return recognizer


def make_name_recognizer(*, language: str = LANGUAGE, with_ages: bool = True) -> "EntityRecognizer":
    """Names in any language; and the ages of those people, which are dates of birth. English names are those
    that :func:`make_nlp_engine` has found already, so that the model runs once a text."""
    recognizer: EntityRecognizer = _define_recognizers()[1](language, with_ages)
    return recognizer


def _list_english(nlp_artifacts: Any) -> list[Match]:
    return [
        Match(NAME, entity.start_char, entity.end_char, score)
        for entity, score in zip(nlp_artifacts.entities, nlp_artifacts.scores, strict=True)
        if entity.label_ == get_entity(NAME)
    ]


@cache
def _define_recognizers() -> tuple[type[Any], type[Any]]:
    from presidio_analyzer import LocalRecognizer, RecognizerResult

    class OurRecognizer(LocalRecognizer):
        name: str

        def load(self) -> None:
            """Nothing to load."""

        def results(self, matches: Iterable[Match], entities: Sequence[str]) -> list[RecognizerResult]:
            said = {
                RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
                RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
            }
            return [
                RecognizerResult(get_entity(m.kind), m.start, m.end, m.score, recognition_metadata=dict(said))
                for m in matches
                if get_entity(m.kind) in entities and get_entity(m.kind) in self.supported_entities
            ]

    class DetectorRecognizer(OurRecognizer):
        def __init__(self, detector: Detector, kinds: frozenset[str], language: str) -> None:
            self.detector = detector
            name = f"{type(detector).__name__}Recognizer"
            super().__init__(sorted(map(get_entity, kinds)), name, language)

        def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> Any:
            return self.results(self.detector.find(text), entities)

    class NameRecognizer(OurRecognizer):
        def __init__(self, language: str, with_ages: bool) -> None:
            kinds = (NAME, DATE_OF_BIRTH) if with_ages else (NAME,)
            super().__init__([get_entity(kind) for kind in kinds], "NameRecognizer", language)

        def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> Any:
            if nlp_artifacts is None:
                return []
            judged = read_texts([text])[text]
            found = _list_english(nlp_artifacts) if judged.is_english else judged.find(frozenset({NAME}))
            names = outside_codes(found, text)
            return self.results([*names, *find_ages(text, names)], entities)

    return DetectorRecognizer, NameRecognizer


def make_nlp_engine(*, language: str = LANGUAGE) -> "SpacyNlpEngine":
    """The packaged name model as presidio's NLP engine; it never looks for a download.

    Every word has its lower-cased form as its lemma, without which presidio's own recognizers would
    silently lose their context words.
    """
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class PackagedNlpEngine(SpacyNlpEngine):
        nlp: Any

        def load(self) -> None:
            pipeline = load_built_in_pipeline()
            # spaCy's limit is for parsers, whose memory grows faster than the text does.
            pipeline.max_length = sys.maxsize
            self.nlp = {language: pipeline}

    engine = PackagedNlpEngine([{"lang_code": language, "model_name": BUILT_IN}])
    engine.load()
    return engine


class _AllButNames:
    """What the scrubber finds in a text of all classes but names."""

    def __init__(self, kinds: frozenset[str]) -> None:
        self.kinds = kinds
        self._detection = Detection(Policy(kinds=tuple(kinds)), b"", rules_only=True)

    def find(self, text: str) -> list[Match]:
        return merge_matches(self._detection.find_many([DetectionInput(text)])[0])


def make_analyzer_engine(
    kinds: Iterable[str] = KINDS,
    *,
    name_models: Sequence[str] = (BUILT_IN,),
    other_detectors: Sequence[Detector] = (),
    language: str = LANGUAGE,
) -> "AnalyzerEngine":
    """A presidio engine with exactly our recognizers: all rules as one, names, ``other_detectors``."""
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry

    kinds = frozenset(kinds)
    detectors: list[Detector] = [_AllButNames(kinds - {NAME})] if kinds - {NAME} else []
    recognizers = [
        make_recognizer(detector, language=language) for detector in (*detectors, *other_detectors)
    ]
    if NAME in kinds:
        further = tuple(model for model in name_models if model != BUILT_IN)
        if further:
            recognizers.append(make_recognizer(load_name_finder(further), language=language))
        if BUILT_IN in name_models:
            recognizers.append(make_name_recognizer(language=language, with_ages=DATE_OF_BIRTH in kinds))
    if not recognizers:
        raise ValueError("an engine needs a class to look for")
    registry = RecognizerRegistry(recognizers, supported_languages=[language])
    return AnalyzerEngine(registry, make_nlp_engine(language=language), supported_languages=[language])
