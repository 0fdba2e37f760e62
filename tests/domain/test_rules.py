"""All rules together: every class is found, whichever way they are asked."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.pii.rules.credentials.provider_tokens import TOKEN_FORMATS
from datasets_app.domain.pii.rules.finder import RuleDetector, find_all

ONE_OF_EACH = {
    "EMAIL": "write to ana@example.com",
    "IP": "from 10.1.2.3 yesterday",
    "CREDIT_CARD": "pay with 4111 1111 1111 1111",
    "SSN": "it is 285-13-3885",
    "ID_NUMBER": "my passport is C4E2KL81N, still valid",
    "PHONE": "call 555-123-4567",
    "IBAN": "refund it to DE89 3704 0044 0532 0130 00, please",
    "ACCOUNT": "my account number is 10458823",
    "CRYPTO_WALLET": "send it to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "MAC": "the printer has 3c:22:fb:07:9a:41",
    "HANDLE": "thanks @jane_doe77 for the help",
    "DATE_OF_BIRTH": "my date of birth is 12/03/1984",
    "URL": "see https://example.com/users/jane-doe for more",
    "CREDENTIAL": "my password is hunter2",
    "PATH": "look at /home/ana/notes.txt",
    "HOST": "jenkins.acme.internal is down",
}


@pytest.mark.parametrize("find", [find_all, RuleDetector().find])
@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_every_class_that_rules_find_is_found(find, kind: str):
    assert [match.kind for match in find(ONE_OF_EACH[kind])] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Password: letmein",
        "see http://intranet/wiki",
        "https://jenkins.acme.internal/job/1 failed",
        "scp to web:/srv/app/conf",
        "/srv/app/conf is empty",
        "ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２",
        "DB_PASSWORD=x7kQ9z",
        "ssh deploy@bastion",
        r"\\fileserver\finance\x.xls",
        "mail ana&#64;example.com",
        "mail ana&#x40;example.com",
        r'{"mail": "ana\u0040example.com"}',
    ],
)
def test_a_value_is_found_however_it_is_written(text: str):
    assert find_all(text)


def test_a_detector_of_some_classes_finds_no_others():
    text = " ; ".join(ONE_OF_EACH.values())
    assert {match.kind for match in RuleDetector(["PATH", "EMAIL"]).find(text)} == {"PATH", "EMAIL"}
    with pytest.raises(ValueError, match="rules find"):
        RuleDetector(["NAME"])


HEX = "0123456789abcdef"
HEX_PREFIXES = [
    prefix
    for issued in TOKEN_FORMATS
    for prefix in issued.prefixes.lower().split()
    if re.fullmatch(r"[0-9a-f]+", prefix)
]


def test_some_provider_prefixes_are_spelled_with_hex_digits():
    assert {"4b1d", "ac"} <= set(HEX_PREFIXES)


@pytest.mark.parametrize("prefix", [*HEX_PREFIXES, "4111111111111111", "285133885", "5551234567", "10123"])
@given(
    tail=st.text(st.sampled_from(HEX), min_size=64, max_size=64),
    length=st.sampled_from([40, 64, 96, 128]),
    upper=st.booleans(),
)
def test_no_rule_takes_a_hash_for_a_value(prefix: str, tail: str, length: int, upper: bool):
    # A letter, so that the digits of a prefix do not make a number of it.
    value = f"{prefix}f{tail * 2}"[:length]
    value = value.upper() if upper else value
    assert find_all(value) == []


@given(st.text(st.sampled_from(HEX), min_size=64, max_size=64))
def test_no_rule_takes_a_random_hash_for_a_value(value: str):
    assert find_all(value) == []


@given(st.text(st.sampled_from("a1B@.:/\\-_ =~[]()+\"'\u200bé１🙂"), max_size=60))
def test_no_text_is_too_odd_and_matches_lie_within_it(text: str):
    for match in find_all(text):
        assert 0 <= match.start < match.end <= len(text)


@given(
    st.sampled_from(["[EMAIL]", "[CREDENTIAL]", "[NAME_2]", "[PATH]", "[HOST_13]"]),
    st.sampled_from(
        [
            "my password is {}",
            "pwd={}",
            "/home/{}/x/y.txt",
            "ssh ana@{}",
            "https://{}/x",
            "call {}",
            "{}@{}",
            "C:\\Users\\{}\\x",
        ]
    ),
)
def test_placeholders_are_part_of_no_match(placeholder: str, template: str):
    text = template.replace("{}", placeholder)
    for match in find_all(text):
        assert placeholder not in text[match.start : match.end]
