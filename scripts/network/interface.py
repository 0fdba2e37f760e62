"""What programs say in many languages, from packages under permissive licenses: nobody is named in it."""

import gettext
import html
import random
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from datasets_app.domain.pii.network.lexicon import COMMON, fold_word, look_up
from datasets_app.domain.pii.network.runtime import LANGUAGES
from scripts.network import rows

_CATALOG = re.compile(r"/locales?/([A-Za-z]+)[^/]*/LC_MESSAGES/[^/]+\.mo$")
_MARKUP = re.compile(r"<[^>]+>|&")
_VARIABLE = re.compile(r"%\(\w+\)[sdr]|%[sd]|\{\w*\}|%\d")
_SLOTS = ("n", "d", "code")
_NAMED_OTHERWISE = {"nb": "no", "fil": "tl"}
_MOST_WORDS, _LEAST_CHARACTERS, _MOST_CHARACTERS = 45, 4, 160
_HEADER = "Project-Id-Version"


def read_interface(folder: Path) -> dict[str, list[str]]:
    """By language, the translations in the packages (``.whl``) of a folder, each once and in order."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(path) as package:
            for name in package.namelist():
                if place := _CATALOG.search(f"/{name}"):
                    language = _NAMED_OTHERWISE.get(place[1].lower(), place[1].lower())
                    if language in LANGUAGES:
                        found.setdefault(language, set()).update(_read_catalog(package.read(name)))
    return {language: sorted(texts) for language, texts in sorted(found.items())}


def _read_catalog(data: bytes) -> Iterator[str]:
    """What is translated, without markup, with ``{x}`` for what a program fills in."""
    catalog = gettext.GNUTranslations(BytesIO(data))._catalog  # type: ignore[attr-defined]
    for original, text in catalog.items():
        if isinstance(text, str) and text != original and _HEADER not in text:
            plain = " ".join(_VARIABLE.sub("{x}", _MARKUP.sub("", html.unescape(text))).split())
            is_spaced = 1 < len(plain.split()) <= _MOST_WORDS
            if is_spaced or _LEAST_CHARACTERS <= len(plain) <= _MOST_CHARACTERS and not plain.isascii():
                yield plain


def make_row(text: str, language: str, names: rows.Names, choose: random.Random) -> rows.Row:
    """The text as a row of ordinary words and things; what only people are called is left open."""
    while "{x}" in text:
        text = text.replace("{x}", names.fill_ordinary(choose.choice(_SLOTS), language), 1)
    row = rows.make_row(text, [], rows.REST_OF_NAMES, language)
    codes = look_up([fold_word(word.text) for word in row.words])
    return row._replace(
        allowed=[
            rows.ANY if 0 < code < COMMON and word.text[0].isupper() else bits
            for word, code, bits in zip(row.words, codes, row.allowed, strict=True)
        ]
    )
