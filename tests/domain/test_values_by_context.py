"""Numbers, dates and user names by their context: wording that no rule or template has, and near misses."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii import detection
from datasets_app.domain.pii.detection import find_values
from datasets_app.domain.pii.detector import DATE_OF_BIRTH, HANDLE, ID_NUMBER, PHONE
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from scripts.marked_texts.examples import make_rows

KINDS = (PHONE, DATE_OF_BIRTH, HANDLE, ID_NUMBER)


def list_values(text: str, kind: str) -> list[str]:
    return [text[match.start : match.end] for match in find_values(text) if match.kind == kind]


def scrub(*texts: str) -> list[str]:
    turns = [
        TurnRecord("one", number, ("assistant", "user")[number % 2], text, [])
        for number, text in enumerate(texts)
    ]
    [scrubbed] = Scrubber(Policy(kinds=KINDS), key=b"a key for tests!").scrub([SessionInput(turns)])
    return [turn.text for turn in scrubbed.turns]


# None of the wording around numbers and dates is in a template; like that around some of the user names and
# near misses the network has learned lines (``scripts/network/texts/en-users.txt``).
FOUND = (
    ("Lass uns kurz schnacken, du kriegst mich auf 0176 4455 812 an die Strippe", "PHONE", "0176 4455 812"),
    ("my handset got a new sim, so it's 4021 77 65 from Monday", "PHONE", "4021 77 65"),
    ("give my carer a tinkle, 40 21 77 65", "PHONE", "40 21 77 65"),
    ("la ligne du gardien, c'est 40 21 77 65 12", "PHONE", "40 21 77 65 12"),
    ("kid came along 14.02.2011, needs own card", "DATE_OF_BIRTH", "14.02.2011"),
    ("nata quel bellissimo 3 maggio 1988, mia figlia", "DATE_OF_BIRTH", "3 maggio 1988"),
    ("everybody in the lobby knows me as brambleknot", "HANDLE", "brambleknot"),
    ("the fellow behind otter_parade sold me a dud", "HANDLE", "otter_parade"),
    ("kannst du pixelfuchs23 entsperren?", "HANDLE", "pixelfuchs23"),
    ("please kick snorlax_fan off the server", "HANDLE", "snorlax_fan"),
    ("the consulate noted L4471920X as my passport", "ID_NUMBER", "L4471920X"),
    ("mon passeport porte le 14AF82251", "ID_NUMBER", "14AF82251"),
    (
        "our twins were born the seventh of may two thousand and one",
        "DATE_OF_BIRTH",
        "seventh of may two thousand",
    ),
    (
        "ik ben geboren op zeven mei negentienhonderd vierentachtig",
        "DATE_OF_BIRTH",
        "zeven mei negentienhonderd",
    ),
    ("I was born 04/22/93 first child of three", "DATE_OF_BIRTH", "04/22/93"),
    ("everyone online knows me as thornpickle, same on discord", "HANDLE", "thornpickle"),
)
KEPT = (
    "the parcel label reads 40217765",
    "python -c 'print(42150373126)'",
    "please edit settings.py and created_at",
    "upgrade to v8.5.6-rc4",
    "the delivery comes on the seventh of may",
    "version 2024.11.03 came out",
    "we sold 40217765 tickets",
    "the concert is on 3 May 2025",
    "the lobby opens at noon on 14.02.2025",
    "my username keeps getting rejected",
    "the getUserName call is slow",
    "row 4021776 has a typo",
    "kubectl get pods shows web-frontend-7",
    "Rechnung 40217765 vom 14.02.2024",
    "meet us in the discord server",
    "call the helper parse_date first",
    "https://acme.com/reports?from=1700000000&to=1700086400",
    "github_login",
    "guardian_phone2",
)


def test_wording_that_nobody_wrote_down_is_judged_by_its_words() -> None:
    missed = [(text, kind) for text, kind, value in FOUND if value not in " ".join(list_values(text, kind))]
    assert not missed


def test_what_only_looks_like_personal_data_stays() -> None:
    assert [scrub(text)[0] for text in KEPT] == list(KEPT)


def test_the_question_decides_what_a_reply_is() -> None:
    for question, reply, kind in (
        ("Which line could our fitter try on the day?", "4021 77 65 12", PHONE),
        (
            "And when did you first see the light of the day? Your date of birth, please",
            "02.11.1971",
            DATE_OF_BIRTH,
        ),
        ("Hvad er dit brugernavn?", "time.andersenlaus", HANDLE),
    ):
        assert scrub(question, reply) == [question, f"[{kind}]"]
    assert scrub("What does the parcel label say?", "40217765")[1] == "40217765"


def test_a_scrub_of_more_replies_than_are_remembered_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "MAX_CACHED_TEXTS", 1)
    question = "What is your user name on Discord?"
    assert scrub(question, "snorlax_fan", question, "No, I have none.") == [
        question,
        "[HANDLE]",
        question,
        "No, I have none.",
    ]


@settings(max_examples=100)
@given(st.text(max_size=120), st.text(max_size=40))
def test_a_scrub_of_any_reply_ends_and_repeats_itself(text: str, question: str) -> None:
    once = scrub(question, text)
    assert scrub(question, text) == once
    assert scrub(*once) == once


def test_every_template_can_be_filled() -> None:
    rows = list(make_rows(random.Random(3), 1))
    assert {row.language for row in rows} >= set("en de fr es it nl pt pl sv da no fi cs".split())
    assert all(span["end"] <= len(row.text) for row in rows for span in row.spans)
