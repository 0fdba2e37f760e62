"""Exports of other tools into a dataset: through the checks, the quarantine and the scrub like any file."""

import json
from pathlib import Path
from typing import Any

import pytest

from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from datasets_app.domain.quality.personal_data import PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.runner import run_checks
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.importing.parameters import ImportOptions
from datasets_app.importing.preview import preview_upload
from datasets_app.models import Dataset, Turn
from tests.traces.exports import HELLO, HI, MORE, OBSERVATIONS, SURE
from tests.traces.reading import convert, otlp, write

BYE = "It is closed."


def import_file(path: Path, **options: Any) -> dict[str, Any]:
    return import_dataset([ImportSource(path, path.name)], name="traces", options=ImportOptions(**options))


@pytest.mark.django_db
def test_traces_become_a_dataset(tmp_path: Path) -> None:
    path = write(tmp_path, OBSERVATIONS, "langfuse.jsonl")
    result = import_file(path)
    assert (result["sessions"], result["turns"]) == (1, 4)
    entry = result["files"][0]
    assert entry["format"] == "langfuse"
    assert entry["converted"] == "Langfuse traces, 2 traces with 2 calls → 1 conversation of 4 turns"
    turns = Turn.objects.filter(session__dataset__name="traces").order_by("turn_index")
    assert [turn.text for turn in turns] == [HI, HELLO, MORE, SURE]
    assert turns[1].metadata["model"] == "m"
    assert import_file(path)["files"] == [{"name": path.name, "unchanged": True, "sessions": 0, "turns": 0}]
    assert import_file(write(tmp_path, [*OBSERVATIONS, {}], "again.jsonl"), append=True)["sessions"] == 0


@pytest.mark.django_db
def test_lines_that_cannot_be_read_are_listed_or_quarantined(tmp_path: Path) -> None:
    lines = [json.dumps(line) for line in OBSERVATIONS]
    path = write(tmp_path, f"{lines[0]}\n{{broken\n{lines[1]}\n", "langfuse.jsonl")
    with pytest.raises(UserError) as refusal:
        import_file(path)
    assert [
        (problem["file"], problem["line"], problem["code"]) for problem in refusal.value.details["problems"]
    ] == [("langfuse.jsonl", 2, "E101")]
    assert not Dataset.objects.exists()
    result = import_file(path, quarantine=True)
    assert (result["sessions"], result["turns"], result["problem_total"]) == (1, 4, 1)


CANARIES = {
    "user_id": "jane.canary@example.org", "enduser.ip": "203.0.113.77",
    "customer.email": "bob.canary@example.net",
    "crm.note": "Card 4111 1111 1111 1111 of the account",
}  # fmt: skip


def make_traces_with_canaries() -> dict[str, Any]:
    return otlp(
        {
            "attributes": {
                "gen_ai.operation.name": "chat",
                "gen_ai.conversation.id": "c",
                **CANARIES,
                "gen_ai.system_instructions": [{"type": "text", "content": "Ask eve.canary@example.com."}],
                "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": HI}]}],
                "gen_ai.output.messages": [
                    {"role": "assistant", "parts": [
                     {"type": "tool_call", "id": "1", "name": "find",
                     "arguments": {"phone": "+1 202 555 0143"}},
                     {"type": "text", "content": HELLO}]}
                ],
            }
        }
    )  # fmt: skip


def test_personal_data_in_metadata_is_found_and_scrubbed(tmp_path: Path) -> None:
    path = write(tmp_path, make_traces_with_canaries())
    sessions, _ = convert(path)
    turns: list[TurnRecord] = sessions["c"]
    raw = json.dumps([turn.metadata for turn in turns])
    planted = [*CANARIES.values(), "eve.canary@example.com", "+1 202 555 0143"]
    assert [value for value in planted if value not in raw] == []
    codes = {finding.code for finding in run_checks(iter(turns), PERSONAL_DATA_CHECKS)}
    assert len(codes) >= 4, codes
    with path.open("rb") as file:
        preview = preview_upload(file, "x.json")
    assert preview.personal_data >= 5
    scrubber = Scrubber(Policy(kinds=tuple(kind for kind in KINDS if kind != "NAME")), key=b"k" * 32)
    [scrubbed] = scrubber.scrub([SessionInput(turns, [])])
    left = json.dumps([turn.metadata for turn in scrubbed.turns])
    assert [value for value in planted if value in left] == []


def test_the_preview_of_a_long_file_reads_its_beginning(tmp_path: Path) -> None:
    long = {
        "data": [
            {**OBSERVATIONS[0], "id": f"g{n}", "trace_id": f"t{n}", "session_id": f"s{n}", "note": "x" * 9000}
            for n in range(1200)
        ]
    }
    with write(tmp_path, long).open("rb") as file:
        preview = preview_upload(file, "x.json")
    assert preview.format == "langfuse"
    assert not preview.whole
    assert not preview.error
    assert not preview.problems
    assert 800 < int(preview.summary.split(" → ")[1].split()[0].replace(",", "")) < 1200


def test_the_preview_says_what_a_file_becomes(tmp_path: Path) -> None:
    with write(tmp_path, OBSERVATIONS, "x.jsonl").open("rb") as file:
        preview = preview_upload(file, "x.jsonl")
    assert preview.format == "langfuse"
    assert preview.summary == "Langfuse traces, 2 traces with 2 calls → 1 conversation of 4 turns"
    assert [turn.text for turn in preview.turns] == [HI, HELLO, MORE, SURE]
    assert {"model", "input_tokens", "trace_ids"} <= set(preview.metadata_keys)
    assert not preview.problems
    with write(tmp_path, '{"a": 1,\n"b": 2}').open("rb") as file:
        assert "in no known format" in (preview_upload(file, "x.json").error or "")


@pytest.mark.django_db
def test_a_folder_of_datasets_is_imported_without_what_is_cached(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    folder = tmp_path / "hf"
    for split in ("train", "test"):
        (folder / split).mkdir(parents=True)
        for name, text in (("data-00000-of-00001", HELLO), ("cache-1", "Cached.")):
            chat = [{"role": "user", "content": f"{HI} {split}"}, {"role": "assistant", "content": text}]
            table = pyarrow.table({"messages": [chat]})
            with pyarrow.ipc.new_stream(folder / split / f"{name}.arrow", table.schema) as writer:
                writer.write_table(table)
        state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
        (folder / split / "state.json").write_text(json.dumps(state))
    (folder / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert (import_file(folder)["sessions"], import_file(folder)["files"][0]["unchanged"]) == (2, True)
    turns = Turn.objects.filter(session__dataset__name="traces", role="user").order_by("pk")
    assert [turn.metadata["attributes"]["split"] for turn in turns] == ["test", "train"]
    assert not Turn.objects.filter(text="Cached.").exists()


@pytest.mark.django_db(transaction=True)
def test_a_command_saves_the_columns_of_a_table_and_takes_them_by_name_or_file(
    tmp_path: Path, manage: Any
) -> None:
    columns = ["--map", "text=Said", "--map", "role=By", "--map", "session_id=No"]
    table = f"No,By,Said\n1,customer,{MORE}\n1,agent,{BYE}\n"
    first, second = write(tmp_path, table, "a.csv"), write(tmp_path, table.replace("1,", "2,"), "b.csv")
    done = manage("import_dataset", first, "--name", "t", *columns, "--save-mapping", "calls")
    assert "Saved the mapping calls: session_id=No, role=By, text=Said" in done.stdout, done.stderr
    done = manage("import_dataset", second, "--name", "t", "--mapping", "calls")
    assert (done.returncode, Turn.objects.count()) == (0, 4)
    assert manage("table_mappings").stdout == "calls: session_id=No, role=By, text=Said\n"
    file = tmp_path / "m.json"
    done = manage("convert_dataset", "--input", first, "--out", "-", *columns, "--save-mapping", file)
    again = manage("convert_dataset", "--input", first, "--out", "-", "--mapping", file)
    assert again.stdout == done.stdout
    assert json.loads(file.read_text())["role"] == "By"
    assert "Deleted" in manage("table_mappings", "--delete", "calls").stdout
    done = manage("import_dataset", second, "--name", "u", "--mapping", "calls")
    assert (done.returncode, "There is no column mapping 'calls'" in done.stderr) == (2, True)
