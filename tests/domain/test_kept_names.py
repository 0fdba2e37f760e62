"""Brands, products and words of personas stay; people who are called like them don't."""

from dataclasses import replace

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.personas.persona import parse_persona
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.persona_terms import list_persona_terms
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

KEY = b"a key for tests"
BURGERS = """
id: wendys_v1
display_name: Wendy's
brand: {name: Wendy's, products: [Baconator, Frosty, Dave's Double], competitors: [Arby's, Carl's Jr]}
lexicon: {preferred: [sizzle, fresh, Biggie Bag], avoid: [zaddy]}
exemplars:
  - Thanks, Maria! Your Baconator is worth the drive.
  - Try the Sprocket Shake at any Quixley's.
"""
BEDS = """
id: casper-support
display_name: Casper
description: The voice of Casper, maker of the Wave Hybrid.
lexicon: {preferred: [grace, snooze]}
"""


OUTDOORS = """
id: fjord
display_name: Fjord & Sons
lexicon: {preferred: [Torsten Tent]}
"""


def scrub(yaml: str, *turns: tuple[str, str], allow_names: tuple[str, ...] = ()) -> list[str]:
    terms = list_persona_terms(parse_persona(yaml)) if yaml else []
    policy = replace(Policy(kinds=("NAME",)), allow_names=allow_names)
    records = [TurnRecord("1", number, role, text, []) for number, (role, text) in enumerate(turns, 1)]
    [session] = Scrubber(policy, key=KEY, persona_terms=terms).scrub([SessionInput(records)])
    return [turn.text for turn in session.turns]


@pytest.mark.parametrize(
    "text",
    [
        "The Solveig in blue is sold out again",
        "compared it to Quixor Wireless, yours wins",
        "Vixa Boots ship within 24 hours",
        "is the Rosalind Jacket waterproof?",
        "do you have the Rowan 3 in stock?",
    ],
)
def test_things_in_the_chat_of_a_persona_stay(text: str) -> None:
    assert scrub(OUTDOORS, ("user", text)) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "why was my standing order payment to ryanna lower the last month",
        "When did the transfer to Takeisha stop?",
        "is Teressa available on monday?",
        "I spoke with Suzanne Oullette and Consuela last week",
        "name on it is O. Thistlewood",
        "we are a cafe, 12 chairs, invoice to Ignatius Bell",
        "What Hitzig and Fritsch found out",
        "kapil 1235",
    ],
)
def test_people_in_the_chat_of_a_persona_are_found_as_anywhere(text: str) -> None:
    replaced = scrub(OUTDOORS, ("user", text))
    assert replaced == scrub("", ("user", text))
    assert "[NAME]" in replaced[0]


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("my wife Solveig broke her tent", "my wife [NAME] broke her tent"),
        ("I spoke with Halvora Lind about the Torsten Tent", "I spoke with [NAME] about the Torsten Tent"),
        ("the order is for Rosalind", "the order is for [NAME]"),
        (
            "I bought a Torsten Tent for Zheaki and she loves it",
            "I bought a Torsten Tent for [NAME] and she loves it",
        ),
        ("thanks Gordon!", "thanks [NAME]!"),
        ("Solveig from support told me so", "[NAME] from support told me so"),
        (
            "Rosalind here, still waiting for the Torsten Tent",
            "[NAME] here, still waiting for the Torsten Tent",
        ),
        ("my brother Melka (9) has the Torsten Tent", "my brother [NAME] (9) has the Torsten Tent"),
    ],
)
def test_people_in_the_chat_of_a_persona_do_not(text: str, scrubbed: str) -> None:
    assert scrub(OUTDOORS, ("user", text)) == [scrubbed]


def test_what_is_a_person_in_one_turn_is_one_in_all() -> None:
    texts = scrub(
        OUTDOORS, ("user", "my Solveig broke"), ("assistant", "Oh!"), ("user", "I mean my wife Solveig")
    )
    assert texts == ["my [NAME] broke", "Oh!", "I mean my wife [NAME]"]


@pytest.mark.parametrize(
    ("yaml", "text", "scrubbed"),
    [
        (BURGERS, "I told Wendy's that wendys is better than Arby's", None),
        (
            BURGERS,
            "Is Wendy Miller there? Wendy’s manager said so",
            "Is [NAME] there? Wendy’s manager said so",
        ),
        (BURGERS, "my name is Wendy", "my name is [NAME]"),
        (
            BURGERS,
            "Baconator Max is back, ask Baconator Jane Roe",
            "Baconator Max is back, ask Baconator [NAME]",
        ),
        (BURGERS, "hey Maria, thank Carl's Jr and Quixley's", "hey [NAME], thank Carl's Jr and Quixley's"),
        (BURGERS, "Zaddy says to ask Sprocket", None),
        (BEDS, "Hi Casper, is Casper Sleep the same as Casper's Wave Hybrid?", None),
        (BEDS, "My name is Casper", None),
        (BEDS, "I told my wife Casper so", "I told my wife [NAME] so"),
        (BEDS, "Ask Casper Lindqvist about it", "Ask [NAME] about it"),
        (BEDS, "Mr. Casper asked Maria", "Mr. [NAME] asked [NAME]"),
        (BEDS, "the grace period is fine, I told Grace so", "the grace period is fine, I told [NAME] so"),
    ],
)
def test_terms_of_a_persona(yaml: str, text: str, scrubbed: str | None) -> None:
    assert scrub(yaml, ("user", text)) == [scrubbed or text]


def test_a_persons_whole_name_makes_the_first_one_personal_too() -> None:
    turns = [("assistant", "Hi Casper!"), ("user", "this is Casper Lindqvist")]
    assert scrub(BEDS, *turns) == ["Hi [NAME]!", "this is [NAME]"]


def test_an_answer_to_the_question_for_a_name_is_a_person() -> None:
    turns = [("assistant", "May I have your name, please?"), ("user", "casper")]
    assert scrub(BEDS, *turns)[1] == "[NAME]"


def test_terms_that_people_list_stay_in_every_context() -> None:
    text = "my name is Wendy, ask Wendy Miller or Jane of Acme Jane"
    scrubbed = "my name is Wendy, ask [NAME] or [NAME] of Acme [NAME]"
    assert scrub("", ("user", text), allow_names=("Wendy", "Acme")) == [scrubbed]


def test_terms_are_whole_phrases_and_the_parts_that_mean_them() -> None:
    terms = list_persona_terms(parse_persona(BURGERS))
    assert {"wendys_v1", "Wendy's", "Wendys", "Baconator", "Biggie Bag", "zaddy", "Sprocket Shake"} <= {
        *terms
    }
    assert {"Quixley's", "Dave's Double", "Carl's Jr"} <= {*terms}
    assert not {"Maria", "Wendy", "Thanks", "v1", "Try"} & {*terms}
    assert list_persona_terms(parse_persona("id: default_v1")) == ["default_v1"]


def test_what_a_person_marked_as_missed_goes_although_things_are_called_so() -> None:
    text = "my Solveig broke, the Solveig in blue"
    mark = make_missed_mark("NAME", "solveig", KEY)
    assert mark is not None
    policy = Policy(kinds=("NAME",), missed=(mark,))
    terms = list_persona_terms(parse_persona(OUTDOORS))
    scrubber = Scrubber(policy, key=KEY, persona_terms=terms)
    [session] = scrubber.scrub([SessionInput([TurnRecord("1", 1, "user", text, [])])])
    assert session.turns[0].text == "my [NAME] broke, the [NAME] in blue"
    assert not scrubber.count_remaining([SessionInput(session.turns)])


def test_a_word_of_a_personas_phrase_is_no_person_unless_one_is_called_so() -> None:
    [text, answer] = scrub(
        OUTDOORS,
        ("user", "does Torsten come in green, and is the old Torsten still sold"),
        ("assistant", "Torsten and the big Torsten Tent do, until spring."),
    )
    assert "[NAME]" not in text + answer
    for said in ("Hi Torsten, the tent is on its way", "my brother Torsten wants the same one"):
        assert "Torsten" not in scrub(OUTDOORS, ("user", said))[0]
    assert scrub(OUTDOORS, ("assistant", "May I have your name?"), ("user", "Torsten"))[1] == "[NAME]"
