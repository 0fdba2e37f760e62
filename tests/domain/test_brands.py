"""Words that a whole dataset shows to be brands stay; names of agents and customers never do."""

from dataclasses import replace

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.brands import BrandCounter, BrandTally, needs_brands
from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.names.brand_cues import Said, read_cues
from datasets_app.domain.pii.policy import Brand, Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

KEY = b"a key for tests, of 32 bytes or so"
PERSONA = ("Hollis Home", "Otis Sofa")
Turn = tuple[str, str]

# What customers say of a rival of the brand, each in a session of its own.
OF_A_RIVAL = (
    "{} has a cheaper one, why should I stay?",
    "I switched from {} last year and never looked back",
    "is the Otis Sofa better than {}?",
    "asked {} the same thing and got no answer",
    "I saw the same thing at {} for $40",
    "compared it to {}, yours wins",
    "the {} app logs me out every day",
    "we don't talk about {} here",
    "why is everyone obsessed with {}",
    "{} is closed on sundays",
)
# What an agent signs and is called, in chats that speak of bookings and stock as well.
OF_AN_AGENT = (
    "Hi, I'm {} from support. The sofa is back in stock.",
    "You're now chatting with {}.",
    "Your order has shipped.\n\nBest,\n{}",
    "Have a great day! - {}",
    "{} will take a look at your order right away.",
    "Your ticket was assigned to {}.",
    "{} is available on Saturday at 10.",
    "{} is back on Tuesday.",
    "{} works on weekends",
    "{} offers private lessons",
)
OF_A_CUSTOMER = (
    "{} 5342",
    "hello this is {}",
    "Let me check that for you, {}.",
    "Thanks {}, I have updated your booking.",
    "the parcel is for {}",
    "{} needs a bigger one",
    "is there a size for {}?",
    "I bought it for {} and it doesn't fit",
    "{} broke his tablet",
    "add {} to my plan",
)


def make_sessions(texts: list[Turn]) -> list[SessionInput]:
    return [
        SessionInput([TurnRecord(str(number), 1, role, text, [])])
        for number, (role, text) in enumerate(texts)
    ]


def find_brands(
    texts: list[Turn], policy: Policy | None = None, persona: tuple[str, ...] = PERSONA
) -> list[str]:
    policy = policy or Policy()
    sessions, tally = make_sessions(texts), BrandTally()
    tally.add(BrandCounter(policy, KEY, persona).count(sessions), len(sessions))
    return [brand.term for brand in tally.choose_brands(policy, KEY, persona)]


def fill(sentences: tuple[str, ...], name: str, role: str = "user", times: int = 1) -> list[Turn]:
    return [(role, sentence.format(name)) for sentence in sentences] * times


@pytest.mark.parametrize("name", ["Purrina", "Vodacell", "Columba"])
def test_what_many_sessions_speak_of_as_a_thing_is_a_brand(name: str) -> None:
    assert find_brands(fill(OF_A_RIVAL, name)) == [name.lower()]
    # As often in one form of words it might be anything.
    assert find_brands([("user", OF_A_RIVAL[1].format(name))] * 20) == []


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize(
    ("sentences", "role"), [(OF_AN_AGENT, "assistant"), (OF_A_CUSTOMER, "user"), (OF_A_CUSTOMER, "assistant")]
)
@pytest.mark.parametrize("name", ["Priya", "Zheakin", "Takeisha", "Anna", "Kavisri"])
def test_people_are_no_brands_in_however_many_sessions(
    name: str, sentences: tuple[str, ...], role: str, times: int
) -> None:
    assert find_brands(fill(sentences, name, role, times)) == []


def test_a_cue_of_a_person_anywhere_decides() -> None:
    things = fill(OF_A_RIVAL, "Purrina", times=2)
    for text in (
        "Hi Purrina, your parcel is here",
        "my wife Purrina wants it",
        "Bye for now!\nPurrina",
    ):
        assert find_brands([*things, ("assistant", text)]) == [], text
    answer = SessionInput(
        [
            TurnRecord("x", 1, "assistant", "May I have your name, please?", []),
            TurnRecord("x", 2, "user", "Purrina", []),
        ]
    )
    sessions, tally = [*make_sessions(things), answer], BrandTally()
    tally.add(BrandCounter(Policy(), KEY, PERSONA).count(sessions), len(sessions))
    assert tally.choose_brands(Policy(), KEY, PERSONA) == ()


def test_frequent_names_of_people_are_never_brands_unless_a_persona_has_them() -> None:
    assert find_brands(fill(OF_A_RIVAL, "Gordon", times=5)) == []
    assert find_brands(fill(OF_A_RIVAL, "Smith", times=5)) == []
    assert find_brands(fill(OF_A_RIVAL, "Theo Kibble")) == []
    assert find_brands(fill(OF_A_RIVAL, "Theo Kibble"), persona=("Theo & Tilly Pets",)) == ["theo kibble"]


def test_a_word_must_be_in_a_share_of_the_sessions() -> None:
    others = [("user", "where is my order?")] * 3_000
    assert find_brands([*fill(OF_A_RIVAL, "Purrina"), *others]) == []


def test_what_somebody_marked_as_a_person_is_no_brand() -> None:
    mark = make_missed_mark(NAME, "Purrina", KEY)
    assert mark is not None
    assert find_brands(fill(OF_A_RIVAL, "Purrina"), Policy(missed=(mark,))) == []


def test_only_the_chat_of_a_persona_is_searched_and_once() -> None:
    assert needs_brands(Policy(), PERSONA)
    for policy in (Policy(keeps_brands=False), Policy(brands=()), Policy(kinds=("EMAIL",))):
        assert not needs_brands(policy, PERSONA)
    assert not needs_brands(Policy(), ())


def test_brands_stay_except_where_a_person_is_called_so() -> None:
    policy = Policy(brands=(Brand("purrina", 10, 0, 9),))
    scrubber = Scrubber(policy, key=KEY, persona_terms=PERSONA)
    cases = {
        "asked Purrina and got no answer": "asked Purrina and got no answer",
        "Honestly Purrina's prices are a joke": "Honestly Purrina's prices are a joke",
        "my wife Purrina asked the same thing": "my wife [NAME] asked the same thing",
        "Your agent Purrina asked the same thing": "Your agent [NAME] asked the same thing",
        "I spoke with Kenji Purrina yesterday": "I spoke with [NAME] yesterday",
    }
    results = scrubber.scrub(make_sessions([("user", text) for text in cases]))
    assert [result.turns[0].text for result in results] == list(cases.values())
    same_session = SessionInput(
        [
            TurnRecord("x", 1, "assistant", "Hi Purrina, how can I help?", []),
            TurnRecord("x", 2, "user", "asked Purrina the same thing", []),
        ]
    )
    [result] = scrubber.scrub([same_session])
    assert [turn.text for turn in result.turns] == [
        "Hi [NAME], how can I help?",
        "asked [NAME] the same thing",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the X is sold out again", Said.THING),
        ("I switched from X to you last year", Said.THING),
        ("two X, please, and a coffee", Said.THING),
        ("asked X the same thing", Said.DOUBTFUL),
        ("is it true that X bought Nordhaus", Said.DOUBTFUL),
        ("I prefer X because she listens", Said.DOUBTFUL),
        ("my friend X said so", Said.PERSON),
        ("Sure X, please wait", Said.PERSON),
        ("Shout-out to X for the help!", Said.PERSON),
        ("X has joined the conversation.", Said.PERSON),
        ("kind regards\nX\nSupport Team", Said.PERSON),
        ("X 7384", Said.NOTHING),
        ("did you close X too", Said.NOTHING),
    ],
)
def test_cues(text: str, said: Said) -> None:
    start = text.index("X")
    text = text.replace("X", "Zheakin")
    assert read_cues(text, start, start + len("Zheakin")) == said


def test_a_policy_keeps_its_brands_in_json() -> None:
    for policy in (Policy(), Policy(brands=()), replace(Policy(), brands=(Brand("purrina", 10, 2, 9),))):
        assert Policy.from_json(policy.as_json()) == policy


# What an assistant says of a product, and a customer back.
OF_A_PRODUCT = (
    "Sure, the {} ships within two days.",
    "Your {} is reserved, thank you for waiting.",
    "Of course, a new {} is on its way.",
    "With the {} you get free shipping.",
    "Right now the {} costs $40.",
    "We have the {} in blue as well.",
)


@pytest.mark.parametrize("name", ["Cargo Carl", "Naomi Nude", "Mason 500", "Cuir Anton"])
def test_a_phrase_that_the_assistant_sells_is_a_brand(name: str) -> None:
    assert name.lower() in find_brands(fill(OF_A_PRODUCT, name, "assistant"))


# What nobody says of a person, in the chats of both sides.
OF_AN_ITEM = (
    ("user", "do you have the {} in stock?"),
    ("assistant", "A new {} leaves us tomorrow."),
    ("assistant", "Two {}, anything else?"),
    ("user", "is another {} coming in spring"),
    ("user", "{} stopped after a week"),
)


@pytest.mark.parametrize("name", ["Hilda", "Desmond", "Sofia Absolue", "Le Marius", "Speicher Sven"])
def test_what_is_one_of_many_is_a_brand_unless_a_person_is_called_so(name: str) -> None:
    said = [(role, text.format(name)) for role, text in OF_AN_ITEM]
    assert find_brands(said) == [name.lower()]
    assert find_brands([turn for turn in said if turn[0] == "user"] * 2) == []
    assert find_brands([*said, ("assistant", f"Hi {name}, thank you for waiting.")]) == []


@pytest.mark.parametrize(
    "name", ["Coach Carl", "Anna Becker", "Eilidh Nakamura", "Wei O'Sullivan", "Anna Support", "Olumide Rose"]
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_people_with_titles_and_surnames_are_no_brands(name: str, role: str) -> None:
    assert find_brands(fill(OF_AN_AGENT, name, role, 3)) == []
    assert find_brands(fill(OF_A_CUSTOMER, name, role, 3)) == []


def test_a_phrase_stays_whole_and_in_part_but_people_go() -> None:
    scrubber = Scrubber(Policy(brands=(Brand("cargo carl", 9, 9, 9),)), key=KEY, persona_terms=PERSONA)
    session = [
        "Is the Cargo Carl heavier than the Otis Sofa?",
        "No, two Cargo Carls weigh less. Carl folds in a minute.",
    ]
    people = ["Hi Carl, the Cargo Carl is on its way to you.", "thanks for the help!\nCarl"]
    results = scrubber.scrub(
        [
            SessionInput([TurnRecord("x", number, "user", text, []) for number, text in enumerate(texts, 1)])
            for texts in (session, people)
        ]
    )
    assert [turn.text for turn in results[0].turns] == session
    assert [turn.text for turn in results[1].turns] == [
        "Hi [NAME], the Cargo Carl is on its way to you.",
        "thanks for the help!\n[NAME]",
    ]
