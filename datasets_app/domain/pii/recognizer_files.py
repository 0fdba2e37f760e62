"""Reads recognizers from presidio's YAML, and says in which line something can't be used.

Custom recognizers are read: patterns, deny-lists, context, thresholds. They count for every language.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from datasets_app.domain.pii.custom_patterns import PatternError, compile_regex, find_spans
from datasets_app.domain.pii.detector import (
    CREDIT_CARD,
    CRYPTO_WALLET,
    EMAIL,
    IBAN,
    IP,
    KINDS,
    MAC,
    NAME,
    PHONE,
    SSN,
    Match,
)
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.policy import Policy, PolicyError, Recognizer, check_label

# A team's own recognizers, as presidio's YAML describes them: expressions, deny-lists, context, scores.
#
# They find what presidio's engine finds with them, but under RE2, in linear time. Their scores mean the
# same: that of a pattern, raised where a context word stands before the value. Files are read in
# `recognizer_files.py`.

# What presidio calls our classes.
ENTITY_BY_KIND = {
    CREDIT_CARD: "CREDIT_CARD",
    CRYPTO_WALLET: "CRYPTO",
    EMAIL: "EMAIL_ADDRESS",
    IBAN: "IBAN_CODE",
    IP: "IP_ADDRESS",
    MAC: "MAC_ADDRESS",
    NAME: "PERSON",
    PHONE: "PHONE_NUMBER",
    SSN: "US_SSN",
}
KIND_BY_ENTITY = {entity: kind for kind, entity in ENTITY_BY_KIND.items()}

# As presidio's context enhancer has it, which counts five words and leaves out the commonest.
CONTEXT_BONUS, MIN_SCORE_IN_CONTEXT = 0.35, 0.4
MAX_CONTEXT_WORDS, MAX_CONTEXT_CHARACTERS = 8, 200

_WORD = re.compile(r"\w+")


class RecognizerDetector:
    """A detector for recognizers. Raises :class:`PatternError` for an expression that can't be used."""

    def __init__(self, recognizers: Iterable[Recognizer]) -> None:
        self._searches = [(item, compile_regex(item.kind, item.regex)) for item in recognizers]
        self.kinds = frozenset(item.kind for item, _ in self._searches)

    def find(self, text: str) -> list[Match]:
        if not text:
            return []
        found = []
        for item, search in self._searches:
            for start, end in find_spans(search, text):
                score = _compute_score(item, text, start, end)
                if score and score >= item.threshold:
                    found.append(Match(item.kind, start, end, score))
        return sorted(found, key=lambda match: (match.start, -match.end))


def _compute_score(item: Recognizer, text: str, start: int, end: int) -> float:
    if not item.context or item.score >= 1:
        return item.score
    before = _WORD.findall(text[max(0, start - MAX_CONTEXT_CHARACTERS) : start])[-MAX_CONTEXT_WORDS:]
    nearby = f"{' '.join(before)} {text[start:end]}".lower()
    if not any(word in nearby for word in item.context):
        return item.score
    return min(max(item.score + CONTEXT_BONUS, MIN_SCORE_IN_CONTEXT), 1.0)


MAX_FILE_BYTES = 1 << 20
MAX_PATTERNS = 500
# They are kept with every scrub of a dataset, as digests.
MAX_DENIED_TERMS = 5000
# Those of Python's re: presidio's default is all three.
_FLAG_LETTERS = {2: "i", 8: "m", 16: "s"}
_UNICODE_FLAG = 32
DEFAULT_FLAGS = sum(_FLAG_LETTERS)

_IGNORED_FIELDS = frozenset("supported_languages supported_language version country_code".split())
_FILE_FIELDS = frozenset("recognizers global_regex_flags default_score_threshold".split()) | _IGNORED_FIELDS
_RECOGNIZER_FIELDS = _IGNORED_FIELDS | frozenset(
    "name type enabled supported_entity supported_entities patterns deny_list deny_list_score context"
    " score_thresholds global_regex_flags".split()
)
_PATTERN_FIELDS = frozenset("name regex score".split())


class RecognizerSet(NamedTuple):
    """``denied`` are (class, term) of deny-lists."""

    recognizers: tuple[Recognizer, ...] = ()
    denied: tuple[tuple[str, str], ...] = ()


class RecognizerFileError(PolicyError):
    """The problem with a file, its line and field, as a sentence for its author."""


def read_recognizers(path: Path) -> RecognizerSet:
    """Raises :class:`RecognizerFileError`."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise RecognizerFileError(f"The recognizers in {path} can't be read: {error.strerror}.") from None
    if len(data) > MAX_FILE_BYTES:
        raise RecognizerFileError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes; split it.")
    return _Reader(path.name).read(data)


def add_recognizers(policy: Policy, added: RecognizerSet, key: bytes) -> Policy:
    """The policy with these recognizers. Terms of deny-lists may be names: it gets their keyed digests.

    Raises :class:`PolicyError` for a term that no digest can stand for.
    """
    marks = []
    for kind, term in added.denied:
        mark = make_missed_mark(kind, term, key)
        if mark is None:
            raise PolicyError(f"A term of the deny-list for {kind} has no word in it, or more than twenty.")
        marks.append(mark)
    return replace(
        policy,
        recognizers=tuple(dict.fromkeys((*policy.recognizers, *added.recognizers))),
        missed=tuple(dict.fromkeys((*policy.missed, *marks))),
    )


class _Field(NamedTuple):
    """A node of the file and the way to it: ``recognizers[0].patterns[1].regex``."""

    node: yaml.Node
    path: str

    def child(self, key: str | int, node: yaml.Node) -> "_Field":
        part = f"[{key}]" if isinstance(key, int) else f".{key}" if self.path else key
        return _Field(node, f"{self.path}{part}")


class _Reader:
    """Reads one file. ``name`` stands in its errors."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._recognizers: list[Recognizer] = []
        self._denied: list[tuple[str, str]] = []
        self._threshold = 0.0
        self._flags = DEFAULT_FLAGS

    def read(self, data: bytes) -> RecognizerSet:
        root = self._parse(data)
        fields = self._read_mapping(root, _FILE_FIELDS)
        if "recognizers" not in fields:
            raise self._error(root, "it has no list recognizers")
        if field := fields.get("default_score_threshold"):
            self._threshold = self._read_score(field)
        if field := fields.get("global_regex_flags"):
            self._flags = self._read_flags(field)
        for item in self._read_list(fields["recognizers"]):
            self._read_recognizer(item)
        return RecognizerSet(tuple(self._recognizers), tuple(self._denied))

    def _parse(self, data: bytes) -> _Field:
        try:
            node = yaml.compose(data.decode(), Loader=yaml.SafeLoader)
        except UnicodeDecodeError:
            raise RecognizerFileError(f"{self._name} is not UTF-8 text.") from None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = f", line {mark.line + 1}" if mark else ""
            problem = getattr(error, "problem", None) or "it can't be understood"
            raise RecognizerFileError(f"{self._name}{place} is no YAML: {problem}.") from None
        if node is None:
            raise RecognizerFileError(f"{self._name} is empty.")
        return _Field(node, "")

    # --- a recognizer ---

    def _read_recognizer(self, field: _Field) -> None:
        if isinstance(field.node, yaml.ScalarNode):
            raise self._error(field, _explain_predefined(str(field.node.value)))
        fields = self._read_mapping(field, _RECOGNIZER_FIELDS)
        kind_field = fields.get("type")
        if kind_field and self._read_text(kind_field) != "custom":
            raise self._error(kind_field, _explain_predefined(self._read_text(kind_field)))
        if "enabled" in fields and not self._read_value(fields["enabled"], bool, "true or false"):
            return
        kind = self._read_kind(field, fields)
        threshold = self._read_threshold(fields, kind)
        flags = (
            self._read_flags(fields["global_regex_flags"]) if "global_regex_flags" in fields else self._flags
        )
        if not ("patterns" in fields or "deny_list" in fields):
            raise self._error(field, "it needs patterns or a deny_list")
        context = tuple(self._read_context(fields))
        for item in self._read_list(fields["patterns"]) if "patterns" in fields else ():
            self._recognizers.append(self._read_pattern(item, kind, threshold, flags, context))
            if len(self._recognizers) > MAX_PATTERNS:
                raise self._error(item, f"there are more than {MAX_PATTERNS} patterns")
        if "deny_list" in fields:
            self._read_deny_list(fields, kind, threshold)

    def _read_kind(self, field: _Field, fields: dict[str, _Field]) -> str:
        given = fields.get("supported_entity")
        if several := fields.get("supported_entities"):
            items = self._read_list(several)
            if given or len(items) != 1:
                raise self._error(several, "a recognizer finds one entity; write supported_entity")
            given = items[0]
        if given is None:
            raise self._error(field, "it has no supported_entity")
        entity = self._read_text(given).strip().upper()
        kind = KIND_BY_ENTITY.get(entity, entity)
        if kind not in KINDS:
            try:
                check_label(kind)
            except PolicyError as error:
                raise self._error(given, str(error).rstrip(".")) from None
        return kind

    def _read_threshold(self, fields: dict[str, _Field], kind: str) -> float:
        """That of the entity, else that of the recognizer, else that of the file."""
        if "score_thresholds" not in fields:
            return self._threshold
        scores = {
            KIND_BY_ENTITY.get(name.upper(), name.upper()): self._read_score(item)
            for name, item in self._read_mapping(fields["score_thresholds"], None).items()
        }
        return scores.get(kind, scores.get("DEFAULT", self._threshold))

    def _read_context(self, fields: dict[str, _Field]) -> Iterator[str]:
        """The words of all languages."""
        if "context" in fields:
            yield from self._read_words(fields["context"])
        languages = fields.get("supported_languages")
        for item in self._read_list(languages) if languages else ():
            if isinstance(item.node, yaml.MappingNode):
                language = self._read_mapping(item, frozenset(("language", "context")))
                if "context" in language:
                    yield from self._read_words(language["context"])

    def _read_pattern(
        self, field: _Field, kind: str, threshold: float, flags: int, context: tuple[str, ...]
    ) -> Recognizer:
        fields = self._read_mapping(field, _PATTERN_FIELDS)
        for name in ("regex", "score"):
            if name not in fields:
                raise self._error(field, f"it has no {name}")
        letters = "".join(letter for bit, letter in _FLAG_LETTERS.items() if flags & bit)
        prefix = f"(?{letters})" if letters else ""
        regex = self._read_text(fields["regex"])
        try:
            compile_regex(kind, prefix + regex)
        except PatternError as error:
            at = max(error.column - len(prefix), 1)
            place = f" at column {at} of the expression" if error.column else ""
            raise self._error(fields["regex"], f"{error.problem}{place}") from None
        words = tuple(dict.fromkeys(word.lower() for word in context))
        return Recognizer(kind, prefix + regex, self._read_score(fields["score"]), threshold, words)

    def _read_deny_list(self, fields: dict[str, _Field], kind: str, threshold: float) -> None:
        score = fields.get("deny_list_score")
        if score and self._read_score(score) < threshold:
            raise self._error(score, "it is below the score threshold, so that the list would find nothing")
        for item in self._read_list(fields["deny_list"]):
            term = self._read_text(item)
            if not re.search(r"\w", term):
                raise self._error(item, "a term of a deny-list needs a letter or digit")
            self._denied.append((kind, term))
            if len(self._denied) > MAX_DENIED_TERMS:
                raise self._error(item, f"there are more than {MAX_DENIED_TERMS:,} terms in deny-lists")

    # --- values ---

    def _read_mapping(self, field: _Field, known: frozenset[str] | None) -> dict[str, _Field]:
        if not isinstance(field.node, yaml.MappingNode):
            raise self._error(field, "fields with names are expected here")
        fields: dict[str, _Field] = {}
        for key_node, node in field.node.value:
            key = str(key_node.value)
            item = field.child(key, node)
            if known is not None and key not in known:
                raise self._error(item, f"this field is not supported; known are {', '.join(sorted(known))}")
            if key in fields:
                raise self._error(item, "this field is given twice")
            if node.tag != "tag:yaml.org,2002:null":
                fields[key] = item
        return fields

    def _read_list(self, field: _Field) -> Sequence[_Field]:
        if not isinstance(field.node, yaml.SequenceNode):
            raise self._error(field, "a list is expected here")
        return [field.child(place, node) for place, node in enumerate(field.node.value)]

    def _read_words(self, field: _Field) -> Iterator[str]:
        for item in self._read_list(field):
            if word := self._read_text(item).strip():
                yield word

    def _read_text(self, field: _Field) -> str:
        if not isinstance(field.node, yaml.ScalarNode):
            raise self._error(field, "a text is expected here")
        return str(field.node.value)

    def _read_score(self, field: _Field) -> float:
        score = float(self._read_value(field, (int, float), "a number from 0 to 1"))
        if not 0 <= score <= 1:
            raise self._error(field, "a number from 0 to 1 is expected here")
        return score

    def _read_flags(self, field: _Field) -> int:
        flags = int(self._read_value(field, int, "a whole number"))
        if flags & ~(DEFAULT_FLAGS | _UNICODE_FLAG) or flags < 0:
            supported = "2 (ignore case), 8 (multiline), 16 (dot matches all) and their sums are supported"
            raise self._error(field, f"{supported}; default: {DEFAULT_FLAGS}")
        return flags

    def _read_value(self, field: _Field, types: Any, expected: str) -> Any:
        value = None
        if isinstance(field.node, yaml.ScalarNode):
            value = yaml.constructor.SafeConstructor().construct_object(field.node)
        if not isinstance(value, types) or (types is not bool and isinstance(value, bool)):
            raise self._error(field, f"{expected} is expected here")
        return value

    def _error(self, field: _Field, problem: str) -> RecognizerFileError:
        place = f", {field.path}" if field.path else ""
        return RecognizerFileError(f"{self._name}, line {field.node.start_mark.line + 1}{place}: {problem}.")


def _explain_predefined(name: str) -> str:
    return (
        f"“{name}” can't be added; custom recognizers with patterns or a deny_list are supported, and what"
        " presidio predefines is found already or not at all"
    )
