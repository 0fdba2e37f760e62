"""Addresses of wallets with their check digits, which python-stdnum doesn't compute."""

import hashlib

from datasets_app.domain.pii.rules.credentials.wallets import (
    BECH32_ALPHABET,
    BECH32_RESULTS,
    BITCOIN_ALPHABET,
    compute_bech32_check,
)


def encode_base58(value: bytes) -> str:
    number = int.from_bytes(value)
    signs = ""
    while number:
        number, digit = divmod(number, 58)
        signs = BITCOIN_ALPHABET[digit] + signs
    return "1" * (len(value) - len(value.lstrip(b"\0"))) + signs


def encode_base58_check(value: bytes) -> str:
    """``value`` begins with the byte that says which kind of address it is."""
    return encode_base58(value + hashlib.sha256(hashlib.sha256(value).digest()).digest()[:4])


def encode_bech32(prefix: str, version: int, program: bytes) -> str:
    """A SegWit address: Bech32 for version 0, Bech32m for later ones (BIP 173, BIP 350)."""
    data = [version, *_regroup_bits(program)]
    checksum = compute_bech32_check(prefix, [*data, 0, 0, 0, 0, 0, 0]) ^ BECH32_RESULTS[version > 0]
    data += [checksum >> 5 * (5 - place) & 31 for place in range(6)]
    return f"{prefix}1{''.join(BECH32_ALPHABET[value] for value in data)}"


def _regroup_bits(program: bytes) -> list[int]:
    """Bytes as numbers of five bits."""
    bits = "".join(f"{byte:08b}" for byte in program)
    return [int(bits[place : place + 5].ljust(5, "0"), 2) for place in range(0, len(bits), 5)]
