"""Accounts: IBANs by their check digits, other numbers by labels, or by the words around them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.pii.detection import find_values
from datasets_app.domain.pii.rules.finder import find_all
from datasets_app.domain.pii.rules.patterns import is_iban_valid
from tests.domain.growth import assert_linear_time

AROUND = st.text(st.sampled_from("ab XYZ,;\n🙂👩‍🚀éé\u0301אב漢字かな\u200b\u00a0"), max_size=20)


def values(kind: str, text: str) -> list[str]:
    return [text[match.start : match.end] for match in find_all(text) if match.kind == kind]


# --- IBANs -------------------------------------------------------------------------------------

EXAMPLES = """
    AD1200012030200359100100 AE070331234567890123456 AT611904300234573201 BE68539007547034
    BG80BNBG96611020345678 BR1800360305000010009795493C1 CH9300762011623852957 CY17002001280000001200527600
    CZ6508000000192000145399 DE89370400440532013000 DK5000400440116243 EE382200221020145685
    ES9121000418450200051332 FI2112345600000785 FR1420041010050500013M02606 GB29NWBK60161331926819
    GR1601101250000000012300695 HR1210010051863000160 HU42117730161111101800000000 IE29AIBK93115212345678
    IL620108000000099999999 IT60X0542811101000000123456 KW81CBKU0000000000001234560101
    LC55HEMM000100010012001200023015 LT121000011101001000 LU280019400644750000 LV80BANK0000435195001
    MC5811222000010123456789030 MT84MALT011000012345MTLCAST001S NL91ABNA0417164300 NO9386011117947
    PL61109010140000071219812874 PT50000201231234567890154 QA58DOHB00001234567890ABCDEFG
    RO49AAAA1B31007593840000 RS35260005601001611379 SA0380000000608010167519 SE4550000000058398257466
    SI56263300012039086 SK3112000000198742637541 TR330006100519786457841326 UA213223130000026007233566001
    VG96VPVG0000012345678901 XK051212012345678906
""".split()


def write_in_fours(iban: str, sign: str) -> str:
    return sign.join(iban[place : place + 4] for place in range(0, len(iban), 4))


def break_check_digits(iban: str) -> str:
    return f"{iban[:2]}{(int(iban[2:4]) + 1) % 100:02d}{iban[4:]}"


@pytest.mark.parametrize("iban", EXAMPLES)
def test_an_iban_is_found_however_it_is_written(iban: str):
    assert is_iban_valid(iban)
    for sign in ("", " ", "-", "."):
        for value in (write_in_fours(iban, sign), write_in_fours(iban, sign).lower()):
            text = f"refund it to {value} thanks"
            assert values("IBAN", text) == [value]
            assert values("IBAN", f"{value}") == [value]


@given(st.sampled_from(EXAMPLES), st.sampled_from(["", " ", "-"]), AROUND, AROUND)
@settings(max_examples=60)
def test_offsets_are_code_points_of_the_text(iban: str, sign: str, before: str, after: str):
    value = write_in_fours(iban, sign)
    text = f"{before} : {value} ; {after}"
    assert values("IBAN", text) == [value]


@given(st.sampled_from(EXAMPLES), st.integers(0, 95))
def test_other_check_digits_count_after_the_word_alone(iban: str, digits: int):
    wrong = f"{iban[:2]}{digits:02d}{iban[4:]}"
    found = [wrong] if is_iban_valid(wrong) else []
    assert values("IBAN", f"see {wrong}, or not") == found
    assert values("IBAN", f"my iban is {wrong}, or so") == [wrong]
    assert values("IBAN", f"IBAN: {write_in_fours(wrong, ' ')}") == [write_in_fours(wrong, " ")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IBAN: de 89 3704 0044 0532 0130 00", ["de 89 3704 0044 0532 0130 00"]),
        ("IBANDE89370400440532013000", ["DE89370400440532013000"]),
        ("DE89 3704 0044\n0532 0130 00", ["DE89 3704 0044\n0532 0130 00"]),
        # Typing errors: a digit that is wrong, missing, or one too many.
        ("GB29 NWBK 6016 1331 9268 18", ["GB29 NWBK 6016 1331 9268 18"]),
        ("the iban no. is DE8937040044053201300", ["DE8937040044053201300"]),
        ("my IBAN DE893704004405320130001", ["DE893704004405320130001"]),
        ("iban=DE89370400440532013000&bic=COBADEFFXXX", ["DE89370400440532013000"]),
    ],
)
def test_ibans_as_people_write_them(text: str, expected: list[str]):
    assert values("IBAN", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "de 89 days, it 27 people bought 12 items at 5, es 12 1234 5678",
        "it is 20 1234 5678 9012 3456",
        "DE89370400440532013001",
        "order DE12345678901234567890",
        "sha1 de89370400440532013000de89370400440532013000",
        "no 93 8601 and be 68 5390 07",
        "the iban is missing, call 10 1234",
    ],
)
def test_look_alikes_of_ibans(text: str):
    assert values("IBAN", text) == []


# --- other accounts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my account number is 12345678", ["12345678"]),
        ("acct # 12345", ["12345"]),
        ("a/c no. 0012 3456 78", ["0012 3456 78"]),
        ("transfer it into account 12345678 please", ["12345678"]),
        ("please debit account 760-84144-09", ["760-84144-09"]),
        ("Account Number\n12345678", ["12345678"]),
        ("Account number:\n\n12345678", ["12345678"]),
        ("sort code 20-32-11, account 12345678", ["20-32-11", "12345678"]),
        ("routing number 021000021 and account number 000123456789", ["021000021", "000123456789"]),
        ("my membership id: AB-1234567", ["AB-1234567"]),
        ("frequent flyer number FF 12345678", ["FF 12345678"]),
        ("Policy No: POL/2024/123456", ["POL/2024/123456"]),
        ("my loyalty card number is 1234 5678 90", ["1234 5678 90"]),
        ("customer reference number 714905", ["714905"]),
        ("policy ref PL40217765", ["PL40217765"]),
        ("mi póliza 40217765", ["40217765"]),
        ("clubcard 634004021776512345", ["634004021776512345"]),
        ("my loyalty card 714905, my member number's 714906", ["714905", "714906"]),
        ("Frequent flyer: 714905", ["714905"]),
        ("can you look up member 1434875", ["1434875"]),
        ('{"account_number": "12345678"}', ["12345678"]),
        ("customerId=48213", ["48213"]),
        ("Kontonummer: 0532013000, BLZ 37040044", ["0532013000", "37040044"]),
        ("meine Kundennummer lautet 48213", ["48213"]),
        ("mon numéro de client est le 123456", ["123456"]),
        ("numéro d'adhérent 123456", ["123456"]),
        ("mi número de cuenta es 0365 4532 6151", ["0365 4532 6151"]),
        ("il mio numero cliente è 3995782", ["3995782"]),
        ("conto corrente 000123456789", ["000123456789"]),
        ("rekeningnummer 123456789", ["123456789"]),
        ("numer konta 12345678", ["12345678"]),
        ("номер счета 40817810", ["40817810"]),
        ("我的账号是12345678", ["12345678"]),
        ("会員番号は12345678です", ["12345678"]),
        (
            "account number one two three four five six seven eight",
            ["one two three four five six seven eight"],
        ),
        # The bank's code beside an account.
        ("IBAN DE89370400440532013000, BIC COBADEFFXXX", ["COBADEFFXXX"]),
    ],
)
def test_announced_accounts(text: str, expected: list[str]):
    found = [text[match.start : match.end] for match in find_values(text) if match.kind == "ACCOUNT"]
    assert found == expected


@pytest.mark.parametrize("text", ["12345678 is my customer number", "12345678 (customer no.)"])
def test_an_account_before_its_word_is_read_by_the_network(text: str):
    assert [text[match.start : match.end] for match in find_values(text)] == ["12345678"]


@pytest.mark.parametrize(
    "text",
    [
        "my order number is 12345678",
        "account order number 12345678",
        "order 12345678 from this account",
        "ticket number 12345678 for my account",
        "invoice no. 12345678 of the customer",
        "tracking number 12345678",
        "case 00123456 was closed",
        "my account balance is 123456",
        "transfer 250000 to my account",
        "account 12345678.90 EUR, or 123456 dollars",
        "i have 1500000 points on my account",
        "account created 20190101, opened on 12.05.2019",
        "member since 20190512",
        "members: 1500000",
        "customer paid 123456",
        "customer service hours 0900-1700",
        "our bank's BIC is COBADEFFXXX",
        "the error code is 123456",
        "sort order 123456",
        "commit 0001234acc567890",
        "[ACCOUNT] 12345678",
        "the zip code of the customer, such as '12345'",
        "294 miles = 473.1473 kilometers",
    ],
)
def test_other_numbers_near_such_words(text: str):
    assert values("ACCOUNT", text) == []


@pytest.mark.parametrize(
    "unit", ["DE12 ", "de12", "account number ", "account 12345 ", "AB-12345-", "iban de 12 1 "]
)
def test_hostile_text_takes_time_by_its_length_only(unit: str):
    assert_linear_time(find_all, unit, 4_000)
