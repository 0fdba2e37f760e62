"""What the scrubber misses and what it takes without need, on marked corpora, per class and corpus.

    make bench-pii [DATA=../shared/pii] [ARGS="--only tune"]
    python -m benchmarks.bench_pii [--data FOLDER] [--corpus FILE …] [--only gold bare tune held_out]
                                   [--model NAME] [--show 5]

Each line of a corpus (``{"text": …, "spans": […]}``) goes through the scrubber as a conversation of one
turn, or after the question it answers, and the scoring tool of the folder (score_scrub.py) compares what is
left with what was marked. Besides the corpora of the folder ("gold") there are the generated sets of
make_pii_sets: "tune", to work with, and "held_out", which is scored and never shown; and values alone
("bare"). Chats of brands are scored row by row, and once more with those of a session together; so are
customers' names, with the persona of a brand.
"Answered" is a dataset of which somebody went through the words that a preview proposes, and kept those that
are nobody.
``--model`` scores another name model than the packaged one: the packaged one may be trained on some corpora
(docs/name-model.md), which are marked and not judged without it.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import pii_corpora
from benchmarks.harness import PROJECT
from benchmarks.make_pii_sets import PARTS
from benchmarks.pii_corpora import Corpus
from benchmarks.pii_corpora import Row as Marked
from benchmarks.pii_sets.values import ID_BY_CUE
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.personas.persona import parse_persona
from datasets_app.domain.pii.detector import CREDENTIAL, HOST, KINDS
from datasets_app.domain.pii.persona_terms import list_persona_terms
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.proposals import TermTally, count_terms
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

DATA_DIRECTORY = PROJECT.parent / "shared" / "pii"
GOLD, BARE = "gold", "bare"
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
    "gold_wnut17_dev": 19.5,
    "gold_wnut17_test": 42,
    "multidogo_names_train": 8,
}
# In the generated sets; numbers that only a cue tells, and classes without a figure, are reported only.
MAX_GENERATED_LEAK = {
    "EMAIL": 0,
    "PHONE": 5,
    "IBAN": 1,
    "ID_NUMBER": 3,
    "HANDLE": 3,
    "DATE_OF_BIRTH": 5,
}
# Of an address it counts how much of it is left: a part of it always falls.
MAX_CHARACTERS_LEFT = {"ADDRESS": 10}
MAX_WORDS_CHANGED = 0.5
MAX_WORDS_CHANGED_IN = {
    "gold_tech_synth": 0.4,
    "tune_tech_chat": 0.4,
    "tune_natural_tech_chat": 0.4,
    "held_out_tech_chat": 0.4,
    # A brand's chat is judged by its rows.
    "tune_brand_chat": None,
    "tune_brand_sessions": None,
    "tune_natural_brand_sessions": None,
    "held_out_brand_sessions": None,
}
MAX_ROWS_CHANGED = {
    "neg_hard_synth": 2,
    "neg_banking77_test": 0.2,
    "tune_brand_chat": 1.5,
    "tune_brand_sessions": 1.5,
    "tune_natural_brand_sessions": 1.5,
    "held_out_brand_sessions": 1.5,
}


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
    given = parse_arguments()
    tool = given.data / SCORING_TOOL
    if not tool.exists():
        print(f"{given.data.name}/{SCORING_TOOL} is not there: nothing to score with; DATA=folder names it")
        return
    with tempfile.TemporaryDirectory(prefix="bench-pii-") as folder:
        place = given.keep or Path(folder)
        place.mkdir(exist_ok=True)
        rows: list[Row] = []
        for corpus in list_corpora(given, place):
            learnt = given.model == "builtin" and corpus.name.startswith(TRAINING_CORPORA)
            rows += score_corpus(corpus, given.model, tool, place, given.show, learnt)
    print_table(rows)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=DATA_DIRECTORY, help="a folder with score_scrub.py and gold"
    )
    parser.add_argument("--corpus", type=Path, nargs="+", help="marked JSONL, instead of everything else")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=(GOLD, BARE, *PARTS),
        default=(GOLD, BARE, *PARTS),
        help="some of the corpora",
    )
    parser.add_argument("--model", default="builtin", help="a spaCy pipeline by name or path")
    parser.add_argument("--show", type=int, default=0, help="so many misses of each class and corpus")
    parser.add_argument("--keep", type=Path, help="a folder for what was scrubbed and the scores")
    return parser.parse_args()


def list_corpora(given: argparse.Namespace, place: Path) -> Iterator[Corpus]:
    if given.corpus:
        yield from pii_corpora.read_given(given.corpus)
        return
    if GOLD in given.only:
        gold = list(pii_corpora.read_given(pii_corpora.find_gold(given.data)))
        yield from gold
        yield from pii_corpora.list_brand_variants(gold, place / "sets")
    if BARE in given.only:
        yield pii_corpora.read_bare()
    yield from pii_corpora.generate_sets([part for part in PARTS if part in given.only], place / "sets")


# --- scrubbing ---------------------------------------------------------------------------------


def score_corpus(
    corpus: Corpus, model: str, tool: Path, place: Path, misses_shown: int, is_training_corpus: bool
) -> Iterator[Row]:
    names = {what: place / f"{corpus.label}.{what}" for what in ("gold.jsonl", "out.jsonl", "scores.json")}
    gold, predicted, scores = names.values()
    write_lines(gold, corpus.rows)
    write_lines(predicted, scrub_corpus(corpus, model))
    shown = 0 if corpus.held_out else misses_shown
    command = [sys.executable, tool, "--gold", gold, "--pred", predicted, "--json", scores]
    printed = subprocess.run(
        [*command, "--show", str(shown)], check=True, capture_output=True, text=True
    ).stdout
    if shown:
        print(f"--- {corpus.label}", *(line for line in printed.splitlines() if " | " in line), sep="\n")
    yield from result_rows(corpus, json.loads(scores.read_text()), is_training_corpus)


def write_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(value) + "\n" for value in values)


def scrub_corpus(corpus: Corpus, model: str) -> Iterator[dict[str, Any]]:
    """What is replaced in each row, in a scrub that knows the persona of the row's brand."""
    brands = [row.get("brand", corpus.brand) for row in corpus.rows]
    make = partial(make_scrubber, model, corpus)
    scrubbers = {brand: make(brand) for brand in sorted(set(brands))}
    for first in range(0, len(brands), BATCH_SIZE):
        found: dict[int, dict[str, Any]] = {}
        by_brand: dict[str, list[int]] = {}
        for place in range(first, min(first + BATCH_SIZE, len(brands))):
            by_brand.setdefault(brands[place], []).append(place)
        for brand, places in by_brand.items():
            batch = [corpus.rows[place] for place in places]
            results = scrub_rows(batch, scrubbers[brand], in_sessions=corpus.is_dataset)
            found.update(zip(places, results, strict=True))
        yield from (found[place] for place in sorted(found))


def make_scrubber(model: str, corpus: Corpus, brand: str) -> Scrubber:
    terms: tuple[str, ...] = ()
    if brand and corpus.brand_folder:
        persona = (corpus.brand_folder / f"{brand}.yaml").read_text(encoding="utf-8")
        terms = tuple(list_persona_terms(parse_persona(persona)))
    policy = Policy(name_models=(model,))
    if corpus.is_answered:
        rows = [row for row in corpus.rows if row.get("brand", corpus.brand) == brand]
        sessions = [make_session(group)[0] for group in group_rows(rows, in_sessions=True)]
        previewed = Scrubber(policy, key=HASH_KEY, persona_terms=terms)
        policy = replace(policy, allow_names=answer_proposals(rows, sessions, previewed))
    return Scrubber(policy, key=HASH_KEY, persona_terms=terms)


def answer_proposals(
    rows: Sequence[Marked], sessions: Sequence[SessionInput], scrubber: Scrubber
) -> tuple[str, ...]:
    """The words that a preview of ``sessions`` proposes and that are in no marked name."""
    names = [row["text"][span["start"] : span["end"]] for row in rows for span in row["spans"]]
    people = {word for name in names for word in re.findall(r"\w+", name.casefold())}
    tally = TermTally()
    tally.add(count_terms(zip(sessions, scrubber.scrub(sessions), strict=True)))
    proposed = [term for term, _ in tally.choose_proposals(len(sessions))]
    return tuple(term for term in proposed if people.isdisjoint(re.findall(r"\w+", term)))


def scrub_rows(
    rows: Sequence[Marked], scrubber: Scrubber, *, in_sessions: bool = False
) -> Iterator[dict[str, Any]]:
    """The parts of each row's text that were replaced, under the corpora's names."""
    given = [make_session(group) for group in group_rows(rows, in_sessions=in_sessions)]
    scrubbed = scrubber.scrub([session for session, _ in given])
    places = [(session, turn) for session, (_, turns) in zip(scrubbed, given, strict=True) for turn in turns]
    for row, (session, place) in zip(rows, places, strict=True):
        turn = session.turns[place]
        field = f"metadata.{row['key']}" if "key" in row else "text"
        findings = [f for f in session.findings if (f.turn_index, f.field) == (turn.turn_index, field)]
        left = turn.metadata[row["key"]] if "key" in row and turn.metadata else turn.text
        assert apply_findings(row["text"], findings) == left
        yield {
            "spans": [
                {"start": f.start, "end": f.start + f.length, "type": CORPUS_CLASS_NAMES.get(f.kind, f.kind)}
                for f in findings
            ]
        }


def group_rows(rows: Sequence[Marked], *, in_sessions: bool) -> list[list[Marked]]:
    """Rows of a session, which stand together; otherwise each row is one."""
    if not in_sessions:
        return [[row] for row in rows]
    numbered = enumerate(rows)
    grouped = groupby(numbered, key=lambda item: item[1].get("session", item[0]))
    return [[row for _, row in group] for _, group in grouped]


def make_session(rows: Sequence[Marked]) -> tuple[SessionInput, list[int]]:
    """Rows as turns, behind the questions before them or under a key of the metadata; and their places."""
    turns: list[TurnRecord] = []
    places = []
    for row in rows:
        if "before" in row:
            turns.append(TurnRecord("1", len(turns) + 1, "assistant", row["before"], []))
        turn = TurnRecord("1", len(turns) + 1, row.get("role", "user"), row["text"], [])
        if "key" in row:
            turn = turn._replace(text="", metadata={row["key"]: row["text"]})
        places.append(len(turns))
        turns.append(turn)
    return SessionInput(turns), places


def apply_findings(text: str, findings: Sequence[Any]) -> str:
    """That the spans are the whole of what was done to the text."""
    parts, at = [], 0
    for found in sorted(findings, key=lambda found: found.start):
        parts += (text[at : found.start], f"[{found.kind}]")
        at = found.start + found.length
    return "".join((*parts, text[at:]))


# --- the table ---------------------------------------------------------------------------------


def result_rows(corpus: Corpus, scores: Mapping[str, Any], is_training_corpus: bool) -> Iterator[Row]:
    """The rows of a corpus; one that the model was trained on has no targets."""
    name = f"{corpus.label}, trained on" if is_training_corpus else corpus.label
    known = {CORPUS_CLASS_NAMES.get(kind, kind) for kind in KINDS} | {ID_BY_CUE}
    for kind, of in scores["classes"].items():
        if kind in known and of["values"]:
            beside = (
                f"stands whole {of['full%']}, characters gone {of['char_rm%']}, "
                f"span precision {of.get('span_precision%')}"
            )
            wanted = None if is_training_corpus else get_max_leak(corpus, kind)
            yield Row(name, f"{kind} leak", of["values"], of["leak%"], wanted, beside)
            if kind in MAX_CHARACTERS_LEFT:
                left = round(100 - of["char_rm%"], 2)
                yield Row(name, f"{kind} chars left", of["values"], left, MAX_CHARACTERS_LEFT[kind])
    precision = f"word precision {scores['tok_precision%']}" if scores["values"] else ""
    # Its numbers, addresses and passwords are personal data that nobody marked.
    words = None
    # Nor is the name model judged by the languages of the generated sets, of which it knows one.
    if not corpus.name.startswith(NAME_ONLY_CORPORA) and corpus.name not in PARTS:
        words = MAX_WORDS_CHANGED_IN.get(corpus.name, MAX_WORDS_CHANGED)
    yield Row(name, "words changed outside", scores["rows"], scores["non_pii_changed%"], words, precision)
    if scores["ent_changed%"] is not None:
        yield Row(name, "places, firms changed", scores["rows"], scores["ent_changed%"], None)
    rows = MAX_ROWS_CHANGED.get(corpus.name)
    yield Row(name, "clean rows changed", scores["clean_rows"], scores["clean_rows_changed%"], rows)


def get_max_leak(corpus: Corpus, kind: str) -> float | None:
    if corpus.brand_folder is not None and not corpus.brand:
        return MAX_GENERATED_LEAK.get(kind)
    return MAX_LEAK.get(kind) if kind != "NAME" else MAX_NAME_LEAK.get(corpus.name)


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
