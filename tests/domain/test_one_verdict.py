"""Scrub, verification and checks give one verdict, in every language."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detection import Detection, DetectionInput, find_values
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from datasets_app.domain.quality.personal_data import PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.personal_data_codes import CODE_BY_KIND
from datasets_app.domain.quality.runner import run_checks
from tests.strategies import EXAMPLES_FACTOR

TEXTS = Path(__file__).parents[2] / "scripts" / "network" / "texts"
LANGUAGES = "en de fr es it pl tr ru ar hi ja zh ko vi".split()
_MARK = re.compile(r"«[A-Z]:([^»]*)»")
_SLOTS = {
    "{first}": "Katarina",
    "{last}": "Lindqvist",
    "{full}": "Marek Lindqvist",
    "{foreign}": "Yusuf Adeyemi",
    "{user}": "otter_fan77",
    "{code}": "parse_rows",
    "{address}": "12 Elm Street, Springfield",
    "{postal}": "50667 Köln",
    "{zip}": "80331",
    "{town}": "Lyon",
    "{line}": "Flat 4B",
    "{birth}": "12 March 1984",
    "{date}": "3 May 2026",
    "{base}": "4711",
    "{d}": "7",
    "{n}": "48213",
}
LINES = 80 * EXAMPLES_FACTOR


def read_texts(language: str) -> list[str]:
    lines = [
        line
        for path in sorted(TEXTS.glob(f"{language}*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    chosen = random.Random(language).sample(lines, min(LINES, len(lines)))
    return [re.sub(r"\{[a-z]+\}", lambda slot: _SLOTS[slot[0]], _MARK.sub(r"\1", line)) for line in chosen]


def make_turns(texts: list[str]) -> list[TurnRecord]:
    return [TurnRecord(f"s{n // 4}", n % 4 + 1, "user", text, []) for n, text in enumerate(texts)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_scrub_has_verified_passes_the_checks(language: str) -> None:
    turns = make_turns(read_texts(language))
    sessions = [SessionInput(turns[start : start + 4]) for start in range(0, len(turns), 4)]
    scrubber = Scrubber(Policy(), key=b"k" * 32)
    scrubbed = [turn for session in scrubber.scrub(sessions) for turn in session.turns]
    again = [SessionInput(scrubbed[start : start + 4]) for start in range(0, len(scrubbed), 4)]
    assert not scrubber.count_remaining(again)
    assert not list(run_checks(scrubbed, PERSONAL_DATA_CHECKS))
    assert [turn.text for session in scrubber.scrub(again) for turn in session.turns] == [
        turn.text for turn in scrubbed
    ]


def test_what_only_a_key_tells_is_found_through_each_door() -> None:
    told = {
        "user_name": "jdoe",
        "customerId": 12,
        "ip": "10.1",
        "api_key": "xyz",
        "tel": "12345",
        "iban": "mine",
    }
    others = {"address": "required", "wallet": "empty", "max_tokens": 512, "model": "claude-3-opus"}
    turn = TurnRecord("s", 1, "user", "hi", ["lang:en"], metadata=told | others)
    scrubber = Scrubber(Policy(), key=b"k" * 32)
    found = {finding.field.removeprefix("metadata.") for finding in run_checks([turn], PERSONAL_DATA_CHECKS)}
    remaining = {
        value.field.removeprefix("metadata.") for value in scrubber.find_remaining([SessionInput([turn])])
    }
    [scrubbed] = scrubber.scrub([SessionInput([turn])])
    metadata = scrubbed.turns[0].metadata or {}
    assert (
        found
        == remaining
        == {key for key, value in metadata.items() if value != turn.metadata[key]}
        == set(told)
    )
    assert not scrubber.count_remaining([SessionInput(scrubbed.turns)])


@pytest.mark.parametrize("language", LANGUAGES)
def test_checks_find_what_a_verification_finds(language: str) -> None:
    turns = make_turns(list(dict.fromkeys(read_texts(language))))
    scrubber = Scrubber(Policy(), key=b"k" * 32)
    sessions = [SessionInput(turns[start : start + 4]) for start in range(0, len(turns), 4)]
    remaining = Counter(
        (f"s{value.session}", value.turn_index, CODE_BY_KIND[value.kind])
        for value in scrubber.find_remaining(sessions)
    )
    found = Counter(
        (finding.session_id, finding.turn_index, finding.code)
        for finding in run_checks(turns, PERSONAL_DATA_CHECKS)
    )
    assert found == remaining


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_is_read_alike_alone_and_among_others(language: str) -> None:
    texts = list(dict.fromkeys(read_texts(language)))
    together = Detection(Policy(), b"k" * 32, rules_only=True).find_many([DetectionInput(t) for t in texts])
    for text, found in zip(texts, together, strict=True):
        places = {(match.kind, match.start, match.end) for match in found}
        assert places == {(match.kind, match.start, match.end) for match in find_values(text)}, text
