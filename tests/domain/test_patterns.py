"""What counts as personal data by its shape, what does not, and where exactly it stands."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.pii.detector import Match
from datasets_app.domain.pii.rules.numbers.cards import is_luhn_valid
from datasets_app.domain.pii.rules.patterns import find_patterns
from tests.domain.growth import assert_linear_time

# Neighbours that must not move an offset: emoji, combining marks, right-to-left, full-width.
AROUND = st.text(
    st.sampled_from("ab XYZ,;\n🙂👩‍🚀éé\u0301אבשלום العربية漢字かなＡＢ、\u200b\u00a0"), max_size=30
)
VALUES = [
    ("EMAIL", "ana.silva+test@mail.example.co.uk"),
    ("EMAIL", "jose\u0301@beispiel.de"),
    ("EMAIL", "root@db1.corp.internal"),
    ("PHONE", "555-123-4567"),
    ("PHONE", "+49 151 64003691"),
    ("PHONE", "(508) 777-8189 ext. 14"),
    ("PHONE", "020 7320 4716"),
    ("SSN", "285-13-3885"),
    ("CREDIT_CARD", "4111 1111 1111 1111"),
    ("CREDIT_CARD", "3782-822463-10005"),
    ("IP", "192.168.17.4"),
    ("IP", "2001:db8:85a3::8a2e:370:7334"),
]


@pytest.mark.parametrize(("kind", "value"), VALUES)
@settings(max_examples=30)
@given(before=AROUND, after=AROUND)
def test_offsets_are_code_points_of_the_text_as_given(kind: str, value: str, before: str, after: str):
    text = f"{before} : {value} ; {after}"
    [match] = find_patterns(text)
    assert (match.kind, text[match.start : match.end]) == (kind, value)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("EMAIL", "write to ａｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ today", "ａｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ"),
        ("EMAIL", "联系我ana@example.com谢谢", "ana@example.com"),
        ("PHONE", "🙂 call ５５５-１２３-４５６７ now", "５５５-１２３-４５６７"),
        ("PHONE", "اتصل +٤٩ ١٥١ ٦٤٠٠٣٦٩١", "+٤٩ ١٥١ ٦٤٠٠٣٦٩١"),
        ("PHONE", "555\u2011123\u20114567", "555\u2011123\u20114567"),
        ("PHONE", "my number is 5\u200b55-123-4567.", "5\u200b55-123-4567"),
        ("PHONE", "555\u034f-123\ufe00-4567", "555\u034f-123\ufe00-4567"),
        ("EMAIL", "a\U000e0061na@example\u2024com", "a\U000e0061na@example\u2024com"),
        ("SSN", "ssn ２８５-１３-３８８５", "２８５-１３-３８８５"),
        ("CREDIT_CARD", "4111\u00a01111\u00a01111\u00a01111", "4111\u00a01111\u00a01111\u00a01111"),
        ("IP", "I use 2001:db8:85a3::8a2e. It is slow.", "2001:db8:85a3::8a2e"),
    ],
)
def test_other_scripts_digits_and_invisible_characters_are_seen_through(kind: str, text: str, value: str):
    [match] = find_patterns(text)
    assert (match.kind, text[match.start : match.end]) == (kind, value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("PHONE", "call me on 5551234567"),
        ("PHONE", "my number is 2388552219, thanks"),
        ("PHONE", "Phone: 555-0123"),
        ("SSN", "my ssn is 565060447"),
        ("SSN", "the ssn on the W-2 (784144848) is wrong"),
        ("SSN", "social security number: 123456789"),
        ("SSN", "SSN:\n565060447"),
        ("SSN", "565060447 <- ssn"),
        ("SSN", "soc sec no 565060447"),
        ("SSN", "the social you have on file is wrong, it should be 565060447"),
        ("SSN", "565060447 is my wife's social"),
        ("SSN", '{"applicant_ssn": "565060447"}'),
    ],
)
def test_a_bare_number_counts_when_words_say_what_it_is(kind: str, text: str):
    assert [match.kind for match in find_patterns(text)] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "my order number is 033001053499",
        "tracking id 704493370",
        "i saw it on social media, post 704493370",
        "they have my social, the order is 704493370",
        "transaction 637-7078540-1333572 is missing",
        "order CASE 85616-2870 has not shipped",
        "epoch ms 1755650524412 and 1658738210",
        "ratio 7.522797586, at -44.088859, 99.344627, then +37.100391",
        "the outage was on 2021-01-28 07:03:30.843042, since 17.06.2026 or 05/22/2020 or 20191212",
        "upgrade to 13.19.19.94 fixed it; we are on version 4.18.13.3 (Chrome 144.0.4024.27)",
        "pip install django==5.2.1.1",
        "std::vector<int> x = foo::bar(); dead::beef a::b x[1::2] face::1",
        "at 20:52:48 the cron ran; mac fa:be:69:35:68:7a",
        "edit settings.py and nginx.co, see logo@2x.png and lodash@4.17.21",
        "git clone git@github.com:acme/app.git",
        "listens on 127.0.0.1 and 0.0.0.0 with mask 255.255.255.0, or ::1",
        "request id 362332d5-598d-7094-e30e-901042739314",
        "isbn 978-4-4921-2246-1, python -c 'print(28646052816)'",
        "4111111111111112 fails its check; 1234 5678 9012 3456 is of no issuer",
        "000-12-3456, 666-12-3456, 123-00-4567 and 123-45-0000 were never given to anyone",
        "@ana, meet @bob @ 5 pm",
        "https://stackoverflow.com/questions/43739822",
        "",
    ],
)
def test_look_alikes_are_left_alone(text: str):
    assert find_patterns(text) == []


def test_several_values_come_in_order_and_the_longer_class_wins_an_overlap():
    text = "2388552219@txt.example.net or 4111 1111 1111 1111 12/26, from 10.1.2.3:8080"
    assert [(m.kind, text[m.start : m.end]) for m in find_patterns(text)] == [
        ("EMAIL", "2388552219@txt.example.net"),
        ("CREDIT_CARD", "4111 1111 1111 1111"),
        ("IP", "10.1.2.3"),
    ]


@settings(max_examples=100)
@given(st.text(st.sampled_from("0123456789+-. ()/@:abcfx٣３漢\u0301\u200b🙂"), max_size=80))
def test_matches_are_within_the_text_in_order_and_apart(text: str):
    end = 0
    for match in find_patterns(text):
        assert isinstance(match, Match)
        assert end <= match.start < match.end <= len(text)
        end = match.end


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "1 ",
        "12-",
        ":",
        "fe80:",
        "1.",
        "@",
        "a@",
        "a.",
        "@a-",
        "(",
        "0(",
        "+1",
        "1.1.1.",
        "2001:1:",
        "call ",
        "phone number ",
        "call 1234567 ",
        "ssn ",
        "4111 ",
        "+12345678 x",
        "v 1.2.3.4 ",
        "(1) ",
        "1\u200b",
        "١",
        "0000000",
        "5 x",
        "upgrade aaaaaaaaaaaa ",
    ],
)
def test_hostile_text_takes_time_by_its_length_only(unit: str):
    assert_linear_time(find_patterns, unit, 10_000, "@1.1.1.1 ::1 1234567")


@pytest.mark.parametrize("number", ["4111111111111111", "378282246310005", "6011111111111117"])
def test_luhn(number: str):
    assert is_luhn_valid(number)
    assert not is_luhn_valid(number[:-1] + str((int(number[-1]) + 1) % 10))


def test_half_characters_are_no_stumbling_block():
    assert [match.kind for match in find_patterns("\ud800 ana@example.com")] == ["EMAIL"]
