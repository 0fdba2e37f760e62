"""Addresses of cryptocurrency wallets, by check sum, by form, or by a word before them.

A check sum in an address makes it certain. Without one, a form counts that nothing else has (0x and forty
hexadecimal digits); the rest, such as Solana's, counts only after words such as "wallet".
"""

import re
from collections.abc import Iterable
from hashlib import sha256

from datasets_app.domain.pii.detector import CRYPTO_WALLET, Match, drop_overlaps

Span = tuple[int, int]

BITCOIN_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_RIPPLE_ALPHABET = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
BECH32_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BASE58 = re.compile(r"[1-9A-HJ-NP-Za-km-z]+")

_CODE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{25,130}(?![A-Za-z0-9])")
_ALPHANUMERIC_TO_A = bytes(ord("a") if chr(b).isalnum() and b < 0x80 else b for b in range(256))
_LONG_CODE = b"a" * 25
# Version and twenty bytes of a key's hash: Bitcoin and its kin, Ripple, Tron; a public key with its chain.
_ADDRESS_BYTES, _KEY_BYTES = (21, 22, 23), (33, 34, 78)
_MAX_BASE58_CHARACTERS = 112
_MAX_BECH32_CHARACTERS = 120

# Told by form alone.
_FORMS = re.compile(
    r"0x[0-9a-fA-F]{40}"  # Ethereum and its kin
    r"|[48][1-9A-HJ-NP-Za-km-z]{94}(?:[1-9A-HJ-NP-Za-km-z]{11})?"  # Monero
    r"|(?:bc1|tb1|BC1|TB1)(?:[02-9ac-hj-np-zAC-HJ-NP-Z]{39}|[02-9ac-hj-np-zAC-HJ-NP-Z]{59})"
    r"|addr1[02-9ac-hj-np-z]{53}(?:[02-9ac-hj-np-z]{45})?"  # Cardano
)
_CASH_ADDRESS = re.compile(r"[qp][02-9ac-hj-np-z]{41}")
# Told by form after a word: mistyped ones as well.
_ANNOUNCED_FORMS = re.compile(
    r"(?:[13mn2LMD39AXTtr]|t[13]|tz[1-4])[1-9A-HJ-NP-Za-km-z]{25,34}"
    r"|(?:bc|tb|ltc|addr|stake|cosmos|osmo|inj|bnb|erd|kaspa)1[02-9ac-hj-np-z]{30,110}"
    r"|0x[0-9a-fA-F]{38,64}"
    r"|G[A-D][A-Z2-7]{54}|[A-Z2-7]{58}"  # Stellar, Algorand
    r"|[1-9A-HJ-NP-Za-km-z]{46,48}"  # Polkadot
    r"|[EU]Q[A-Za-z0-9_\-]{46}"  # TON
)
_SOLANA_BYTES, _SOLANA_CHARACTERS = 32, range(32, 45)
_CUES = re.compile(
    r"(?<![A-Za-z])(?:wallets?|address(?:es)?|addr|adresse|direcci[oó]n|indirizzo|endere[cç]o|btc|xbt|bitcoin"
    r"|eth|ether|ethereum|ltc|litecoin|doge|dogecoin|xrp|ripple|tron|trx|usdt|usdc|xmr|monero|sol|solana"
    r"|cardano|ada|bnb|ton"
    r"|crypto|coins?|deposit|payout|withdraw(?:al)?|donat\w{1,6}|metamask|phantom|ledger|trezor|coinbase"
    r"|binance|кошел[её]к\w{0,3}|钱包|地址|ウォレット)(?![A-Za-z])",
    re.IGNORECASE,
)
_OTHER_CODE = re.compile(
    r"\b(?:tx|txn|txid|tx_?hash|transactions?|hash|block|commit|sha\d*|signature|digest|build|revision"
    r"|session|request|trace|order|ticket|api|secret|program|mint|contract)\b",
    re.IGNORECASE,
)
_CUE_CHARACTERS = 80


def may_hold(encoded: bytes, shape: bytes) -> bool:
    """A row of letters and digits that is longer than any word."""
    if b"0a" in shape or b"a0" in shape:
        return _LONG_CODE in encoded.translate(_ALPHANUMERIC_TO_A)
    return _LONG_CODE in shape


def search_folded(text: str) -> list[Match]:
    spans = [code.span() for code in _CODE.finditer(text) if _is_wallet(text, code[0], code.start())]
    return drop_overlaps(CRYPTO_WALLET, spans) if spans else []


def _is_wallet(text: str, code: str, start: int) -> bool:
    if _FORMS.fullmatch(code):
        return len(set(code)) > 4  # the zero address has no owner
    if has_base58_check(code) or has_bech32_check(code):
        return True
    if code.islower() and _CASH_ADDRESS.fullmatch(code) and text.endswith("bitcoincash:", 0, start):
        return True
    may_be = _ANNOUNCED_FORMS.fullmatch(code) or _CASH_ADDRESS.fullmatch(code) or _is_key(code)
    return bool(may_be) and any(map(str.isdigit, code)) and _is_announced(text, start)


def _is_announced(text: str, start: int) -> bool:
    """Whether the last of the words before it that say what a code is speaks of a wallet."""
    before = text[max(0, start - _CUE_CHARACTERS) : start]
    cues = list(_CUES.finditer(before))
    return bool(cues) and _OTHER_CODE.search(before, cues[-1].end()) is None


def _is_key(code: str) -> bool:
    """Thirty-two bytes in base 58: a wallet of Solana's, or any other key."""
    return (
        len(code) in _SOLANA_CHARACTERS
        and _BASE58.fullmatch(code) is not None
        and not code.islower()
        and not code.isupper()
        and len(_decode_base58(code, BITCOIN_ALPHABET)) == _SOLANA_BYTES
    )


def has_base58_check(code: str) -> bool:
    """Whether ``code`` is an address, or a public or private key, with its four bytes of check sum."""
    if len(code) > _MAX_BASE58_CHARACTERS or not _BASE58.fullmatch(code):
        return False
    alphabet = _RIPPLE_ALPHABET if code[0] == "r" else BITCOIN_ALPHABET
    decoded = _decode_base58(code, alphabet)
    body, check = decoded[:-4], decoded[-4:]
    if len(body) not in _ADDRESS_BYTES and len(body) not in _KEY_BYTES:
        return False
    return sha256(sha256(body).digest()).digest()[:4] == check


def _decode_base58(code: str, alphabet: str) -> bytes:
    number = 0
    for character in code:
        number = number * 58 + alphabet.index(character)
    zeroes = len(code) - len(code.lstrip(alphabet[0]))
    return bytes(zeroes) + number.to_bytes((number.bit_length() + 7) // 8, "big")


_BECH32_CODE = re.compile(r"[a-z]{1,12}1[02-9ac-hj-np-z]{6,}")
_BECH32_STEPS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
BECH32_RESULTS = (1, 0x2BC830A3)  # Bech32 (BIP 173), Bech32m (BIP 350)


def has_bech32_check(code: str) -> bool:
    """Whether ``code`` is Bech32 or Bech32m: a word, a 1, and data that ends with its check sum."""
    lower = code.lower()
    if len(code) > _MAX_BECH32_CHARACTERS or code not in (lower, code.upper()):
        return False
    if not _BECH32_CODE.fullmatch(lower):
        return False
    word, _, data = lower.rpartition("1")
    return compute_bech32_check(word, map(BECH32_ALPHABET.index, data)) in BECH32_RESULTS


def compute_bech32_check(word: str, data: Iterable[int]) -> int:
    """One of :data:`BECH32_RESULTS` if ``data`` ends with its check sum; each value has five bits."""
    check = 1
    for value in (*(ord(letter) >> 5 for letter in word), 0, *(ord(letter) & 31 for letter in word), *data):
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, step in enumerate(_BECH32_STEPS):
            if top >> bit & 1:
                check ^= step
    return check
