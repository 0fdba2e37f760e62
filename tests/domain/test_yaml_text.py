import pytest

from datasets_app.domain.metadata.yaml_text import YamlError, load_yaml


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("policies: []\npolicies: []\n", "line 2, column 1"),
        ("a:\n  - {x: 1, y: 2, x: 3}\n", "line 2, column 18"),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(YamlError, match=f"{place}.*stands twice"):
        load_yaml(text)


def test_the_same_key_in_two_mappings_is_no_repetition() -> None:
    assert load_yaml("a: {x: 1}\nb: {x: 2}\n'1': text\n1: number\n") == {
        "a": {"x": 1},
        "b": {"x": 2},
        "1": "text",
        1: "number",
    }
