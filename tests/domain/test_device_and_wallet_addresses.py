"""Addresses that programs made: wallets by check sum or form, network cards by their pairs."""

from hashlib import sha256

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from datasets_app.domain.pii.rules.credentials.wallets import has_base58_check, has_bech32_check
from datasets_app.domain.pii.rules.finder import find_all
from tests.domain.growth import assert_linear_time

AROUND = st.text(st.sampled_from("ab XYZ,;\n🙂éé\u0301אב漢字\u200b\u00a0"), max_size=20)


def values(kind: str, text: str) -> list[str]:
    return [text[match.start : match.end] for match in find_all(text) if match.kind == kind]


# --- wallets -----------------------------------------------------------------------------------

WALLETS = """
    1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa 3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy
    bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4
    bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0
    tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx
    0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed 0x52908400098527886e0f7030069857d2e4169ee7
    LhK2kQwiaAvhjWY799cZvMyYwnQAcxkarr DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L
    rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t
    44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A
    addr1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg0yu80w
    bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a
""".split()
SOLANA = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"


def encode_base58_check(body: bytes) -> str:
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    data = body + sha256(sha256(body).digest()).digest()[:4]
    number, digits = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        digits = alphabet[digit] + digits
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + digits


@pytest.mark.parametrize("wallet", WALLETS)
def test_a_wallet_is_found_without_a_word_for_it(wallet: str):
    address = wallet.rpartition(":")[2]
    for text in (wallet, f"I paid 0.5 into {wallet}, on Monday", f'{{"to":"{wallet}"}}'):
        assert values("CRYPTO_WALLET", text) == [address]


@given(st.binary(min_size=20, max_size=20), st.sampled_from([0, 5, 30, 48, 65]), AROUND, AROUND)
@example(bytes.fromhex("0000000001000001000001000000000000000000"), 48, "", "").via("no digit in it")
@example(bytes.fromhex("0000000001000102000001000000000000000100"), 48, "", "").via("digits only at its end")
@settings(max_examples=60)
def test_a_check_sum_makes_an_address(key: bytes, version: int, before: str, after: str):
    address = encode_base58_check(bytes([version]) + key)
    text = f"{before} : {address} ; {after}"
    assert values("CRYPTO_WALLET", text) == [address]
    assert has_base58_check(address)
    wrong = address[:-1] + ("2" if address[-1] != "2" else "3")
    assert not has_base58_check(wrong)
    assert values("CRYPTO_WALLET", f"sent by {wrong} today") == []
    assert values("CRYPTO_WALLET", f"my wallet: {wrong}") == [wrong]


@given(
    st.sampled_from([wallet for wallet in WALLETS if has_bech32_check(wallet)]),
    st.integers(8, 40),
    st.integers(1, 31),
)
def test_one_wrong_character_is_noticed(wallet: str, place: int, shift: int):
    alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    lower, place = wallet.lower(), min(place, len(wallet) - 1)
    other = alphabet[(alphabet.index(lower[place]) + shift) % len(alphabet)]
    assert not has_bech32_check(lower[:place] + other + lower[place + 1 :])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"my solana wallet is {SOLANA}", [SOLANA]),
        (f"withdraw to: {SOLANA}", [SOLANA]),
        (f"session {SOLANA}", []),
        (f"my wallet shows the transaction {SOLANA}", []),
        ("txid 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b", []),
        ("tx 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060", []),
        ("commit 3f786850e387550fdab836ed7e6dc881de23001b", []),
        ("0x0000000000000000000000000000000000000000", []),
        ("a wallet of Pseudopseudohypoparathyroidism", []),
        ("job 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", []),
    ],
)
def test_codes_that_need_a_word(text: str, expected: list[str]):
    assert values("CRYPTO_WALLET", text) == expected


# --- network cards -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3c:22:fb:07:9a:41 can't connect", ["3c:22:fb:07:9a:41"]),
        ("HWaddr:3C-22-FB-07-9A-41", ["3C-22-FB-07-9A-41"]),
        ("show mac address-table: 3c22.fb07.9a41", ["3c22.fb07.9a41"]),
        ("eui 3c:22:fb:ff:fe:07:9a:41", ["3c:22:fb:ff:fe:07:9a:41"]),
        ("00:11:22:33:44:55", ["00:11:22:33:44:55"]),
        ("my mac address is 3C22FB079A41", ["3C22FB079A41"]),
        ("mac 3c 22 fb 07 9a b1", ["3c 22 fb 07 9a b1"]),
        ("MAC address\n3C22FB079A41", ["3C22FB079A41"]),
        # Of no card, or none at all.
        ("ff:ff:ff:ff:ff:ff and 00:00:00:00:00:00", []),
        ("multicast 01:00:5e:00:00:fb", []),
        ("3C22FB079A41", []),
        ("mac build 386fd4d1abcd", []),
        ("macbook serial 3C22FB079A41", []),
        ("lottery: 41-12-23-34-45-49", []),
        ("at 10:20:30 and 11:22:33, on 12-11-10", []),
        ("fingerprint 16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48", []),
        ("fd12:3757:20a1:6fa6::a479", []),
        ("550e8400-e29b-41d4-a716-446655440000", []),
    ],
)
def test_addresses_of_network_cards(text: str, expected: list[str]):
    assert values("MAC", text) == expected


@given(st.binary(min_size=6, max_size=6), st.sampled_from(":-"), st.booleans(), AROUND, AROUND)
@settings(max_examples=60)
def test_any_card_is_found_at_its_place(card: bytes, sign: str, upper: bool, before: str, after: str):
    value = card.hex(sign).upper() if upper else card.hex(sign)
    text = f"{before} mac {value} ; {after}"
    is_of_one_card = len(set(card.hex())) > 1 and not card.hex().startswith(("01005e", "3333", "0180c2"))
    assert values("MAC", text) == ([value] if is_of_one_card else [])


@pytest.mark.parametrize(
    "unit", ["0a:", "0a-", "0a1b.", "mac ", "wallet ", "a1", "1A1zP1eP5QGefi2DMPTfTL5SLmv7D ", "bc1q"]
)
def test_hostile_text_takes_time_by_its_length_only(unit: str):
    assert_linear_time(find_all, unit, 4_000)
