"""Translations of programs, as the network learns from them that nobody is named there."""

import random
import struct
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("faker")

from scripts.network import rows
from scripts.network.interface import make_row, read_interface


def compile_catalog(texts: dict[str, str]) -> bytes:
    """A catalog as gettext compiles it."""
    pairs = [(original.encode() + b"\0", text.encode() + b"\0") for original, text in sorted(texts.items())]
    place = 28 + 16 * len(pairs)
    tables: list[bytes] = []
    for column in (0, 1):
        for pair in pairs:
            tables.append(struct.pack("<2I", len(pair[column]) - 1, place))
            place += len(pair[column])
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + b"".join(tables) + b"".join(pair[0] for pair in pairs) + b"".join(pair[1] for pair in pairs)


class Numbers:
    """Fills what a program fills in."""

    def fill_ordinary(self, slot: str, language: str) -> str:
        return "3"


def write_package(folder: Path, catalogs: dict[str, dict[str, str]]) -> None:
    with zipfile.ZipFile(folder / "shop-1.0-py3-none-any.whl", "w") as package:
        for language, texts in catalogs.items():
            package.writestr(f"shop/locale/{language}/LC_MESSAGES/django.mo", compile_catalog(texts))


def test_translations_are_read_by_language_without_markup_and_variables(tmp_path: Path) -> None:
    german = {
        "": "Project-Id-Version: shop",
        "Your <b>order</b> has %(count)s items.": "Ihre <b>Bestellung</b> hat %(count)s Artikel.",
        "Shop": "Shop",
        "Cancel the order &amp; leave": "Bestellung stornieren &amp; gehen",
    }
    write_package(
        tmp_path, {"de": german, "pt_BR": {"Thank you": "Muito obrigado"}, "tlh": {"Yes": "HIja' qar"}}
    )
    assert read_interface(tmp_path) == {
        "de": ["Bestellung stornieren gehen", "Ihre Bestellung hat {x} Artikel."],
        "pt": ["Muito obrigado"],
    }


def test_nobody_is_named_in_them_but_what_only_people_are_called_is_left_open() -> None:
    row = make_row("Ihre Bestellung hat {x} Artikel, Abbruzzese", "de", Numbers(), random.Random(1))
    by_word = {word.text: bits for word, bits in zip(row.words, row.allowed, strict=True)}
    assert "{" not in row.text
    assert by_word["Bestellung"] == rows.REST_OF_NAMES
    assert by_word["Abbruzzese"] == rows.ANY
