"""A value that stands right beside letters of another script is found whole: "IPは192.0.2.17です"."""

from random import Random

import pytest

from datasets_app.domain.pii.canary.values import make_value
from datasets_app.domain.pii.detector import JUDGED_KINDS, PATTERN_KINDS
from datasets_app.domain.pii.rules.finder import find_all

AROUND = {
    "Japanese": "これは{}です",
    "Chinese": "请看{}谢谢",
    "Korean": "제가{}입니다",
    "Thai": "ดูที่{}ครับ",
    "Hebrew": "ראו ב{}",
    "Arabic": "انظر ل{}",
    "Hindi": "देखें{}को",
}
# What only a word in its language tells.
BY_WORDS = frozenset({"ID_NUMBER", "PHONE", "CREDENTIAL"})
KINDS = sorted(frozenset(PATTERN_KINDS) - JUDGED_KINDS - BY_WORDS)


@pytest.mark.parametrize("language", AROUND)
@pytest.mark.parametrize("kind", KINDS)
def test_a_value_beside_letters_of_another_script_is_found_whole(kind: str, language: str) -> None:
    for seed in range(40):
        value = make_value(kind, Random(seed)).text
        if not any(match.kind == kind for match in find_all(f"see {value} ok")):
            continue
        text = AROUND[language].format(value)
        start = text.index(value)
        assert any(
            match.kind == kind and match.start <= start and start + len(value) <= match.end
            for match in find_all(text)
        ), text


def test_a_password_behind_a_particle_goes_whole() -> None:
    [match] = [match for match in find_all("passwordはmaple-aB3dE5f7です") if match.kind == "CREDENTIAL"]
    assert (match.start, match.end) == (9, 23)


def test_what_is_no_value_beside_latin_letters_stays_none() -> None:
    for text in (
        "バージョン2.0.1です",
        "第3章のexample.pyを見て",
        "型番はAB-1234です",
        "用npm install安装",
        "ห้อง12ครับ",
    ):
        assert find_all(text) == [], text
