"""What the default scrub leaves and takes in chat of 27 languages.

    python -m benchmarks.bench_languages [--write] [FOLDER]

Each line of ``pii_sets/languages/<language>.txt`` goes through the scrubber as a conversation of one turn.
Their authors saw neither the training texts nor the detectors, and nobody who works on these may read them.
``--write`` writes what is left of names to the table from which reports speak
(``domain/pii/network/measured.txt``).
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench_pii import HASH_KEY
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detector import PREFERENCES, RECALL
from datasets_app.domain.pii.network.languages import MEASURED_PATH
from datasets_app.domain.pii.network.words import split_words
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.rebuilding import ScrubbedSession
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

FOLDER = Path(__file__).parent / "pii_sets" / "languages"
_MARK = re.compile(r"«([NUPADIKOLB]):([^»]*)»")
_PERSONAL = "NUPADIK"
_NAME = "N"


class Marked(NamedTuple):
    """A text; ``spans`` are class (a letter), start and end."""

    text: str
    spans: list[tuple[str, int, int]]


class Score(NamedTuple):
    """Of one language: how many there are and how many were left or changed."""

    names: int
    names_left: int
    words: int
    words_changed: int
    rows: int
    rows_changed: int
    others: Counter[str]
    others_left: Counter[str]


def read_lines(path: Path) -> Iterator[Marked]:
    """The marked lines of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        text, spans, place = "", [], 0
        line = line.replace("\\n", "\n")
        for mark in _MARK.finditer(line):
            text += line[place : mark.start()]
            spans.append((mark[1], len(text), len(text) + len(mark[2])))
            text += mark[2]
            place = mark.end()
        if line.strip() and not line.startswith("#"):
            yield Marked(text + line[place:], spans)


def score_language(path: Path, scrubber: Scrubber) -> Score:
    lines = list(read_lines(path))
    sessions = [SessionInput([TurnRecord(str(n), 1, "user", line.text, [])]) for n, line in enumerate(lines)]
    counts: Counter[str] = Counter()
    others: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for line, session in zip(lines, scrubber.scrub(sessions), strict=True):
        removed = _list_removed(session)
        for kind, start, end in line.spans:
            if kind in _PERSONAL:
                is_left = any(line.text[at].isalnum() and at not in removed for at in range(start, end))
                others[kind] += 1
                left[kind] += is_left
        personal = {at for kind, start, end in line.spans if kind in _PERSONAL for at in range(start, end)}
        for word in split_words(line.text):
            if word.text[0].isalnum() and word.start not in personal:
                counts["words"] += 1
                counts["words changed"] += any(at in removed for at in range(word.start, word.end))
        counts["rows"] += not personal
        counts["rows changed"] += not personal and bool(removed)
    return Score(
        others.pop(_NAME, 0),
        left.pop(_NAME, 0),
        counts["words"],
        counts["words changed"],
        counts["rows"],
        counts["rows changed"],
        others,
        left,
    )


def _list_removed(session: ScrubbedSession) -> set[int]:
    """The places of the text that were replaced."""
    return {
        at
        for found in session.findings
        if found.field == "text"
        for at in range(found.start, found.start + found.length)
    }


def print_table(scores: dict[str, Score]) -> None:
    print("| | names | names left | words changed | rows without people changed | other values left |")
    print("| --- | --- | --- | --- | --- | --- |")
    shares = []
    for language, score in scores.items():
        share = (
            100 * score.names_left / score.names,
            100 * score.words_changed / score.words,
            100 * score.rows_changed / score.rows,
        )
        shares.append(share)
        others = f"{score.others_left.total()} of {score.others.total()}"
        percents = f"{share[0]:.1f} % | {share[1]:.2f} % | {share[2]:.1f} %"
        print(f"| {language} | {score.names} | {percents} | {others} |")
    mean = [sum(column) / len(column) for column in zip(*shares, strict=True)]
    others = f"{sum(score.others_left.total() for score in scores.values())} of"
    total = sum(score.others.total() for score in scores.values())
    print(f"| mean | | {mean[0]:.1f} % | {mean[1]:.2f} % | {mean[2]:.1f} % | {others} {total} |")


def write_measured(scores: dict[str, dict[str, Score]]) -> None:
    """``scores`` by preference and language."""
    lines = [
        " ".join([language, str(score.names), *(str(of[language].names_left) for of in scores.values())])
        + "\n"
        for language, score in scores[RECALL].items()
    ]
    note = (
        "# Language, names in chat, how many a scrub left that prefers recall, precision: written by "
        "benchmarks/bench_languages.py\n"
    )
    MEASURED_PATH.write_text(note + "".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--write", action="store_true", help="write the table that reports speak from")
    arguments = parser.parse_args()
    scores: dict[str, dict[str, Score]] = {}
    for prefer in PREFERENCES:
        scrubber = Scrubber(Policy(prefer=prefer), key=HASH_KEY)
        paths = sorted(arguments.folder.glob("*.txt"))
        scores[prefer] = {path.stem: score_language(path, scrubber) for path in paths}
        print(f"preferring {prefer}:\n")
        print_table(scores[prefer])
        print()
    if arguments.write:
        write_measured(scores)


if __name__ == "__main__":
    main()
