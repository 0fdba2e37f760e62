"""The scrubber's fast path finds what presidio finds text by text with the same recognizers."""

import gzip
import json
import random
import socket
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.pii import presidio
from datasets_app.domain.pii.custom_patterns import CustomPatterns
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import EMAIL, KINDS, NAME, PHONE, Match, merge_matches
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.presidio import (
    convert_results,
    get_entity,
    make_analyzer_engine,
    make_name_recognizer,
    make_nlp_engine,
    make_recognizer,
)
from datasets_app.domain.pii.rules.finder import RuleDetector
from tests.domain.test_rules import ONE_OF_EACH
from tests.strategies import EXAMPLES_FACTOR

pytestmark = pytest.mark.xdist_group("presidio")

KEY = b"a key for tests, of no other worth"
DIALOGUES = Path(__file__).resolve().parents[3] / "shared" / "data" / "sgd_dev.jsonl.gz"

VALUES = (
    "jane.doe@acme.com",
    "ｊａｎｅ＠ａｃｍｅ．ｃｏｍ",
    "+49 151 64003691",
    "(508) 777-8189 ext. 14",
    "457-55-5462",
    "4111 1111 1111 1111",
    "81.2.69.142",
    "2001:db8:85a3::8a2e:370:7334",
    "Jane Fonseca",
    "rajesh",
    "Mary O'Brien",
    "José Martínez",
    "Anne-Marie Jones",
    "password: hunter48!x",
    "postgres://app:s3cr3tPw@db01.internal:5432/orders",
    "/home/jfonseca/projects/notes.txt",
    "C:\\Users\\jfonseca\\Desktop\\plan.docx",
    "ssh deploy@vpn-sfo2.hooli.net",
    "order 4711-0815",
    "passport number X4739120",
    "account number 10458823",
    "DE89 3704 0044 0532 0130 00",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "3c:22:fb:07:9a:41",
    "RSSMRA85T10A562S",
    "thanks @jane_doe77 for it",
    "12 Maple Street, Apt 4, Springfield, IL 62704",
    "date of birth 12/03/1984",
    "https://example.com/users/jane-doe",
    "Maria Lopez, 34, of Lima",
    "version 13.19.19.94",
    "the Paris office",
    "🙂👩‍👩‍👧",
    "שלום דנה כהן",
    "e\u0301le\u0300ne dupont",
    "[EMAIL]",
    "a::b x[1::2]",
)
FRAMES = (
    "{}",
    "my name is {}",
    "please write to {} or call {}.",
    "hi {}, this is {} speaking; the account is {}",
    "{}\n\nBest regards,\n{}",
    "it says {!r} in the log, twice: {!r}",
    "{}{}",
    "MY NAME IS {} AND I AM ANGRY ABOUT {}",
    "from: {}\nto: {}\ncc: {}",
    "does {} know {}'s number? 🙂 {}",
    "\u200b{}\u200b and {} \u202e{}",
    "  {}  ,{};{}  ",
)


def made_up(count: int, seed: int = 7) -> list[str]:
    chance = random.Random(seed)
    texts = ["", " ", "\n", "x", "12345", "half \ud800 a pair of Jane Doe", "Jane Doe " * 300]
    texts += [frame.format(value, value, value) for frame in FRAMES for value in VALUES]
    texts += ONE_OF_EACH.values()
    while len(texts) < count:
        texts.append(chance.choice(FRAMES).format(*chance.choices(VALUES, k=3)))
    return texts


def fast(texts: Sequence[str], batch: int, **options: Any) -> list[list[tuple[str, int, int]]]:
    detection = Detection(Policy(**options), KEY)
    asked = [DetectionInput(text) for text in texts]
    found = [
        matches
        for start in range(0, len(asked), batch)
        for matches in detection.find_many(asked[start : start + batch])
    ]
    return [places(merge_matches(matches)) for matches in found]


def plain(texts: Sequence[str], **options: Any) -> list[list[tuple[str, int, int]]]:
    engine = make_analyzer_engine(**options)
    return [places(convert_results(engine.analyze(text, presidio.LANGUAGE))) for text in texts]


def places(matches: Sequence[Match]) -> list[tuple[str, int, int]]:
    return [(match.kind, match.start, match.end) for match in matches]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return made_up(500)


@pytest.fixture(scope="module")
def expected(texts: list[str]) -> list[list[tuple[str, int, int]]]:
    return plain(texts)


def test_every_class_is_among_what_is_compared(expected: list[list[tuple[str, int, int]]]) -> None:
    assert {kind for found in expected for kind, _, _ in found} == set(KINDS)


@pytest.mark.parametrize("batch", [1, 7, 500])
def test_many_at_once_are_found_as_presidio_finds_them_one_by_one(
    batch: int, texts: list[str], expected: list[list[tuple[str, int, int]]]
) -> None:
    assert fast(texts, batch) == expected


@pytest.mark.parametrize("seed", range(3))
def test_neither_order_nor_repetition_changes_what_is_found(
    seed: int, texts: list[str], expected: list[list[tuple[str, int, int]]]
) -> None:
    numbers = random.Random(seed).choices(range(len(texts)), k=250)
    assert fast([texts[n] for n in numbers], 50 + seed) == [expected[n] for n in numbers]


@pytest.mark.parametrize("kinds", [(NAME,), (EMAIL, PHONE), ("CREDENTIAL", "HOST", NAME)])
def test_some_classes_only(kinds: tuple[str, ...]) -> None:
    some = made_up(0)[:120]
    found = plain(some, kinds=kinds)
    assert fast(some, 30, kinds=kinds) == found
    assert {kind for each in found for kind, _, _ in each} == set(kinds)


@pytest.mark.skipif(not DIALOGUES.exists(), reason="../shared/data/sgd_dev.jsonl.gz is not there")
def test_dialogues_are_found_alike_on_both_paths() -> None:
    with gzip.open(DIALOGUES, "rt", encoding="utf-8") as file:
        turns = [json.loads(line)["text"] for line in islice(file, 0, 30_000, max(1, 75 // EXAMPLES_FACTOR))]
    assert fast(turns, 400) == plain(turns)


# --- for those who have presidio ---------------------------------------------------------------


def test_ours_in_an_engine_of_their_own() -> None:
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.predefined_recognizers import UsSsnRecognizer

    registry = RecognizerRegistry()
    engine = AnalyzerEngine(RecognizerRegistry([UsSsnRecognizer()]), make_nlp_engine())
    for recognizer in (make_recognizer(RuleDetector(), [EMAIL]), make_name_recognizer()):
        engine.registry.add_recognizer(recognizer)
    text = "I'm Jane Doe, jane@acme.com, my ssn is 565060447"
    found = {result.entity_type: result for result in engine.analyze(text, "en")}
    assert set(found) == {"PERSON", "EMAIL_ADDRESS", "US_SSN"}
    # Presidio's own recognizers keep their context words, for which they need lemmas.
    assert found["US_SSN"].score >= 0.4
    assert registry.recognizers == []


def test_an_own_pattern_in_the_engine() -> None:
    engine = make_analyzer_engine([EMAIL], other_detectors=[CustomPatterns([("TICKET", r"T-\d{4}")])])
    found = convert_results(engine.analyze("T-4711 of jane@acme.com", "en"))
    assert places(found) == [("TICKET", 0, 6), (EMAIL, 10, 23)]


def test_an_engine_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="a class"):
        make_analyzer_engine([])


def test_presidio_s_names_for_classes_and_back() -> None:
    assert (get_entity(NAME), get_entity(EMAIL), get_entity("CREDENTIAL")) == (
        "PERSON",
        "EMAIL_ADDRESS",
        "CREDENTIAL",
    )


def test_neither_path_asks_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    engine = make_analyzer_engine()
    assert convert_results(engine.analyze("jane@acme.co.uk", "en")) == [Match(EMAIL, 0, 15)]
