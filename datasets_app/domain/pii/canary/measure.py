"""How much of what is personal a scrub leaves: values are planted in copies, scrubbed and looked for."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.intervals import CONFIDENCE_LEVEL, wilson_interval
from datasets_app.domain.pii.canary.carriers import Carriers, Planting
from datasets_app.domain.pii.canary.survival import survives
from datasets_app.domain.pii.canary.survival_text import (
    DEFAULT_LIMIT,
    DEFAULT_SEED,
    DEFAULT_VALUES,
    describe_survival,
)
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

MIN_VALUES, MAX_VALUES = len(KINDS), 100_000
PLANTINGS_PER_BATCH = 60
# Of a long session only some turns in a row become carriers.
MAX_CARRIER_TURNS = 12

ReportCount = Callable[[int, int], None]


class KindSurvival(NamedTuple):
    """``forms`` counts the values that survived by their form ("IBAN of DE"), never the values."""

    planted: int
    survived: int
    forms: dict[str, int]

    @property
    def upper(self) -> float:
        return wilson_interval(self.survived, self.planted).high


class LanguageSurvival(NamedTuple):
    planted: int
    survived: int


class Survival(NamedTuple):
    """What became of the planted values, by class, by the language of the texts around them, and in all.
    ``limit`` is the greatest upper bound that passes."""

    by_kind: dict[str, KindSurvival]
    by_language: dict[str, LanguageSurvival]
    seed: int
    limit: float = DEFAULT_LIMIT

    @property
    def planted(self) -> int:
        return sum(kind.planted for kind in self.by_kind.values())

    @property
    def survived(self) -> int:
        return sum(kind.survived for kind in self.by_kind.values())

    @property
    def upper(self) -> float:
        """With 95 % confidence no greater share of values like these survives a scrub of this dataset."""
        return wilson_interval(self.survived, self.planted).high

    @property
    def passed(self) -> bool:
        return self.upper <= self.limit

    def facts(self) -> dict[str, Any]:
        """For a job's row."""
        return {
            "planted": self.planted,
            "survived": self.survived,
            "text": describe_survival(self.as_json() | {"limit": self.limit}),
            "passed": self.passed,
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "planted": self.planted,
            "survived": self.survived,
            "upper": round(self.upper, 6),
            "confidence": CONFIDENCE_LEVEL,
            "seed": self.seed,
            "classes": {
                name: {
                    "planted": kind.planted,
                    "survived": kind.survived,
                    "upper": round(kind.upper, 6),
                    "forms": kind.forms,
                }
                for name, kind in self.by_kind.items()
            },
            "languages": {name: language._asdict() for name, language in self.by_language.items()},
        }


def measure_survival(
    sessions: Sequence[Sequence[TurnRecord]],
    scrubber: Scrubber,
    *,
    count: int = DEFAULT_VALUES,
    seed: int = DEFAULT_SEED,
    report_count: ReportCount = lambda done, total: None,
) -> Survival:
    """Plant ``count`` values, evenly of all classes, in copies of turns of ``sessions``, and scrub these.

    The copies are scrubbed before as well, so that nothing but the planted values is in them. The same
    sessions, seed and count give the same result. Raises ValueError if no turn has a text.
    """
    carriers = Carriers([result.turns for result in scrubber.scrub(_make_inputs(sessions))])
    if not carriers:
        raise ValueError("values are planted in texts, and there are none")
    random = Random(seed)
    kinds = [KINDS[number % len(KINDS)] for number in range(count)]
    planted, survived, forms = Counter(kinds), Counter[str](), {kind: Counter[str]() for kind in KINDS}
    spoken, left_by_language = Counter[str](), Counter[str]()
    for start in range(0, count, PLANTINGS_PER_BATCH):
        report_count(start, count)
        plantings = [carriers.plant(kind, random) for kind in kinds[start : start + PLANTINGS_PER_BATCH]]
        spoken.update(planting.language for planting in plantings)
        for planting in _find_survivors(scrubber, plantings):
            survived[planting.value.kind] += 1
            left_by_language[planting.language] += 1
            forms[planting.value.kind][f"{planting.value.form} ({planting.manner})"] += 1
    report_count(count, count)
    return Survival(
        {
            kind: KindSurvival(planted[kind], survived[kind], dict(forms[kind].most_common()))
            for kind in KINDS
            if planted[kind]
        },
        {name: LanguageSurvival(spoken[name], left_by_language[name]) for name in sorted(spoken)},
        seed,
    )


def choose_carrier_turns(turns: Sequence[TurnRecord], random: Random) -> list[TurnRecord]:
    first = random.randrange(max(1, len(turns) - MAX_CARRIER_TURNS + 1))
    return list(turns[first : first + MAX_CARRIER_TURNS])


def _make_inputs(sessions: Sequence[Sequence[TurnRecord]]) -> list[SessionInput]:
    return [SessionInput(list(turns), id_hashed=True) for turns in sessions if turns]


def _find_survivors(scrubber: Scrubber, plantings: Sequence[Planting]) -> list[Planting]:
    results = scrubber.scrub(_make_inputs([planting.turns for planting in plantings]))
    return [
        planting
        for planting, result in zip(plantings, results, strict=True)
        if survives(planting.value, result.turns[planting.place].text)
    ]
