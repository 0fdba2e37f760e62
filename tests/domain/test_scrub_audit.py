"""The sample that people read after a scrub, and what it says about the rest."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.audit_estimate import LeakEstimate, StratumCount, estimate_leaks, find_limits
from datasets_app.domain.pii.audit_strata import (
    CAPITALS,
    DOUBTED,
    NUMBERS,
    PLAIN,
    STRATUM_LABELS,
    allocate_sample,
    classify_text,
)
from datasets_app.domain.pii.names.names import score_by_built_in
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from tests.strategies import EXAMPLES_FACTOR

GOLD = Path(__file__).parents[3] / "shared" / "pii" / "gold"


@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"),
    [  # Brown, Cai and DasGupta, Statistical Science 16 (2001); Hanley, JAMA 249 (1983): the rule of three
        (0, 100, 0.0, 0.0362),
        (1, 100, 0.0003, 0.0545),
        (10, 100, 0.0490, 0.1762),
        (5, 10, 0.1871, 0.8129),
        (100, 100, 0.9638, 1.0),
    ],
)
def test_the_limits_of_a_share_are_the_published_ones(hits: int, tries: int, low: float, high: float) -> None:
    assert find_limits(hits, tries) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_what_was_read_as_a_whole_is_known() -> None:
    assert estimate_leaks([StratumCount(20, 20, 3), StratumCount(5, 5, 0)]) == LeakEstimate(3, 3, 3)


def test_what_nobody_read_may_leak_anywhere() -> None:
    assert estimate_leaks([StratumCount(100, 0, 0)]) == LeakEstimate(0, 0, 100)
    read, unread = StratumCount(12, 12, 0), [StratumCount(79, 0, 0), StratumCount(118, 0, 0)]
    assert estimate_leaks([read, *unread]) == LeakEstimate(0, 0, 79 + 118)


@given(st.lists(st.integers(0, 500), min_size=4, max_size=4), st.integers(0, 600))
def test_a_sample_is_as_large_as_wanted_and_no_larger_than_what_there_is(
    sizes: list[int], wanted: int
) -> None:
    drawn = allocate_sample(sizes, wanted)
    assert sum(drawn) == min(wanted, sum(sizes))
    assert all(0 <= some <= size for some, size in zip(drawn, sizes, strict=True))


def test_texts_are_sorted_by_what_they_hold() -> None:
    assert classify_text("thanks, all good", 0.5) == DOUBTED
    assert classify_text("I asked Wendys about it", 0.0) == CAPITALS
    assert classify_text("order 66 is late", 0.0) == NUMBERS
    assert classify_text("Thanks [NAME_1], all good. Bye", 0.0) == PLAIN


def test_the_interval_covers_the_truth_in_simulated_audits() -> None:
    """500 audits of 200 texts each, of what a scrub left in marked texts: every second one by day."""
    if not GOLD.is_dir():
        pytest.skip(f"the marked texts are not at {GOLD}")
    rows = [*_read_gold("gold_tech_synth"), *_read_gold("gold_wikigold")]
    leaks = _find_leaks(rows if EXAMPLES_FACTOR > 1 else rows[::2])
    truth = sum(leaking for stratum in leaks for leaking in stratum)
    assert 15 < truth < 0.1 * sum(map(len, leaks))
    rng = random.Random(7)
    estimates = [_simulate_audit(leaks, 200, rng) for _ in range(500)]
    assert sum(estimate.low <= truth <= estimate.high for estimate in estimates) >= 0.93 * len(estimates)
    assert sum(estimate.texts for estimate in estimates) / len(estimates) == pytest.approx(truth, rel=0.1)


def _read_gold(name: str) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in (GOLD / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def _find_leaks(rows: Sequence[dict]) -> list[list[bool]]:  # type: ignore[type-arg]
    """For each stratum, whether something marked is left in each of its scrubbed texts."""
    turns = [
        TurnRecord(str(n), 1, "user", row["text"], [], None, None, None, None) for n, row in enumerate(rows)
    ]
    results = Scrubber(Policy(), key=b"k" * 32).scrub([SessionInput([turn]) for turn in turns])
    texts = [result.turns[0].text for result in results]
    strata: list[list[bool]] = [[] for _ in STRATUM_LABELS]
    for row, text, score in zip(rows, texts, score_by_built_in(texts), strict=True):
        values = [row["text"][s["start"] : s["end"]] for s in row["spans"] if ":" not in s["type"]]
        strata[classify_text(text, score)].append(any(value in text for value in values))
    return strata


def _simulate_audit(leaks: list[list[bool]], wanted: int, rng: random.Random) -> LeakEstimate:
    drawn = allocate_sample([len(stratum) for stratum in leaks], wanted)
    return estimate_leaks(
        StratumCount(len(stratum), count, sum(rng.sample(stratum, count)))
        for stratum, count in zip(leaks, drawn, strict=True)
    )
