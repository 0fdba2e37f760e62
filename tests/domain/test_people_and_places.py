"""User names, postal addresses, dates of birth, and web addresses that say who somebody is."""

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.rules.finder import find_all, find_quickly
from datasets_app.domain.pii.scrubber import Scrubber, SessionInput

# (class, text, the value in it)
VALUES = [
    ("HANDLE", "my username is jdoe42", "jdoe42"),
    ("HANDLE", "add me on discord: jane.doe#1234", "jane.doe#1234"),
    ("HANDLE", "u/janedoe said so", "u/janedoe"),
    ("HANDLE", "my insta is jane.codes", "jane.codes"),
    ("ADDRESS", "ship it to Hauptstraße 12, 10827 Berlin please", "Hauptstraße 12, 10827 Berlin"),
    ("ADDRESS", "12 rue de la Paix\n75002 Paris", "12 rue de la Paix\n75002 Paris"),
    ("ADDRESS", "221b baker street london nw1 6xe", "221b baker street london nw1 6xe"),
    ("ADDRESS", "PO Box 123, Dayton, OH 45402", "PO Box 123, Dayton, OH 45402"),
    ("ADDRESS", "Calle de Alcalá 45, 3º B, 28014 Madrid", "Calle de Alcalá 45, 3º B, 28014 Madrid"),
    ("ADDRESS", "Via Roma 10, 00184 Roma RM", "Via Roma 10, 00184 Roma RM"),
    ("ADDRESS", "Rua Augusta 1500, 01304-001 São Paulo - SP", "Rua Augusta 1500, 01304-001 São Paulo - SP"),
    ("ADDRESS", "ul. Marszałkowska 10/5, 00-590 Warszawa", "ul. Marszałkowska 10/5, 00-590 Warszawa"),
    ("ADDRESS", "Storgatan 5, 111 51 Stockholm", "Storgatan 5, 111 51 Stockholm"),
    ("ADDRESS", "Keizersgracht 123, 1015 CJ Amsterdam", "Keizersgracht 123, 1015 CJ Amsterdam"),
    ("DATE_OF_BIRTH", "DOB: 1984-03-12", "1984-03-12"),
    ("DATE_OF_BIRTH", "born on 3rd of March 1984", "3rd of March 1984"),
    ("DATE_OF_BIRTH", "Geburtsdatum: 12.03.1984", "12.03.1984"),
    ("DATE_OF_BIRTH", "née le 12 mars 1984", "12 mars 1984"),
    ("DATE_OF_BIRTH", "fecha de nacimiento: 12 de marzo de 1984", "12 de marzo de 1984"),
    (
        "URL",
        "reset: https://shop.example.com/r?email=jane@x.org",
        "https://shop.example.com/r?email=jane@x.org",
    ),
]
ORDINARY = [
    "@property def x",
    "@Override public void run",
    "use @babel/core and npm i @types/node",
    "meet @ 5pm, @here please",
    "the release date is 12/03/2024",
    "born in the 1990s",
    "a 5 star hotel on wall street, 12 street food stands",
    "Route 66 is long, the drive takes 2 hours",
    "version 12 road map, gate 12, terminal 3",
    "a table at 7 pm for 4 people on March 3rd",
    "https://docs.python.org/3/library/re.html",
    "https://example.com/search?q=red+shoes",
]


@pytest.mark.parametrize("find", [find_all, find_quickly])
def test_they_are_found_as_people_write_them(find) -> None:
    for kind, text, value in VALUES:
        found = {(match.kind, text[match.start : match.end]) for match in find(text)}
        assert (kind, value) in found, text


@pytest.mark.parametrize("find", [find_all, find_quickly])
def test_what_looks_alike_is_left_alone(find) -> None:
    assert {text: found for text in ORDINARY if (found := find(text))} == {}


def test_a_scrub_leaves_no_part_and_changes_nothing_the_second_time() -> None:
    scrubber = Scrubber(Policy(), key=b"k" * 32)
    turns = [
        TurnRecord(str(number), 1, "user", text, [], None, None, None, None)
        for number, (_, text, _) in enumerate(VALUES)
    ]
    once = [result.turns[0] for result in scrubber.scrub([SessionInput([turn]) for turn in turns])]
    for turn, (kind, text, value) in zip(once, VALUES, strict=True):
        assert value not in turn.text, text
        assert f"[{kind}]" in turn.text, text
    assert not scrubber.count_remaining([SessionInput([turn]) for turn in once])
    again = scrubber.scrub([SessionInput([turn]) for turn in once])
    assert [result.turns[0].text for result in again] == [turn.text for turn in once]


@pytest.mark.parametrize(
    ("question", "answer", "value"),
    [
        ("Can I have your date of birth please?", "sure, 12 03 1984", "12 03 1984"),
        ("What is your username?", "sunny_day99", "sunny_day99"),
        ("May I have your shipping address?", "12 maple st springfield", "12 maple st"),
    ],
)
def test_an_answer_is_what_was_asked_for(question: str, answer: str, value: str) -> None:
    turns = [
        TurnRecord("s", 1, "assistant", question, [], None, None, None, None),
        TurnRecord("s", 2, "user", answer, [], None, None, None, None),
    ]
    [result] = Scrubber(Policy(), key=b"k" * 32).scrub([SessionInput(turns)])
    assert value not in result.turns[1].text


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("user_name", "sunnyday", "HANDLE"),
        ("date_of_birth", "1984-03-12", "DATE_OF_BIRTH"),
        ("street", "Maple Street 12", "ADDRESS"),
        ("zip", "62704", "ADDRESS"),
    ],
)
def test_a_key_says_what_stands_under_it(key: str, value: str, kind: str) -> None:
    turn = TurnRecord("s", 1, "user", "hello", [], None, None, {key: value}, None)
    [result] = Scrubber(Policy(), key=b"k" * 32).scrub([SessionInput([turn])])
    assert result.turns[0].metadata == {key: f"[{kind}]"}
