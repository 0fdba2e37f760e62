"""Whether a scrub leaves the scores of Alignmenter alone.

Generated conversations, each with an invented value of some class of personal data, are scored by the real
``alignmenter run --embedding hashed``: as they are, scrubbed, scrubbed and exported as ``padded``, and with
another invented value of the class. At most 1 % of the replies should move by more than 0.02.

What moves a reply is the density of the persona's words. The tool counts every run of letters and digits as a
word: a path, an address or an IPv6 number has 4 to 11 of them, its placeholder one. No name moves, and hardly
anything moves by its embedding. A padded placeholder has as many runs as values of its class usually have,
whatever the value was, all in one piece, because the embedding counts pieces. Needs ``make alignmenter``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import groupby
from pathlib import Path
from random import Random

from benchmarks.harness import PROJECT
from datasets_app.domain.conversations.jsonl import encode_turn
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.canary.carriers import list_sentences
from datasets_app.domain.pii.canary.values import make_value
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.placeholders import pad_placeholders
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

MAX_SHARE, MAX_MOVE = 0.01, 0.02
REPLY_SHARE = 0.2
PERSONA = PROJECT / "datasets_app" / "demo" / "default_v1.yaml"
ALIGNMENTER = Path(sys.prefix) / "alignmenter" / "bin"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-scrub-scores-") as folder:
        measure(Path(folder), given.sessions, given.seed)


def measure(folder: Path, sessions: int, seed: int) -> None:
    plain = folder / "plain.jsonl"
    command = [
        "bootstrap_dataset",
        "--out",
        plain,
        "--sessions",
        sessions,
        "--persona",
        PERSONA,
        "--seed",
        seed,
    ]
    subprocess.run(
        [sys.executable, "manage.py", *map(str, command)], cwd=PROJECT, check=True, capture_output=True
    )
    turns = [turn for turn in ConversationFile(plain).turns() if isinstance(turn, TurnRecord)]
    planted, values = plant(turns, Random(seed))
    before = score(folder, "raw", planted)
    scrubbed = scrub(planted)
    ways = {
        "plain placeholders": scrubbed,
        "padded placeholders": [turn._replace(text=pad_placeholders(turn.text)) for turn in scrubbed],
        "another value of its class": plant_others(planted, values, Random(seed + 1)),
    }
    kinds = {place: kind for place, (kind, _) in values.items() if place in before}
    for way, changed in ways.items():
        report(way, before, score(folder, way.split()[0], changed), kinds)


def report(
    way: str,
    before: dict[tuple[str, int], float],
    after: dict[tuple[str, int], float],
    kinds: dict[tuple[str, int], str],
) -> None:
    """``kinds`` are the classes of the values by reply."""
    moves = {place: abs(after[place] - found) for place, found in before.items()}
    moved = [place for place, move in moves.items() if move > MAX_MOVE]
    share = len(moved) / len(moves)
    by_kind = Counter(kinds.get(place, "none planted") for place in moved)
    print(
        f"scrub_scores, {way}: {len(moved):,} of {len(moves):,} replies moved by more than {MAX_MOVE}: "
        f"{share:.2%} (wanted: at most {MAX_SHARE:.0%}){'' if share <= MAX_SHARE else ' NOT MET'}"
    )
    print(
        f"    of {len(kinds):,} replies with a value; at most by {max(moves.values()):.3f}; "
        f"by class {dict(by_kind.most_common())}"
    )


def plant(
    turns: list[TurnRecord], random: Random
) -> tuple[list[TurnRecord], dict[tuple[str, int], tuple[str, str]]]:
    """A sentence with a value at the end of a turn of each conversation, of all classes alike; in four of
    five the user says it, as when a scrub is measured with planted values. By turn its class and text."""
    values: dict[tuple[str, int], tuple[str, str]] = {}
    planted = []
    for number, (_, session) in enumerate(groupby(turns, key=lambda turn: turn.session_id)):
        spoken, by_assistant = list(session), random.random() < REPLY_SHARE
        places = [at for at, turn in enumerate(spoken) if (turn.role == "assistant") == by_assistant]
        place, kind = random.choice(places), KINDS[number % len(KINDS)]
        value = make_value(kind, random, "en")
        noun = random.choice(value.nouns) if value.nouns else ""
        sentences = list_sentences(kind, "en", by_assistant=by_assistant, with_noun=bool(noun))
        sentence = random.choice(sentences).format(noun=noun, value=value.text)
        said = spoken[place]
        spoken[place] = said._replace(text=f"{said.text} {sentence}")
        values[said.session_id, said.turn_index] = kind, value.text
        planted += spoken
    return planted, values


def plant_others(
    turns: list[TurnRecord], values: dict[tuple[str, int], tuple[str, str]], random: Random
) -> list[TurnRecord]:
    """Another value of the same class in the place of each: how far scores depend on which it is."""
    others = []
    for turn in turns:
        kind, value = values.get((turn.session_id, turn.turn_index), ("", ""))
        text = turn.text.replace(value, make_value(kind, random, "en").text) if kind else turn.text
        others.append(turn._replace(text=text))
    return others


def scrub(turns: list[TurnRecord]) -> list[TurnRecord]:
    sessions: dict[str, list[TurnRecord]] = {}
    for turn in turns:
        sessions.setdefault(turn.session_id, []).append(turn)
    scrubber = Scrubber(Policy(), key=b"k" * 32, persona_terms=())
    inputs = [SessionInput(session, id_hashed=True) for session in sessions.values()]
    return [turn for result in scrubber.scrub(inputs) for turn in result.turns]


def score(folder: Path, name: str, turns: list[TurnRecord]) -> dict[tuple[str, int], float]:
    """By session and turn: the authenticity of each reply, as the tool's own run reports it."""
    data = folder / f"{name}.jsonl"
    data.write_bytes(b"".join(map(encode_turn, turns)))
    scratch = "/dev/shm" if os.access("/dev/shm", os.W_OK) else str(folder)
    environment = {
        **os.environ,
        "PYTHONPATH": str(PROJECT),
        "TMPDIR": scratch,
        "ALIGNMENTER_DEFAULT_PERSONA": str(PERSONA),
        "ALIGNMENTER_EMBEDDING_PROVIDER": "hashed",
    }
    out = Path(tempfile.mkdtemp(dir=scratch))
    command = ["run", "--model", "recorded:none", "--dataset", data, "--embedding", "hashed", "--out", out]
    command += ["--persona", PERSONA, "--custom-scorer", "alignmenter_datasets.reply_scores:ReplyScores"]
    subprocess.run(
        [ALIGNMENTER / "alignmenter", *map(str, command)],
        cwd=folder, env=environment, check=True, capture_output=True,
    )  # fmt: skip
    [results] = out.glob("*/results.json")
    scores = json.loads(results.read_text())["scores"]["primary"]["replies"]["scores"]
    return {(session, turn): found for session, turn, found in scores}


if __name__ == "__main__":
    main()
