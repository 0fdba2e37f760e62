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


def unfold(levels: int, width: int) -> str:
    """A few lines whose aliases stand for ``width`` ** ``levels`` values."""
    lines = [f"- &a0 [{', '.join('x' * width)}]"]
    lines += [f"- &a{level} [{', '.join([f'*a{level - 1}'] * width)}]" for level in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (unfold(9, 9), "more than 1,000,000 values"),
        (unfold(120, 1), "nested deeper than 100 levels"),
        ("&a [*a]", "isn't a value that ends before it"),
        ("a: &a {b: &c [1, *a]}\nd: *c", "isn't a value that ends before it"),
        ("a: *b", "isn't a value that ends before it"),
        ("a: " + ":".join(["1"] * 300_000), "a number has more than 400 characters"),
        ("a: 0x" + "f" * 5000, "a number has more than 400 characters"),
    ],
    ids=["values", "levels", "itself", "an outer one", "unknown", "base 60", "hexadecimal"],
)
def test_a_few_lines_do_not_take_a_server(text: str, reason: str) -> None:
    """Aliases are counted as if they were written out."""
    with pytest.raises(YamlError, match=reason):
        load_yaml(text, allow_aliases=True)


def test_aliases_and_long_texts_are_read() -> None:
    document = load_yaml(unfold(3, 9) + "\n- *a0\n- " + "9" * 300, allow_aliases=True)
    assert document[3] == ["x"] * 9
    assert document[4] == int("9" * 300)
