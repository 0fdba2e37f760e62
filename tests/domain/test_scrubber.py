"""Scrubbing whole sessions: every field, the conversation as context, placeholders, and twice over."""

import hmac
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.placeholders import pad_placeholders
from datasets_app.domain.pii.policy import Policy, PolicyError, parse_kinds
from datasets_app.domain.pii.rebuilding import ScrubbedSession
from datasets_app.domain.pii.scrubber import MAX_ROUNDS, Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from tests.strategies import EXAMPLES_FACTOR

KEY = b"a key for tests, of no other worth"
PLAIN = Policy()
NUMBERED = Policy(placeholders="numbered")


def conversation(*texts: str, session_id: str = "s-1", **fields: Any) -> SessionInput:
    """User and assistant in turns; ``fields`` stand on the first turn."""
    turns = []
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        turns.append(TurnRecord(session_id, number + 1, role, text, []))
    return SessionInput([turns[0]._replace(**fields), *turns[1:]])


def scrubbed(session: SessionInput, policy: Policy = PLAIN, **options: Any) -> ScrubbedSession:
    return Scrubber(policy, key=KEY, **options).scrub([session])[0]


def texts(session: SessionInput, policy: Policy = PLAIN, **options: Any) -> list[str]:
    return [turn.text for turn in scrubbed(session, policy, **options).turns]


def everything(result: ScrubbedSession) -> str:
    return json.dumps([result.session_id, result.turns, result.attached, result.findings], ensure_ascii=False)


# --- every field -------------------------------------------------------------------------------


def test_values_are_found_in_text_tags_metadata_and_unknown_keys_by_value_and_by_key() -> None:
    session = conversation(
        "write to jane.doe@acme.com",
        tags=["scenario:support", "from:jane.doe@acme.com"],
        metadata={"jane.doe@acme.com": {"last": ["call 555-123-4567"]}, "model": "m-2", "temperature": 0.5},
        extra={"notes": "jane.doe@acme.com again", "user_id": 4711, "n": 12},
    )
    turn = scrubbed(session).turns[0]
    assert turn.text == "write to [EMAIL]"
    assert turn.tags == ["scenario:support", "from:[EMAIL]"]
    assert turn.metadata == {"[EMAIL]": {"last": ["call [PHONE]"]}, "model": "m-2", "temperature": 0.5}
    assert turn.extra == {"notes": "[EMAIL] again", "user_id": "[ID]", "n": 12}


def test_two_keys_that_become_one_placeholder_both_stay() -> None:
    session = conversation("hi", metadata={"a@acme.com": 1, "b@acme.com": 2, "[EMAIL]": 3})
    metadata = scrubbed(session).turns[0].metadata
    assert metadata is not None
    assert sorted(metadata.values()) == [1, 2, 3]
    assert "acme" not in json.dumps(metadata)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("user_id", "u-1", "[ID]"),
        ("userId", 7, "[ID]"),
        ("Email", "someone", "[EMAIL]"),
        ("client_ip", "10.1.2.3", "[IP]"),
        ("first_name", "Ana", "[NAME]"),
        ("Sender Name", "Kim", "[NAME]"),
        ("closed_by_name", "dana", "[NAME]"),
        ("Nachname", "Öztürk", "[NAME]"),
        ("agent", "Robert", "[NAME]"),
        ("Bearbeiter", "Jonas K.", "[NAME]"),
        ("Sender Name", "Support Team", "Support Team"),
        ("agent", "Billing", "Billing"),
        ("operator", "System", "System"),
        ("from", "Austin", "Austin"),
        ("product_name", "Robert", "Robert"),
        ("password", "sesame", "[CREDENTIAL]"),
        ("phone", "5551234567", "[PHONE]"),
        ("phone", 5551234567, "[PHONE]"),
        ("caller_id", "40217765", "[PHONE]"),
        ("customerId", 12, "[ACCOUNT]"),
        ("account_number", "00-1234", "[ACCOUNT]"),
        ("iban", "unknown spelling", "[IBAN]"),
        ("wallet_address", "qz7ecdhsyxyscszyep35khn8vvw3", "[CRYPTO_WALLET]"),
        ("wallet", 25, 25),
        ("wallet", "empty", "empty"),
        ("mac", "3C22FB079A41", "[MAC]"),
        ("mac", "yes", "yes"),
        ("max_tokens", 512, 512),
        ("pin", 3, 3),
        ("user_id", None, None),
        ("model", "claude-3-opus", "claude-3-opus"),
    ],
)
def test_keys_that_identify_people(key: str, value: Any, expected: Any) -> None:
    session = conversation("hi", metadata={key: value})
    assert scrubbed(session).turns[0].metadata == {key: expected}


def test_what_belongs_to_a_session_from_elsewhere_is_scrubbed_with_it() -> None:
    session = conversation("I'm Zebulon Fonseca")._replace(
        attached=[{"turn_index": 1, "notes": "zebulon was polite", "label": 1}]
    )
    result = scrubbed(session)
    assert result.attached == [{"turn_index": 1, "notes": "[NAME] was polite", "label": 1}]
    assert [found.turn_index for found in result.findings] == [1, 1]


def test_a_text_that_belongs_to_no_session_is_scrubbed_alone() -> None:
    scrubber = Scrubber(Policy(patterns=(("WORD", "text|ticket"),), hash_session_ids=True), key=KEY)
    assert scrubber.scrub_text("jane.doe@acme.com has a ticket") == "[EMAIL] has a [WORD]"
    assert scrubber.scrub_text("") == ""
    value, findings = scrubber.scrub_object({"by": ["Call 555-123-4567"], "n": 2})
    assert value == {"by": ["Call [PHONE]"], "n": 2}
    assert [(found.kind, found.turn_index) for found in findings] == [("PHONE", None)]


def test_only_the_classes_asked_for_are_replaced() -> None:
    session = conversation("jane.doe@acme.com or 555-123-4567", metadata={"user_id": 3, "email": "x"})
    result = scrubbed(session, Policy(kinds=("EMAIL",)))
    assert result.turns[0].text == "[EMAIL] or 555-123-4567"
    assert result.turns[0].metadata == {"user_id": 3, "email": "[EMAIL]"}


def test_custom_patterns_have_their_label() -> None:
    policy = Policy(patterns=(("EMPLOYEE", r"\bE-\d{4}\b"),))
    assert texts(conversation("badge E-4711, not E-47"), policy) == ["badge [EMPLOYEE], not E-47"]


# --- the conversation as context ---------------------------------------------------------------


def test_the_answer_to_a_question_for_a_name_is_one() -> None:
    said = texts(conversation("hi", "May I have your name, please?", "kavisri", "Thanks kavisri!"))
    assert said[2:] == ["[NAME]", "Thanks [NAME]!"]


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("What is your full name?", "yes its brzwik kolo", "yes its [NAME]"),
        ("Please share the names of the passengers.", "ravvi and suggi", "[NAME] and [NAME]"),
        ("What's the best phone number to reach you?", "9845012345", "[PHONE]"),
        ("Can you confirm your mobile number?", "sure, 98450 12345", "sure, [PHONE]"),
        ("Under which number can we reach you?", "40217765", "[PHONE]"),
        ("Quel est votre numéro de téléphone ?", "40217765", "[PHONE]"),
        ("Gracias. ¿Un teléfono?", "644 120 953", "[PHONE]"),
        ("Op welk nummer kunnen we u bereiken?", "612345678", "[PHONE]"),
        ("Mi lascia un numero?", "347 1234567", "[PHONE]"),
        ("Mikä on puhelinnumerosi?", "40217765", "[PHONE]"),
        ("Where do we text you?", "40217765", "[PHONE]"),
        ("Which phone model is it?", "SM 40217765", "SM 40217765"),
        ("¿Número de cliente?", "40217765", "[ACCOUNT]"),
        ("social?", "565060447", "[SSN]"),
        ("May I have your account number?", "it's 48213", "it's [ACCOUNT]"),
        ("What is your membership id, please?", "K7X-29B4", "[ACCOUNT]"),
        ("Wie lautet Ihre Kundennummer?", "48213", "[ACCOUNT]"),
        ("Please send me your IBAN.", "DE89 3704 0044 0532 0130 01", "[IBAN]"),
        ("Which wallet should we pay into?", "qz7ecdhsyxyscszyep35khn8vvw3", "[CRYPTO_WALLET]"),
        ("What is the MAC address of the router?", "3C22FB079A41", "[MAC]"),
        (
            "Which account is it, savings or checking?",
            "checking, with 500 dollars",
            "checking, with 500 dollars",
        ),
        ("Please give the card number.", "1234 5678 1234 5678", "[CREDIT_CARD]"),
        ("What are the last four digits of your social security number?", "4821", "[SSN]"),
        ("Could you tell me your e-mail?", "kavigmailcom", "[EMAIL]"),
        ("Please type your current password.", "sesame77", "[CREDENTIAL]"),
        ("What is the order number?", "9845012345", "9845012345"),
        ("May I have your name?", "why do you need it", "why do you need it"),
        ("May I have your name?", "no thanks", "no thanks"),
        ("What is the name of the restaurant?", "the blue door", "the blue door"),
        ("Anything else?", "pepperoni", "pepperoni"),
    ],
)
def test_answers(question: str, answer: str, expected: str) -> None:
    assert texts(conversation("hi", question, answer))[2] == expected


def test_an_answer_may_come_some_turns_later() -> None:
    turns = ("my passport number? why", "To verify your booking.", "C3KR8T22M", "Thanks.", "44021776")
    assert texts(conversation(*turns)) == [*turns[:2], "[ID_NUMBER]", *turns[3:]]
    turns = ("hi", "What's your account number?", "where do i find it", "On the bill.", "40217765")
    assert texts(conversation(*turns)) == [*turns[:4], "[ACCOUNT]"]
    turns = (
        "hi",
        "What's your phone number?",
        "why",
        "For it.",
        "40217765 is what the display of the thing says",
    )
    assert texts(conversation(*turns)) == [*turns]


def test_a_value_found_once_is_found_throughout_its_session() -> None:
    session = conversation(
        "my name is Zebulon Fonseca, 555-123-4567, see db7.corp.internal",
        "ok zebulon, I call 5551234567",
        "FONSECA, yes; DB7.CORP.INTERNAL is down",
    )
    assert texts(session)[1:] == ["ok [NAME], I call [PHONE]", "[NAME], yes; [HOST] is down"]


def test_an_account_is_one_however_it_is_written() -> None:
    session = conversation(
        "my iban is DE89 3704 0044 0532 0130 01, card 4821, mac 3c:22:fb:07:9a:41",
        "is it de89370400440532013001?",
        "yes, DE89370400440532013001; and 3C-22-FB-07-9A-41",
    )
    assert texts(session, NUMBERED) == [
        "my iban is [IBAN_1], card 4821, mac [MAC_1]",
        "is it [IBAN_1]?",
        "yes, [IBAN_1]; and [MAC_1]",
    ]


def test_a_value_is_not_carried_into_another_session() -> None:
    one = conversation("hi", "your phone number?", "9845012345", session_id="a")
    other = conversation("order 9845012345 has left", session_id="b")
    results = Scrubber(PLAIN, key=KEY).scrub([one, other])
    assert results[0].turns[2].text == "[PHONE]"
    assert results[1].turns == other.turns


def test_only_the_number_itself_goes_where_it_is_repeated() -> None:
    session = conversation("my ssn is 565-06-0447", "ok", "it is wrong on the W-2 (565 06 0447)")
    assert texts(session)[2] == "it is wrong on the W-2 ([SSN])"


# --- what stays --------------------------------------------------------------------------------


def test_the_allow_list_and_personas_are_no_people() -> None:
    session = conversation("I'm Zebulon, write to help@acme.com or Aria Nova")
    policy = Policy(allow=("HELP@acme.com", "zebulon"))
    assert texts(session, policy, persona_terms=["Aria Nova"]) == [session.turns[0].text]


def test_a_part_of_an_allowed_term_stays_with_it() -> None:
    session = conversation("I'm Jane Fonseca, write to jane@example.org", "ok Jane")
    said = texts(session, Policy(allow=("jane@example.org",)))
    assert said == ["I'm [NAME], write to jane@example.org", "ok [NAME]"]


def test_placeholders_in_the_input_are_left_alone() -> None:
    text = "I am [NAME_2], mail [EMAIL], key [CREDENTIAL], on [HOST] and [EMPLOYEE]"
    session = conversation(text, "your name?", "[NAME_2]")
    policy = Policy(placeholders="numbered", patterns=(("EMPLOYEE", "E[0-9]"),))
    assert scrubbed(session, policy).turns == session.turns


def test_a_turn_without_findings_is_the_very_same_record() -> None:
    session = conversation("nothing to see", "indeed", metadata={"model": "m"})
    result = scrubbed(session)
    assert result.changed == []
    assert all(new is old for new, old in zip(result.turns, session.turns, strict=True))


# --- placeholders ------------------------------------------------------------------------------


def test_numbered_placeholders_keep_people_apart() -> None:
    session = conversation(
        "I'm Zebulon Fonseca and my wife is Marguerite Fonseca-Diaz",
        "Hello Zebulon!",
        "MARGUERITE here, a@acme.com, A@ACME.COM, b@acme.com",
    )
    said = texts(session, NUMBERED)
    assert said[1:] == ["Hello [NAME_1]!", "[NAME_2] here, [EMAIL_1], [EMAIL_1], [EMAIL_2]"]


def test_numbers_in_the_input_are_somebody_elses() -> None:
    assert texts(conversation("[EMAIL_4] or a@acme.com"), NUMBERED) == ["[EMAIL_4] or [EMAIL_5]"]


# --- session ids -------------------------------------------------------------------------------


def test_session_ids_become_keyed_hashes_wherever_the_session_repeats_them() -> None:
    session = conversation("see chat-20991 please", session_id="chat-20991", extra={"thread": "chat-20991"})
    result = scrubbed(session, Policy(hash_session_ids=True))
    expected = hmac.new(KEY, b"chat-20991", "sha256").hexdigest()
    assert result.session_id == result.turns[0].session_id == expected
    assert result.turns[0].text == f"see {expected} please"
    assert result.turns[0].extra == {"thread": expected}
    again = SessionInput(result.turns, result.attached, result.id_hashed)
    assert scrubbed(again, Policy(hash_session_ids=True)).turns == result.turns


# Its hash under KEY begins like a ClickHouse key.
UNLUCKY = "call-28317"
HASHING = Policy(hash_session_ids=True, patterns=(("LONG_HEX", "[0-9a-f]{20,}"),))


@pytest.mark.parametrize("text", ["hello", f"session id: {UNLUCKY}", f"my token is {UNLUCKY}"])
@pytest.mark.parametrize("metadata", [None, {"session_id": UNLUCKY}, {"auth_key": UNLUCKY, "pin": [UNLUCKY]}])
def test_verification_accepts_the_hashes_that_the_product_makes(
    text: str, metadata: dict[str, Any] | None
) -> None:
    scrubber = Scrubber(HASHING, key=KEY)
    [result] = scrubber.scrub([conversation(text, session_id=UNLUCKY, metadata=metadata)])
    assert result.session_id.startswith("4b1d")
    again = SessionInput(result.turns, result.attached, result.id_hashed)
    assert not scrubber.count_remaining([again])
    [repeated] = scrubber.scrub([again])
    assert (repeated.session_id, repeated.turns, repeated.findings) == (result.session_id, result.turns, [])


def test_a_string_that_would_need_too_many_rounds_is_replaced_whole() -> None:
    scrubber = Scrubber(Policy(patterns=(("Q", r"Q\W"),)), key=KEY)
    session = conversation("Q" * (MAX_ROUNDS + 10) + "! and so on", "all is well")
    [result] = scrubber.scrub([session])
    assert not scrubber.count_remaining([SessionInput(result.turns)])
    assert "Q" not in result.turns[0].text.replace("[Q]", "")
    assert "so on" not in result.turns[0].text
    assert result.turns[1].text == "all is well"


def test_only_the_hashed_id_of_the_session_itself_is_known() -> None:
    own, other = (hmac.new(KEY, name, "sha256").hexdigest() for name in (b"one", b"two"))
    scrubber = Scrubber(HASHING, key=KEY)

    def reports(session_id: str, repeated: str, id_hashed: bool) -> bool:
        session = conversation(f"session id: {repeated}", session_id=session_id)
        return bool(scrubber.count_remaining([session._replace(id_hashed=id_hashed)]))

    assert not reports(own, own, True)
    assert reports(own, own, False)
    assert reports(own, other, True)
    assert reports(own, f"x{own}", True)
    assert reports("jane.doe@acme.com", "none", True)


def test_an_id_that_holds_a_value_is_hashed_in_any_case() -> None:
    result = scrubbed(conversation("hi", session_id="chat with jane.doe@acme.com"))
    assert len(result.session_id) == 64
    assert result.id_hashed
    assert "acme" not in everything(result)


@pytest.mark.parametrize("session_id", ["user-alice", "johnson", "chat-AliceJohnson", "visit_22871940"])
def test_an_id_that_repeats_a_value_of_its_session_is_hashed(session_id: str) -> None:
    session = conversation("Hi, I'm Alice Johnson, account number 22871940.", session_id=session_id)
    result = scrubbed(session)
    assert result.session_id == hmac.new(KEY, session_id.encode(), "sha256").hexdigest()
    assert scrubbed(session._replace(turns=[result.turns[0]._replace(session_id="s-1")])).session_id == "s-1"


# --- marks -------------------------------------------------------------------------------------


def test_a_value_marked_as_missed_is_found_by_its_digest_alone() -> None:
    mark = make_missed_mark("NAME", "Blue-Falcon 7", KEY)
    assert mark is not None
    policy = PLAIN.with_marks([], [], [mark])
    assert "falcon" not in json.dumps(policy.as_json()).lower()
    assert Policy.from_json(json.loads(json.dumps(policy.as_json()))) == policy
    assert texts(conversation("ask blue falcon 7 now"), policy) == ["ask [NAME] now"]


# --- policies ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choices",
    [
        {"kinds": ("EMAILS",)},
        {"placeholders": "stars"},
        {"fuzz_seconds": -1},
        {"fuzz_seconds": 5, "drop_timestamps": True},
        {"patterns": (("email", "a"),)},
        {"patterns": (("EMAIL", "a"),)},
    ],
)
def test_policies_that_mean_nothing_are_refused(choices: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        Policy(**choices)


def test_classes_by_name() -> None:
    assert parse_kinds("phone|email") == ("EMAIL", "PHONE")
    with pytest.raises(PolicyError, match="choose among"):
        parse_kinds("email|fone")


# --- properties --------------------------------------------------------------------------------

fragments = st.sampled_from(
    [
        "jane@acme.com",
        "ｊａｎｅ＠ａｃｍｅ．ｃｏｍ",
        "555-123-4567",
        "٥٥٥-١٢٣-٤٥٦٧",
        "my name is Zebulon",
        "Fonseca",
        "[NAME]",
        "[EMAIL_3]",
        "password: hunter2!",
        "/home/jane/x",
        "db1.corp.internal",
        "10.20.30.40",
        "👩‍👩‍👧",
        "e\u0301",
        "שלום",
        "\u200b",
        "İ",
        "what is your name?",
        "kolo",
        "4111 1111 1111 1111",
        " ",
        "\n",
        "ok",
        "[",
        "]",
        "456-78-9012",
        "and",
        ",",
        "ghp_" + "a1B2" * 9,
        "call me on",
        "40217765",
        "(office)",
        "my account number is",
        "[ACCOUNT]",
        "iban DE89 3704 0044 0532 0130 01",
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        "mac 3C22FB079A41",
        "five five five one two three four",
    ]
)
strings = st.lists(fragments | st.text(max_size=6), max_size=6).map(" ".join)


@settings(max_examples=75 * EXAMPLES_FACTOR)
@given(
    st.lists(strings, min_size=1, max_size=4),
    st.dictionaries(strings, strings | st.integers(0, 10**12), max_size=2),
    st.sampled_from(["plain", "numbered"]),
)
def test_scrubbing_twice_changes_nothing_more(
    said: list[str], metadata: dict[str, Any], placeholders: str
) -> None:
    scrubber = Scrubber(Policy(placeholders=placeholders), key=KEY)
    session = conversation(*said, metadata=metadata)
    once = scrubber.scrub([session])[0]
    assert not scrubber.count_remaining([SessionInput(once.turns)])
    again = scrubber.scrub([SessionInput(once.turns, once.attached, once.id_hashed)])[0]
    assert again.turns == once.turns
    assert not again.findings


@pytest.mark.parametrize("number", ["", "_3"])
def test_padded_placeholders_are_placeholders(number: str) -> None:
    said = " ".join(f"My value is [{label}{number}]." for label in Policy().labels)
    padded = pad_placeholders(said)
    assert f"[MAC{number}:x:x:x:x:x]" in padded
    assert pad_placeholders(padded) == padded
    session = conversation(padded)
    assert not Scrubber(Policy(), key=KEY).count_remaining([session])
    assert scrubbed(session, Policy()).turns == session.turns


@settings(max_examples=75 * EXAMPLES_FACTOR)
@given(st.lists(strings, min_size=1, max_size=3), st.sampled_from(["plain", "numbered"]))
def test_places_are_right_in_the_old_text_and_in_the_new(said: list[str], placeholders: str) -> None:
    session = conversation(*said)
    result = scrubbed(session, Policy(placeholders=placeholders))
    for old, new in zip(session.turns, result.turns, strict=True):
        found = [item for item in result.findings if item.turn_index == old.turn_index]
        rebuilt, at = [], 0
        for item in found:
            rebuilt.append(old.text[at : item.start])
            word = new.text[item.new_start : item.new_start + item.new_length]
            assert word.startswith(f"[{item.kind}")
            assert word.endswith("]")
            rebuilt.append(word)
            at = item.start + item.length
        assert "".join([*rebuilt, old.text[at:]]) == new.text


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01 09:12",
        "2026-03-01 09:12:33 UTC",
        "01.03.2026 09:12",
        "3/1/2026, 9:12",
        "Mar 3, 2026 10:00 AM",
        "10:05 2026-03-03",
        "2026-03-01 09:12 - 2026-03-03 10:00",
        "2026年3月1日 09:12",
        "2026 03 01",
        "2025-03-03 to 2025-03-10",
        "period: 2025-03-03/2025-03-10",
        "I'm away 3.8.2026 - 17.8.2026",
        "valid 01/02/2025 - 01/03/2025",
        "01.01.2024 bis 31.12.2024",
        "du 01/02/2025 au 03/02/2025",
        "desde el 01/02/2025 hasta el 03/02/2025",
        "с 01.02.2025 по 03.02.2025",
    ],
)
def test_a_date_with_its_time_or_in_a_range_or_without_a_word_is_nobodys_birth_date(value: str) -> None:
    session = conversation(value, metadata={"created_at": value, "updated": value})
    [turn] = scrubbed(session).turns
    assert (turn.text, turn.metadata) == (value, {"created_at": value, "updated": value})
