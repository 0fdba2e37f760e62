"""A look at the beginning of a file: what it shows, and that no file can make it long."""

import gzip
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from datasets_app.domain.traces import describe, reasons, records
from datasets_app.importing import preview as module
from datasets_app.importing.parameters import ImportParameters
from datasets_app.importing.preview import MAX_LINES_READ, preview_upload
from tests import factories


def preview(content: bytes, **given: Any) -> Any:
    return preview_upload(io.BytesIO(content), "support.jsonl", ImportParameters(**given))


class Counted(io.BytesIO):
    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        block = super().read(size)
        self.taken += len(block)
        return block


def test_only_the_first_lines_are_looked_at() -> None:
    seen = preview(factories.encode_jsonl(factories.make_sessions(MAX_LINES_READ)))
    assert (seen.format, seen.lines_read, len(seen.turns), seen.error) == ("turns", MAX_LINES_READ, 10, None)


@pytest.mark.parametrize("blank", [b"\n", b" \r\n", b" "])
def test_blanks_without_end_are_given_up_on(blank: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BLOCKS_READ", 4)
    packed = Counted(gzip.compress(blank * (200 << 20), compresslevel=1))
    seen = preview_upload(packed, "x.jsonl.gz")
    assert (seen.lines_read, seen.error) == (0, None)
    assert packed.taken < len(packed.getvalue()) / 5


def test_what_stands_after_the_budget_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [factories.make_turn(f"s{number}", 1, text="x" * 60_000) for number in range(1, 21)]
    lines = factories.encode_jsonl(turns)
    for format, blocks in (("auto", 2), ("turns", 1)):
        monkeypatch.setattr(module, "MAX_BLOCKS_READ", blocks)
        seen = preview(lines + b"no object\n", format=format)
        assert (seen.format, seen.problems, seen.error) == ("turns", [], None)
        assert seen.turns[0].session_id == "s1"


@pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"\n\n", mtime=0)])
def test_an_empty_file_is_called_empty(content: bytes) -> None:
    assert "E100 is empty" in preview(content).error


def test_what_an_import_would_refuse_is_told_before() -> None:
    lines = [("a", 1, "Write to jane@example.org"), ("a", 3, "x"), ("b", 1, "x"), ("b", 2, "x")]
    content = factories.encode_jsonl(
        factories.make_turn(name, index, text=text) for name, index, text in lines
    )
    seen = preview(content)
    assert [finding.code for finding in seen.problems] == ["E201"]
    assert seen.personal_data == 1
    assert not preview(content, renumber=True).problems


def test_a_session_that_goes_on_below_the_lines_looked_at_is_not_judged() -> None:
    lines = [factories.make_turn("a", 2000 - number) for number in range(1999)]
    assert not preview(factories.encode_jsonl(lines)).problems


def test_a_file_without_a_single_turn_is_not_detected() -> None:
    assert "has no JSON objects, and is in no format" in preview(b"just\nsome\nnotes\n").error


def test_labels_without_their_conversations_are_told_apart() -> None:
    """There is a way to import them, so they are not just the wrong file."""
    doccano = b'{"id": 1, "text": "We refund you.", "label": ["on-brand"]}\n'
    seen = preview(doccano)
    assert (seen.annotation_file, seen.error) == (True, None)
    assert seen.left_out == ["1 labeled text that is no conversation"]
    assert "labels" in seen.why_refused("refuse")


def test_every_reason_has_its_singular() -> None:
    folder = Path(describe.__file__).parent
    written = {
        reason
        for path in folder.rglob("*.py")
        for reason in re.findall(r'^[A-Z_]+ = "([a-z-]+ [a-z -]+)"$', path.read_text(), re.M)
    }
    # What is listed in place of a role.
    assert written - reasons.SINGULARS.keys() == {records.NO_ROLE}
    assert len(reasons.SINGULARS) > 50
    for several, one in reasons.SINGULARS.items():
        assert one != several
        assert not set("{|}") & set(one + several), several


def test_the_end_of_a_large_table_is_not_taken_for_a_row_that_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = b"ticket;role;text\n" + b"1;user;A few words of a customer\n" * 40
    for size in (500, 510, 515):
        monkeypatch.setattr(module, "MAX_CONVERTED_BYTES", size)
        seen = preview(table)
        assert (seen.whole, seen.error, seen.left_out) == (False, None, [])
        assert not any("cells" in warning for warning in seen.warnings)


def test_a_workbook_is_previewed_without_its_name() -> None:
    book, content = openpyxl.Workbook(), io.BytesIO()
    for row in (["session", "role", "text"], ["s1", "user", "Hi"], ["s1", "assistant", "Hello"]):
        book.active.append(row)
    book.save(content)
    seen = preview_upload(content, "support.xlsx")
    assert (seen.error, [turn.text for turn in seen.turns]) == (None, ["Hi", "Hello"])


@pytest.mark.parametrize(
    "members", [{"a.json": "[" + " " * (8 << 20) + "]"}, {f"{number}.json": "{}" for number in range(50)}]
)
def test_what_unpacks_to_much_is_not_read_to_its_end(
    members: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SECONDS", 0)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    content.seek(0)
    seen = preview_upload(content, "support.zip")
    assert (seen.error, seen.whole, seen.lines_read) == (None, False, 0)
