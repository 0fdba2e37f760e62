"""Label sets for calibration: size, balance, one persona; and what is stated of a whole file."""

import pytest

from datasets_app.domain.conversations.records import Finding, LabelRecord, LineError
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.quality.checks import LABEL_CHECKS
from datasets_app.domain.quality.runner import run_checks, run_metadata_checks


def labels(positive: int, negative: int, persona: str = "p") -> list[LabelRecord]:
    marks = [1] * positive + [0] * negative
    return [LabelRecord(f"Reply {n}", mark, persona, line=n + 1) for n, mark in enumerate(marks)]


def codes(records: list[LabelRecord]) -> list[str]:
    return [finding.code for finding in run_checks(records, LABEL_CHECKS)]


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [
        (50, 50, []),
        (40, 60, []),
        (60, 40, []),
        (39, 61, ["W501"]),
        (61, 39, ["W501"]),
        (30, 70, ["W501"]),
        (70, 30, ["W501"]),
        (29, 71, ["E502"]),
        (71, 29, ["E502"]),
        (100, 0, ["E502"]),
        (25, 25, []),
        (25, 24, ["E503"]),
        (0, 1, ["E502", "E503"]),
        (0, 0, ["E503"]),
    ],
)
def test_size_and_balance_at_their_bounds(positive: int, negative: int, expected: list[str]):
    assert codes(labels(positive, negative)) == expected


def test_the_message_says_which_side_is_missing():
    [finding] = run_checks(labels(80, 20), LABEL_CHECKS)
    assert finding.message == (
        "80 of 100 labels (80.0 %) are on-brand; label more off-brand replies until it is 30 to 70 %"
    )


def test_labels_of_another_persona_are_told_once_at_the_first():
    records = labels(30, 30) + [LabelRecord("x", 1, "q", line=90), LabelRecord("y", 0, "r", line=91)]
    [finding] = run_checks(records, LABEL_CHECKS)
    assert (finding.code, finding.line) == ("E504", 90)
    assert "(2 labels for others)" in finding.message


def test_a_blank_text_and_a_bad_line_are_told_in_their_place():
    records = [LabelRecord(" ", 1, "p", line=1), LineError(2, "E102", "label is missing"), *labels(25, 25)]
    assert [(f.code, f.line) for f in run_checks(records, LABEL_CHECKS)] == [("E301", 1), ("E102", 2)]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (None, ["W601", "W602"]),
        (DatasetMetadata(), ["W601", "W602"]),
        (DatasetMetadata(license="MIT"), ["W602"]),
        (DatasetMetadata(source="support logs"), ["W601"]),
        (DatasetMetadata(license="MIT", generator="offline 1.0"), []),
    ],
)
def test_licence_and_provenance_must_be_stated(metadata: DatasetMetadata | None, expected: list[str]):
    assert [finding.code for finding in run_metadata_checks(metadata)] == expected


def test_why_there_is_no_metadata_is_said():
    findings = list(run_metadata_checks(None, "there is no a.meta.yaml"))
    assert all(isinstance(f, Finding) and f.message.endswith("(there is no a.meta.yaml)") for f in findings)
