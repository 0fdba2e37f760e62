"""Problems name line, field and rule; a value only if it can't be private."""

import pytest

from datasets_app.domain.conversations.jsonl import describe_value, parse_turn
from datasets_app.domain.conversations.records import LineError


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "the number 3"),
        (-999, "the number -999"),
        (1000, "a number"),
        (4155550123, "a number"),
        (-4155550123, "a number"),
        (0.5, "a number"),
        (123456789.0, "a number"),
        (10**400, "a number"),
        (True, "true"),
        ("4155550123", "a string of 10 characters"),
    ],
)
def test_only_small_whole_numbers_are_repeated(value: object, said: str) -> None:
    assert describe_value(value) == said


@pytest.mark.parametrize("field", ["session_id", "turn_index", "role", "text", "tags", "persona_id"])
def test_a_telephone_number_in_the_wrong_place_is_not_repeated(field: str) -> None:
    values = {"session_id": '"a"', "turn_index": "1", "role": '"user"', "text": '"hello"'}
    values[field] = "4155550123"
    line = "{" + ", ".join(f'"{key}": {value}' for key, value in values.items()) + "}"
    error = parse_turn(1, line.encode())
    assert isinstance(error, LineError)
    assert "4155550123" not in error.message
