"""Recognizers of a team's own in presidio's YAML: found as presidio finds them, or refused with the line."""

from pathlib import Path

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.policy import Policy, Recognizer
from datasets_app.domain.pii.recognizer_files import (
    RecognizerDetector,
    RecognizerFileError,
    add_recognizers,
    read_recognizers,
)
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

KEY = b"a key for tests, of no other worth"
FILE = r"""
recognizers:
  - name: Zip code Recognizer
    supported_language: de
    supported_entity: ZIP
    patterns:
      - name: zip code (weak)
        regex: '\b\d{5}(?:-\d{4})?\b'
        score: 0.2
    context: [zip, code, PLZ]
    score_thresholds: {default: 0.4}
  - name: Tickets
    supported_languages:
      - language: en
        context: [ticket]
      - language: de
        context: [vorgang]
    supported_entity: TICKET
    patterns:
      - {name: plain, regex: '^tk-\d{4}$', score: 0.6}
      - {name: dotted, regex: 'a.b', score: 0.5}
  - name: Fax
    supported_entity: PHONE_NUMBER
    patterns: [{name: short, regex: 'fx\d{3}', score: 0.9}]
  - name: Staff
    supported_entity: STAFF
    deny_list: ["Vogel", "Grün & Söhne", "o'hara"]
  - name: off
    enabled: false
    supported_entity: OFF
    patterns: [{name: all, regex: '.', score: 1}]
"""

ONE = "recognizers:\n- supported_entity: Z\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "recognizers.yaml"
    file.write_text(FILE)
    return file


def find_values(policy: Policy, text: str) -> list[tuple[str, str, float]]:
    [found] = Detection(policy, KEY, rules_only=True).find_many([DetectionInput(text)])
    return [(match.kind, text[match.start : match.end], round(match.score, 2)) for match in found]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("the zip is 12345", [("ZIP", "12345", 0.55)]),
        ("🙂 Plz: 12345-6789 é", [("ZIP", "12345-6789", 0.55)]),
        ("we sold 12345 of them", []),
        ("zip is what all of us know quite well, and we sold 12345 of them", []),
        ("one\nTK-1234\ntwo", [("TICKET", "TK-1234", 0.6)]),
        ("der Vorgang A\nB", [("TICKET", "A\nB", 0.85)]),
        ("fx123", [("PHONE", "fx123", 0.9)]),
        ("ask vogel; Vogelhaus", [("STAFF", "vogel", 1.0)]),
        ("at GRÜN & SÖHNE", [("STAFF", "GRÜN & SÖHNE", 1.0)]),
        ("Ms O’Hara", [("STAFF", "O’Hara", 1.0)]),
    ],
)
def test_patterns_lists_context_and_thresholds(
    path: Path, text: str, values: list[tuple[str, str, float]]
) -> None:
    policy = add_recognizers(Policy(kinds=()), read_recognizers(path), KEY)
    assert find_values(policy, text) == values
    assert find_values(Policy.from_json(policy.as_json()), text) == values


def test_presidio_itself_finds_the_same(path: Path) -> None:
    """Its own engine, with the file as it is; but that engine has a threshold for all only."""
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry

    from datasets_app.domain.pii.presidio import LANGUAGE, convert_results, make_nlp_engine

    plain = FILE.replace("    score_thresholds: {default: 0.4}\n", "").split("  - name: off")[0]
    plain = plain.replace("supported_language: de", "supported_language: en")
    plain = plain.replace("    supported_languages:\n      - language: en\n        context: [ticket]\n", "")
    plain = plain.replace(
        "      - language: de\n        context: [vorgang]\n", "    context: [ticket, vorgang]\n"
    )
    path.write_text(plain)
    registry = RecognizerRegistry(supported_languages=[LANGUAGE])
    registry.add_recognizers_from_yaml(path)
    engine = AnalyzerEngine(registry, make_nlp_engine(), supported_languages=[LANGUAGE])
    policy = add_recognizers(Policy(kinds=()), read_recognizers(path), KEY)
    for text in (
        "the zip is 12345",
        "PLZ 12345-6789 and 54321",
        "we sold 12345 of them",
        "one\nTK-1234\ntwo",
        "der Vorgang A\nB",
        "fx123 or FX124; a.b, axb",
        "ask Vogel, vogel and Vogelhaus",
        "Grün & Söhne",
    ):
        expected = convert_results(engine.analyze(text, language=LANGUAGE))
        assert find_values(policy, text) == [
            (match.kind, text[match.start : match.end], round(match.score, 2)) for match in expected
        ], text


def test_a_scrub_replaces_what_they_find_and_stays_the_same(path: Path) -> None:
    policy = add_recognizers(Policy(kinds=()), read_recognizers(path), KEY)
    scrubber = Scrubber(policy, key=KEY)
    given = [TurnRecord("s", 1, "user", "Vogel: zip code 12345, fx123 [ZIP]", [])]
    [result] = scrubber.scrub([SessionInput(given)])
    assert result.turns[0].text == "[STAFF]: zip code [ZIP], [PHONE] [ZIP]"
    [again] = scrubber.scrub([SessionInput(result.turns)])
    assert again.turns == result.turns
    assert not scrubber.count_remaining([SessionInput(result.turns)])
    assert "values of the pattern ZIP" in policy.describe()[0]


def test_terms_of_deny_lists_are_kept_as_digests_only(path: Path) -> None:
    stored = repr(add_recognizers(Policy(), read_recognizers(path), KEY).as_json())
    assert "STAFF" in stored
    assert not any(word in stored.lower() for word in ("vogel", "söhne", "hara"))


def test_a_stored_label_that_became_a_class_still_finds_its_values() -> None:
    policy = Policy.from_json({"kinds": [], "patterns": [["ACCOUNT", r"\bAC\d{4}\b"], ["CASE", "#[0-9]+"]]})
    assert sorted(find_values(policy, "AC1234 #5")) == [("ACCOUNT", "AC1234", 1.0), ("CASE", "#5", 1.0)]


def test_a_hostile_expression_takes_linear_time() -> None:
    detector = RecognizerDetector([Recognizer("X", "(?i)(a+)+b", 1.0, 0.0, ("a",))])
    assert detector.find("a" * 50_000) == []
    assert detector.find("") == []


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("", "r.yaml is empty."),
        ("recognizers: [", "r.yaml, line 1 is no YAML: expected the node content"),
        ("- a", "r.yaml, line 1: fields with names are expected here."),
        ("supported_languages: [en]", "r.yaml, line 1: it has no list recognizers."),
        ("recognizers: []\nrecognizer: []", "line 2, recognizer: this field is not supported; known are"),
        (
            "recognizers:\n- CreditCardRecognizer",
            "line 2, recognizers[0]: “CreditCardRecognizer” can't be added",
        ),
        ("recognizers:\n- {name: x, type: predefined}", "line 2, recognizers[0].type: “predefined” can't be"),
        ("recognizers:\n- {name: x, lemma: y}", "recognizers[0].lemma: this field is not supported"),
        ("recognizers:\n- {name: x, patterns: []}", "line 2, recognizers[0]: it has no supported_entity."),
        (
            "recognizers:\n- {supported_entity: Z}",
            "line 2, recognizers[0]: it needs patterns or a deny_list.",
        ),
        ("recognizers:\n- {supported_entity: a b, patterns: []}", "'A B' can't be the label of a pattern"),
        ("recognizers:\n- {supported_entities: [A, B], patterns: []}", "a recognizer finds one entity"),
        (
            "recognizers:\n- supported_entity: Z\n  patterns:\n  - {name: n, score: 1}",
            "line 4, recognizers[0].patterns[0]: it has no regex.",
        ),
        (
            "recognizers:\n- supported_entity: Z\n  patterns:\n  - {name: n, regex: x}",
            "patterns[0]: it has no score.",
        ),
        (
            f"{ONE}  patterns:\n  - name: n\n    regex: 'ab(?<=c)'\n    score: 1",
            "line 5, recognizers[0].patterns[0].regex: look-behind is not supported; match what stands before"
            " too, or use \\b at column 3 of the expression.",
        ),
        (
            "recognizers:\n- supported_entity: Z\n  patterns:\n  - {name: n, regex: x, score: 2}",
            "patterns[0].score: a number from 0 to 1 is expected here.",
        ),
        (
            "recognizers:\n- {supported_entity: Z, deny_list: [a], enabled: maybe}",
            "enabled: true or false is expected",
        ),
        ("recognizers:\n- {supported_entity: Z, deny_list: a}", "deny_list: a list is expected here."),
        ("recognizers:\n- {supported_entity: Z, deny_list: [{}]}", "deny_list[0]: a text is expected here."),
        (
            "recognizers:\n- {supported_entity: Z, deny_list: ['$$']}",
            "deny_list[0]: a term of a deny-list needs",
        ),
        (
            f"default_score_threshold: 0.5\n{ONE}  deny_list: [a]\n  deny_list_score: 0.2",
            "line 5, recognizers[0].deny_list_score: it is below the score threshold",
        ),
        (
            "global_regex_flags: 64\nrecognizers: []",
            "line 1, global_regex_flags: 2 (ignore case), 8 (multiline)",
        ),
        ("recognizers: []\nrecognizers: []", "line 2, recognizers: this field is given twice."),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(tmp_path: Path, content: str, error: str) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(content)
    with pytest.raises(RecognizerFileError) as refusal:
        read_recognizers(path)
    assert error in str(refusal.value)
    assert str(refusal.value).endswith(".")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RecognizerFileError, match=r"can't be read: No such file"):
        read_recognizers(tmp_path / "none.yaml")
    (tmp_path / "r.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(RecognizerFileError, match="is not UTF-8"):
        read_recognizers(tmp_path / "r.yaml")
    (tmp_path / "r.yaml").write_bytes(b" " * (1 << 21))
    with pytest.raises(RecognizerFileError, match="is larger than"):
        read_recognizers(tmp_path / "r.yaml")


def test_flags_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(
        "global_regex_flags: 0\nrecognizers:\n"
        "- {supported_entity: A, patterns: [{name: n, regex: 'x.y$', score: 1}]}\n"
        "- {supported_entity: B, global_regex_flags: 2, patterns: [{name: n, regex: 'x.y$', score: 1}]}\n"
    )
    policy = add_recognizers(Policy(kinds=()), read_recognizers(path), KEY)
    assert find_values(policy, "x\ny") == find_values(policy, "x-y\n.") == []
    assert [kind for kind, *_ in find_values(policy, "x-y")] == ["A", "B"]
    assert [kind for kind, *_ in find_values(policy, "X-Y")] == ["B"]
