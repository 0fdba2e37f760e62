"""`import_annotations` as a person runs it: exit codes, sentences, standard input."""

from pathlib import Path
from typing import Any

import pytest
import tablib

from annotations_app.models import Annotation
from datasets_app.domain.traces.turn_tables import LABEL_COLUMNS
from datasets_app.models import Dataset, Session
from datasets_app.tables.formats import CSV, XLSX, TableFormat
from tests.factories import encode_jsonl, make_dataset, make_session, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)


def label(text: str, **fields: Any) -> dict[str, Any]:
    return {"text": text, "label": 1, "persona_id": "p"} | fields


def test_labels_come_in_and_it_is_told_what_became_of_them(tmp_path: Path, manage: Any) -> None:
    make_dataset(tmp_path, make_session("a"))
    file = write_jsonl(
        tmp_path / "l.jsonl",
        [
            label("What assistant says as number 2 of a."),
            label("Unheard of"),
            label("Other words", label=0, session_id="a", turn_index=2),
        ],
    )
    done = manage("import_annotations", file, "--dataset", "support")
    assert done.returncode == 0
    assert "support: 3 labels added, 0 existed already." in done.stdout
    assert "1 one-turn session added for texts that match no turn" in done.stdout
    assert "Warning: session_id and turn_index join 1 label to" in done.stderr
    again = manage("import_annotations", file, "--dataset", "support")
    assert "0 labels added, 3 existed already." in again.stdout
    asked = label("What user says as number 1 of a.", session_id="a", turn_index=1)
    done = manage("import_annotations", write_jsonl(tmp_path / "u.jsonl", [asked]), "--dataset", "support")
    assert "Warning: 1 label is of users’ turns, not of replies." in done.stderr


@pytest.mark.parametrize("table", [CSV, XLSX])
def test_labels_that_the_admin_exported_as_a_table_find_their_turns(
    tmp_path: Path, manage: Any, table: type[TableFormat]
) -> None:
    """Apostrophes that protect spreadsheets from formulas are no part of text, session or note."""
    lines = [make_turn("=s", 1, text="Sum?"), make_turn("=s", 2, role="assistant", text="=1+1;=2\n- or")]
    make_dataset(tmp_path, lines)
    cells = {**dict.fromkeys(LABEL_COLUMNS), "text": "=1+1;=2\n- or", "label": 1, "persona_id": "p"}
    cells |= {"session_id": "=s", "turn_index": 2, "annotator": "ana", "notes": "-1"}
    exported = tablib.Dataset([*cells.values()], headers=LABEL_COLUMNS)
    path = tmp_path / f"labels.{table.extension}"
    path.write_bytes(table().export_data(exported))
    manage("import_annotations", str(path), "--dataset", "support")
    found = Annotation.objects.select_related("turn__session").get()
    assert (found.turn.session.session_id, found.turn.turn_index, found.notes) == ("=s", 2, "-1")
    assert Session.objects.count() == 1


def test_bad_lines_are_listed_with_file_and_line_and_exit_code_1(tmp_path: Path, manage: Any) -> None:
    make_dataset(tmp_path, make_session("a"))
    file = write_jsonl(tmp_path / "l.jsonl", [label("x"), label("y", label=3), b"{"])
    done = manage("import_annotations", file, "--dataset", "support")
    assert done.returncode == 1
    assert "l.jsonl:2: E102 label must be 0 (off-brand) or 1 (on-brand)" in done.stderr
    assert "l.jsonl:3: E101 " in done.stderr
    assert "2 invalid lines; nothing was saved." in done.stderr
    assert not Annotation.objects.exists()


def test_beyond_a_hundred_problems_the_rest_is_counted(tmp_path: Path, manage: Any) -> None:
    make_dataset(tmp_path, make_session("a"))
    file = write_jsonl(tmp_path / "l.jsonl", [label("y", label=3)] * 150)
    done = manage("import_annotations", file, "--dataset", "support")
    assert "… and 50 more." in done.stderr
    assert done.stderr.count("E102") == 100


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.jsonl", "--dataset", "support"], "no such file"),
        (["here.jsonl"], "There is no dataset 'here'"),
        (["-"], "--dataset NAME"),
        ([], "required: FILE"),
        (["here.jsonl", "--dataset", "a/b", "--create"], "can't be the name of a dataset"),
    ],
)
def test_what_can_not_run_says_why_with_exit_code_2(
    tmp_path: Path, manage: Any, arguments: list[str], sentence: str
) -> None:
    make_dataset(tmp_path, make_session("a"))
    write_jsonl(tmp_path / "here.jsonl", [label("x")])
    done = manage("import_annotations", *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_standard_input_and_a_new_dataset(manage: Any) -> None:
    lines = encode_jsonl([{"text": "x", "label": 0}])
    arguments = ["import_annotations", "-", "--dataset", "new", "--create", "--persona", "p"]
    done = manage(*arguments, input=lines)
    assert done.returncode == 0, done.stderr
    assert "new (new): 1 label added" in done.stdout
    assert Dataset.objects.get().turn_count == 1
    assert Annotation.objects.get().persona_id == "p"


def test_a_database_that_is_not_there_is_a_sentence(tmp_path: Path, manage_subprocess: Any) -> None:
    file = write_jsonl(tmp_path / "l.jsonl", [label("x")])
    nowhere = {"DATABASE_URL": f"postgresql://x@/x?host={tmp_path}"}
    done = manage_subprocess("import_annotations", file, "--dataset", "support", env=nowhere)
    assert done.returncode == 2
    assert "The database can't be used" in done.stderr
    assert "Traceback" not in done.stderr
