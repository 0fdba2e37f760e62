"""Conversations of all kinds in one file: generated ones, chat lines in many languages, real texts, and
values in tags, metadata and keys."""

import json
import random
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from datasets_app.catalog.personas import load_default_persona
from datasets_app.domain.conversations.jsonl import encode_turn
from datasets_app.domain.generation.offline import OfflineWriter
from datasets_app.domain.generation.plan import GenerationRequest, plan_sessions

PROJECT = Path(__file__).parents[1]
TEXTS = PROJECT / "scripts" / "network" / "texts"
DEMO = PROJECT / "datasets_app" / "demo" / "demo_conversations.jsonl"
LANGUAGES = "en de fr es it pl tr ru ja zh ko ar hi vi".split()
TURNS_PER_SESSION = 4

_MARK = re.compile(r"«[A-Z]:([^»]*)»")
_SLOTS = {
    "{first}": ("Katarina", "Wei", "Sergey", "Fatma"),
    "{last}": ("Lindqvist", "Nowak", "Delacroix", "Okafor"),
    "{full}": ("Marek Lindqvist", "Amina Yilmaz", "Rosa Delacroix"),
    "{foreign}": ("Yusuf Adeyemi", "Hiroshi Tanaka"),
    "{user}": ("otter_fan77", "jane.k", "xX_lena_Xx"),
    "{code}": ("parse_rows", "gcc13"),
}
# What stands in a text or a value: found by form, by check digit, by words, or nothing at all.
_VALUES = (
    "jane.roe@mail.example.org",
    "call me on +49 30 901820 after 6",
    "my card is 4111 1111 1111 1111",
    "IBAN DE89 3704 0044 0532 0130 00",
    "server 10.20.30.40 is down",
    "https://shop.example.com/users/jane-doe?email=jane@roe.example",
    "password: hunter2hunter",
    "/home/jane.roe/notes.txt",
    "mac 00:1a:2b:3c:4d:5e",
    "my account number is 48291033",
    "passport number X1234567",
    "I was born on 12 March 1984",
    "12 Orchard Lane, Springfield, IL 62704",
    "order number 63202 and version 4.18.2",
    "jane [at] mail [dot] org",
    "my number is five five five two three four five six seven eight",
    "my password is letmein, sorry",
    "db01.corp.internal",
    "`judge_budget` is not a user",
    "ask @jane_doe or seller jane77",
    "Wendy Miller said so",
    "[NAME] wrote to [EMAIL]",
    "ticket 4711, nothing else",
)
_METADATA: tuple[dict[str, Any], ...] = (
    {"phone": "5551234567"},
    {"model": "m-4", "n": 3},
    {"user_name": "jane77"},
    {"notes": "seller jane77 never answered"},
    {"comment": "Anna Lindqvist called from 030 901820"},
    {"account": {"number": "48291033", "owner": "jane.roe@mail.example.org"}},
    {"dob": "1984-03-12"},
    {"address": "12 Orchard Lane", "city": "Springfield"},
    {"api_key": "k3y-9f8e7d6c5b4a39281706"},
    {"list": ["10.20.30.40", "Erika Mustermann"]},
    {"jane.roe@mail.example.org": 1},
    {"passport": "X1234567", "ssn": "078-05-1120"},
    {"mobile": 4915123456789},
    {"text": "my account number is 48291033"},
    {"ip": "10.20.30.40", "mac": "00:1a:2b:3c:4d:5e"},
)
_TAGS = (
    "scenario:billing",
    "agent:maria",
    "jane.roe@mail.example.org",
    "user:jane77",
    "Anna Lindqvist",
    "v4.18.2",
)


def make_mixed_lines(generated: int, chat: int, real: list[str], *, seed: int = 1) -> list[dict[str, Any]]:
    """``generated`` turns of the offline writer, ``chat`` lines, and ``real`` texts."""
    draw = random.Random(seed)
    texts = [*_make_chat_texts(chat, draw), *real]
    draw.shuffle(texts)
    return [*_make_generated_lines(generated), *_make_sessions(texts, draw)]


def _make_generated_lines(turns: int) -> Iterator[dict[str, Any]]:
    persona, _ = load_default_persona()
    writer = OfflineWriter(persona)
    request = GenerationRequest(turns // 2 + 1, persona_id=persona.id)
    written = chain.from_iterable(item.turns for item in writer.write_all(plan_sessions(request)))
    return map(json.loads, map(encode_turn, islice(written, turns)))


def _make_chat_texts(lines: int, draw: random.Random) -> list[str]:
    some = [_read_lines(language) for language in LANGUAGES]
    share = lines // len(some) + 1
    chosen = chain.from_iterable(draw.choices(texts, k=share) for texts in some)
    return [_fill(text, draw) for text in islice(chosen, lines)]


def _read_lines(language: str) -> list[str]:
    return [
        line
        for path in sorted(TEXTS.glob(f"{language}*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]


def _fill(line: str, draw: random.Random) -> str:
    line = _MARK.sub(r"\1", line).replace("\\n", "\n")
    return re.sub(r"\{\w+\}", lambda slot: draw.choice(_SLOTS.get(slot[0], (slot[0],))), line)


def _make_sessions(texts: list[str], draw: random.Random) -> Iterator[dict[str, Any]]:
    for place, text in enumerate(texts):
        session, turn = divmod(place, TURNS_PER_SESSION)
        line: dict[str, Any] = {
            "session_id": f"mixed-{session}",
            "turn_index": turn + 1,
            "role": "assistant" if turn % 2 else "user",
            "text": f"{text} {draw.choice(_VALUES)}" if draw.random() < 0.3 else text,
        }
        if draw.random() < 0.3:
            line["tags"] = [draw.choice(_TAGS)]
        if draw.random() < 0.3:
            line["metadata"] = draw.choice(_METADATA)
        if draw.random() < 0.05:
            line |= {"Reporter": draw.choice(_VALUES)}
        yield line
