"""The lines that teach the network a language can be read, and their language is known everywhere; see
docs/network.md, "A further language"."""

import re
from collections.abc import Iterator
from pathlib import Path

from datasets_app.domain.pii.network.languages import tell_languages
from datasets_app.domain.pii.network.learned import NAMES
from scripts.network import rows

TEXTS = sorted((Path(__file__).parents[2] / "scripts" / "network" / "texts").glob("*.txt"))
CODES = sorted({path.stem[:2] for path in TEXTS})
MARK = re.compile(r"«([A-Z]):([^»\n]*)(»?)")
SLOT = re.compile(r"\{(\w*)\}")
SLOTS = re.compile(f"{rows._SLOT.pattern}|{rows._ORDINARY_SLOT.pattern}")


def list_mistakes(line: str) -> Iterator[str]:
    for letter, value, end in MARK.findall(line):
        if letter not in rows._MARKS:
            yield f"no mark «{letter}:…»; there are {', '.join(rows._MARKS)}"
        if not end:
            yield f"«{letter}:… has no end"
        yield from (
            f"no slot {{{slot}}}" for slot in SLOT.findall(value) if not SLOTS.fullmatch(f"{{{slot}}}")
        )


def test_marks_and_slots_are_known() -> None:
    assert len(TEXTS) > 100
    found = [
        f"{path.name}:{number}: {mistake}"
        for path in TEXTS
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for mistake in (list_mistakes(line) if not line.startswith("#") else ())
    ]
    assert not found, "\n".join(found)
    assert list(list_mistakes("call «X:Ana», «N:{frist}» or «N:Bea")) == [
        "no mark «X:…»; there are N, U, P, A, D, I, K, O, L, B",
        "no slot {frist}",
        "«N:… has no end",
    ]


def test_a_language_with_texts_is_known_everywhere() -> None:
    needed = {
        "its code and name: NAMES of domain/pii/network/learned.py": lambda code: code in NAMES,
        "names of its people: LOCALES of scripts/network/rows.py": lambda code: code in rows.LOCALES,
    }
    missing = [f"{code} lacks {what}" for what, has in needed.items() for code in CODES if not has(code)]
    assert not missing, "\n".join(missing)


def test_the_packaged_weights_tell_the_languages_that_they_were_taught() -> None:
    taught = [path for path in TEXTS if path.stem in CODES]
    spoken = tell_languages([MARK.sub(r"\2", line) for line in rows.read_chat_lines(path)] for path in taught)
    assert dict(zip((path.stem for path in taught), spoken, strict=True)) == {
        path.stem: path.stem for path in taught
    }
