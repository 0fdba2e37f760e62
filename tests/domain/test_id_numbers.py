"""Identity, tax, license, health and vehicle numbers: announced by a word, or of a form of their own."""

import subprocess
import sys

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii import detection
from datasets_app.domain.pii.detector import ID_NUMBER
from datasets_app.domain.pii.keys import get_kind_by_key
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.rules.finder import RuleDetector, find_all
from datasets_app.domain.pii.rules.identity import id_checks, id_numbers
from datasets_app.domain.pii.rules.identity.id_formats import load_tables
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

DETECTOR = RuleDetector({ID_NUMBER})


def find_values(text: str) -> list[str]:
    return [text[match.start : match.end] for match in DETECTOR.find(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # in any country's words, before and behind, on the next line, in fields
        ("my passport number is A1234567, thanks", "A1234567"),
        ("Passport: 533380006 expires 2031-01-01", "533380006"),
        ("here is the passport you asked for:\nv69761509", "v69761509"),
        ("the passport on my account is BA7801208 and it says invalid", "BA7801208"),
        ('{"passport_no": "71CV70101"}', "71CV70101"),
        ("<td>Reisepassnummer</td><td>C01X00T47</td>", "C01X00T47"),
        ("mi dni es 12.345.678-Z", "12.345.678-Z"),
        ("le paso mi N.I.F. 43863076y", "43863076y"),
        ("o meu CPF é 210.208.966-55", "210.208.966-55"),
        ("numéro de sécu : 1 85 05 78 006 084 91", "1 85 05 78 006 084 91"),
        ("le mando il codice fiscale: brrlnd81e05i923j", "brrlnd81e05i923j"),
        ("meine Steuer-ID lautet 12 345 678 903", "12 345 678 903"),
        ("Sozialversicherungsnummer 81310316C833", "81310316C833"),
        ("mijn bsn is 950728640", "950728640"),
        ("mój PESEL to 18301937651", "18301937651"),
        ("mitt personnummer är 390907-4456", "390907-4456"),
        ("her er fødselsnummeret mitt: 29078848829", "29078848829"),
        ("henkilötunnus: 050887-845C", "050887-845C"),
        ("my national insurance number is QQ 12 34 56 C", "QQ 12 34 56 C"),
        ("NHS number 943 476 5919", "943 476 5919"),
        ("my aadhaar is 2341 2341 2346 ok", "2341 2341 2346"),
        ("her SIN is 288 995 897", "288 995 897"),
        ("my sin is 288 995 897", "288 995 897"),
        ("TFN 123 456 782", "123 456 782"),
        ("benim TC kimlik no 27662590052", "27662590052"),
        ("ИНН: 7707083893", "7707083893"),
        ("身份证号：11010519491231002X", "11010519491231002X"),
        ("身份证号码是11010519491231002X", "11010519491231002X"),
        ("sin 130692544", "130692544"),
        ("내 주민등록번호는 550412-2502208", "550412-2502208"),
        ("ת.ז 801467192", "801467192"),
        ("driver's license F255-1234-5678", "F255-1234-5678"),
        ("drivers licence no. D1234567", "D1234567"),
        ("license plate 7ABC123", "7ABC123"),
        ("Kennzeichen: B-MW 1234", "B-MW 1234"),
        ("la matrícula es 4646 CNM", "4646 CNM"),
        ("VIN 1M8GDM9A1KP042788 mistyped", "1M8GDM9A1KP042788"),
        ("the imei is 490154203237518", "490154203237518"),
        ("medical record number 00482913", "00482913"),
        ("tax id: 24-1780049", "24-1780049"),
        ("it won't take my license number on the site. I typed D1234567 twice", "D1234567"),
        ("tax number for the policy holder: 24-1780049", "24-1780049"),
        ("Meine Ausweisnummer ist LFM91ZXPV2.", "LFM91ZXPV2"),
        # without a word: forms of their own, whose check digits agree
        ("use RSSMRA85T10A562S please", "RSSMRA85T10A562S"),
        ("it is 12345678Z", "12345678Z"),
        ("529.982.247-25", "529.982.247-25"),
        ("756.9217.0769.85 thanks", "756.9217.0769.85"),
        ("1M8GDM9AXKP042788", "1M8GDM9AXKP042788"),
        ("11010519491231002X", "11010519491231002X"),
        ("65 170839 J 003", "65 170839 J 003"),
        ("L898902C36UTO7408122F1204159ZE184226B<<<<<10", "L898902C36UTO7408122F1204159ZE184226B<<<<<10"),
        ("ＮＩＦ　１２３４５６７８Ｚ", "１２３４５６７８Ｚ"),
    ],
)
def test_a_number_is_found_whole(text: str, value: str) -> None:
    assert find_values(text) == [value]
    assert any(match.kind == ID_NUMBER for match in find_all(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A1234567 is my passport", "A1234567"),
        ("U61141844 - that's my passport", "U61141844"),
        ("2123 45670 1\nMedicare number", "2123 45670 1"),
        ("use 2123 45670 1, my Medicare number", "2123 45670 1"),
    ],
)
def test_a_number_before_its_word_is_read_by_the_network(text: str, value: str) -> None:
    assert [text[match.start : match.end] for match in detection.find_values(text)] == [value]


def test_all_numbers_of_a_list_are_found() -> None:
    assert find_values("passports A1234567, B7654321 and C1111119") == ["A1234567", "B7654321", "C1111119"]


@pytest.mark.parametrize(
    "text",
    [
        "order 12345678, and I lost my passport on 12/03/2024",
        "I lost my passport. Order 99887766",
        "passport control at gate 12, flight BA1234567",
        "passport valid until 2030-05-01, booking ref XKJ92L7",
        "a driver's license for 100000 users",
        "the driver 12345678 is not supported; license ok",
        "RFC 2616 and rfc 7231",
        "run 12345678 rows, the sin of 123456789 radians, a tin can 12345678",
        "health insurance costs 12500 per year",
        "medical record from 2023-01-15 10:22",
        "plates: 12345 units",
        "order 12345678Z shipped, model S1234567D",
        "case 12345678A was closed",
        "529.982.247-26",
        "RSSMRA85T10A562T",
        "commit 12345678z and 1a2b3c4d5e6f7a8b9c0d",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "MZVLB512HAJQ-00000, C02XL0GTJGH5, SKU 12345678-A",
        "1700000000000 and 20240115-1234",
        "x = a << 12345678",
        "passport number [ID_NUMBER], order 12345678",
        "changes to Social Security, Medicare https://t.co/4NdBdMXSC3",
        "Date of birth: 05.01.1990\nDNI: [ID_NUMBER]",
        "patient id is missing in row 1234567, ID card 3 pieces 12000 EUR",
        "build for m4 and i386 on 12345678",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert find_values(text) == []


@pytest.mark.parametrize("form", [form for form in load_tables().forms if form.checks], ids=lambda f: f.shape)
def test_the_checks_of_a_form_exist(form) -> None:
    """A misspelt check would be an error at the first text only."""
    assert id_checks.is_checked(form.checks, "x") is False


def test_the_checks_of_every_format_exist() -> None:
    checks = {
        check for entry in load_tables().entries.values() for form in entry.formats for check in form.checks
    }
    assert len(checks) > 60
    assert not [check for check in checks if id_checks.is_checked((check,), "x")]


@pytest.mark.parametrize(
    ("check", "value", "wrong"),
    [
        ("vin", "1M8GDM9AXKP042788", "1M8GDM9A1KP042788"),
        ("singapore", "S0000001I", "S0000001J"),
        ("singapore", "M1234567K", "M1234567L"),
        ("hong_kong", "A123456(3)", "A123456(4)"),
        ("taiwan", "A123456789", "A123456788"),
        ("snils", "112-233-445 95", "112-233-445 96"),
        ("rfc", "GODE561231GR8", "GODE561231GR9"),
        ("luhn", "784-1980-1234567-8", "784-1980-1234567-9"),
    ],
)
def test_own_checks_know_right_from_wrong(check: str, value: str, wrong: str) -> None:
    assert id_checks.is_checked((check,), value)
    assert not id_checks.is_checked((check,), wrong)


def test_the_filter_spares_ordinary_texts_and_loses_none() -> None:
    for text in ("see you at 5", "it costs 12.50", "call 555 1234 tomorrow", "page 3 of 12"):
        assert not id_numbers.may_hold(text.encode(), text.encode())


SCRIPT = """
import sys
from datasets_app.domain.pii.rules.finder import find_all
assert find_all("my passport number is A1234567") and find_all("PESEL 18301937651")
assert not find_all("at 10:30, 12345678 rows")
assert "stdnum" not in sys.modules
assert find_all("use 12345678Z")
assert "presidio_analyzer" not in sys.modules
"""


def test_only_a_number_that_presidio_alone_can_tell_loads_it() -> None:
    """Loading presidio takes longer than most commands run."""
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


def test_without_presidio_the_other_library_still_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of files for git hooks is installed without it."""
    monkeypatch.setitem(sys.modules, "presidio_analyzer.predefined_recognizers", None)
    id_checks._load_presidio.cache_clear()
    id_checks._get_check.cache_clear()
    try:
        assert find_values("it is 12345678Z") == ["12345678Z"]
        assert find_values("65 170839 J 003") == []
    finally:
        id_checks._load_presidio.cache_clear()
        id_checks._get_check.cache_clear()


def test_long_texts_take_linear_time() -> None:
    """A crafted text is no heavier than its length: work is counted in calls, not by a clock."""
    for part in ("passport ", "A1 ", "12 34 56 ", "AB12-", "<<", "is my passport 1 ", "X" * 40):
        counts = []
        for size in (200, 400):
            text, calls = part * size, 0

            def count(*_: object) -> None:
                nonlocal calls
                calls += 1

            sys.setprofile(count)
            try:
                id_numbers.search_folded(text)
            finally:
                sys.setprofile(None)
            counts.append(calls)
        assert counts[1] < 3 * counts[0] + 1000, part


# --- in conversations --------------------------------------------------------------------------


def scrub(*texts: str, metadata: dict | None = None) -> list[TurnRecord]:
    turns = [
        TurnRecord("s", number + 1, ("assistant", "user")[number % 2], text, [], None, None, metadata)
        for number, text in enumerate(texts)
    ]
    scrubber = Scrubber(Policy(kinds=(ID_NUMBER,)), key=b"k" * 32)
    [result] = scrubber.scrub([SessionInput(turns)])
    [again] = scrubber.scrub([SessionInput(result.turns)])
    assert again.turns == result.turns
    assert not scrubber.count_remaining([SessionInput(result.turns)])
    return result.turns


@pytest.mark.parametrize(
    ("question", "reply", "scrubbed"),
    [
        ("and what's your sin, please?", "130692544", "[ID_NUMBER]"),
        ("May I have your passport number?", "sure, it's x1234567", "sure, it's [ID_NUMBER]"),
        ("¿Me da su DNI, please?", "12345678", "[ID_NUMBER]"),
        ("Please confirm your driver's license", "D123 4567 8901", "[ID_NUMBER]"),
        ("Can you tell me your NHS number?", "order 12345678 on 12/03/2024", "order 12345678 on 12/03/2024"),
        ("Do you have your passport?", "yes, 2 of them", "yes, 2 of them"),
    ],
)
def test_the_answer_to_a_question_is_one(question: str, reply: str, scrubbed: str) -> None:
    assert scrub(question, reply)[1].text == scrubbed


def test_a_value_is_found_again_in_the_session() -> None:
    turns = scrub("passport number AB123456?", "yes ab123456", "PESEL 18301937651", "no: 183-019-37651")
    assert [turn.text for turn in turns] == [
        "passport number [ID_NUMBER]?",
        "yes [ID_NUMBER]",
        "PESEL [ID_NUMBER]",
        "no: [ID_NUMBER]",
    ]


def test_keys_say_what_their_values_are() -> None:
    given = {"driversLicense": "D-77", "vin": "unknown", "tax_id": 123456, "sin": 0, "plan": "12345678"}
    [turn] = scrub("hello", metadata=given)
    assert turn.metadata == {
        "driversLicense": "[ID_NUMBER]",
        "vin": "unknown",
        "tax_id": "[ID_NUMBER]",
        "sin": "[ID_NUMBER]",
        "plan": "12345678",
    }
    assert [
        get_kind_by_key(key, "123456") for key in ("passport_no", "imei", "codiceFiscale", "ssn", "id")
    ] == [
        ID_NUMBER,
        ID_NUMBER,
        ID_NUMBER,
        "SSN",
        None,
    ]


def test_a_social_security_number_stays_one() -> None:
    assert [match.kind for match in find_all("social security number 285-13-3885")][0] == "SSN"
