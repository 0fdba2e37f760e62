"""Ages in the sentence of a name, as people write them; other numbers beside a name stay."""

from datasets_app.domain.pii.ages import find_ages
from datasets_app.domain.pii.detector import NAME, Match


def list_ages(text: str) -> list[str]:
    return [text[age.start : age.end] for age in find_ages(text, [Match(NAME, 0, 4)])]


def test_ages_beside_a_name_are_found_in_many_forms() -> None:
    for text, age in (
        ("Anna here, I'm 34", "34"),
        ("anna, i'm 41 and angry", "41"),
        ("Anna turned 65 in may", "65"),
        ("Anna ist 21-jährig", "21-jährig"),
        ("Anna, a lady of 34 y.o.", "34 y.o."),
    ):
        assert list_ages(text) == [age], text


def test_other_numbers_beside_a_name_stay() -> None:
    for text in ("Anna, I'm 20 minutes away", "Anna, I'm 20 dollars short", "Anna said he is 30 km off"):
        assert not list_ages(text), text
