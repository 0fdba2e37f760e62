import csv
import gzip
import hashlib
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_app.catalog.rows import parquet_blocks
from datasets_app.catalog.rows.turn_reader import Selection, read_turns
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ignore_progress
from datasets_app.domain.conversations.jsonl import encode_turn
from datasets_app.domain.formulas import escape_cell
from datasets_app.exporting.export_dataset import export_dataset, export_to_path
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.models import AuditEvent, Dataset
from datasets_app.releasing.sharing.export_request import export_as_requested
from tests.factories import (
    encode_jsonl,
    import_file,
    make_dataset,
    make_session,
    make_sessions,
    make_turn,
    write_jsonl,
)
from tests.strategies import EXAMPLES_FACTOR, conversation_files, encode_json, with_default_fields

pytestmark = pytest.mark.django_db

with_database = settings(
    max_examples=30 * EXAMPLES_FACTOR,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


# Some of what is generated looks like an address, a path or a number of a person.
GENERATED = "The text was generated for a test."


def exported(of: Dataset, **given: Any) -> bytes:
    out = io.BytesIO()
    export_dataset(of, out, **given)
    return out.getvalue()


def objects(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


@contextmanager
def undone() -> Iterator[None]:
    """What happens within is rolled back: each example begins with an empty database."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@with_database
@given(lines=conversation_files(), ascii_only=st.booleans())
def test_what_goes_in_comes_out(tmp_path: Path, lines: list[dict[str, Any]], ascii_only: bool) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(encode_jsonl(encode_json(line, ascii_only) for line in lines))
    with undone():
        import_file(path)
        stored = Dataset.objects.get()
        data = exported(stored, override=GENERATED)
        assert objects(data) == [with_default_fields(line) for line in lines]
        # Lines made straight from the database are those made of the records.
        assert objects(data) == objects(b"".join(map(encode_turn, read_turns(stored))))
        # And no line holds what a reader takes for its end.
        assert len(data.decode().splitlines()) == len(lines)
        assert not data.startswith(b"\xef\xbb\xbf")


@with_database
@given(lines=conversation_files(), format=st.sampled_from(["openai", "sharegpt"]))
def test_chat_formats_keep_who_said_what(tmp_path: Path, lines: list[dict[str, Any]], format: str) -> None:
    said = [(line["session_id"], line["role"], line["text"]) for line in lines]
    with undone():
        import_file(write_jsonl(tmp_path / "a.jsonl", lines))
        path = tmp_path / "chat.jsonl"
        path.write_bytes(exported(Dataset.objects.get(), format=format, override=GENERATED))
        import_file(path, name="again", format=format)
        again = read_turns(Dataset.objects.get(name="again"))
        assert [(t.session_id, t.role, t.text) for t in again] == said


@with_database
@given(lines=conversation_files(), format=st.sampled_from(["csv", "parquet"]))
def test_tables_of_turns_are_imported_as_they_were(
    tmp_path: Path, lines: list[dict[str, Any]], format: str
) -> None:
    """Without the apostrophes that protect from formulas; a text that looks like JSON stays text."""
    lines[0]["text"], lines[-1]["text"] = "=1;\ufeff=2\n- three\n'- four", '["=1", {"a": 1}]'
    with undone():
        import_file(write_jsonl(tmp_path / "a.jsonl", lines))
        path = tmp_path / f"table.{format}"
        path.write_bytes(exported(Dataset.objects.get(), format=format, override=GENERATED))
        import_file(path, name="again")
        again = exported(Dataset.objects.get(name="again"), override=GENERATED)
        assert objects(again) == [with_default_fields(line) for line in lines]


def test_a_row_of_a_table_of_turns_that_is_cut_is_a_problem(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    path = tmp_path / "table.csv"
    data = exported(stored, format="csv")
    path.write_bytes(data + b"s9,1,user\r\n")
    with pytest.raises(UserError, match="1 problem") as refused:
        import_file(path, name="again")
    problem = refused.value.details["problems"][0]
    assert (problem["session_id"], problem["message"]) == ("s9", "text is missing; expected a string")
    assert problem["line"] == data.count(b"\n") + 1


def test_an_openai_file_comes_out_as_it_went_in(tmp_path: Path) -> None:
    chat = {
        "id": "conversation-7",
        "tools": [{"type": "function"}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Weather"}, {"type": "text", "text": "?"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "t1"}]},
            {"role": "tool", "content": "sunny", "tool_call_id": "t1"},
            {"role": "assistant", "content": "Sunny.", "name": "bot"},
            {"role": "system", "content": "The end."},
        ],
    }
    stored = make_dataset(tmp_path, [chat])
    assert objects(exported(stored, format="openai")) == [chat | {"session_id": "conversation-7"}]
    turns = list(read_turns(stored))
    assert [(t.role, t.text) for t in turns] == [("user", "Weather?"), ("assistant", "Sunny.")]
    # And nothing of it is lost on the way through a turns file.
    path = tmp_path / "turns.jsonl"
    path.write_bytes(exported(stored))
    import_file(path, name="again")
    assert (
        objects(exported(Dataset.objects.get(name="again"), format="openai"))[0]["messages"]
        == chat["messages"]
    )


def test_sharegpt_speakers_come_out_as_they_went_in(tmp_path: Path) -> None:
    share = {
        "id": "x",
        "conversations": [{"from": "user", "value": "Hi"}, {"from": "chatgpt", "value": "Hello", "score": 3}],
    }
    assert objects(exported(make_dataset(tmp_path, [share]), format="sharegpt")) == [
        share | {"session_id": "x"}
    ]


def test_padded_placeholders_are_in_texts_alone_and_said(tmp_path: Path) -> None:
    metadata = {"note": "[EMAIL]"}
    lines = [make_turn(text="Mail [EMAIL], dear [NAME_2].", metadata=metadata)]
    stored = make_dataset(tmp_path, lines)
    [turn] = objects(exported(stored, format="padded"))
    [plain] = objects(exported(stored))
    assert turn == plain | {"text": "Mail [EMAIL:x:x:x], dear [NAME_2:x]."}
    export_to_path(stored, tmp_path / "out.jsonl", format="padded")
    assert "placeholders padded" in (tmp_path / "out.meta.yaml").read_text()


def test_csv_is_safe_to_open_in_a_spreadsheet(tmp_path: Path) -> None:
    texts = [
        '=HYPERLINK("//example.org")',
        "+1",
        "-1",
        "@sum",
        "\t=1",
        "'quoted",
        'say "hi", twice\nline',
        "one;=1",
    ]
    lines = [make_turn("s", n, role="user", text=text) for n, text in enumerate(texts, 1)]
    # "@sum" may be somebody's name.
    data = exported(make_dataset(tmp_path, lines), format="csv", override="Cells of a test")
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    assert [row["text"] for row in rows[:6]] == [escape_cell(text) for text in texts[:6]]
    assert [row["text"] for row in rows[6:]] == [texts[6], "one;'=1"]
    assert all(not re.match(r"[=+\-@\t\r]", cell) for row in rows for cell in row.values())


def test_parquet_has_every_turn_with_its_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet

    # Several row groups: so small here that three sessions take two.
    monkeypatch.setattr(parquet_blocks, "MAX_ROWS_PER_GROUP", 4)
    lines = make_sessions(3, persona_id="p", tags=["a", "b"], timestamp="2026-05-01T10:00:00Z")
    lines[1] |= {"metadata": {"k": [1, "\u00e9"]}, "seen": {"by": None}, "tags": [], "text": ""}
    data = exported(make_dataset(tmp_path, lines), format="parquet")
    file = pyarrow.parquet.ParquetFile(io.BytesIO(data))
    assert file.num_row_groups == 2
    rows = file.read().to_pylist()
    assert [(row["session_id"], row["turn_index"], row["text"]) for row in rows] == [
        (line["session_id"], line["turn_index"], line["text"]) for line in lines
    ]
    assert (rows[0]["tags"], rows[1]["tags"], rows[0]["metadata"]) == (["a", "b"], [], None)
    assert json.loads(rows[1]["metadata"]) == {"k": [1, "\u00e9"]}
    assert json.loads(rows[1]["extra"]) == {"seen": {"by": None}}
    assert exported(Dataset.objects.get(), format="parquet") == data
    with pytest.raises(UserError, match="already compressed"):
        exported(Dataset.objects.get(), format="parquet", gzipped=True)


@pytest.mark.parametrize("name", ["openai", "sharegpt"])
def test_a_chat_file_says_what_it_has_no_place_for(name: str, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session(tags=["a"]))
    result = export_to_path(stored, tmp_path / "chat.jsonl", format=name)
    stated = yaml.safe_load((tmp_path / "chat.meta.yaml").read_text())["modifications"]
    for notes in (result.notices, stated):
        assert "tags, timestamps, metadata and unknown keys of turns are left out" in notes[-1]


def test_a_split_is_exported_by_itself_and_the_test_split_says_what_it_is(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(3))
    stored.sessions.filter(session_id="s2").update(split="test")
    Dataset.objects.update(provenance={"safety_traps": 3, "edge_cases": 1, "seed": 4})
    stored.refresh_from_db()
    path = tmp_path / "held-out.jsonl"
    assert export_to_path(stored, path, selection=Selection(split="test")).sessions == 1
    assert {line["session_id"] for line in objects(path.read_bytes())} == {"s2"}
    said = yaml.safe_load((tmp_path / "held-out.meta.yaml").read_text())
    assert "nothing is to be calibrated" in said["modifications"][-1]
    # What was counted in all sessions is not said of some.
    assert (said["seed"], said.get("safety_traps"), said.get("edge_cases")) == (4, None, None)
    with pytest.raises(UserError, match=r"has split 'train'.* Its splits: test\."):
        exported(stored, selection=Selection(split="train"))


def test_a_selection_is_of_whole_sessions(tmp_path: Path) -> None:
    lines = [
        *make_session("a", persona_id="p"),
        make_turn("b", 1, persona_id="q"),
        make_turn("b", 2, persona_id="q", tags=["t"]),
    ]
    stored = make_dataset(tmp_path, lines)
    by_persona = objects(exported(stored, selection=Selection(persona="p")))
    assert {line["session_id"] for line in by_persona} == {"a"}
    by_tag = objects(exported(stored, selection=Selection(tag="t")))
    assert [(line["session_id"], line["turn_index"]) for line in by_tag] == [("b", 1), ("b", 2)]
    with pytest.raises(UserError, match="No session of support has tag 'none'. Its personas: p, q"):
        exported(stored, selection=Selection(tag="none"))


def test_a_file_has_its_metadata_beside_it_and_repeats_byte_for_byte(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(3))
    for name in ("out.jsonl", "out.jsonl.gz"):
        path = tmp_path / name
        result = export_to_path(stored, path)
        first = path.read_bytes()
        export_to_path(stored, path)
        assert path.read_bytes() == first
        assert result.sha256 == hashlib.sha256(first).hexdigest()
        meta = yaml.safe_load((tmp_path / "out.meta.yaml").read_text())
        assert (meta["name"], meta["total_sessions"], meta["total_turns"]) == ("support", 3, 6)
        assert meta["sha256"] == result.sha256
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == (tmp_path / "out.jsonl").read_bytes()
    assert AuditEvent.objects.filter(action="export", details__turns=6).count() == 4


def test_an_export_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(3))
    path = tmp_path / "out.jsonl"
    path.write_text("before")

    def stop(done: int, total: int | None = None) -> None:
        raise UserError("stopped")

    with pytest.raises(UserError):
        export_to_path(stored, path, report_progress=stop)
    assert path.read_text() == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.jsonl", "support.jsonl"]


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be written: No such file"):
        export_to_path(make_dataset(tmp_path, make_session()), tmp_path / "none" / "out.jsonl")


def test_a_link_is_followed_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link.jsonl", tmp_path / "there" / "data.jsonl"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    export_to_path(stored, link)
    assert link.is_symlink()
    assert len(target.read_bytes().splitlines()) == 4
    assert target.stat().st_mode & 0o777 == 0o640
    export_to_path(stored, Path("/dev/null"))
    assert Path("/dev/null").is_char_device()


def test_neither_file_is_touched_if_one_can_not_be(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session())
    path = tmp_path / "out.jsonl"
    path.write_text("before")
    (tmp_path / "out.meta.yaml").mkdir()
    with pytest.raises(UserError, match=r"out\.meta\.yaml can't be written: Is a directory"):
        export_to_path(stored, path)
    assert path.read_text() == "before"


def test_what_can_not_be_written_is_named_without_the_servers_folders(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session())
    with pytest.raises(UserError) as refusal:
        export_as_requested(
            stored,
            tmp_path / "job-1-secret" / "support.jsonl",
            ExportParameters(format="turns"),
            override="",
            report_progress=ignore_progress,
        )
    assert str(refusal.value) == "support.meta.yaml can't be written: No such file or directory."
