"""Writes the list of ordinary words of other languages, which the name model knows no better than names.

    python -m scripts.make_foreign_words

They are spaCy's stop words (MIT) of twelve languages, and those of the detection model's texts.
"""

import importlib
import re
from pathlib import Path

from datasets_app.domain.pii.names.foreign_words import WORDS_PATH
from datasets_app.domain.pii.names.gazetteer import fold_word, look_up_word

LANGUAGES = "de fr es it nl pt pl sv da nb fi cs".split()
TEXTS = Path(__file__).parent / "detection_model" / "texts"
_LETTERS = re.compile(r"[^\W\d_]+")
_SLOT = re.compile(r"<\w+>|\\[nt]")
MIN_CHARACTERS = 2


def main() -> None:
    words: set[str] = set()
    for language in LANGUAGES:
        words |= importlib.import_module(f"spacy.lang.{language}.stop_words").STOP_WORDS
    for name in ("personal_other.txt", "other_other.txt"):
        for line in (TEXTS / name).read_text(encoding="utf-8").splitlines():
            if not line.startswith("# "):
                words.update(_LETTERS.findall(_SLOT.sub(" ", line)))
    parts = {part for word in words for part in _LETTERS.findall(fold_word(word))}
    kept = sorted(part for part in parts if len(part) >= MIN_CHARACTERS)
    lines = [f"?{part}" if look_up_word(part).common else part for part in kept]
    WORDS_PATH.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    print(len(kept))


if __name__ == "__main__":
    main()
