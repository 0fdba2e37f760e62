"""Telephone numbers that words announce: labels by rules, all other words by the network."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.pii.detection import find_values
from datasets_app.domain.pii.rules.finder import find_all
from datasets_app.domain.pii.rules.numbers.phone_plans import is_mobile
from tests.domain.growth import assert_linear_time


def phones(text: str) -> list[str]:
    return [text[match.start : match.end] for match in find_all(text) if match.kind == "PHONE"]


def judged_phones(text: str) -> list[str]:
    return [text[match.start : match.end] for match in find_values(text) if match.kind == "PHONE"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The word on the line before, or in the sentence.
        ("Phone:\n4021 7765", ["4021 7765"]),
        ("Fax\n040217765", ["040217765"]),
        ("please send messages to 98450 12345", ["98450 12345"]),
        ("the mobile registered with you is 98450 12345", ["98450 12345"]),
        ("you can reach us on weekdays at 040217765", ["040217765"]),
        ("call customer service at 40217765", ["40217765"]),
        ("name,phone\nJane,4021 7765", ["4021 7765"]),
        ("| Phone | 40217765 |", ["40217765"]),
        ("my phone is 40217765, please don't use any other; or use 5551234", ["40217765"]),
        # Other languages and scripts.
        ("Sie erreichen mich unter 089 1234", ["089 1234"]),
        ("Telefon privat: 40217765", ["40217765"]),
        ("appelez-moi au 0612345678", ["0612345678"]),
        ("mi teléfono es 612345678", ["612345678"]),
        ("il mio numero è 3401234567", ["3401234567"]),
        ("mijn nummer is 0612345678", ["0612345678"]),
        ("proszę dzwonić pod numer 601234567", ["601234567"]),
        ("ring mig på 12345678", ["12345678"]),
        ("mit telefonnummer er 12345678", ["12345678"]),
        ("телефон: 9161234567", ["9161234567"]),
        ("我的电话是13812345678，谢谢", ["13812345678"]),
        ("電話番号は0312345678です", ["0312345678"]),
        ("τηλ. 2101234567", ["2101234567"]),
        # Spelled out, or dictated digit by digit.
        ("my number is 5 5 5 1 2 3 4 5 6 7", ["5 5 5 1 2 3 4 5 6 7"]),
        (
            "call me on five five five, oh one double two three four",
            ["five five five, oh one double two three four"],
        ),
        # With what belongs to it.
        ("tel 4021 7765 ext. 14", ["4021 7765 ext. 14"]),
        ("the mobile is +61-7-2080-9397", ["+61-7-2080-9397"]),
    ],
)
def test_announced_numbers(text: str, expected: list[str]):
    assert judged_phones(text) == expected


@pytest.mark.parametrize(
    "frame", ["Phone:\n{}", "Phone | {}", '{{"mobile_no": "{}"}}', "call me back on {}", "id,tel\nab,{}\n"]
)
def test_what_stands_behind_a_label_rules_read(frame: str):
    assert phones(frame.format("40217765")) == ["40217765"]


@pytest.mark.parametrize(
    "text", ["you have my number wrong, it should be 7837374378", "customer wants cb 40217765"]
)
def test_a_number_goes_whatever_the_network_takes_it_for(text: str):
    assert [text[match.start : match.end] for match in find_values(text)] == [text.split()[-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4021 7765 (mobile)", ["4021 7765"]),
        ("4021 7765\nOffice", ["4021 7765"]),
        ("(o) 40217765, (m) 5551234", ["40217765", "5551234"]),
        ("is 08446714514 still your hotline?", ["08446714514"]),
        ("40217765 is the best number to reach me", ["40217765"]),
        ("40217765 <- my new mobile", ["40217765"]),
        ("call me on 40217765 or 5551234", ["40217765", "5551234"]),
        ("CALL dir=in from=32 9421-0028 dur=12", ["32 9421-0028"]),
        ("mi hermana Lucía, 644120953, o mi marido 644 120 953", ["644120953", "644 120 953"]),
        ("ou ma femme Claire, 0612345678", ["0612345678"]),
        ("Jane Doe (wife), 8285550142", ["8285550142"]),
        ("driver 9820012345 never came", ["9820012345"]),
    ],
)
def test_what_stands_behind_or_far_the_network_reads(text: str, expected: list[str]):
    assert judged_phones(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "order 40217765 has not arrived, call me",
        "my husband's order 8285550142 is late",
        "Jane, 1658738210 is the timestamp",
        "Order: 40217765\nPhone: see below",
        "Phone: see below\nOrder: 40217765",
        "call me about ticket 40217765",
        "please contact us with your order number 40217765",
        "phone order 40217765 is late",
        "033001053499 orders, call them",
        "invoice 2024-0012345, phone",
        "the flight number is 1234567890, call us",
        "room number 40217765",
        "number 40217765 is prime",
        "my phone's serial is 40217765",
        "the imei of my phone is 356938035643809",
        "mobile app version 4.18.13.3 build 20240115",
        "windows phone 8.10.14219.341",
        "call at 10:30 on 12.05.2024",
        "open 08.00-20.00, call",
        "call us mon-fri 0800-1700",
        "my cell ran out at 12:30 on 3/4/2023",
        "the call lasted 1234567 ms",
        "mobile data used: 1234567 KB",
        "reach 1000000 users on mobile",
        "5000000 phone calls were made",
        "my phone cost 1234567 rupees, or $1234567, or 1234567.50",
        "the sms code is 40217765",
        "timestamp 1658738210 of the call",
        "see https://example.org/call/40217765",
        "the hotel in tel aviv 40217765",
        "i can count one two three four five six seven eight nine",
        "[PHONE] 40217765",
        '{"Smartphone": "1801728040", "Office chair": "4794339885", "Portable charger": "6942297802"}',
        '{"product_id": "9832717871", "description": "a phone"}',
        "ana@example.com, 1658738210",
        "call 13.000-20.000 people",
    ],
)
def test_other_numbers_near_such_words(text: str):
    assert phones(text) == []


@given(
    st.text(st.sampled_from("ab XYZ,\n🙂👩‍🚀éé\u0301אב漢字かな\u200b\u00a0"), max_size=20),
    st.sampled_from(["Phone: {}", "call me on {} please", "Telefon\n{}", "电话：{}"]),
    st.sampled_from(["4021 7765", "40217765", "02/1234.56", "(04) 217 765", "04 21 77 65"]),
)
@settings(max_examples=60)
def test_offsets_are_code_points_of_the_text(before: str, frame: str, value: str):
    text = f"{before} : {frame.format(value)} ; {before}"
    assert phones(text) == [value]


@pytest.mark.parametrize(
    ("digits", "expected"),
    [("9845012345", True), ("919845012345", True), ("13812345678", True), ("1658738210", False)],
)
def test_mobile_numbers_without_signs(digits: str, expected: bool):
    assert is_mobile(digits) is expected


@pytest.mark.parametrize(
    "unit",
    [
        "call 40217765 ",
        "phone\n",
        "1 2 ",
        "four five ",
        "my number is ",
        "40217765 office ",
        "t: 1234567 ",
        "12345 ",
    ],
)
def test_hostile_text_takes_time_by_its_length_only(unit: str):
    assert_linear_time(find_all, unit, 4_000)
