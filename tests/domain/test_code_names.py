"""What the syntax of code names is nobody; words that code has, too, are ordinary in a sentence."""

import pytest

from datasets_app.domain.pii.rules.code_names import find_code_names


def find(text: str) -> str:
    return " ".join(text[part.start : part.end] for part in find_code_names(text))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import { Victor } from 'stats';", "Victor"), ('import Hugo from "hugo-bin";', "hugo-bin"),
        ("const victor = require('victor')", "victor"), ("let Maria = 3;", "Maria"), ("new Hugo(1)", "Hugo"),
        ("class Laura extends Model {", "Laura"), ("struct Emma {", "Emma"), ("def anna():", "anna"),
        ("SELECT id FROM Julia;", "Julia"), ("maria-db : none;", "maria-db"),
    ],
)  # fmt: skip
def test_syntax_names(text: str, name: str) -> None:
    assert name in find(text)


@pytest.mark.parametrize(
    "text",
    [
        'At 10:30 I got a mail from "Maria Lopez".', "Kl 10:30. Det var Maria. Hej", "Det var Anna (chefen).",
        "let Maria (my wife) know: thanks", "our new Hugo. So: what now?", "jean-pierre : bonjour",
        "From: the desk; a letter from 'Maria'", "val Maria; then (later) nobody", "new Anna: hi",
    ],
)  # fmt: skip
def test_sentences_with_its_words_name_people(text: str) -> None:
    assert find(text) == ""
