"""The name model: where names are found, that batches change nothing, that nothing is fetched."""

import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import spacy

from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.names.names import (
    PIPELINE_PATH,
    NameFinder,
    load_built_in_pipeline,
    load_name_finder,
)
from datasets_app.domain.pii.policy import Policy
from tests.domain.growth import assert_linear_time

pytestmark = pytest.mark.xdist_group("names")

PROJECT = Path(__file__).resolve().parents[2]
SAMPLES = [
    "my name is Jane Roe",
    "hi, this is rajesh from billing",
    "rajesh kumar",
    "Thanks,\nMaria Gonzalez",
    "I'd like to cancel my flight to Boston on Friday.",
    "ask sugi ranga about it, or Peter O'Brien",
    "",
    " ",
    "\n\n",
    "  Jane  Roe  ",
    "👋🏽 Hello Emily, how are you? 🙂",
    "restart nginx and check /var/log/syslog",
    "write to jane.roe@example.com or https://example.com/~jane",
    "J. R. Smith's laptop",
    "((((((" * 30,
    "MY NAME IS JOHN SMITH",
]


@pytest.fixture(scope="module")
def finder() -> NameFinder:
    return load_name_finder(("builtin",))


def found(finder: NameFinder, text: str) -> list[str]:
    return [text[match.start : match.end] for match in finder.find(text)]


def spans(matches: list[Match]) -> list[tuple[str, int, int]]:
    return [match[:3] for match in matches]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("my name is Jane Roe", ["Jane Roe"]),
        ("Hello Emily, how are you?", ["Emily"]),
        ("👋🏽👨‍👩‍👧 Hello Emily 🙂", ["Emily"]),
        ("שלום, my name is David Cohen", ["David Cohen"]),
        ("my name is \u200bJane\u200b Roe", ["Jane\u200b Roe"]),
        ("my name is Ｊａｎｅ Ｓｍｉｔｈ", ["Ｊａｎｅ Ｓｍｉｔｈ"]),
        ("this is José Martínez speaking", ["José Martínez"]),
        ("my name is Jose\u0301 Martinez", ["Jose\u0301 Martinez"]),
        ("Mary Smith's laptop is broken", ["Mary Smith"]),
        ("please ask Mary O'Brien.", ["Mary O'Brien"]),
        ("I spoke with Dr. Anne-Marie Jones (twice)", ["Anne-Marie Jones"]),
        ("reservation under thomas a. anderson", ["thomas a. anderson"]),
    ],
)
def test_a_name_is_found_whole_and_where_it_stands(finder: NameFinder, text: str, names: list[str]) -> None:
    assert found(finder, text) == names


@pytest.mark.parametrize(
    "text",
    [
        "I'd like to cancel my flight to Boston on Friday.",
        "restart nginx and check the logs",
        "How do I locate my card?",
        "",
        " ",
        "12345",
    ],
)
def test_texts_without_people_are_left_alone(finder: NameFinder, text: str) -> None:
    assert finder.find(text) == []


def test_many_texts_give_what_spacy_gives_text_by_text(finder: NameFinder) -> None:
    nlp = load_built_in_pipeline()
    for text, matches in zip(SAMPLES, finder.find_many(SAMPLES), strict=True):
        doc = nlp(text)
        assert doc.text == text
        assert [("PERSON", m.start, m.end) for m in matches] == [
            (entity.label_, entity.start_char, entity.end_char) for entity in doc.ents
        ]


def test_a_name_that_only_the_network_sees_is_found_through_each_door(finder: NameFinder) -> None:
    text = "You would like me to make an appointment with Andreotti Daniel for 4:45 pm on March 7th."
    [scrubbed] = Detection(Policy(), b"a key for tests").find_many([DetectionInput(text)])
    names = [(match.start, match.end) for match in scrubbed if match.kind == NAME]
    assert text[slice(*names[0])].endswith("Daniel")
    assert [(match.start, match.end) for match in finder.find(text)] == names
    assert [(entity.start_char, entity.end_char) for entity in load_built_in_pipeline()(text).ents] == names


def test_what_stands_beside_a_text_changes_nothing(finder: NameFinder) -> None:
    alone = [spans(finder.find(text)) for text in SAMPLES]
    chosen = random.Random(3)
    for _ in range(5):
        order = chosen.sample(range(len(SAMPLES)), len(SAMPLES))
        together = finder.find_many([SAMPLES[number] for number in order])
        assert [spans(matches) for matches in together] == [alone[number] for number in order]


def test_a_fresh_finder_finds_the_same() -> None:
    text = "I told kavitha selvam and Mr. Ramirez"
    assert spans(NameFinder().find(text)) == spans(load_name_finder(("builtin",)).find(text))


@pytest.mark.parametrize(
    "unit", ["my name is Jane Roe. ", "(", "a", "'", "J.", "Jane ", "\n", "a@", "x-", "’s "]
)
def test_long_texts_take_time_by_their_length(finder: NameFinder, unit: str) -> None:
    finder.find(unit)
    assert_linear_time(finder.find, unit, length=2_500)


def test_names_at_the_far_end_of_a_long_text(finder: NameFinder) -> None:
    text = "the server was restarted twice today. " * 1_300 + "My name is Jane Roe"
    assert found(finder, text)[-1] == "Jane Roe"


def test_half_a_surrogate_pair_is_no_reason_to_fail(finder: NameFinder) -> None:
    text = "\ud83d my name is Jane Roe"
    assert found(finder, text) == ["Jane Roe"]
    assert NameFinder([str(PIPELINE_PATH)]).find(text)[0][:3] == ("NAME", 13, 21)


def test_the_packaged_pipeline_is_one_that_spacy_loads() -> None:
    load_built_in_pipeline()
    doc = spacy.load(PIPELINE_PATH)("my name is Jane Roe")
    assert [(entity.text, entity.label_) for entity in doc.ents] == [("Jane Roe", "PERSON")]
    assert doc[0].lemma_ == "my"


def test_a_model_by_path_finds_what_it_marks_as_people(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PER", "pattern": "Wug"}, {"label": "ORG", "pattern": "Acme"}])  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "wugs")
    other = NameFinder([str(tmp_path / "wugs")])
    assert other.find("Acme pays Wug") == [Match("NAME", 10, 13, 0.85)]
    long = "some words " * 5_000 + "Wug"
    assert [long[m.start : m.end] for m in other.find(long)] == ["Wug"]
    both = NameFinder(["builtin", str(tmp_path / "wugs")])
    text = "Wug, my name is Jane Roe"
    assert [text[m.start : m.end] for m in both.find(text)] == ["Wug", "Jane Roe"]


def test_a_model_that_is_not_there_is_told_and_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(NameModelError, match="en_core_web_missing.*not installed.*builtin"):
        NameFinder(["en_core_web_missing"])
    assert NameFinder().find("my name is Jane Roe")
    with pytest.raises(NameModelError, match="No name model is set"):
        NameFinder([])


def test_loading_the_words_takes_a_moment_and_little_memory() -> None:
    program = (
        "import resource, time\n"
        "from datasets_app.domain.pii.names import gazetteer\n"
        "before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()\n"
        "assert gazetteer.look_up_word('john').first == 2\n"
        "assert time.process_time() - start < 0.05\n"
        "assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 15_000\n"
        "import sys; assert not {'spacy', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=PROJECT, check=True)


def test_what_is_known_of_words() -> None:
    assert look_up_word("JOHN") == look_up_word("john") == look_up_word("ｊｏｈｎ")
    assert look_up_word("Smith").last == 2
    assert look_up_word("José").first
    assert look_up_word("the").common == 2
    assert look_up_word("table").first == 0
    assert look_up_word("qqzzxv") == (0, 0, 0)
    assert look_up_word("") == (0, 0, 0)
    # Only with another word behind it.
    assert look_up_word("nouvelle") == (0, 0, 0)
    assert look_up_word("são") == look_up_word("sao") == (0, 1, 0)


def test_every_line_of_the_gazetteer_can_be_found() -> None:
    lines = (PIPELINE_PATH.parent / "gazetteer.txt").read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines, key=lambda line: line.rsplit(" ", 1)[0].encode())
    for line in lines[::500]:
        word, digits = line.rsplit(" ", 1)
        assert "".join(map(str, look_up_word(word))) == digits


def test_the_packaged_model_is_small() -> None:
    size = sum(path.stat().st_size for path in PIPELINE_PATH.parent.rglob("*") if path.is_file())
    assert size < 10_000_000


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Tim Cook visited the office", ["Tim Cook"]),
        ("please assign it to Maria Page today", ["Maria Page"]),
        ("my name is tim cook", ["tim cook"]),
        ("how do I change AUD to GBP with my IBAN?", []),
        ("a room from 4th to 8th of Jun please", []),
        ("the migration adds first_name and robin_id", []),
        ("hahaha soooo funny", []),
    ],
)
def test_ordinary_words_belong_to_names_or_not(finder: NameFinder, text: str, names: list[str]) -> None:
    assert found(finder, text) == names
