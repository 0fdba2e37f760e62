"""A persona's rules in words, whatever YAML made of them."""

import pytest

from datasets_app.domain.personas.persona import PersonaError, parse_persona
from datasets_app.domain.personas.wording import describe_rules, format_value


def test_rules_that_are_known_are_sentences_and_others_are_told_as_they_are() -> None:
    rules = {
        "sentence_length": {"max_avg": 18},
        "contractions": {"allowed": True},
        "emojis": {"allowed": False},
        "tone": ["calm", "direct"],
        "sign_off": {"name": "Kim", "always": True},
    }
    assert list(describe_rules(rules)) == [
        "Sentences of at most 18 words on average",
        "Contractions are allowed",
        "Emojis are not allowed",
        "Tone: calm, direct",
        "Sign off: Name Kim; Always yes",
    ]


@pytest.mark.parametrize("last", ['"x"', "[]", "{}"])
def test_yaml_that_unfolds_to_gigabytes_is_cut_off(last: str) -> None:
    levels = [f"  a0: &a0 {last}"]
    levels += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 100)}]" for n in range(1, 9)]
    with pytest.raises(PersonaError, match="more than 1,000,000 values"):
        parse_persona("\n".join(["id: bomb", "style_rules:", *levels]))
    document = parse_persona("\n".join(["id: large", "style_rules:", *levels[:3]]))
    told = list(describe_rules(document.style_rules))
    assert len(told) == 3
    assert max(map(len, told)) < 6_000
    assert format_value([[[["deep"]]]]) == "…"
