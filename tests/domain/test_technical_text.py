"""Technical text is no personal data; what a format decides is found beside it all the same."""

import pytest

from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.names.names import load_name_finder
from datasets_app.domain.pii.rules.finder import find_all
from datasets_app.domain.pii.rules.technical import drop_protected, find_protected

NOBODYS = [
    # versions
    '{"driverVersion": "31.0.15.3623", "ok": true}',
    "Release 10.2.14.3 fails",
    "built with 4.8.9037.0 of dotnet",
    "we upgraded from 10.0.1.1 to 10.0.1.2 last night",
    "pip install foo==10.0.1.1",
    "version: 192.168.7.31",
    'FileVersion("10.0.12.7")',
    "OPR/106.0.4998.70 on Linux",
    "firmware 7.10.1.5",
    "see section 7.4.2.1",
    "curl/8.5.0 and okhttp/4.12.0",
    "the build number is 10.7.31.9",
    # user agents
    "Mozilla/5.0 (Macintosh; Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4",
    "UA: Mozilla/5.0 (iPhone; CPU iPhone OS 17_4) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    # public ids of API objects
    "chatcmpl-8pQ2rStUvWxYzAbC3dEfGhIjKlMn9",
    "see msg_01AbCdEfGhJkMnPqRsTuVwXy",
    "thread_zY9xW7vU5tS3rQ1pO9nM7lK5 is gone",
    "toolu_01A09q90qw90lq917835lq9",
    "resp_67cb32528d6881909eb2859a55e18a85",
    "asst_abc123def456ghi789jkl012",
    "call_ab1CD2ef3GH4ij5KL6mn7OP8",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "nanoid V1StGXR8_Z5jdHi6B-myT",
    # product codes
    "EAN 4006381333931",
    "GTIN: 00012345600012",
    "ISBN 978-3-16-148410-0",
    "SKU 415-555-0101-XL",
    "ASIN B08N5WRWNW",
    "MPN 12-3456-789 and part 98-7654-321",
    "Art.-Nr. 030-1234567",
    "part number 98-7654-321",
    "Artikelnummer 0171 2345678",
    "model no. 555-0199-22",
    "UPC 036000291452",
    # digests
    "sha512-pKvURIxJVi2CgRXROh/M6pJ/UrTVRZKX+LQ+QtqJI4vBNibkPcs43bCCSIkn7JBPtCBXRDmD6IWFF51QVRr+Yg==",
    "example.org/lib v1.2.3/go.mod h1:ofzkNjhU/4iM/0uOeHXWAMJoI5BBKoz3mzfQsRFIsPo=",
    "image@sha256:454349e422f05297191ead13e21d3db520e5abef52055e4964b82fb213f593a1",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    # templates and blanks
    "Dear {customer_name}, hi {{ user.first_name }}",
    "Hi %(user_name)s and ${USERNAME} and $USER_NAME",
    "mail {{contact.email}}",
    "<PERSON> wrote to <<EMAIL:1>> as <user_name>",
    "[Your Name], [INSERT DATE], [NAME_1], [REDACTED_PERSON_1]",
    "%NAME% {% user %}",
    # masked values
    "my card is **** **** **** 4242",
    "j***@mailbox.example or +44 7700 ***123",
    "SSN XXX-XX-6789, name XXXXX",
    "secret=********",
    # identifiers in backquotes
    "call `judge_budget` first",
    "the field `userName` of `jane_doe_config`",
    "run `preg_replace()` there",
    "lottery 03 17 22 35 41 49",
]
PERSONAL = [
    ("mail `jane.roe@mailbox.org` please", "EMAIL"),
    ("the server at 203.0.113.77 is down", "IP"),
    ("version 2 runs on host 198.51.100.23", "IP"),
    ("ping 10.2.14.3", "IP"),
    ("build agent ip 10.7.31.9", "IP"),
    ("key `sk-proj-9aB3dE5gH7jK9mN1pQ3sT5vX7zA9bC1dE3fG5` leaked", "CREDENTIAL"),
    ("AKIAIOSFODNN7EXAMPLQ is in the log", "CREDENTIAL"),
    ("call me on 415-555-0134", "PHONE"),
    ("SKU is wrong, call 415-555-0134", "PHONE"),
    ("{name} has the IBAN DE89370400440532013000", "IBAN"),
    ("card 4111 1111 1111 1111 in model X", "CREDIT_CARD"),
    ("my SSN is 536-90-4399, not XXX-XX-0000", "SSN"),
]


@pytest.mark.parametrize("text", NOBODYS)
def test_technical_text_is_nobodys(text: str) -> None:
    assert find_all(text) == []
    names = load_name_finder(("builtin",)).find(text)
    assert drop_protected(names, find_protected(text)) == []


@pytest.mark.parametrize(("text", "kind"), PERSONAL)
def test_what_a_format_decides_is_found_beside_it(text: str, kind: str) -> None:
    assert kind in {match.kind for match in find_all(text)}
    assert kind != NAME
