"""What the scrubber misses and what it takes without need, on marked corpora, per class and corpus.

    make bench-pii [DATA=../shared/pii]
    python -m benchmarks.bench_pii [--data FOLDER] [--corpus FILE …] [--model NAME] [--show 5]

Each line of a corpus (``{"text": …, "spans": […]}``) goes through the scrubber as a conversation of one
turn, and the scoring tool of the folder (score_scrub.py) compares what is left with what was marked.
``--model`` scores another name model than the packaged one: the packaged one may have learnt from some
corpora (docs/name-model.md), which are marked, and not judged, without it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import PROJECT
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detector import CREDENTIAL, HOST, KINDS
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber, SessionTexts

DATA = PROJECT.parent / "shared" / "pii"
MULTIDOGO = "data/multidogo_names_train.jsonl"  # beside the folder
TOOL = "score_scrub.py"
AT_ONCE = 500
KEY = b"a key for measurements only"
# What the corpora call two of our classes.
THEIR_NAMES = {CREDENTIAL: "SECRET", HOST: "HOSTNAME"}
TRAINED_ON = NAMES_ONLY = ("multidogo",)

# The most that may stand, in percent: of a class in every corpus, or in one.
EVERYWHERE = {
    "EMAIL": 0,
    "SSN": 0,
    "IP": 0,
    "CREDIT_CARD": 0,
    "PHONE": 5,
    "SECRET": 5,
    "PATH": 5,
    "HOSTNAME": 5,
}
NAMES = {
    "gold_tech_synth": 2,
    "gold_nlupp": 6,
    "gold_wikigold": 10,
    "gold_wnut17": 30,
    "multidogo_names_train": 8,
}
WORDS_CHANGED = 0.5
ROWS_CHANGED = {"neg_hard_synth": 2, "neg_banking77_test": 0.2}


class Row(NamedTuple):
    """A line of the table. ``wanted`` is the most that ``value`` may be; None where nothing is asked."""

    corpus: str
    what: str
    count: int
    value: float | None
    wanted: float | None
    beside: str = ""

    @property
    def verdict(self) -> str:
        if self.wanted is None or self.value is None:
            return ""
        return "met" if self.value <= self.wanted else "NOT MET"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="a folder with score_scrub.py and gold")
    parser.add_argument("--corpus", type=Path, nargs="+", help="marked JSONL, instead of all of the folder")
    parser.add_argument("--model", default="builtin", help="a spaCy pipeline by name or path")
    parser.add_argument("--show", type=int, default=0, help="so many misses of each class and corpus")
    parser.add_argument("--keep", type=Path, help="a folder for what was scrubbed and the scores")
    given = parser.parse_args()
    if not (given.data / TOOL).exists():
        print(
            f"{given.data.name}/{TOOL} is not there: nothing to score with; DATA=folder names another place"
        )
        return
    scrubber = Scrubber(Policy(name_models=(given.model,)), key=KEY)
    with tempfile.TemporaryDirectory(prefix="bench-pii-") as folder:
        place = given.keep or Path(folder)
        place.mkdir(exist_ok=True)
        rows = []
        for corpus in given.corpus or corpora(given.data):
            learnt = given.model == "builtin" and corpus.stem.startswith(TRAINED_ON)
            rows += list(scored(corpus, scrubber, given.data / TOOL, place, given.show, learnt))
    tell(rows)


def corpora(data: Path) -> list[Path]:
    found = [*sorted((data / "gold").glob("*.jsonl")), data.parent / MULTIDOGO]
    return [path for path in found if path.exists()]


# --- scrubbing ---------------------------------------------------------------------------------


def scored(
    corpus: Path, scrubber: Scrubber, tool: Path, place: Path, show: int, learnt: bool
) -> Iterator[Row]:
    with corpus.open(encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file if line.strip()]
    predicted, scores = place / f"{corpus.stem}.out.jsonl", place / f"{corpus.stem}.scores.json"
    with predicted.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in scrubbed(texts, scrubber))
    command = [
        sys.executable,
        tool,
        "--gold",
        corpus,
        "--pred",
        predicted,
        "--json",
        scores,
        "--show",
        str(show),
    ]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if show:
        print(f"--- {corpus.stem}", *(line for line in printed.splitlines() if " | " in line), sep="\n")
    yield from table(corpus.stem, json.loads(scores.read_text()), learnt)


def scrubbed(texts: Iterable[str], scrubber: Scrubber) -> Iterator[dict[str, Any]]:
    """Each text as a session of one turn; the parts that were replaced, under the corpora's names."""
    rest = iter(texts)
    while batch := list(islice(rest, AT_ONCE)):
        given = [SessionTexts([TurnRecord("1", 1, "user", text, [])]) for text in batch]
        for text, session in zip(batch, scrubber.scrub(given), strict=True):
            spans = [
                {"start": f.start, "end": f.start + f.length, "type": THEIR_NAMES.get(f.kind, f.kind)}
                for f in session.findings
            ]
            assert replaced(text, session.findings) == session.turns[0].text
            yield {"spans": spans}


def replaced(text: str, findings: Sequence[Any]) -> str:
    """That the spans are the whole of what was done to the text."""
    parts, at = [], 0
    for found in sorted(findings, key=lambda found: found.start):
        parts += (text[at : found.start], f"[{found.kind}]")
        at = found.start + found.length
    return "".join((*parts, text[at:]))


# --- the table ---------------------------------------------------------------------------------


def table(corpus: str, scores: Mapping[str, Any], learnt: bool) -> Iterator[Row]:
    """The rows of a corpus; nothing is wanted of one that the model has learnt from."""
    name = f"{corpus}, trained on" if learnt else corpus
    known = {THEIR_NAMES.get(kind, kind) for kind in KINDS}
    for kind, of in scores["classes"].items():
        if kind in known and of["values"]:
            wanted = EVERYWHERE.get(kind) if kind != "NAME" else None if learnt else NAMES.get(corpus)
            beside = f"stands whole {of['full%']}, span precision {of.get('span_precision%')}"
            yield Row(name, f"{kind} leak", of["values"], of["leak%"], wanted, beside)
    precision = f"word precision {scores['tok_precision%']}" if scores["values"] else ""
    # Its numbers, addresses and passwords are personal data that nobody marked.
    words = None if corpus.startswith(NAMES_ONLY) else WORDS_CHANGED
    yield Row(name, "words changed outside", scores["rows"], scores["non_pii_changed%"], words, precision)
    if scores["ent_changed%"] is not None:
        yield Row(name, "places, firms changed", scores["rows"], scores["ent_changed%"], None)
    rows = ROWS_CHANGED.get(corpus)
    yield Row(name, "clean rows changed", scores["clean_rows"], scores["clean_rows_changed%"], rows)


def tell(rows: Sequence[Row]) -> None:
    if not rows:
        return
    width = max(len(row.corpus) for row in rows)
    print(f"{'corpus':<{width}}  {'what':<22} {'of':>6}  {'%':>6}  {'wanted':>6}  {'':<7}")
    for row in rows:
        value = "–" if row.value is None else f"{row.value:.2f}"
        wanted = "" if row.wanted is None else f"≤ {row.wanted}"
        line = (
            f"{row.corpus:<{width}}  {row.what:<22} {row.count:>6}  {value:>6}  {wanted:>6}  {row.verdict:<7}"
        )
        print(f"{line}  {row.beside}".rstrip())
    judged = [row for row in rows if row.verdict]
    met = sum(row.verdict == "met" for row in judged)
    print(f"{met} of {len(judged)} wanted figures met")


if __name__ == "__main__":
    main()
