"""Retention rules: how long a dataset is kept, by the pattern its name matches."""

import re
from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fnmatch import fnmatchcase
from typing import Any

from datasets_app.domain.metadata.yaml_text import YamlError, dump_yaml, load_yaml

_DURATION_WORDS = re.compile(r"(\d{1,4})\s+(day|week|month|year)s?")
_ISO_DURATION = re.compile(r"P(\d{1,4})([DWMY])")
_ISO_UNITS = {"D": "day", "W": "week", "M": "month", "Y": "year"}
_DAYS_PER_UNIT = {"day": 1, "week": 7}
_MONTHS_PER_UNIT = {"month": 1, "year": 12}
_MAX_FIELD_CHARACTERS = {"pattern": 255, "retention": 50, "reason": 10_000}


@dataclass(frozen=True)
class Duration:
    """A calendar duration: ``amount`` of ``unit`` (day, week, month or year)."""

    amount: int
    unit: str

    def add_to(self, day: date) -> date | None:
        """The day on which it is over, if it begins on ``day``; None beyond the calendar's end.

        Months and years go by the calendar: what would be the 31st of a shorter month is its last day, and
        a year after 29 February is 28 February.
        """
        try:
            if self.unit in _DAYS_PER_UNIT:
                return day + timedelta(days=self.amount * _DAYS_PER_UNIT[self.unit])
            months = day.year * 12 + day.month - 1 + self.amount * _MONTHS_PER_UNIT[self.unit]
            year, month = months // 12, months % 12 + 1
            return date(year, month, min(day.day, monthrange(year, month)[1]))
        except (OverflowError, ValueError):
            return None


def parse_retention(text: str) -> Duration | None:
    """``"90 days"``, ``"18 months"``, ``"P90D"`` → Duration; ``"indefinite"`` → None.

    Raises ValueError with what was expected.
    """
    text = text.strip()
    if text.lower() == "indefinite":
        return None
    if match := _DURATION_WORDS.fullmatch(text.lower()):
        amount, unit = int(match[1]), match[2]
    elif match := _ISO_DURATION.fullmatch(text.upper()):
        amount, unit = int(match[1]), _ISO_UNITS[match[2]]
    else:
        raise ValueError(
            f'retention must be like "90 days", "18 months", "1 year", "P90D" or "indefinite", got {text!r}'
        )
    if amount == 0:
        raise ValueError("retention must be at least 1")
    return Duration(amount, unit)


@dataclass(frozen=True)
class RetentionRule:
    """One entry of ``retention.yaml``; ``retention`` keeps the words of the file."""

    pattern: str
    retention: str
    reason: str = ""

    @property
    def duration(self) -> Duration | None:
        """None: datasets are kept indefinitely."""
        return parse_retention(self.retention)


class RetentionFileError(ValueError):
    """The text is no ``retention.yaml``; the message names the policy by its number."""


def parse_retention_rules(text: str) -> list[RetentionRule]:
    """The text of ``retention.yaml`` → its rules in order. Raises :class:`RetentionFileError`.

    Refuses unknown keys: a rule about deletion must not be half understood.
    """
    try:
        value = load_yaml(text)
    except YamlError as error:
        raise RetentionFileError(str(error)) from None
    if not isinstance(value, dict) or not isinstance(value.get("policies"), list):
        raise RetentionFileError('expected the key "policies" with a list of rules')
    if unknown := sorted(str(key) for key in value if key != "policies"):
        raise RetentionFileError(f'unknown key {unknown[0]!r}; only "policies" is known')
    return [_parse_rule(number, item) for number, item in enumerate(value["policies"], 1)]


def dump_retention_rules(rules: Iterable[RetentionRule]) -> str:
    """Rules → the text of a ``retention.yaml`` that reads back to the same rules."""
    policies = []
    for rule in rules:
        policy = {"pattern": rule.pattern, "retention": rule.retention}
        policies.append(policy | {"reason": rule.reason} if rule.reason else policy)
    return dump_yaml({"policies": policies})


def matches_rule(name: str, rule: RetentionRule) -> bool:
    """Whether the rule's pattern matches the dataset's file name; letter case counts."""
    return fnmatchcase(f"{name}.jsonl", rule.pattern)


def get_due_date(created: date, rule: RetentionRule | None) -> date | None:
    """The first day on which a dataset created on ``created`` may be deleted; None: never."""
    duration = rule.duration if rule else None
    return duration.add_to(created) if duration else None


def find_rules_still_active(
    before: Sequence[tuple[RetentionRule, bool]], after: Sequence[RetentionRule]
) -> list[bool]:
    """Which rules ``after`` a change stay active; ``before`` has (rule, was active) in order.

    A rule stays active if it was, its retention is the same, and every pattern that came before it still
    does. It then decides for no dataset that it didn't decide for until now: a change of the rules deletes
    nothing that no dry run has shown.
    """
    acting: dict[tuple[str, str], tuple[bool, set[str]]] = {}
    earlier_patterns: list[str] = []
    for rule, active in before:
        # Of equal rules only the first ever decides.
        acting.setdefault((rule.pattern, rule.retention), (active, set(earlier_patterns)))
        earlier_patterns.append(rule.pattern)
    answers = []
    for place, rule in enumerate(after):
        active, were_before = acting.get((rule.pattern, rule.retention), (False, set[str]()))
        answers.append(active and were_before <= {earlier.pattern for earlier in after[:place]})
    return answers


def _parse_rule(number: int, item: Any) -> RetentionRule:
    if not isinstance(item, dict):
        raise RetentionFileError(f"policy {number}: expected pattern and retention")
    if unknown := sorted(str(key) for key in item if key not in _MAX_FIELD_CHARACTERS):
        raise RetentionFileError(f"policy {number}: unknown key {unknown[0]!r}")
    pattern, retention = _read_text(number, item, "pattern"), _read_text(number, item, "retention")
    reason = "" if item.get("reason") is None else _read_text(number, item, "reason")
    try:
        parse_retention(retention)
    except ValueError as error:
        raise RetentionFileError(f"policy {number}: {error}") from None
    return RetentionRule(pattern, retention, reason)


def _read_text(number: int, item: dict[Any, Any], key: str) -> str:
    value = item.get(key)
    if not isinstance(value, str) or (not value.strip() and key != "reason"):
        raise RetentionFileError(f"policy {number}: {key} is missing or no string; put it in quotes")
    if "\0" in value or len(value) > _MAX_FIELD_CHARACTERS[key]:
        raise RetentionFileError(
            f"policy {number}: {key} is longer than {_MAX_FIELD_CHARACTERS[key]:,} characters"
        )
    return value
