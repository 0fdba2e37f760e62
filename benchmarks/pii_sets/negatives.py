"""Texts in which nothing is personal: technical chat, and the chats of made-up brands.

In whole conversations with a brand, the customers' names are marked.
"""

import random
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from benchmarks.pii_sets.templates import FOLDER, read_templates
from benchmarks.pii_sets.vocabulary import CUSTOMER_FIRST_NAMES, CUSTOMER_LAST_NAMES, TECH_WORDS

_SLOT = re.compile(r"<([a-z0-9]+)>")
_PERSON = re.compile(r"\{([^}]+)\}")
TECH_ROWS_PER_TEMPLATE = 4
BRAND_ROWS_PER_LINE = 3
SESSIONS_PER_CONVERSATION = 2
LOWER_CASE_SHARE = 0.25
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("January", "March", "April", "June", "August", "October")
_CITIES = ("Boston", "Leeds", "Austin", "Dublin", "Denver", "Perth", "Toronto", "Manchester")


def make_tech_rows(part: str, choose: random.Random) -> Iterator[dict[str, Any]]:
    for _, row in fill_tech_templates(part, choose):
        yield row


def fill_tech_templates(part: str, choose: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row behind its template."""
    fillers = TECH_WORDS.get(part, {})
    path = FOLDER / f"{part}_tech.txt"
    for template in read_templates(path.name) if path.exists() else ():
        for _ in range(TECH_ROWS_PER_TEMPLATE if _SLOT.search(template.text) else 1):
            text = _SLOT.sub(lambda slot: _fill_tech(slot[1], fillers, choose), template.text)
            yield template.text, _make_row(text, choose)


def make_tech_people_rows(part: str, choose: random.Random) -> Iterator[dict[str, Any]]:
    """Technical chat that speaks of people: as it is written, and of others, also in lower case."""
    path = FOLDER / f"{part}_tech_people.txt"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        yield mark_people(line)
        others = _PERSON.sub(lambda _: f"{{{choose.choice(CUSTOMER_FIRST_NAMES)}}}", line)
        yield mark_people(others, in_lower_case=choose.random() < 2 * LOWER_CASE_SHARE)


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
    """Brands, and lines that any of them can have."""
    path = FOLDER / f"brands_{part}.yaml"
    if not path.exists():
        return [], []
    *brands, last = yaml.safe_load(path.read_text(encoding="utf-8"))
    return brands, last["lines"].splitlines()


def make_brand_rows(part: str, choose: random.Random) -> Iterator[dict[str, Any]]:
    """Each row names its brand, whose persona is known where it is scored.

    A brand's own "chat" is a list of conversations, each a text of lines "role: what is said". A row of it
    also has its "session" and its "role".
    """
    for _, row in fill_brand_lines(part, choose):
        yield row


def fill_brand_lines(part: str, choose: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row behind the line that it is made of."""
    brands, lines = read_brands(part)
    for brand in brands:
        for line in (line.replace("\\n", "\n") for line in lines):
            for _ in range(BRAND_ROWS_PER_LINE if _SLOT.search(line) else 1):
                text = _SLOT.sub(lambda slot: _fill_brand(slot[1], brand, choose), line)  # noqa: B023
                yield line, _make_row(text, choose) | {"brand": brand["id"]}
        yield from _fill_conversations(brand, choose)


def _fill_conversations(
    brand: Mapping[str, Any], choose: random.Random
) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, conversation in enumerate(brand.get("chat", ()), 1):
        for turn in conversation.splitlines():
            role, _, line = turn.partition(": ")
            text = _SLOT.sub(lambda slot: _fill_brand(slot[1], brand, choose), line)
            session = f"{brand['id']}-{number}"
            row = _make_row(text, choose)
            yield line, row | {"brand": brand["id"], "session": session, "role": role}


def read_session_brands(part: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Brands with conversations of their own ("chat"), and conversations that any of them can have."""
    path = FOLDER / f"brand_sessions_{part}.yaml"
    if not path.exists():
        return [], []
    *brands, last = yaml.safe_load(path.read_text(encoding="utf-8"))
    return brands, last["conversations"]


def make_brand_session_rows(part: str, choose: random.Random) -> Iterator[dict[str, Any]]:
    """Conversations turn by turn; what stands in braces is a person's name, and marked."""
    brands, conversations = read_session_brands(part)
    for brand in brands:
        chats = [*brand["chat"], *conversations * SESSIONS_PER_CONVERSATION]
        for number, conversation in enumerate(chats, 1):
            is_lower = choose.random() < LOWER_CASE_SHARE
            people = _choose_people(choose)
            for turn in conversation.splitlines():
                role, _, line = turn.partition(": ")
                row = mark_people(
                    _SLOT.sub(lambda slot: people.get(slot[1]) or _fill_brand(slot[1], brand, choose), line),  # noqa: B023
                    in_lower_case=is_lower and role == "user",
                )
                yield row | {"brand": brand["id"], "session": f"{brand['id']}-{number}", "role": role}


def _choose_people(choose: random.Random) -> dict[str, str]:
    first, agent = choose.sample(CUSTOMER_FIRST_NAMES, 2)
    last = choose.choice(CUSTOMER_LAST_NAMES)
    return {"customer": f"{{{first} {last}}}", "first": f"{{{first}}}", "agent": f"{{{agent}}}"}


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


def mark_people(line: str, *, in_lower_case: bool = False) -> dict[str, Any]:
    """The text of a line, and where in it is what stood in braces."""
    line = line.lower() if in_lower_case else line
    text, spans = "", []
    for place, part in enumerate(_PERSON.split(line)):
        if place % 2:
            spans.append({"start": len(text), "end": len(text) + len(part), "type": "NAME"})
        text += part
    return {"text": text, "spans": spans}


def _make_row(text: str, choose: random.Random) -> dict[str, Any]:
    return {"text": text.lower() if choose.random() < LOWER_CASE_SHARE else text, "spans": []}
