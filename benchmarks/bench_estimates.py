"""How often the intervals of estimates hold the true rate, over simulated campaigns.

    python -m benchmarks.bench_estimates [--campaigns 2000]

Sessions are unlike each other, and 200 of 2,000 replies have a label of people. Wanted: intervals hold the
true rate in 93 to 97 %; with a look after each label they ever miss in at most 5 %, and are 1.3 times as wide
at the end; a judge that knows nothing widens none by more than 5 %; of judges below the threshold at most 5 %
are certified, of those ten points above it 80 %; prompts that are accepted lower the accuracy on the locked
test significantly in at most 2.5 %. Intervals of win rates of pairs hold the truth in 93 to 97 %; a bias to
the side shown as A is reported where there is one, else in about 5 %.
Of people: a third one asked only where two are unsure is within
half a point of three for each, with 25 % fewer labels; a drop of ten points is found within 60 checks, with
false alarms of at most 5 %.
"""

import argparse
from typing import Any

import numpy as np

from annotations_app.domain.agreement.agreement_plan import plan_agreement
from annotations_app.domain.drift import DROP, HORIZON
from annotations_app.domain.estimates.certificates import certify
from annotations_app.domain.estimates.rates import Estimate, estimate_from_people, estimate_with_judges
from annotations_app.domain.estimates.usefulness import Draws, measure_usefulness
from tests.domain.crowds import compare_overlap, measure_width, simulate_crowd, simulate_labels
from tests.domain.ratings import make_label_table
from tests.domain.simulated_campaigns import (
    TRUE_RATE,
    TRUE_WIN_RATE,
    ask_most_useful,
    draw_in_order,
    simulate_pairs,
    simulate_replies,
)
from tests.domain.simulated_checks import find_drops, find_drops_of_known
from tests.domain.simulated_proposals import try_prompts

KINDS: dict[str, dict[str, Any]] = {
    "100 sessions": {},
    "40 sessions, 60 labels": {"sessions": 40, "labels": 60},
    "a judge that knows nothing": {"judges": (0.5,)},
    "three judges": {"judges": (0.85, 0.8, 0.5)},
    "400 sessions, much in common": {"sessions": 400, "alike": 0.5},
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--campaigns", type=int, default=2000)
    campaigns = parser.parse_args().campaigns
    print(f"{'':32}{'people':>9}{'judges':>9}{'width':>8}{'widest':>8}")
    for name, kind in KINDS.items():
        _measure_coverage(name, kind, campaigns)
    print("the most useful replies first:")
    for name, kind in KINDS.items():
        _measure_coverage(name, kind, campaigns, useful=True)
    for useful in (False, True):
        _measure_looks(campaigns // 4, useful=useful)
    _measure_plans(campaigns // 4)
    _measure_pairs(campaigns)
    for rates in ((0.79, 0.95), (0.9, 0.9)):
        chance = np.random.default_rng(3)
        share = np.mean([_certify(chance, *rates) for _ in range(campaigns)])
        print(f"judges with rates {rates[0]} and {rates[1]}: {100 * share:.1f} % certified at 0.8")
    for fixing in (0.0, 0.3):
        _measure_proposals(campaigns, fixing)
    for most in (3, 5, 10):
        _measure_overlap(campaigns // 10, most)
    print(f"{'a drop of ten points; goals':32}{'5.0%':>9}{'':9}{'60':>9}")
    print(f"{'':32}{'false':>9}{'median':>9}{'mean':>9}{'in 60':>9}")
    for rate in (0.98, 0.95, 0.9, 0.8):
        _measure_drops(campaigns // 2, rate)


def _measure_overlap(crowds: int, most: int) -> None:
    """Simulated crowds like that of the RTE labels; goals: half a point at most, 25 % fewer labels."""
    chance = np.random.default_rng(6)
    found = [compare_overlap(simulate_crowd(chance), most)[:3] for _ in range(crowds)]
    of_all, of_some, labels = np.mean(found, axis=0)
    lost = 100 * (of_all - of_some)
    print(
        f"a crowd, {most} people only while it may matter: {100 * (1 - labels):.1f} % fewer (goal 25), "
        f"{100 * of_some:.1f} % right, {lost:.2f} points less (0.5)"
    )


def _measure_drops(people: int, rate: float) -> None:
    """Of people whose rate is known to the test, and of those with a baseline; goals: 5 %, 60 checks."""
    found = {
        f"{rate:.0%} before, known exactly": find_drops_of_known(rate, people),
        f"{rate:.0%} before, from a baseline": [
            find_drops(rate, drop, others=rate, people=people, checks=checks, seed=seed)
            for drop, checks, seed in ((0.0, HORIZON, 7), (DROP, 1000, 8))
        ],
    }
    for name, (false, after) in found.items():
        alarms, soon = np.isfinite(false).mean(), (after <= 60).mean()
        print(
            f"{name:32}{100 * alarms:8.1f}%{np.median(after):9.0f}"
            f"{after[np.isfinite(after)].mean():9.0f}{100 * soon:8.1f}%"
        )


def _measure_pairs(campaigns: int) -> None:
    chance = np.random.default_rng(34)
    for sessions in (40, 100):
        found = [simulate_pairs(chance, sessions=sessions) for _ in range(campaigns)]
        held = np.mean([one.win_rate.low <= TRUE_WIN_RATE <= one.win_rate.high for one in found])
        biased = np.mean([one.is_side_biased for one in found])
        planted = [
            simulate_pairs(chance, win=0.5, bias=0.2, sessions=sessions) for _ in range(campaigns // 10)
        ]
        reported = np.mean([one.is_side_biased for one in planted])
        print(
            f"pairs in {sessions} sessions: intervals held the truth in {100 * held:.1f} %; "
            f"a planted side bias was reported in {100 * reported:.1f} %, one that isn't there in "
            f"{100 * biased:.1f} %"
        )


def _measure_proposals(campaigns: int, fixing: float) -> None:
    """Of ten prompts each: what becomes of the accuracy on the locked test."""
    chance = np.random.default_rng(5)
    tried = [try_prompts(chance, fixing=fixing) for _ in range(campaigns)]
    lower = np.mean([one.is_significantly_lower for one in tried])
    accepted, gain = np.mean([one.accepted > 0 for one in tried]), np.mean([one.gain for one in tried])
    print(
        f"ten prompts, {100 * fixing:.0f} % of which fix a fault: one accepted in {100 * accepted:.1f} %, "
        f"test accuracy {100 * gain:+.2f} points, significantly lower in {100 * lower:.2f} %"
    )


def _measure_coverage(name: str, kind: dict[str, Any], campaigns: int, *, useful: bool = False) -> None:
    """With ``useful`` the widths are compared with those of as many labels at random."""
    chance = np.random.default_rng(1)
    rows = []
    for _ in range(campaigns):
        replies, truth = simulate_replies(chance, **kind)
        compared = estimate_from_people(replies)
        if useful:
            compared = estimate_with_judges(replies)
            replies, _ = ask_most_useful(chance, replies, truth, labels=kind.get("labels", 200))
        people, helped = estimate_from_people(replies), estimate_with_judges(replies)
        rows.append((_holds(people), _holds(helped), _width(helped) / _width(compared)))
    people_share, helped_share, width = np.mean(rows, axis=0)
    widest = max(row[2] for row in rows)
    print(f"{name:32}{100 * people_share:8.1f}%{100 * helped_share:8.1f}%{width:8.3f}{widest:8.3f}")


def _measure_looks(campaigns: int, *, useful: bool) -> None:
    """100 labels are planned, and the estimate is looked at after each."""
    chance = np.random.default_rng(2)
    missed, wide = 0, []
    for _ in range(campaigns):
        replies, truth = simulate_replies(chance, sessions=60, replies=300, labels=0)
        label = np.full(len(truth), np.nan)
        held = True
        draws, reached = draw_in_order(chance, len(truth)), np.zeros(len(truth))
        for count in range(100):
            if useful and count >= 30 and not count % 10:
                draws = Draws(draws.draw, measure_usefulness(label[None], replies.verdicts[None]), reached)
            order = draws.order()
            place = order[np.isnan(label[order])][0]
            label[place] = truth[place]
            reached = draws.chances(~np.isnan(label))
            looked = replies._replace(label=label, chance=reached)
            estimate = estimate_with_judges(looked, planned=100)
            held = held and (estimate.low is None or _holds(estimate))
        missed += not held
        wide.append(_width(estimate) / _width(estimate_with_judges(looked)))
    print(
        f"a look after each label{', useful first' * useful}: {100 * missed / campaigns:.1f} % ever miss, "
        f"{np.mean(wide):.2f} x as wide"
    )


def _measure_plans(orders: int) -> None:
    """Of alpha: 150 replies with two labels each, then as many as are planned for 0.6 of the width."""
    chance = np.random.default_rng(4)
    widths = []
    for _ in range(orders):
        matrix, session = simulate_labels(chance, items=1200, sessions=300)
        order = chance.permutation(1200)
        first = np.sort(order[:150])
        table = make_label_table(matrix[:, first], session[first])
        width = 0.6 * measure_width(table)
        plan = plan_agreement(table, width, available=1200)
        planned = np.sort(order[: plan.replies or 1200])
        widths.append(measure_width(make_label_table(matrix[:, planned], session[planned])) / width)
    share = np.mean(np.abs(np.array(widths) - 1) <= 0.2)
    print(f"plans of alpha: the width is within a fifth in {100 * share:.1f} % of {orders:,} orders")


def _certify(chance: np.random.Generator, positive: float, negative: float) -> bool:
    session, label = chance.integers(0, 100, 480), np.repeat([1, 0], 240)
    own = [chance.beta(9 * rate, 9 * (1 - rate), 100) for rate in (positive, negative)]
    right = chance.random(480) < np.where(label == 1, own[0][session], own[1][session])
    return certify(session, label, np.where(right, label, 1 - label).astype(np.float64)).certified


def _holds(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.low <= TRUE_RATE <= (estimate.high or 0.0)


def _width(estimate: Estimate) -> float:
    return (estimate.high or 0.0) - (estimate.low or 0.0)


if __name__ == "__main__":
    main()
