"""What the scrubber misses and what it takes without need, on marked corpora, per class and corpus.

    make bench-pii [DATA=../shared/pii]
    python -m benchmarks.bench_pii [--data FOLDER] [--corpus FILE …] [--model NAME] [--show 5]

Each line of a corpus (``{"text": …, "spans": […]}``) goes through the scrubber as a conversation of one
turn, and the scoring tool of the folder (score_scrub.py) compares what is left with what was marked.
``--model`` scores another name model than the packaged one: the packaged one may be trained on some corpora
(docs/name-model.md), which are marked and not judged without it.
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
from datasets_app.domain.pii.scrubber import Scrubber, SessionInput

DATA_DIRECTORY = PROJECT.parent / "shared" / "pii"
MULTIDOGO_PATH = "data/multidogo_names_train.jsonl"  # beside the folder
SCORING_TOOL = "score_scrub.py"
BATCH_SIZE = 500
HASH_KEY = b"a key for measurements only"
# What the corpora call two of our classes.
CORPUS_CLASS_NAMES = {CREDENTIAL: "SECRET", HOST: "HOSTNAME"}
TRAINING_CORPORA = NAME_ONLY_CORPORA = ("multidogo",)

# The most that may stand, in percent: of a class in every corpus, or in one.
MAX_LEAK = {
    "EMAIL": 0,
    "SSN": 0,
    "IP": 0,
    "CREDIT_CARD": 0,
    "PHONE": 5,
    "SECRET": 5,
    "PATH": 5,
    "HOSTNAME": 5,
}
MAX_NAME_LEAK = {
    "gold_tech_synth": 2,
    "gold_nlupp": 6,
    "gold_wikigold": 10,
    "gold_wnut17": 30,
    "multidogo_names_train": 8,
}
MAX_WORDS_CHANGED = 0.5
MAX_ROWS_CHANGED = {"neg_hard_synth": 2, "neg_banking77_test": 0.2}


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
    parser.add_argument(
        "--data", type=Path, default=DATA_DIRECTORY, help="a folder with score_scrub.py and gold"
    )
    parser.add_argument("--corpus", type=Path, nargs="+", help="marked JSONL, instead of all of the folder")
    parser.add_argument("--model", default="builtin", help="a spaCy pipeline by name or path")
    parser.add_argument("--show", type=int, default=0, help="so many misses of each class and corpus")
    parser.add_argument("--keep", type=Path, help="a folder for what was scrubbed and the scores")
    given = parser.parse_args()
    if not (given.data / SCORING_TOOL).exists():
        print(
            f"{given.data.name}/{SCORING_TOOL} is not there: nothing to "
            f"score with; DATA=folder names another place"
        )
        return
    scrubber = Scrubber(Policy(name_models=(given.model,)), key=HASH_KEY)
    with tempfile.TemporaryDirectory(prefix="bench-pii-") as folder:
        place = given.keep or Path(folder)
        place.mkdir(exist_ok=True)
        rows = []
        for corpus in given.corpus or find_corpora(given.data):
            learnt = given.model == "builtin" and corpus.stem.startswith(TRAINING_CORPORA)
            rows += list(score_corpus(corpus, scrubber, given.data / SCORING_TOOL, place, given.show, learnt))
    print_table(rows)


def find_corpora(data: Path) -> list[Path]:
    found = [*sorted((data / "gold").glob("*.jsonl")), data.parent / MULTIDOGO_PATH]
    return [path for path in found if path.exists()]


# --- scrubbing ---------------------------------------------------------------------------------


def score_corpus(
    corpus: Path, scrubber: Scrubber, tool: Path, place: Path, misses_shown: int, is_training_corpus: bool
) -> Iterator[Row]:
    with corpus.open(encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file if line.strip()]
    predicted, scores = place / f"{corpus.stem}.out.jsonl", place / f"{corpus.stem}.scores.json"
    with predicted.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in scrub_texts(texts, scrubber))
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
        str(misses_shown),
    ]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if misses_shown:
        print(f"--- {corpus.stem}", *(line for line in printed.splitlines() if " | " in line), sep="\n")
    yield from result_rows(corpus.stem, json.loads(scores.read_text()), is_training_corpus)


def scrub_texts(texts: Iterable[str], scrubber: Scrubber) -> Iterator[dict[str, Any]]:
    """Each text as a session of one turn; the parts that were replaced, under the corpora's names."""
    rest = iter(texts)
    while batch := list(islice(rest, BATCH_SIZE)):
        given = [SessionInput([TurnRecord("1", 1, "user", text, [])]) for text in batch]
        for text, session in zip(batch, scrubber.scrub(given), strict=True):
            spans = [
                {"start": f.start, "end": f.start + f.length, "type": CORPUS_CLASS_NAMES.get(f.kind, f.kind)}
                for f in session.findings
            ]
            assert apply_findings(text, session.findings) == session.turns[0].text
            yield {"spans": spans}


def apply_findings(text: str, findings: Sequence[Any]) -> str:
    """That the spans are the whole of what was done to the text."""
    parts, at = [], 0
    for found in sorted(findings, key=lambda found: found.start):
        parts += (text[at : found.start], f"[{found.kind}]")
        at = found.start + found.length
    return "".join((*parts, text[at:]))


# --- the table ---------------------------------------------------------------------------------


def result_rows(corpus: str, scores: Mapping[str, Any], is_training_corpus: bool) -> Iterator[Row]:
    """The rows of a corpus; one that the model was trained on has no targets."""
    name = f"{corpus}, trained on" if is_training_corpus else corpus
    known = {CORPUS_CLASS_NAMES.get(kind, kind) for kind in KINDS}
    for kind, of in scores["classes"].items():
        if kind in known and of["values"]:
            wanted = (
                MAX_LEAK.get(kind)
                if kind != "NAME"
                else None
                if is_training_corpus
                else MAX_NAME_LEAK.get(corpus)
            )
            beside = f"stands whole {of['full%']}, span precision {of.get('span_precision%')}"
            yield Row(name, f"{kind} leak", of["values"], of["leak%"], wanted, beside)
    precision = f"word precision {scores['tok_precision%']}" if scores["values"] else ""
    # Its numbers, addresses and passwords are personal data that nobody marked.
    words = None if corpus.startswith(NAME_ONLY_CORPORA) else MAX_WORDS_CHANGED
    yield Row(name, "words changed outside", scores["rows"], scores["non_pii_changed%"], words, precision)
    if scores["ent_changed%"] is not None:
        yield Row(name, "places, firms changed", scores["rows"], scores["ent_changed%"], None)
    rows = MAX_ROWS_CHANGED.get(corpus)
    yield Row(name, "clean rows changed", scores["clean_rows"], scores["clean_rows_changed%"], rows)


def print_table(rows: Sequence[Row]) -> None:
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
