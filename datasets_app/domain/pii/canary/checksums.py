"""Check digits that python-stdnum doesn't compute: of vehicles, passports, weighted numbers and wallets.

Each function takes the value without its check digits and returns them.
"""

import hashlib
from collections.abc import Iterable, Sequence

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_VIN_VALUES = {
    **{digit: int(digit) for digit in "0123456789"},
    **dict(zip("ABCDEFGH", range(1, 9), strict=True)),
    **dict(zip("JKLMN", range(1, 6), strict=True)),
    "P": 7,
    "R": 9,
    **dict(zip("STUVWXYZ", range(2, 10), strict=True)),
}
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def sum_weighted(digits: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))


def vin_digit(vin: str) -> str:
    """The ninth character of a vehicle number of seventeen, whatever is there now."""
    remainder = sum(_VIN_VALUES[sign] * weight for sign, weight in zip(vin, _VIN_WEIGHTS, strict=True)) % 11
    return "X" if remainder == 10 else str(remainder)


def icao_digit(text: str) -> str:
    """Passports and identity cards (ICAO 9303)."""
    return str(sum(int(sign, 36) * (7, 3, 1)[place % 3] for place, sign in enumerate(text)) % 10)


# --- wallets -----------------------------------------------------------------------------------


def encode_base58(value: bytes) -> str:
    number = int.from_bytes(value)
    signs = ""
    while number:
        number, digit = divmod(number, 58)
        signs = _BASE58[digit] + signs
    return "1" * (len(value) - len(value.lstrip(b"\0"))) + signs


def encode_base58_check(value: bytes) -> str:
    """``value`` begins with the byte that says which kind of address it is."""
    return encode_base58(value + hashlib.sha256(hashlib.sha256(value).digest()).digest()[:4])


def encode_bech32(prefix: str, version: int, program: bytes) -> str:
    """A SegWit address: Bech32 for version 0, Bech32m for later ones (BIP 173, BIP 350)."""
    data = [version, *_regroup_bits(program)]
    expanded = [*(ord(sign) >> 5 for sign in prefix), 0, *(ord(sign) & 31 for sign in prefix), *data]
    constant = 0x2BC830A3 if version else 1
    checksum = _bech32_polymod([*expanded, 0, 0, 0, 0, 0, 0]) ^ constant
    data += [checksum >> 5 * (5 - place) & 31 for place in range(6)]
    return f"{prefix}1{''.join(_BASE32[value] for value in data)}"


def _regroup_bits(program: bytes) -> list[int]:
    """Bytes as numbers of five bits."""
    bits = "".join(f"{byte:08b}" for byte in program)
    return [int(bits[place : place + 5].ljust(5, "0"), 2) for place in range(0, len(bits), 5)]


def _bech32_polymod(values: Iterable[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(_BECH32_GENERATORS):
            check ^= generator if top >> place & 1 else 0
    return check
