"""Planted values: valid, written as people there write, and counted if a scrub leaves them."""

import json
from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.intervals import wilson_interval
from datasets_app.domain.pii.canary import accounts, checksums, measure
from datasets_app.domain.pii.canary.carriers import ANSWER, MENTION, PLACEHOLDER, SENTENCE, Carriers
from datasets_app.domain.pii.canary.identity_numbers import IDENTITY_NUMBERS
from datasets_app.domain.pii.canary.measure import Survival, measure_survival
from datasets_app.domain.pii.canary.survival import survives
from datasets_app.domain.pii.canary.survival_text import describe_survival, format_percent
from datasets_app.domain.pii.canary.values import PlantedValue, make_value
from datasets_app.domain.pii.detector import CREDIT_CARD, EMAIL, IP, KINDS, NAME, PHONE, SSN
from datasets_app.domain.pii.network.judged import JudgedText
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.rules import finder
from datasets_app.domain.pii.rules.identity.id_checks import compute_vin_digit
from datasets_app.domain.pii.scrubber import Scrubber

KEY = b"a key for tests, of no other worth"
# Without a model: what is measured is the measuring.
RULES = tuple(kind for kind in KINDS if kind != NAME)


def conversation(*texts: str) -> list[TurnRecord]:
    return [
        TurnRecord("s-1", number + 1, "assistant" if number % 2 else "user", text, [])
        for number, text in enumerate(texts)
    ]


SUPPORT = conversation(
    "Hello, my order is late. Can you check it?",
    "Of course! May I have your phone number, please?",
    "yes of course",
    "Thank you. We will send it again to [ADDRESS] tomorrow.",
    "my phone number changed by the way, is that a problem",
)


def measured(kinds: tuple[str, ...] = RULES, count: int = 10 * len(KINDS)) -> Survival:
    return measure_survival([SUPPORT], Scrubber(Policy(kinds=kinds), key=KEY), count=count, seed=3)


# --- values ------------------------------------------------------------------------------------


def test_check_digits_are_those_of_published_examples() -> None:
    assert compute_vin_digit("1M8GDM9A_KP042788".replace("_", "0")) == "X"
    # BIP 173 and BIP 350
    program = bytes.fromhex("751e76e8199196d454941c45d1b3a323f1433bd6")
    assert checksums.encode_bech32("bc", 0, program) == "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
    program = bytes.fromhex("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
    taproot = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"
    assert checksums.encode_bech32("bc", 1, program) == taproot
    # The first address of all.
    genesis = bytes.fromhex("0062e907b15cbf27d5425399ebf6f0fb50ebb88f18")
    assert checksums.encode_base58_check(genesis) == "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"


def test_ibans_and_cards_pass_the_check_of_everybody() -> None:
    random = Random(1)
    for country in accounts.IBAN_COUNTRIES:
        number = accounts.make_iban(random, country)[1].replace(" ", "")
        assert mod_97_10.is_valid(number[4:] + number[:4]), country
    for _ in range(50):
        digits = "".join(filter(str.isdigit, accounts.make_card(random)))
        assert luhn.calc_check_digit(digits[:-1]) == digits[-1]


def sum_weighted(digits: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))


# Worked examples of the issuers, or of their public documentation.
@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("NHS number", lambda n: sum_weighted(n, range(10, 0, -1)) % 11 == 0),
        ("BSN", lambda n: sum_weighted(n, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0),
        ("PESEL", lambda n: sum_weighted(n, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0),
        ("tax file number", lambda n: sum_weighted(n, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0),
        ("SIN", lambda n: luhn.calc_check_digit(n[:-1]) == n[-1]),
        ("AHV number", lambda n: sum_weighted(n, (1, 3) * 6 + (1,)) % 10 == 0),
    ],
)
def test_identity_numbers_pass_the_check_of_their_issuer(name: str, check: object) -> None:
    number = next(number for number in IDENTITY_NUMBERS if number.name == name)
    for seed in range(40):
        digits = "".join(filter(str.isdigit, number.make(Random(seed))))
        assert check(digits), digits  # type: ignore[operator]


def test_every_class_has_values_in_several_forms_and_the_same_for_the_same_seed() -> None:
    for kind in KINDS:
        made = [make_value(kind, Random(seed)) for seed in range(60)]
        assert len({value.form for value in made}) > 1, kind
        assert len({value.text for value in made}) > 50, kind
        assert all(value.kind == kind and value.parts for value in made)
        assert all(part in value.text for value in made for part in value.parts), kind
        assert made == [make_value(kind, Random(seed)) for seed in range(60)]


# --- what is left ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "parts", "text", "left"),
    [
        (PHONE, ("030 23125456",), "call [PHONE]", False),
        (PHONE, ("030 23125456",), "call 030-23125456", True),
        (PHONE, ("030 23125456",), "call [PHONE]456", False),
        (CREDIT_CARD, ("4111 1111 4444 7777",), "it is [CREDIT_CARD] 4444 7777", True),
        (CREDIT_CARD, ("4111 1111 4444 7777",), "41111 [NAME] 11144", False),
        (NAME, ("Ana", "Silva"), "dear [NAME] silva", True),
        (NAME, ("Ana", "Silva"), "dear [NAME], silvana sings", False),
        (EMAIL, ("ana.silva",), "ANA_SILVA@[HOST]", True),
        (IP, ("2001:db8::7",), "from [IP]", False),
    ],
)
def test_what_counts_as_left(kind: str, parts: tuple[str, ...], text: str, left: bool) -> None:
    assert survives(PlantedValue(kind, " ".join(parts), "", parts), text) is left


# --- carriers ----------------------------------------------------------------------------------


def test_values_stand_where_people_there_would_write_them() -> None:
    carriers, random = Carriers([SUPPORT]), Random(5)
    planted = [carriers.plant(kind, random) for kind in (PHONE, "ADDRESS", EMAIL) for _ in range(40)]
    manners = Counter((planting.value.kind, planting.manner) for planting in planted)
    assert {(PHONE, ANSWER), (PHONE, MENTION), ("ADDRESS", PLACEHOLDER), (EMAIL, SENTENCE)} <= manners.keys()
    assert (EMAIL, PLACEHOLDER) not in manners
    for planting in planted:
        text, original = (
            planting.turns[planting.place].text,
            SUPPORT[planting.turns[planting.place].turn_index - 1],
        )
        assert survives(planting.value, text)
        assert text != original.text
        if planting.manner == PLACEHOLDER:
            assert text == original.text.replace("[ADDRESS]", planting.value.text)
        if planting.manner == MENTION:
            assert text.startswith(f"my phone number {planting.value.text}")
    assert [turn.text for turn in SUPPORT] == [turn.text for turn in carriers.sessions[0]]


def test_sentences_have_the_letters_and_nouns_of_the_dataset() -> None:
    lower = conversation(*("my cell is dead, what now, tell me your cell",) * 3)
    carriers, random = Carriers([lower]), Random(2)
    texts = [
        planting.turns[planting.place].text for planting in (carriers.plant(PHONE, random) for _ in range(60))
    ]
    assert all(text == text.lower() for text in texts)
    assert sum(text.count("cell") > 2 for text in texts) > sum("mobile" in text for text in texts)
    german = Carriers([conversation("Ich habe die Ware nicht bekommen und bitte um Hilfe.")])
    assert any("Telefonnummer" in german.plant(PHONE, random).turns[0].text for _ in range(60))


# --- measurements ------------------------------------------------------------------------------


def test_a_scrub_without_a_class_and_a_broken_rule_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    healthy = measured()
    assert healthy.planted == 10 * len(KINDS)
    assert {healthy.by_kind[kind].planted for kind in KINDS} == {10}
    assert healthy.by_kind[EMAIL].survived == healthy.by_kind[PHONE].survived == 0
    # Without names, each stays: who announces a name gives no user name.
    assert healthy.by_kind[NAME].survived == 10
    without = measured(tuple(kind for kind in RULES if kind not in (EMAIL, "URL", "HANDLE", "HOST")))
    assert without.by_kind[EMAIL].survived >= 9
    assert without.upper > healthy.upper
    find_all = finder.find_all
    monkeypatch.setattr(
        finder,
        "find_all",
        lambda text, kinds, *more: [match for match in find_all(text, kinds, *more) if match.kind != PHONE],
    )
    monkeypatch.setattr(JudgedText, "find", lambda text, kinds, *more: [])
    broken = measured(count=30 * len(KINDS))
    assert broken.by_kind[PHONE].survived > 3
    assert broken.by_kind[CREDIT_CARD].survived == healthy.by_kind[CREDIT_CARD].survived


def test_the_result_is_the_same_for_the_same_seed_and_says_no_value() -> None:
    first, second = measured(), measured()
    assert first == second
    assert sum(kind.survived for kind in first.by_kind.values()) == first.survived
    assert sum(sum(kind.forms.values()) for kind in first.by_kind.values()) == first.survived
    stated = first.as_json()
    assert (stated["planted"], stated["survived"], stated["confidence"]) == (
        first.planted,
        first.survived,
        0.95,
    )
    assert stated["upper"] == pytest.approx(wilson_interval(first.survived, first.planted).high, abs=1e-6)
    assert not any(survives(make_value(kind, Random(1)), json.dumps(stated)) for kind in (EMAIL, PHONE, SSN))
    with pytest.raises(ValueError, match="there are none"):
        measure_survival([conversation("", " ")], Scrubber(Policy(kinds=RULES), key=KEY), count=len(KINDS))


def test_over_2000_measurements_the_interval_covers_what_survives() -> None:
    """The truth is what survives of many plantings; a scrub that knows half of the classes leaves enough."""
    scrubber = Scrubber(Policy(kinds=(EMAIL, PHONE, SSN, CREDIT_CARD, IP)), key=KEY)
    carriers, random = Carriers([SUPPORT]), Random(8)
    kinds = (EMAIL, PHONE, SSN, CREDIT_CARD, IP, "MAC")
    plantings = [carriers.plant(kinds[number % len(kinds)], random) for number in range(600)]
    leaks = {id(planting) for planting in measure._find_survivors(scrubber, plantings)}
    truth = len(leaks) / len(plantings)
    assert 0.05 < truth < 0.5
    covered = 0
    for _ in range(2_000):
        left = sum(id(planting) in leaks for planting in random.choices(plantings, k=150))
        low, high = wilson_interval(left, 150)
        covered += low <= truth <= high
    assert covered >= 0.93 * 2_000


def test_a_result_in_a_sentence_never_says_less_than_it_is() -> None:
    assert format_percent(0.0094001) == "0.95 %"
    assert format_percent(0.123) == "12.3 %"
    assert format_percent(0.01) == "1 %"
    stated = {"planted": 1200, "survived": 2, "upper": 0.00606, "confidence": 0.95}
    assert describe_survival(stated) == (
        "At most 0.61 % of planted values survive a scrub (2 of 1,200 did; 95 % confidence)."
    )
