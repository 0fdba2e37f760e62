"""Writes the list of ordinary words of other languages, which the name model knows no better than names.

    python -m scripts.make_foreign_words

They are spaCy's stop words (MIT) of twelve languages, Faker's words (MIT) of six, those of the detection
model's texts, and ``foreign_words_more.txt``. Frequent names are left out, unless they are stop words.
"""

import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from datasets_app.domain.pii.names.foreign_words import WORDS_PATH
from datasets_app.domain.pii.names.gazetteer import fold_word, look_up_word

LANGUAGES = "de fr es it nl pt pl sv da nb fi cs".split()
WORD_LISTS = "de_DE fr_FR es_ES it_IT nl_NL pl_PL".split()
SCRIPTS = Path(__file__).parent
TEXTS = SCRIPTS / "detection_model" / "texts"
MORE_WORDS = SCRIPTS / "foreign_words_more.txt"
_LETTERS = re.compile(r"[^\W\d_]+")
_SLOT = re.compile(r"<\w+>|\\[nt]")
MIN_CHARACTERS, MAX_CHARACTERS = 2, 10


def main() -> None:
    stop_words: set[str] = set()
    for language in LANGUAGES:
        stop_words |= importlib.import_module(f"spacy.lang.{language}.stop_words").STOP_WORDS
    for name in ("personal_other.txt", "other_other.txt"):
        stop_words.update(_read_words(TEXTS / name))
    others = set(_read_words(MORE_WORDS))
    for name in WORD_LISTS:
        others.update(importlib.import_module(f"faker.providers.lorem.{name}").Provider.word_list)
    kept = _split(stop_words) | {part for part in _split(others) if _is_no_name(part)}
    lines = [f"?{part}" if look_up_word(part).common else part for part in sorted(kept - NOT_FOREIGN)]
    WORDS_PATH.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    print(len(lines))


def _is_no_name(part: str) -> bool:
    known = look_up_word(part)
    return known.first < 2 and known.last < 2


def _split(words: Iterable[str]) -> set[str]:
    parts = {part for word in words for part in _LETTERS.findall(fold_word(word))}
    return {part for part in parts if MIN_CHARACTERS <= len(part) <= MAX_CHARACTERS}


def _read_words(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            yield from _LETTERS.findall(_SLOT.sub(" ", line))


# What English chats have as well, and names.
_NOT_FOREIGN_TEXT = """
ba backend barcelona bland bo buren demi dick div dop europa flores json kb ko latin libra lis ly mac madrid
mayo nhl porter prince pt punjabi sso stark str tamil tj tt uuid vader val villa vr washington
annet bjørn coby ellen fier pusty stil suba jaromír kateřina nick noe otto petr sara sean sommer steen
sue tilden tomáš uwe vasco zdeněk zuzana
"""
NOT_FOREIGN = frozenset(_NOT_FOREIGN_TEXT.split())


if __name__ == "__main__":
    main()
