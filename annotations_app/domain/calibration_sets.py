"""Whether labels make a calibration of Alignmenter that means something: one set to learn from, one to test.

Alignmenter refuses fewer than 25 labels to learn from and fewer than 10, or of one kind, to validate with.
All else it takes: labels of one kind to learn from, copies of what it learned from, replies without a word.
It splits rows after they were fitted, so both sets are handed over, each with whole groups, and the second is
validated as it is.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.to_json import to_json
from datasets_app.domain.labels.on_brand import YES
from datasets_app.domain.splits.near_duplicates import NearDuplicateFinder, split_words
from datasets_app.domain.splits.splits import UnionFind
from datasets_app.domain.wording import format_count

TRAINING, VALIDATION = "train", "validation"
PARTS = (TRAINING, VALIDATION)
PART_NAMES = {TRAINING: "training", VALIDATION: "validation"}
# What Alignmenter 0.3.5 takes: `calibrate-persona --min-samples`, and `calibrate validate`.
MIN_LABELS = {TRAINING: 25, VALIDATION: 10}
MIN_OF_A_KIND = {TRAINING: 8, VALIDATION: 4}
MIN_SESSIONS = {TRAINING: 8, VALIDATION: 4}
POSSIBLE_SHARES, BALANCED_SHARES = (0.2, 0.8), (0.4, 0.6)
# Krippendorff: below it not even tentative conclusions can be drawn.
MIN_ALPHA = 0.667
MAX_COPIES, MAX_CONTRADICTIONS, MAX_REPEATS, MAX_WITHOUT_WORDS = 0.1, 0.05, 0.25, 0.1
# As Alignmenter takes a reply apart.
_TOKEN = re.compile(r"[\w']+")


class Sample(NamedTuple):
    """A label as it is handed over; ``session`` is whatever identifies its conversation."""

    part: str
    text: str
    label: int
    session: Any


class Finding(NamedTuple):
    """``blocks`` a calibration, or is only to be known; ``remedy`` may be empty."""

    code: str
    blocks: bool
    message: str
    remedy: str = ""


class PartCounts(NamedTuple):
    labels: int
    on_brand: int
    sessions: int

    @property
    def share(self) -> float:
        return self.on_brand / self.labels if self.labels else 0.0


class Readiness(NamedTuple):
    """What a calibration would get for a persona. It is ready unless a finding blocks it."""

    persona_id: str
    selection: str
    parts: Mapping[str, PartCounts]
    alpha: Statistic
    findings: list[Finding]

    @property
    def is_ready(self) -> bool:
        return not any(finding.blocks for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        return {
            "persona": self.persona_id,
            "labels": self.selection,
            "ready": self.is_ready,
            "parts": to_json(self.parts),
            "alpha": to_json(self.alpha),
            "findings": to_json(self.findings),
        }


def check_samples(samples: Iterable[Sample]) -> tuple[dict[str, PartCounts], list[Finding]]:
    """The sizes of both sets, and what is wrong with them. Keeps no text."""
    found: list[Sample] = []
    words: dict[str, set[str]] = {part: set() for part in PARTS}
    tokens: list[frozenset[str]] = []

    def read() -> Iterator[list[str]]:
        for sample in samples:
            said = frozenset(token.lower() for token in _TOKEN.findall(sample.text))
            tokens.append(said)
            words[sample.part] |= said
            found.append(sample._replace(text=" ".join(split_words([sample.text]))))
            yield [sample.text]

    groups = UnionFind()
    with NearDuplicateFinder() as finder:
        finder.add(read())
        for _ in found:
            groups.add()
        for pair in finder.find_pairs():
            groups.union(pair.first, pair.second)
    parts = {name: _count_part([one for one in found if one.part == name]) for name in PARTS}
    findings = [finding for name, part in parts.items() for finding in _check_part(name, part)]
    if all(part.labels for part in parts.values()):
        findings += _check_copies(found, [groups.find(number) for number in range(len(found))])
        unknown = [one for one, said in zip(found, tokens, strict=True) if not said & words[TRAINING]]
        findings += _check_words(len(unknown), len(found))
    return parts, [*findings, *_check_repeats(found)]


def check_alpha(alpha: Statistic, *, is_settled: bool) -> list[Finding]:
    """``is_settled``: what people disputed was resolved or left out, so their agreement isn't an obstacle."""
    if alpha.value is None:
        text = "Nobody knows how reliable the labels are: too few replies have two annotators."
        return [Finding("alpha_unknown", False, text, "Have some replies labeled by two annotators.")]
    interval = "" if alpha.low is None else f" ({alpha.low:.2f} to {alpha.high:.2f})"
    said = f"Krippendorff's alpha of the labels is {alpha.value:.2f}{interval}"
    if alpha.value < MIN_ALPHA:
        remedy = "Resolve the disagreements and hand over adjudicated labels, or make the guidelines clearer."
        return [
            Finding("alpha_low", not is_settled, f"{said}, below {MIN_ALPHA}.", "" if is_settled else remedy)
        ]
    if alpha.low is not None and alpha.low < MIN_ALPHA:
        remedy = "Have more replies labeled by two annotators."
        return [Finding("alpha_uncertain", False, f"{said}: it may be below {MIN_ALPHA}.", remedy)]
    return []


def format_readiness(readiness: Readiness) -> str:
    """For a terminal."""
    lines = [
        f"{PART_NAMES[name]}: {format_count(part.labels, 'label')} of "
        f"{format_count(part.sessions, 'session')}, {100 * part.share:.0f} % on-brand"
        for name, part in readiness.parts.items()
    ]
    for finding in readiness.findings:
        lines.append(f"{'blocked' if finding.blocks else 'note'}: {finding.message}")
        lines += [f"    {finding.remedy}"] if finding.remedy else []
    lines.append("Ready for a calibration." if readiness.is_ready else "Not ready for a calibration.")
    return "\n".join(lines)


def _count_part(samples: list[Sample]) -> PartCounts:
    on_brand = sum(sample.label == YES for sample in samples)
    return PartCounts(len(samples), on_brand, len({sample.session for sample in samples}))


def _check_part(name: str, part: PartCounts) -> Iterator[Finding]:
    called, least = PART_NAMES[name], MIN_LABELS[name]
    if part.labels < least:
        yield Finding(
            f"few_{called}_labels",
            True,
            f"The {called} split has {format_count(part.labels, 'label')}; {least} are needed.",
            "Label more replies, or more of this split.",
        )
        return
    few = min(part.on_brand, part.labels - part.on_brand)
    lowest, highest = POSSIBLE_SHARES
    if few < MIN_OF_A_KIND[name] or not lowest <= part.share <= highest:
        yield Finding(
            f"one_kind_{called}",
            True,
            f"{100 * part.share:.0f} % of the {called} labels are on-brand, and {few:,} of the rarer kind: a "
            "calibration can't tell both apart.",
            f"Label more replies of the other kind: at least {MIN_OF_A_KIND[name]} and {100 * lowest:.0f} %.",
        )
    elif not BALANCED_SHARES[0] <= part.share <= BALANCED_SHARES[1]:
        text = f"{100 * part.share:.0f} % of the {called} labels are on-brand; 40 to 60 % is best."
        yield Finding(f"unbalanced_{called}", False, text)
    if part.sessions < MIN_SESSIONS[name]:
        yield Finding(
            f"few_{called}_sessions",
            True,
            f"The {called} labels are of {format_count(part.sessions, 'session')}: replies of one "
            "conversation are alike.",
            f"Label replies of at least {MIN_SESSIONS[name]} sessions.",
        )


def _check_copies(samples: list[Sample], groups: list[int]) -> Iterator[Finding]:
    """Of validation replies that are learned from as well, nearly word for word."""
    learned = {group for sample, group in zip(samples, groups, strict=True) if sample.part == TRAINING}
    validation = [group for sample, group in zip(samples, groups, strict=True) if sample.part == VALIDATION]
    copies = sum(group in learned for group in validation)
    if copies:
        yield Finding(
            "copies",
            copies > MAX_COPIES * len(validation),
            f"{copies:,} of {format_count(len(validation), 'validation reply', 'validation replies')} say "
            "nearly what a training reply says: the result looks better than it is.",
            "Exclude sessions with copies, or split again with a lower similarity.",
        )


def _check_words(without: int, total: int) -> Iterator[Finding]:
    if without:
        text = (
            f"{format_count(without, 'reply has', 'replies have')} no word of the training replies: "
            "Alignmenter takes words apart at spaces, and learns nothing for them."
        )
        remedy = "Exclude replies without words; a language without spaces can't be calibrated."
        yield Finding("without_words", without > MAX_WITHOUT_WORDS * total, text, remedy)


def _check_repeats(samples: list[Sample]) -> Iterator[Finding]:
    labels: defaultdict[str, Counter[int]] = defaultdict(Counter)
    learned: Counter[str] = Counter()
    for sample in samples:
        labels[sample.text][sample.label] += 1
        learned[sample.text] += sample.part == TRAINING
    contradicted = sum(min(said[0], said[1]) for said in labels.values())
    if contradicted:
        yield Finding(
            "contradictions",
            contradicted > MAX_CONTRADICTIONS * len(samples),
            format_count(contradicted, "label contradicts", "labels contradict")
            + " that of another reply with the same words.",
            "Label these replies again, or make the guidelines clearer.",
        )
    repeats, total = sum(max(0, count - 1) for count in learned.values()), sum(learned.values())
    if repeats > MAX_REPEATS * total:
        yield Finding(
            "repeats",
            True,
            f"{repeats:,} of {total:,} training labels are of replies that say the same as another: each "
            "counts as one more sample.",
            "Exclude the sessions that repeat one another.",
        )
