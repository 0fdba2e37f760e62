"""Texts in which nothing is personal: technical chat, and the chats of made-up brands."""

import random
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from benchmarks.pii_sets.templates import FOLDER, read_templates
from benchmarks.pii_sets.vocabulary import TECH_WORDS

_SLOT = re.compile(r"<([a-z0-9]+)>")
TECH_ROWS_PER_TEMPLATE = 4
BRAND_ROWS_PER_LINE = 3
LOWER_CASE_SHARE = 0.25
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("January", "March", "April", "June", "August", "October")
_CITIES = ("Boston", "Leeds", "Austin", "Dublin", "Denver", "Perth", "Toronto", "Manchester")


def make_tech_rows(part: str, choose: random.Random) -> Iterator[dict[str, Any]]:
    fillers = TECH_WORDS[part]
    for template in read_templates(f"{part}_tech.txt"):
        for _ in range(TECH_ROWS_PER_TEMPLATE if _SLOT.search(template.text) else 1):
            yield _make_row(
                _SLOT.sub(lambda slot: _fill_tech(slot[1], fillers, choose), template.text), choose
            )


def _fill_tech(slot: str, fillers: Mapping[str, Sequence[str]], choose: random.Random) -> str:
    if slot == "version":
        return ".".join(str(choose.randrange(1, 30)) for _ in range(choose.choice((2, 3, 3))))
    if slot == "sha":
        return f"{choose.getrandbits(40):010x}"[: choose.choice((7, 8, 10))]
    if slot == "sha256":
        return f"{choose.getrandbits(256):064x}"
    if slot == "uuid":
        return str(uuid.UUID(int=choose.getrandbits(128), version=4))
    return choose.choice(fillers[slot]) if slot in fillers else f"<{slot}>"


def read_brands(part: str) -> tuple[list[dict[str, Any]], list[str]]:
    *brands, last = yaml.safe_load((FOLDER / f"brands_{part}.yaml").read_text(encoding="utf-8"))
    return brands, last["lines"].splitlines()


def make_brand_rows(part: str, choose: random.Random) -> Iterator[dict[str, Any]]:
    """Each row names its brand, whose persona is known where it is scored.

    A brand's own "chat" is a list of conversations, each a text of lines "role: what is said". A row of it
    also has its "session" and its "role".
    """
    brands, lines = read_brands(part)
    for brand in brands:
        for line in (line.replace("\\n", "\n") for line in lines):
            for _ in range(BRAND_ROWS_PER_LINE if _SLOT.search(line) else 1):
                text = _SLOT.sub(lambda slot: _fill_brand(slot[1], brand, choose), line)  # noqa: B023
                yield _make_row(text, choose) | {"brand": brand["id"]}
        yield from _make_conversation_rows(brand, choose)


def _make_conversation_rows(brand: Mapping[str, Any], choose: random.Random) -> Iterator[dict[str, Any]]:
    for number, conversation in enumerate(brand.get("chat", ()), 1):
        for turn in conversation.splitlines():
            role, _, line = turn.partition(": ")
            text = _SLOT.sub(lambda slot: _fill_brand(slot[1], brand, choose), line)
            session = f"{brand['id']}-{number}"
            yield _make_row(text, choose) | {"brand": brand["id"], "session": session, "role": role}


def _fill_brand(slot: str, brand: Mapping[str, Any], choose: random.Random) -> str:
    usual = {
        "brand": lambda: brand["display_name"],
        "product": lambda: choose.choice(brand["products"]),
        "competitor": lambda: choose.choice(brand["competitors"]),
        "slang": lambda: choose.choice(brand["slang"]),
        "weekday": lambda: choose.choice(_WEEKDAYS),
        "month": lambda: choose.choice(_MONTHS),
        "city": lambda: choose.choice(_CITIES),
        "amount": lambda: f"${choose.randrange(2, 90)}.99",
        "order": lambda: f"#{choose.randrange(10_000, 99_999)}",
    }
    return str(usual[slot]())


def render_persona(brand: Mapping[str, Any]) -> str:
    """A persona as its authors keep it: some products and one rival are in it, the others are not."""
    avoided = [name for name in brand["listed"] if name in brand["competitors"]]
    preferred = [name for name in brand["listed"] if name not in avoided]
    return yaml.safe_dump(
        {
            "id": brand["id"],
            "display_name": brand["display_name"],
            "description": brand["description"],
            "exemplars": brand["exemplars"],
            "lexicon": {"preferred": [*preferred, *brand["slang"]], "avoid": avoided},
        },
        allow_unicode=True,
    )


def _make_row(text: str, choose: random.Random) -> dict[str, Any]:
    return {"text": text.lower() if choose.random() < LOWER_CASE_SHARE else text, "spans": []}
