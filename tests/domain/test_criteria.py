"""What labels answer, how answers are stored, and who gave them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.labels.criterion import Criterion, InvalidCriterion, Kind, Level, make_criterion
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.rater import InvalidRater, RaterKind, make_rater
from datasets_app.domain.labels.values import (
    InvalidValue,
    decode_value,
    describe_label,
    describe_values,
    encode_value,
    is_code,
    opposite,
    parse_level,
)


def levels(*values: int | str) -> tuple[Level, ...]:
    return tuple(Level(value, str(value).capitalize(), str(value)) for value in values)


TONE = make_criterion("tone", "How formal is it?", Kind.ORDINAL, levels("stiff", "neutral", "casual"))
FAULTS = make_criterion("faults", "What is wrong?", Kind.TAGS, levels("length", "facts", "tone"))
SCORE = make_criterion("score", "How good is it?", Kind.NUMBER)
NOTE = make_criterion("note", "Why?", Kind.TEXT)


# --- criteria ----------------------------------------------------------------------------------------


def test_the_built_in_criterion_has_the_labels_of_today() -> None:
    assert ON_BRAND.choices == [(0, "Off-brand"), (1, "On-brand")]
    assert [encode_value(ON_BRAND, value) for value in (0, 1)] == [0, 1]
    assert [decode_value(ON_BRAND, code) for code in ON_BRAND.codes] == [0, 1]
    assert ON_BRAND.parameters == ("persona",)
    assert describe_values(ON_BRAND) == "0 (off-brand) or 1 (on-brand)"
    assert describe_label(ON_BRAND) == "A label is 1 (on-brand) or 0 (off-brand)."


def test_the_digest_says_whether_labels_mean_the_same() -> None:
    assert len(ON_BRAND.digest) == 64
    other_keys = tuple(level._replace(key="x", help="another help") for level in TONE.levels)
    assert TONE._replace(levels=other_keys).digest == TONE.digest
    changed = (
        TONE._replace(question="How casual is it?"),
        TONE._replace(levels=tuple(reversed(TONE.levels))),
        TONE._replace(kind=Kind.CHOICE),
        TONE._replace(parameters=("persona",)),
    )
    assert len({TONE.digest, *(criterion.digest for criterion in changed)}) == 5


@pytest.mark.parametrize(
    ("key", "question", "kind", "answers", "problem"),
    [
        ("On brand", "?", Kind.YES_NO, levels(0, 1), "lowercase word"),
        ("x", "  ", Kind.YES_NO, levels(0, 1), "the question is empty"),
        ("x", "?", Kind.YES_NO, levels(0, 1, 2), "yes_no needs 2 answers, not 3"),
        ("x", "?", Kind.ORDINAL, levels("one"), "ordinal needs 2 to 100 answers, not 1"),
        ("x", "?", Kind.TEXT, levels("one"), "text needs 0 answers, not 1"),
        ("x", "?", Kind.CHOICE, levels("a", "b", "a"), "two answers have the same value"),
        (
            "x",
            "?",
            Kind.CHOICE,
            (Level(1, "A", "a"), Level("1", "B", "b")),
            "two answers have the same value",
        ),
        ("x", "?", Kind.CHOICE, (Level("a", "A", "a", key="1"), Level("b", "B", "b", key="1")), "same key"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    key: str, question: str, kind: Kind, answers: tuple[Level, ...], problem: str
) -> None:
    with pytest.raises(InvalidCriterion, match=problem):
        make_criterion(key, question, kind, answers)


# --- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "value", "stored"),
    [
        (TONE, "stiff", 0),
        (TONE, "casual", 2),
        (FAULTS, [], 0),
        (FAULTS, ["length", "tone"], 0b101),
        (SCORE, 3, 3.0),
        (SCORE, -0.5, -0.5),
        (NOTE, "Too long.", "Too long."),
    ],
)
def test_answers_come_back_as_they_were_given(criterion: Criterion, value: object, stored: object) -> None:
    assert encode_value(criterion, value) == stored
    assert decode_value(criterion, stored) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("criterion", "value", "expected"),
    [
        (ON_BRAND, 2, "0 (off-brand) or 1 (on-brand)"),
        (ON_BRAND, True, "0 (off-brand) or 1 (on-brand)"),
        (ON_BRAND, 1.0, "0 (off-brand) or 1 (on-brand)"),
        (ON_BRAND, "1", "0 (off-brand) or 1 (on-brand)"),
        (ON_BRAND, None, "0 (off-brand) or 1 (on-brand)"),
        (TONE, "formal", "stiff (stiff), neutral (neutral) or casual (casual)"),
        (FAULTS, "length", "an array of length (length), facts (facts) or tone (tone)"),
        (FAULTS, ["length", "length!"], "an array of length (length), facts (facts) or tone (tone)"),
        (SCORE, float("nan"), "a number from -1,000,000,000 to 1,000,000,000"),
        (SCORE, 10**400, "a number from -1,000,000,000 to 1,000,000,000"),
        (SCORE, 4111_1111_1111_1111, "a number from -1,000,000,000 to 1,000,000,000"),
        (SCORE, True, "a number from -1,000,000,000 to 1,000,000,000"),
        (NOTE, "  ", "a text of at most 10,000 characters"),
        (NOTE, "x" * 10_001, "a text of at most 10,000 characters"),
    ],
)
def test_what_is_no_answer_is_refused_with_what_would_be(
    criterion: Criterion, value: object, expected: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        encode_value(criterion, value)
    assert str(refused.value) == expected


@given(st.lists(st.sampled_from(["length", "facts", "tone"])))
def test_tags_are_a_set(tags: list[int | str]) -> None:
    stored = encode_value(FAULTS, tags)
    assert decode_value(FAULTS, stored) == [value for value in FAULTS.values if value in tags]


def test_codes_of_levels() -> None:
    assert [is_code(TONE, code) for code in (0, 2, 3, -1, True, 1.0, None)] == [True, True] + [False] * 5
    assert [parse_level(ON_BRAND, text) for text in ("0", "1", "2", "", "on")] == [0, 1, None, None, None]
    assert [opposite(ON_BRAND, code) for code in ON_BRAND.codes] == [1, 0]


# --- raters ------------------------------------------------------------------------------------------


def test_a_model_is_never_a_person_of_its_name() -> None:
    person = make_rater(RaterKind.PERSON, "ana")
    model = make_rater(RaterKind.MODEL, "ana", "2026-05", "a" * 64)
    imported = make_rater(RaterKind.IMPORT, "ana")
    other_prompt = make_rater(RaterKind.MODEL, "ana", "2026-05", "b" * 64)
    assert len({person, model, imported, other_prompt}) == 4
    assert make_rater(RaterKind.PERSON, "ana") == person
    assert make_rater(RaterKind.IMPORT, None).name is None


@pytest.mark.parametrize(
    ("kind", "name", "version", "digest"),
    [
        (RaterKind.PERSON, None, "", ""),
        (RaterKind.PERSON, "", "", ""),
        (RaterKind.PERSON, "x" * 201, "", ""),
        (RaterKind.PERSON, "ana", "2", ""),
        (RaterKind.IMPORT, "ana", "", "a" * 64),
        (RaterKind.MODEL, "gpt", "", "a" * 64),
        (RaterKind.MODEL, "gpt", "2", "abc"),
    ],
)
def test_a_rater_must_say_who_it_is(kind: RaterKind, name: str | None, version: str, digest: str) -> None:
    with pytest.raises(InvalidRater):
        make_rater(kind, name, version, digest)
