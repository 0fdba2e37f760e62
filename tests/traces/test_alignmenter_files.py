"""Alignmenter's own files: captured runs, transcripts, manifests, cases."""

import hashlib
import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.cases import describe_case
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from datasets_app.domain.releases.manifest import ContentCounter, build_manifest
from datasets_app.domain.traces.describe import list_left_out
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.importing.parameters import ImportOptions
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import files
from datasets_app.releasing.release_dataset import release_dataset
from tests.traces.reading import convert, write

CASE = {"case_id": "returns-004411-late", "case_revision": hashlib.sha256(b"1").hexdigest()}
RUBRICS = [{"criterion": "Names the limit of 30 days", "points": 5}]
CONTEXT = {"excerpts": ["Shoes may be returned within 30 days.", {"title": "Late", "text": "No refund."}]}
RECORDS: list[dict[str, Any]] = [
    {"session_id": "s", "role": "user", "text": "Can I return shoes?", "metadata": {"rubrics": RUBRICS}},
    {"session_id": "s", "role": "Assistant", "text": "Within 30 days.", "tags": ["scenario:returns"],
     "persona_id": "p", "metadata": {"context": CONTEXT}, **CASE},
]  # fmt: skip


def make_run(folder: Path, *statements: str, records: list[Any] = RECORDS) -> Path:
    path = folder / "run.sqlite3"
    targets = [{"stream": "primary", "mode": "recorded", "model": "none"},
               {"stream": "compare", "mode": "generate", "model": "m"}]  # fmt: skip
    with sqlite3.connect(path) as database:
        for table in ("inputs", "records"):
            database.execute(f"CREATE TABLE {table} (stream TEXT, ordinal INTEGER, payload TEXT)")
        database.execute("CREATE TABLE manifest (payload TEXT)")
        database.execute("INSERT INTO manifest VALUES (?)", [json.dumps({"targets": targets})])
        rows = [
            (stream, place, record if isinstance(record, str) else json.dumps(record))
            for stream in ("compare", "primary")
            for place, record in enumerate(records)
        ]
        database.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
        database.executemany("INSERT INTO inputs VALUES (?, ?, ?)", [*rows, ("primary", 9, "{}")])
        for statement in statements:
            database.execute(statement)
    database.close()
    return path


def make_archive(folder: Path, *, digest: str = "") -> Path:
    content = make_run(folder).read_bytes()
    path = folder / "run.zip"
    index = {"schema_version": 1, "sha256": digest or hashlib.sha256(content).hexdigest()}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive.json", json.dumps(index))
        archive.writestr("run.sqlite3", content)
    return path


def test_captured_runs_come_in_as_they_are(tmp_path: Path) -> None:
    archive = make_archive(tmp_path)
    for path in (archive, tmp_path / "run.sqlite3"):
        sessions, report = convert(path)
        assert list(sessions) == ["s", "s-compare"]
        question, answer = sessions["s"]
        assert (question.turn_index, question.metadata) == (1, {"rubrics": RUBRICS})
        assert (answer.turn_index, answer.role, answer.tags) == (2, "assistant", ["scenario:returns"])
        assert (answer.persona_id, answer.extra, answer.metadata) == ("p", CASE, {"context": CONTEXT})
        assert (sessions["s-compare"][1].metadata or {})["model"] == "m"
        assert dict(list_left_out(report)) == {"turns that were not captured": 1}
    archive.unlink()
    sessions, _ = convert(tmp_path)  # the folder of a run
    assert len(sessions) == 2
    sessions, report = convert(write(tmp_path, RECORDS, "transcript.jsonl"))
    assert [turn.turn_index for turn in sessions["s"]] == [1, 2]
    assert report.format == "Alignmenter run or transcript"


def test_damaged_or_hostile_runs_are_refused_in_a_sentence(tmp_path: Path) -> None:
    view = make_run(tmp_path, "ALTER TABLE records RENAME TO r", "CREATE VIEW records AS SELECT * FROM r")
    with pytest.raises(UnreadableFile, match="a complete Alignmenter run"):
        convert(view)
    view.unlink()
    with pytest.raises(UnreadableFile, match="digest differs"):
        convert(make_archive(tmp_path, digest="0" * 64))
    cut = write(tmp_path, (tmp_path / "run.sqlite3").read_bytes()[:5000], "cut.sqlite3")
    with pytest.raises(UnreadableFile, match="a complete Alignmenter run"):
        convert(cut)
    (tmp_path / "run.sqlite3").unlink()
    _, report = convert(make_run(tmp_path, records=[*RECORDS, "{broken", {"session_id": "s", "text": 1}]))
    assert [problem.code for problem in report.problems] == ["E101", "E101", "E102", "E102"]


def test_a_scrub_keeps_cases_unless_they_hold_personal_data() -> None:
    turn = TurnRecord("s", 1, "assistant", "Fine.", [], None, None, {"rubrics": RUBRICS}, dict(CASE))
    named = turn._replace(turn_index=2, extra={"case_id": "anna.berg@example.com 1"})
    [scrubbed] = Scrubber(Policy(), key=b"k" * 32).scrub([SessionInput([turn, named])])
    first, second = scrubbed.turns
    assert (first.extra, first.metadata) == (CASE, {"rubrics": RUBRICS})
    assert second.extra == {"case_id": "[EMAIL] 1"}
    case = describe_case({"rubrics": RUBRICS, "context": CONTEXT}, CASE)
    assert case is not None
    assert case.sources == ("Shoes may be returned within 30 days.", "Late\nNo refund.")
    assert [(rubric.criterion, rubric.points) for rubric in case.rubrics] == [(RUBRICS[0]["criterion"], 5)]


def make_manifest(lines: list[dict[str, Any]], **changed: Any) -> dict[str, Any]:
    counter = ContentCounter()
    for line in lines:
        counter.add_record(line)
    entry = {"kind": "authored", "ref": "by hand", "count": 2, "digest": "a" * 64}
    made = build_manifest(
        counter.summarize(), id="old", revision="v3", created_at="2026-01-01T00:00:00Z", provenance=[entry]
    )
    return made | changed


@pytest.mark.django_db
def test_the_provenance_of_a_manifest_goes_on_with_releases(tmp_path: Path) -> None:
    lines = [
        {
            "session_id": "s",
            "turn_index": n,
            "role": role,
            "text": f"Text {n}.",
            "tags": [],
            "persona_id": None,
        }
        for n, role in ((1, "user"), (2, "assistant"))
    ]
    data = write(tmp_path, lines, "talks.jsonl")
    manifest = make_manifest(lines)
    source = [ImportSource(data, data.name)]
    write(tmp_path, manifest | {"content_digest": "0" * 64}, "talks.jsonl.manifest.json")
    with pytest.raises(UserError, match="the digests differ"):
        import_dataset(source, name="talks", options=ImportOptions())
    write(tmp_path, [], "talks.jsonl.manifest.json")
    with pytest.raises(UserError, match="isn't a manifest"):
        import_dataset(source, name="talks", options=ImportOptions())
    assert not Dataset.objects.exists()
    write(tmp_path, manifest, "talks.jsonl.manifest.json")
    import_dataset(source, name="talks", options=ImportOptions())
    with transaction.atomic():
        dataset = Dataset.objects.get()
        release_dataset(dataset, folder=tmp_path, actor=None, override="nobody is left to sign")
    stored = files.get_file(Release.objects.get(), ReleaseFile.Kind.MANIFEST)
    with files.open_file(stored) as file:
        provenance = json.load(file)["provenance"]
    assert [(entry["kind"], entry["ref"], entry["digest"]) for entry in provenance] == [
        ("authored", "by hand", "a" * 64),
        ("import", "old v3", manifest["content_digest"]),
    ]
