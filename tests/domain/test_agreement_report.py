"""A report of agreement: what is counted, what is left out, what is undefined, and what must not matter."""

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations_app.domain.agreement import agreement as module
from annotations_app.domain.agreement import comparisons, pairs
from annotations_app.domain.agreement.agreement import build_agreement_report, list_similar_names
from annotations_app.domain.agreement.agreement_report import AgreementReport, Statistic
from annotations_app.domain.agreement.coefficients import cohen_kappa
from annotations_app.domain.agreement.distance_alpha import measure_alpha
from annotations_app.domain.label_table import (
    NO_ANNOTATOR,
    NO_GOLD,
    LabelPart,
    LabelTable,
    Repeats,
    build_label_table,
)
from annotations_app.domain.scales import (
    Measurement,
    Scale,
    jaccard_distances,
    masi_distances,
    ratio_distances,
    squared_distances,
)
from tests.domain.ratings import Matrix, make_label_table, parse_matrix, rating_matrices

pytestmark = pytest.mark.xdist_group("peers")

few = settings(max_examples=25, deadline=None)
STATISTICS = ("prevalence", "raw_agreement", "krippendorff_alpha", "gwet_ac1", "fleiss_kappa")
binary = rating_matrices(categories=2).map(lambda matrix: matrix - 1)
of_any_size = binary | rating_matrices(categories=5).map(lambda matrix: matrix - 1)


def report(table: LabelTable, **more: Any) -> AgreementReport:
    return build_agreement_report(table, **({"resamples": 40} | more))


def values(found: AgreementReport) -> dict[str, float | None]:
    return {name: getattr(found.headline, name).value for name in STATISTICS}


def close(one: Any, other: Any) -> None:
    """Equal but for rounding, whatever they are made of."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            close(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            close(*pair)
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, abs=1e-9)
    else:
        assert one == other


def test_what_is_counted() -> None:
    matrix = parse_matrix(["1 1 0 . 0", "1 0 0 . .", ". 1 0 1 ."])
    head = report(make_label_table(matrix, session=[5, 5, 7, 7, 9])).headline
    assert (head.labels, head.items, head.single, head.annotators, head.sessions) == (10, 5, 2, 3, 3)
    assert head.prevalence.value == pytest.approx(5 / 10)
    # Of the three replies with several labels two are agreed on, of the third one pair in three.
    assert head.raw_agreement.value == pytest.approx((1 + 1 / 3 + 1) / 3)


@given(binary, st.randoms(use_true_random=False))
@few
def test_neither_order_nor_names_of_items_and_annotators_matter(matrix: Matrix, chance: Any) -> None:
    session = [chance.randrange(3) for _ in range(matrix.shape[1])]
    items = chance.sample(range(matrix.shape[1]), matrix.shape[1])
    raters = chance.sample(range(matrix.shape[0]), matrix.shape[0])
    straight = report(make_label_table(matrix, session))
    shuffled = report(make_label_table(matrix[raters][:, items], [10 - session[item] for item in items]))
    close(straight.headline.as_json(), shuffled.headline.as_json())
    assert sorted(pair.comparison.n for pair in straight.pairs) == sorted(
        pair.comparison.n for pair in shuffled.pairs
    )


@given(binary)
@few
def test_what_is_called_on_brand_does_not_matter(matrix: Matrix) -> None:
    one, other = values(report(make_label_table(matrix))), values(report(make_label_table(1 - matrix)))
    assert one.pop("prevalence") == pytest.approx(1 - (other.pop("prevalence") or 0))
    close(one, other)


@given(of_any_size)
@few
def test_sessions_given_twice_change_nothing_but_the_certainty(matrix: Matrix) -> None:
    once, twice = report(make_label_table(matrix)), report(make_label_table(np.hstack([matrix, matrix])))
    one, two = values(once), values(twice)
    for name in ("prevalence", "raw_agreement", "gwet_ac1", "fleiss_kappa"):
        assert one[name] == pytest.approx(two[name]), name
    for single, double in zip(once.pairs, twice.pairs, strict=True):
        assert double.comparison.n == 2 * single.comparison.n
        close(single.comparison.cohen_kappa.value, double.comparison.cohen_kappa.value)


@given(of_any_size)
@few
def test_each_pair_has_cohens_kappa_of_what_both_have_labelled(matrix: Matrix) -> None:
    from sklearn.metrics import cohen_kappa_score

    names = [f"rater {number:02}" for number in range(len(matrix))]
    found = {(pair.a, pair.b): pair.comparison for pair in report(make_label_table(matrix)).pairs}
    for second in range(len(matrix)):
        for first in range(second):
            both = ~np.isnan(matrix[first]) & ~np.isnan(matrix[second])
            if not both.any():
                assert (names[first], names[second]) not in found
                continue
            one, other = matrix[first, both].astype(int), matrix[second, both].astype(int)
            comparison = found.pop((names[first], names[second]))
            assert comparison.n == both.sum()
            assert comparison.raw_agreement.value == pytest.approx((one == other).mean())
            if len(set(one) | set(other)) == 1:
                assert comparison.cohen_kappa == Statistic(None, note="undefined: all labels agree")
            else:
                assert comparison.cohen_kappa.value == pytest.approx(cohen_kappa_score(one, other))
    assert not found


@given(of_any_size, st.sampled_from(Measurement))
@few
def test_on_any_scale_every_number_is_there_or_says_why_not(matrix: Matrix, measurement: Measurement) -> None:
    table = make_label_table(matrix, session=np.arange(matrix.shape[1]) // 2)._replace(
        scale=Scale(measurement)
    )
    found = report(table)
    for statistic in [getattr(found.headline, name) for name in STATISTICS]:
        assert statistic.value is not None or statistic.note
    for pair in found.pairs:
        kappa = cohen_kappa(np.array(pair.comparison.table), table.weights)
        close(pair.comparison.cohen_kappa.value, None if np.isnan(kappa) else float(kappa))
    json.dumps(found.as_json(), allow_nan=False)


@pytest.mark.parametrize("measurement", Measurement)
def test_a_number_or_a_reason(measurement: Measurement) -> None:
    """Of one annotator to fifty, of one class or several, however many labels are missing."""
    for raters, classes, missing in product((1, 2, 3, 50), (1, 5), (0.0, 0.5, 0.98)):
        assert_number_or_reason(measurement, raters, classes, missing)


def assert_number_or_reason(measurement: Measurement, raters: int, classes: int, missing: float) -> None:
    chance = np.random.default_rng(raters)
    matrix = chance.integers(0, classes, size=(raters, 12)).astype(float)
    matrix[chance.random(matrix.shape) < missing] = np.nan
    matrix = matrix[:, ~np.isnan(matrix).all(axis=0)]
    table = make_label_table(matrix)._replace(categories=5, scale=Scale(measurement))
    found = report(table, by=["annotator"])
    numbers, sets = np.arange(5.0), np.arange(5)
    distances = [
        squared_distances(numbers),
        ratio_distances(numbers),
        jaccard_distances(sets),
        masi_distances(sets),
    ]
    alphas = [measure_alpha(table, apart) for apart in distances]
    head = [one for one in found.headline if isinstance(one, Statistic)]
    assert len(head) == (5 if measurement == Measurement.NOMINAL else 7)
    for statistic in [*alphas, *head]:
        assert statistic.value is not None or statistic.note.startswith("undefined: ")
    if raters > 1 and classes > 1 and not missing:
        assert all(statistic.value is not None for statistic in [*alphas, *head])
    json.dumps(found.as_json(), allow_nan=False)


@given(of_any_size)
@few
def test_against_the_others_is_the_sum_over_an_annotators_pairs(matrix: Matrix) -> None:
    found = report(make_label_table(matrix))
    for one in found.annotators:
        tables = [np.array(pair.comparison.table) for pair in found.pairs if pair.a == one.annotator]
        tables += [np.array(pair.comparison.table).T for pair in found.pairs if pair.b == one.annotator]
        assert np.array_equal(one.others.table, sum(tables, np.zeros_like(one.others.table)))


@pytest.mark.parametrize("small", [1, 7, 100])
def test_pairs_come_out_the_same_in_small_blocks(monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    chance = np.random.default_rng(7)
    matrix = chance.integers(0, 2, size=(9, 60)).astype(float)
    matrix[chance.random(matrix.shape) < 0.4] = np.nan
    matrix[0, np.isnan(matrix).all(axis=0)] = 1
    table = make_label_table(matrix, np.arange(60) // 4)
    whole = pairs.compare_pairs(table)
    monkeypatch.setattr(pairs, "PAIR_BLOCK_SIZE", small)
    close([pair.as_json() for pair in whole[0]], [pair.as_json() for pair in pairs.compare_pairs(table)[0]])


def test_of_very_many_pairs_the_largest_are_kept_and_the_rest_are_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for where in (pairs, module):
        monkeypatch.setattr(where, "MAX_PAIRS", 1)
    matrix = parse_matrix(["1 0 1", "1 . .", "1 0 0"])
    found = report(make_label_table(matrix))
    assert [(pair.a, pair.b) for pair in found.pairs] == [("rater 00", "rater 02")]
    assert found.notes == ["2 pairs are left out: only the 1 with most replies in common"]


@given(binary)
@few
def test_what_a_label_adds_is_the_same_looked_up_or_not(matrix: Matrix) -> None:
    looked_up = report(make_label_table(matrix)).as_json()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparisons, "MAX_PATTERN_CELLS", 0)
        close(looked_up, report(make_label_table(matrix)).as_json())


# --- undefined -----------------------------------------------------------------------------------


def notes(found: AgreementReport) -> set[str]:
    return {getattr(found.headline, name).note for name in STATISTICS[1:]}


def test_nothing_at_all() -> None:
    found = report(make_label_table(np.zeros((0, 0))), by=["annotator"])
    assert notes(found) == {"undefined: there are no labels"}
    assert found.headline.prevalence.value is None
    json.dumps(found.as_json(), allow_nan=False)


def test_no_reply_labelled_twice() -> None:
    found = report(make_label_table(parse_matrix(["1 0 . .", ". . 1 0"])))
    assert notes(found) == {"undefined: no reply was labeled twice"}
    assert found.headline.prevalence.value == 0.5
    assert found.headline.single == 4
    assert found.annotators[0].others.cohen_kappa.note.startswith(
        "undefined: no reply was labeled by another"
    )


def test_all_labels_agree() -> None:
    found = report(make_label_table(parse_matrix(["1 1 1 1", "1 1 1 ."])))
    head = found.headline
    for kappa in (head.krippendorff_alpha, head.fleiss_kappa, found.pairs[0].comparison.cohen_kappa):
        assert kappa == Statistic(None, note="undefined: all labels agree")
    assert head.raw_agreement.value == head.gwet_ac1.value == 1
    assert head.raw_agreement.note == "no interval: all sessions are alike"
    json.dumps(found.as_json(), allow_nan=False)


def test_one_session_has_no_interval() -> None:
    head = report(make_label_table(parse_matrix(["1 0 1", "1 1 1"]), session=[4, 4, 4])).headline
    assert head.krippendorff_alpha.value is not None
    assert head.krippendorff_alpha.low is None
    assert head.krippendorff_alpha.note == "no interval: all labels are of one session"


def test_resamples_that_are_undefined_are_left_out_and_counted() -> None:
    head = report(make_label_table(parse_matrix(["1 1 1 0", "1 1 1 1"])), resamples=200).headline
    assert "of 200 resamples are undefined and left out; only 4 sessions" in head.krippendorff_alpha.note
    assert head.krippendorff_alpha.low is not None


@given(binary)
@few
def test_whatever_the_labels_what_is_printed_is_json(matrix: Matrix) -> None:
    table = make_label_table(matrix)._replace(month=None)
    json.dumps(report(table, by=["annotator"]).as_json(), allow_nan=False)


# --- labels that count, and labels that don't ----------------------------------------------------


def test_of_several_labels_by_one_annotator_the_last_counts() -> None:
    item, annotator, label = (np.array(row) for row in ([0, 0, 0, 1], [0, 1, 0, 0], [0, 1, 1, 1]))
    table = build_label_table(["ada", "ben"], item, annotator, label.astype(np.int8), np.array([0, 1]))
    assert report(table).headline.labels == 3
    assert report(table).headline.raw_agreement.value == 1
    assert report(table).notes == [
        "1 earlier label not counted, as the annotator labeled the same reply again"
    ]


def test_labels_without_a_name_count_each_but_are_in_no_pair() -> None:
    item, annotator, label = np.array([0, 0, 0]), np.array([-1, -1, 0]), np.array([1, 0, 1], np.int8)
    found = report(build_label_table(["ada"], item, annotator, label, np.array([0])))
    assert (found.headline.labels, found.headline.annotators, found.headline.unnamed) == (3, 1, 2)
    assert found.headline.raw_agreement.value == pytest.approx(1 / 3)
    assert found.pairs == []
    assert found.annotators[0].others.n == 0
    assert found.consensus is not None
    assert set(found.consensus.confusion) == {"ada", "(no name)"}


def test_gold_and_repeats_are_compared_with_and_counted_nowhere_else() -> None:
    table = make_label_table(parse_matrix(["1 0 1 1", "1 1 . 0"]), names=["ada", "ben"])
    # The last is of somebody who has no labels.
    first, label = np.array([1, 1, 1, 1], np.int8), np.array([0, 1, 1, 1], np.int8)
    again = Repeats(np.array([3, 0, 2, 2]), np.array([0, 0, 0, NO_ANNOTATOR]), first, label)
    found = report(table._replace(gold=np.array([1, 1, NO_GOLD, 0], np.int8), repeats=again))
    ada, ben = found.annotators
    assert found.headline.labels == 7
    assert (ada.gold.n, ada.gold.accuracy.value) == (3, pytest.approx(1 / 3))
    assert (ben.gold.n, ben.gold.accuracy.value) == (3, 1)
    assert found.gold.n == 6
    assert (ada.repeats.n, ada.repeats.raw_agreement.value) == (3, pytest.approx(2 / 3))
    assert ben.repeats.n == 0
    assert found.repeats.table == ((0, 0), (1, 2))


# --- parts ---------------------------------------------------------------------------------------


def divided() -> LabelTable:
    table = make_label_table(
        parse_matrix(["1 0 1 0 1 1", "1 1 . 0 1 1", ". . 1 1 1 0"]), session=[0, 0, 1, 1, 2, 2]
    )
    month = (np.arange(len(table.label)) % 2).astype(np.int64)
    tags = LabelPart("tag", {"a": np.array([0, 1, 2]), "b": np.array([2, 5])})
    return table._replace(parts=(tags,), month=month, months=("2025-01", "2025-02"))


def test_a_part_has_the_numbers_of_its_items_alone() -> None:
    found = report(divided(), by=["tag", "annotator"])
    of_a = report(make_label_table(parse_matrix(["1 0 1", "1 1 .", ". . 1"]), session=[0, 0, 1])).headline
    close(found.by["tag"]["a"].as_json(), of_a.as_json())
    assert found.by["tag"]["b"].labels == 5
    assert found.by["annotator"]["rater 02"].items == 4


def test_months_add_up_and_drift_is_told_for_all_and_for_each() -> None:
    found = report(divided(), by=["month"])
    assert sum(part.labels for part in found.by["month"].values()) == found.headline.labels
    of_all = [point for point in found.drift if point.annotator is None]
    assert [point.month for point in of_all] == ["2025-01", "2025-02"]
    assert sum(point.labels for point in of_all) == found.headline.labels
    of_each = [point for point in found.drift if point.annotator is not None]
    assert sum(point.labels for point in of_each) == found.headline.labels
    assert sum(point.others.n for point in of_each) == sum(point.others.n for point in of_all)
    assert sum(point.others.n for point in of_all) == 2 * sum(pair.comparison.n for pair in found.pairs)


def test_of_very_many_values_the_largest_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_VALUES", 1)
    found = report(divided(), by=["tag"])
    assert list(found.by["tag"]) == ["a"]
    assert found.notes == ["by tag: only the 1 of 2 values with most replies"]


def test_the_object_printed_has_the_keys_that_were_agreed_on() -> None:
    value = report(divided(), by=["tag"]).as_json()
    for key in ("labels", "items", "annotators", "single"):
        assert isinstance(value[key], int)
    for name in STATISTICS:
        assert value[name].keys() == {"value", "low", "high", "note"}
    assert {"a", "b", "n", "cohen_kappa", "raw_agreement"} <= value["pairs"][0].keys()
    assert value["pairs"][0]["cohen_kappa"].keys() == {"value", "low", "high", "note"}
    assert value["by"]["tag"]["a"]["krippendorff_alpha"].keys() == {"value", "low", "high", "note"}


@pytest.mark.parametrize("label", [0, 1])
def test_of_a_class_that_no_reply_has_nothing_is_said(label: int) -> None:
    matrix = parse_matrix([f"{label} {label}", f"{label} {label}"])
    consensus = report(make_label_table(matrix)).consensus
    assert consensus is not None
    assert [rows[1 - label] for rows in consensus.confusion.values()] == [(None, None)] * 2
    assert all(rows[label][label] == 1 for rows in consensus.confusion.values())


@pytest.mark.parametrize(
    ("names", "warned"),
    [
        (["Ida", "ida "], True),
        (["Zoë", "ZOE\u0308"], True),
        (["Ida", "Ada"], False),
        (["a b", "a  B", "c"], True),
    ],
)
def test_names_that_differ_by_case_or_blanks_are_a_warning(names: list[str], warned: bool) -> None:
    notes = list_similar_names(names)
    assert bool(notes) is warned
    assert not any(name in note for note in notes for name in names if len(name) > 2)
