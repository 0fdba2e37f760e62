"""Which labels of other tools say on-brand or off-brand, and which answer another question."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.labels.on_brand import NAMES, NO, ON_BRAND, YES
from datasets_app.domain.labels.values import name_of
from datasets_app.domain.traces.values import drop_zero_fraction

MAX_VALUE_CHARACTERS = 100
MAX_VALUES = 1000
_YES_NO = {
    **dict.fromkeys(("yes", "y", "true", "1", "thumbs up", "thumbsup", "\U0001f44d"), YES),
    **dict.fromkeys(("no", "n", "false", "0", "thumbs down", "thumbsdown", "\U0001f44e"), NO),
}
_SPACE = re.compile(r"[\s_-]+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class LabelRules(NamedTuple):
    """``values``: the code of the answer by normalized value; ``question``: the only one that counts.
    Without them, values and names of questions decide."""

    question: str = ""
    values: Mapping[str, int] = {}


def read_label_rules(question: str, values: str) -> LabelRules:
    """``values`` is "good=1, bad=0". Raises UnreadableFile if it is not."""
    found = {}
    for item in values.split(",") if values.strip() else ():
        name, equals, label = item.rpartition("=")
        known = {**NAMES, **_YES_NO}.get(_normalize(label))
        if not equals or not name.strip() or known is None:
            raise UnreadableFile("name values of labels like this: good=1, bad=0")
        found[_normalize(name)] = known
    return LabelRules(question.strip(), found)


def map_labels(found: Iterable[tuple[str, str]], rules: LabelRules) -> dict[tuple[str, str], int]:
    """The codes of those pairs of a question and a value that answer the built-in criterion."""
    by_question = defaultdict(list)
    for question, value in found:
        if not rules.question or question == rules.question:
            by_question[question].append(value)
    mapped = {}
    for question, values in by_question.items():
        words = _choose_words(question, values, rules)
        for value in values:
            if (label := words.get(_normalize(value))) is not None:
                mapped[question, value] = label
    return mapped


def _choose_words(question: str, values: list[str], rules: LabelRules) -> Mapping[str, int]:
    if rules.values:
        return rules.values
    name = _normalize(question)
    if not (rules.question or name == "label" or "brand" in name or "persona" in name):
        return NAMES
    if {value for value in map(_normalize, values) if _NUMBER.fullmatch(value)} <= {"0", "1"}:
        return {**NAMES, **_YES_NO}
    return {word: label for word, label in {**NAMES, **_YES_NO}.items() if word not in "01"}  # a scale


def _normalize(value: str) -> str:
    return _SPACE.sub(" ", drop_zero_fraction(value.strip()).casefold())


def read_value(label: Mapping[str, Any]) -> str | None:
    """The value of a label as PostgreSQL's ->> writes it; None for what isn't a short scalar."""
    value = label.get("value")
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) not in (str, int, float) or len(str(value)) > MAX_VALUE_CHARACTERS:
        return None
    return str(value)


class LabelTally:
    """How often each question was answered how, and the labels of each annotator."""

    def __init__(self) -> None:
        self.values: Counter[tuple[str, str | None]] = Counter()
        self.annotators: Counter[str] = Counter()

    def add(self, labels: Iterable[Any]) -> None:
        for label in labels:
            if type(label) is not dict:
                continue
            key = (str(label.get("question") or ""), read_value(label))
            self.values[key if key in self.values or len(self.values) < MAX_VALUES else (key[0], None)] += 1
            annotator = str(label.get("annotator") or "")
            if annotator in self.annotators or len(self.annotators) < MAX_VALUES:
                self.annotators[annotator] += 1

    def map(self, rules: LabelRules) -> dict[tuple[str, str], int]:
        return map_labels([(name, value) for name, value in self.values if value is not None], rules)

    def describe(self, rules: LabelRules) -> list[tuple[str, str]]:
        """(question, what becomes of its labels), the most frequent question first."""
        mapped = self.map(rules)
        names: dict[int | None, str] = {code: name_of(ON_BRAND, code) for code, _ in ON_BRAND.downwards}
        names[None] = ""
        questions: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(names.values(), 0))
        for (question, value), count in self.values.items():
            label = mapped.get((question, value)) if value is not None else None
            questions[question][names[label]] += count
        ordered = sorted(questions.items(), key=lambda item: (-sum(item[1].values()), item[0]))
        return [(question, _describe_counts(counts)) for question, counts in ordered]


def _describe_counts(counts: dict[str, int]) -> str:
    parts = [f"{count:,} {name}" for name, count in counts.items() if name and count]
    if counts[""]:
        parts.append(f"{counts['']:,} kept in the metadata")
    return ", ".join(parts)
