"""Values that a format decides are found behind any escape, and in what is encoded."""

import base64
import html
import json
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest

from datasets_app.domain.pii.detector import CREDIT_CARD, EMAIL, IBAN, IP, PHONE
from datasets_app.domain.pii.rules.finder import find_all

ADDRESS, CARD, ACCOUNT = "jo.kivi7@kanto-posti.fi", "4539578763621486", "DE89370400440532013000"
CALL, MACHINE = "+4915123456789", "83.149.9.216"
VALUES = [(EMAIL, ADDRESS), (CREDIT_CARD, CARD), (IBAN, ACCOUNT), (PHONE, CALL)]


def escape_all(form: str) -> Callable[[str], str]:
    return lambda value: "".join(form.format(ord(sign)) for sign in value)


def encode(value: str) -> str:
    return base64.b64encode(f"Value: {value} and more".encode()).decode()


WRITTEN: dict[str, Callable[[str], str]] = {
    "decimal entities": escape_all("&#{};"),
    "hexadecimal entities": escape_all("&#x{:X};"),
    "entities, escaped twice": lambda value: html.escape(escape_all("&#{};")(value)),
    "JSON": escape_all("\\u{:04x}"),
    "JSON in JSON": lambda value: json.dumps(escape_all("\\u{:04x}")(value)),
    "JavaScript": escape_all("\\u{{{:x}}}"),
    "bytes": escape_all("\\x{:02x}"),
    "URL": escape_all("%{:02X}"),
    "URL, escaped twice": lambda value: quote(escape_all("%{:02X}")(value)),
    "base64": encode,
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(f"??>>ü {value}".encode()).decode().rstrip("="),
    "base64 of base64": lambda value: base64.b64encode(encode(value).encode()).decode(),
    "lines of base64": lambda value: base64.encodebytes(f"{'Dear all, ' * 9}{value}".encode()).decode(),
    "data": lambda value: f"data:text/plain;base64,{encode(value)}",
    "percent-encoded data": lambda value: f"data:text/plain,{quote(f'mail: {value}', safe='')}",
    "hexadecimal digits": lambda value: f"mail: {value}".encode().hex(),
    "bytes of PostgreSQL": lambda value: f"\\x{value.encode().hex()}",
    "JSON in a text in ASCII": lambda value: json.dumps({"a": json.dumps({"b": f"é {value} \u202f"})}),
}
PARTS = [
    (EMAIL, "jo.kivi7&commat;kanto-posti&period;fi"), (EMAIL, "jo.kivi7%40kanto-posti.fi"),
    (EMAIL, "jo.kivi7\\u0040kanto-posti.fi"), (EMAIL, "jo.kivi7=40kanto-posti.fi"),
    (EMAIL, "jo.kivi7<b>@</b>kanto-posti.fi"), (EMAIL, "jo.kivi7@<wbr>kanto-posti.fi"),
    (EMAIL, "jo.kivi7<!-- no robots -->@kanto-posti.fi"), (EMAIL, "jo.kivi7\\100kanto-posti.fi"),
    (CREDIT_CARD, "4539&nbsp;5787&nbsp;6362&nbsp;1486"), (CREDIT_CARD, "4539%205787%206362%201486"),
    (CREDIT_CARD, "4539\\u00a05787\\u202f6362\\u20091486"),
    (CREDIT_CARD, "<b>4539</b> 5787 6362 <i>1486</i>"),
    (CREDIT_CARD, "\\uff14\\uff15\\uff13\\uff19 5787 6362 1486"),
    (CREDIT_CARD, "".join(f"\\ud835\\udf{0xCE + int(digit):02x}" for digit in CARD)),
    (IBAN, "DE89&nbsp;3704&nbsp;0044&nbsp;0532&nbsp;0130&nbsp;00"), (PHONE, "call &plus;4915123456789"),
    (PHONE, "\\u002b4915123456789"), (IP, "client ip 83[.]149[.]9[.]216"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), VALUES)
@pytest.mark.parametrize("way", WRITTEN)
def test_a_value_is_found_however_it_is_encoded(way: str, kind: str, value: str) -> None:
    for before, after in (("", ""), ("Please note: ", " thanks"), ('{"a": "', '"}'), ("?u=", "&v=1")):
        written = WRITTEN[way](value)
        text = f"{before}{written}{after}"
        found = [match for match in find_all(text) if match.kind == kind]
        assert found, text
        assert all(written[:4] in text[match.start :] or match.start >= len(before) for match in found)


@pytest.mark.parametrize(("kind", "written"), PARTS)
def test_a_value_is_replaced_with_the_escapes_in_it(kind: str, written: str) -> None:
    text = f"Note: {written} thanks"
    found = [match for match in find_all(text) if match.kind == kind]
    assert found
    left = "".join(
        sign for place, sign in enumerate(text) if not any(m.start <= place < m.end for m in found)
    )
    assert not any(part in left for part in ("kivi7", "kanto", "5787", "3704", "4915", "149"))


@pytest.mark.parametrize("length", range(3))
def test_base64_ends_where_its_line_or_folder_does(length: int) -> None:
    written = base64.b64encode(f"{'x' * length} mail: {ADDRESS}".encode()).decode().rstrip("=")
    for text in (f"{written}\nThanks", f"Hello\n{written}\nThanks", f"https://kanto.fi/confirm/of/{written}"):
        found = [match for match in find_all(text) if match.kind == EMAIL]
        assert found, text
        assert not any(written[8:] in part for part in (text[: found[0].start], text[found[-1].end :]))


OTHERS = [
    "Tom &amp; Jerry &lt;b&gt; &nbsp; 100 %25 of <b>it</b>", "C:\\users\\x86\\u2013", "background: #4539ab",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", "a=20 b=3D c=40",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "aGVsbG8gd29ybGQgb2YgdGV4dHM=",
    "&#9999999; \\ud83d \\u{110000} %ff%fe \\x80", "administrator-dashboard_settings/production",
]  # fmt: skip


@pytest.mark.parametrize("text", OTHERS)
def test_escapes_that_hide_nothing_are_left_alone(text: str) -> None:
    assert not [match for match in find_all(text) if match.kind in (EMAIL, CREDIT_CARD, IBAN, PHONE, IP)]


@pytest.mark.parametrize(
    "text", ["%40", "&#64;", "\\u0040", "<b>", "QUJD", "<!--", "\\", "=\n", "A" * 70 + "\n"]
)
def test_time_grows_with_the_length_alone(text: str) -> None:
    def measure(times: int) -> float:
        start = time.process_time()
        find_all(text * times)
        return time.process_time() - start

    measure(10)
    assert measure(20_000) < 60 * max(measure(1_000), 0.005)
