"""Numbers of orders, parcels and tickets: replaced where a policy names them, and only then."""

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detector import KINDS, ORDER_NUMBER
from datasets_app.domain.pii.policy import Policy, parse_kinds
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

FOUND = (
    ("order no. A-20431 is late", "A-20431"),
    ("my order 4021776 is late", "4021776"),
    ("tracking number is 1Z999AA10123456784", "1Z999AA10123456784"),
    ("ticket #48213 again", "48213"),
    ("booking reference QX7P2K9L", "QX7P2K9L"),
    ("Bestellnummer: 4500-1127", "4500-1127"),
    ("Rechnung Nr. RE-2024-00017 vom Mai", "RE-2024-00017"),
    ("pedido nº 998877", "998877"),
    ("commande n° 5512-88", "5512-88"),
    ("订单号12345678还没到", "12345678"),
    ("注文番号は2024-88123です", "2024-88123"),
    ("주문번호 20240001234 확인", "20240001234"),
)
KEPT = (
    "order 2 pizzas",
    "I placed the order on 12/03/2024",
    "the order total is 1234.50",
    "the order was 45000 €",
    "version 20431 of the report",
    "I ordered in 2024",
    "the ticket machine 20431",
)


def scrub(text: str, policy: Policy, metadata: dict[str, object] | None = None) -> TurnRecord:
    session = SessionInput([TurnRecord("s-1", 0, "user", text, [], metadata=metadata)])
    return Scrubber(policy, key=b"a key for tests!").scrub([session])[0].turns[0]


@pytest.mark.parametrize(("text", "value"), FOUND)
def test_the_word_before_it_makes_it_an_order_number(text: str, value: str) -> None:
    policy = Policy(kinds=parse_kinds("order_number"))
    assert scrub(text, policy).text == text.replace(value, "[ORDER_NUMBER]")


def test_other_numbers_stay() -> None:
    policy = Policy(kinds=parse_kinds("order_number"))
    assert [scrub(text, policy).text for text in KEPT] == list(KEPT)


def test_a_key_says_it_as_well() -> None:
    policy = Policy(kinds=parse_kinds("order-number"))
    turn = scrub("hi", policy, {"order_number": "A-20431", "batch": "A-20431x7"})
    assert turn.metadata == {"order_number": "[ORDER_NUMBER]", "batch": "A-20431x7"}


def test_a_scrub_of_all_classes_leaves_them() -> None:
    assert ORDER_NUMBER not in KINDS
    assert scrub("order no. A-20431 is late", Policy()).text == "order no. A-20431 is late"
    assert "order, parcel and ticket numbers" in Policy(kinds=(ORDER_NUMBER,)).describe()[0]
