"""Conversations to measure scrubbing with: those of a file, or made-up ones where there is none."""

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path

from datasets_app.domain.conversations.records import TurnRecord

FIRST_NAMES = (
    "Mary",
    "James",
    "Priya",
    "Wei",
    "Fatima",
    "Diego",
    "Olga",
    "Kwame",
    "Rajesh",
    "Ingrid",
    "Tomasz",
)
LAST_NAMES = (
    "Smith",
    "Garcia",
    "Patel",
    "Chen",
    "Khan",
    "Novak",
    "Okafor",
    "Tanaka",
    "Weber",
    "Rossi",
    "Silva",
)
PLACES = ("Oakland", "Leeds", "Boston", "Lyon", "Fresno", "Austin", "Dover", "Graz")
THINGS = ("my delivery", "the invoice", "a table for four", "the login page", "the refund")
USER_TEMPLATES = (
    "Hi, I need some help with {thing}.",
    "My name is {first} {last}.",
    "this is {first} speaking, it is about {thing} again",
    "you can reach me at {mail} or {phone}",
    "I'd like to go to {place} on the {day}th, please.",
    "Yes, that works for me. Thanks a lot!",
    "It was ordered at {day}:{minute} and cost ${price}.{minute} in all.",
    "ok",
    "No, that is all. Thank you!",
    "it says host db{day}.corp.internal is not reachable from 10.3.{day}.{minute}",
)
ASSISTANT_TEMPLATES = (
    "Of course. May I have your name, please?",
    "Thank you, {first}! I have looked into {thing} for you.",
    "Could you tell me a little more about what happened before the message was shown?",
    "Is there anything else I can help you with?",
    "I found {day} flights to {place}; the cheapest is ${price} and leaves at {day}:{minute}.",
    "What telephone number can we reach you at?",
    "Your order {number} has been sent to {place}.",
    "Please confirm: {thing}, for {first} {last}, on the {day}th.",
)


def read_turns(path: Path, limit: int | None = None) -> list[TurnRecord]:
    """The turns of a conversation file (gzip or not), session by session."""
    turns = []
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            value = json.loads(line)
            turns.append(
                TurnRecord(
                    value["session_id"],
                    value["turn_index"],
                    value["role"],
                    value["text"],
                    value.get("tags", []),
                )
            )
            if limit and len(turns) >= limit:
                break
    return turns


def make_turns(count: int, *, turns_per_session: int = 18, seed: int = 42) -> list[TurnRecord]:
    """Talk of customers with agents, with names, numbers and repetitions as there are in such talk."""
    return list(_generate_turns(count, turns_per_session, random.Random(seed)))


def _generate_turns(count: int, turns_per_session: int, generator: random.Random) -> Iterator[TurnRecord]:
    for number in range(count):
        session, turn = divmod(number, turns_per_session)
        if not turn:
            first, last = generator.choice(FIRST_NAMES), generator.choice(LAST_NAMES)
        text = generator.choice(ASSISTANT_TEMPLATES if turn % 2 else USER_TEMPLATES).format(
            first=first,
            last=last,
            mail=f"{first}.{last}@mail.example.org".lower(),
            phone=f"555-{generator.randint(200, 999)}-{generator.randint(1000, 9999)}",
            thing=generator.choice(THINGS),
            place=generator.choice(PLACES),
            day=generator.randint(10, 23),
            minute=generator.randint(10, 59),
            price=generator.randint(10, 900),
            number=generator.randint(10**6, 10**8),
        )
        role = "assistant" if turn % 2 else "user"
        yield TurnRecord(f"made-up-{session:06d}", turn + 1, role, text, ["scenario:help"])
