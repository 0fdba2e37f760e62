"""`extract_candidates` as a person runs it, and what Alignmenter's own labelling makes of it."""

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations_app.domain.candidates import find_candidates, sample_candidates
from datasets_app.domain.conversations.records import TurnRecord
from tests.alignmenter_tool import run_code_with_alignmenter
from tests.conftest import PROJECT
from tests.factories import encode_jsonl, make_session, make_sessions, make_turn, write_jsonl
from tests.terminal import run_in_process

NO_DATABASE = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}


@pytest.fixture
def extract(tmp_path: Path) -> Any:
    """Run the command where there is no database; output in bytes."""

    def run(*arguments: Any, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return run_in_process("extract_candidates", *arguments, cwd=tmp_path, input=input)

    return run


@pytest.fixture
def extract_apart(tmp_path: Path) -> Any:
    """The same in a process of its own."""

    def run(*arguments: Any, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, str(PROJECT / "manage.py"), "extract_candidates", *map(str, arguments)],
            input=input,
            capture_output=True,
            env={**os.environ, **NO_DATABASE, "PYTHONPATH": str(PROJECT)},
            cwd=tmp_path,
            timeout=60,
        )

    return run


def lines(raw: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in raw.splitlines()]


def test_replies_come_out_as_lines_to_be_labelled(tmp_path: Path, extract_apart: Any) -> None:
    extract = extract_apart
    file = write_jsonl(
        tmp_path / "logs.jsonl",
        [
            *make_session("a", 4, persona_id="warm_v1", tags=["scenario:billing"]),
            make_turn("b", 1, persona_id="warm_v1"),
            make_turn("b", 2, text="Schön.\u2028Ja.", persona_id="warm_v1"),
        ],
    )
    done = extract("--input", file, "--out", "out.jsonl.gz", "--context", 2)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"3 candidates from 2 sessions.\n"
    found = lines(gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()))
    assert [(line["session_id"], line["turn_index"]) for line in found] == [("a", 2), ("a", 4), ("b", 2)]
    assert found[0] | {"context": None} == {
        "text": "What assistant says as number 2 of a.",
        "label": None,
        "persona_id": "warm_v1",
        "session_id": "a",
        "turn_index": 2,
        "scenario_tags": ["scenario:billing"],
        "labeler": None,
        "timestamp": None,
        "confidence": None,
        "notes": "",
        "context": None,
    }
    assert [said["role"] for said in found[1]["context"]] == ["assistant", "user"]
    assert len(found[2]["context"]) == 1


def test_from_a_pipe_to_a_pipe_in_any_format(extract: Any) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]}
    done = extract("--input", "-", "--persona", "warm_v1", input=gzip.compress(encode_jsonl([chat])))
    assert done.returncode == 0
    [line] = lines(done.stdout)
    assert (line["text"], line["persona_id"]) == ("Hello.", "warm_v1")
    assert "context" not in line


def test_what_is_labelled_is_left_out(tmp_path: Path, extract: Any) -> None:
    file = write_jsonl(tmp_path / "logs.jsonl", make_sessions(5))
    labels = write_jsonl(
        tmp_path / "labels.jsonl",
        [
            # As the tool of Alignmenter writes it, with a word for the confidence.
            {
                "text": "x",
                "label": 1,
                "session_id": "s1",
                "turn_index": 2,
                "persona_id": "p",
                "confidence": "high",
            },
            {"text": "What assistant says as number 2 of s2.", "label": 0, "persona_id": "p"},
            {"text": "", "label": None, "session_id": "s3", "turn_index": 2, "persona_id": "p"},
            {"text": "", "label": 1, "session_id": "s4", "turn_index": 2, "persona_id": "other"},
        ],
    )
    done = extract("--input", file, "--persona", "p", "--skip-labelled", labels)
    assert [line["session_id"] for line in lines(done.stdout)] == ["s3", "s4", "s5"]


def test_replies_that_alignmenter_would_ask_for_once_are_told(tmp_path: Path, extract: Any) -> None:
    lines = [*make_session("a", 4), *make_session("b", 4), *make_session("c", 4)]
    for place in (1, 3, 5):  # twice in one session, once more in another
        lines[place]["text"] = "We are closed."
    done = extract("--input", write_jsonl(tmp_path / "logs.jsonl", lines), "--persona", "p")
    assert b"Warning: 1 candidate with the text of another session's." in done.stderr
    done = extract("--input", write_jsonl(tmp_path / "logs.jsonl", lines[:4]), "--persona", "p")
    assert b"Warning" not in done.stderr


def test_wrong_lines_are_listed_and_nothing_is_written(tmp_path: Path, extract: Any) -> None:
    lines = [*make_session("a"), b"{", make_turn("a", 3, role="robot"), make_turn("a", 2)]
    file = write_jsonl(tmp_path / "logs.jsonl", lines)
    (tmp_path / "out.jsonl").write_bytes(b"before")
    done = extract("--input", file, "--out", "out.jsonl", "--persona", "p")
    assert done.returncode == 1
    told = done.stderr.decode()
    assert f"{file}:3: E101" in told
    assert f"{file}:4: E103" in told
    assert f"{file}:5: E202" in told
    assert "3 invalid lines; nothing was written." in told
    assert (tmp_path / "out.jsonl").read_bytes() == b"before"
    labels = write_jsonl(tmp_path / "labels.jsonl", [b"[]", {"label": 1}])
    done = extract(
        "--input", write_jsonl(file, make_session("a")), "--persona", "p", "--skip-labelled", labels
    )
    assert done.returncode == 1
    assert f"{labels}:2: E102 text must be a string" in done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--input", "none.jsonl"], "none.jsonl: "),
        (["--input", "."], "is a directory"),
        (
            ["--input", "logs.jsonl"],
            "Line 2 names no persona; name the persona to label the replies for",
        ),
        (
            ["--input", "logs.jsonl", "--persona", "p", "--tag", "t"],
            "no assistant's turn with a text with the tag 't'",
        ),
        (
            ["--input", "logs.jsonl", "--persona", "p", "--out", "logs.jsonl"],
            "is the input, which is never overwritten",
        ),
        (
            ["--input", "logs.jsonl", "--persona", "p", "--out", "no/where.jsonl"],
            "the folder no does not exist",
        ),
        (["--input", "logs.jsonl", "--persona", "p", "--max", "-1"], "--max must be 0 or more"),
        (["--input", "-", "--skip-labelled", "-"], "only once"),
    ],
)
def test_what_can_not_be_done_is_said(
    tmp_path: Path, extract: Any, arguments: list[str], sentence: str
) -> None:
    file = write_jsonl(tmp_path / "logs.jsonl", make_session("a"))
    before = file.read_bytes()
    done = extract(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert sentence in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert file.read_bytes() == before


def turns_of(sizes: list[int]) -> list[TurnRecord]:
    return [
        TurnRecord(f"s{number}", index, "assistant", "Yes.", [])
        for number, size in enumerate(sizes)
        for index in range(1, size + 1)
    ]


@given(st.lists(st.integers(1, 6), max_size=8), st.integers(1, 20), st.integers())
def test_a_sample_is_spread_over_sessions(sizes: list[int], most: int, seed: int) -> None:
    turns = turns_of(sizes)
    drawn = sample_candidates(find_candidates(turns), most, seed)
    assert drawn == sample_candidates(find_candidates(turns), most, seed)
    assert len(drawn) == min(most, len(turns))
    places = [(reply.turn.session_id, reply.turn.turn_index) for reply in drawn]
    assert places == [place for place in [turn[:2] for turn in turns] if place in set(places)]
    taken = Counter(session_id for session_id, _ in places)
    for number, size in enumerate(sizes):
        # Who gave fewer than another had no more to give, or the other is just one ahead.
        assert taken[f"s{number}"] >= min(size, max(taken.values(), default=0) - 1)


def test_another_seed_draws_others() -> None:
    turns = turns_of([3] * 40)
    drawn = [
        {reply.turn[:2] for reply in sample_candidates(find_candidates(turns), 20, seed)} for seed in (1, 2)
    ]
    assert drawn[0] != drawn[1]


LABEL = """
from pathlib import Path
from alignmenter.calibration.label import label_data
label_data(Path("todo.jsonl"), Path("warm.yaml"), Path("labelled.jsonl"), labeler="ana")
"""


def test_the_labelling_of_alignmenter_takes_it(tmp_path: Path, extract: Any) -> None:
    file = write_jsonl(tmp_path / "logs.jsonl", make_sessions(3, tags=["scenario:x"]))
    persona = tmp_path / "warm.yaml"
    persona.write_text("id: warm_v1\nname: Warm\n")
    assert extract("--input", file, "--persona", "warm_v1", "--out", "todo.jsonl").returncode == 0
    done = run_code_with_alignmenter(tmp_path, LABEL, typed="1\n\ngood\n0\nm\n\ns\n")
    assert "\nLabeled: 2\n" in done.stdout
    assert "\nSkipped: 1\n" in done.stdout
    labelled = lines((tmp_path / "labelled.jsonl").read_bytes())
    assert [(line["session_id"], line["label"]) for line in labelled] == [("s1", 1), ("s2", 0)]
    left = extract("--input", file, "--persona", "warm_v1", "--skip-labelled", "labelled.jsonl")
    assert [line["session_id"] for line in lines(left.stdout)] == ["s3"]
