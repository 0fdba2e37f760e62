import gzip
import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from annotations_app.labels.export_annotations import export_annotations
from annotations_app.models import Annotation
from datasets_app.catalog.edit import edit_dataset
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.domain.conversations.lines import read_lines
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.importing.parameters import ImportOptions
from datasets_app.models import AuditEvent, Dataset, Session, SourceFile, Turn
from tests.factories import encode_jsonl, import_file, make_session, make_sessions, make_turn, write_jsonl

pytestmark = pytest.mark.django_db


def refused(path: Path, **given: Any) -> list[tuple[int, str]]:
    """(line, code) of the problems for which an import is refused; nothing may be saved."""
    with pytest.raises(UserError) as refusal:
        import_file(path, **given)
    assert not Turn.objects.exists()
    assert not SourceFile.objects.exists()
    return [(problem["line"], problem["code"]) for problem in refusal.value.details["problems"]]


def test_a_file_becomes_sessions_and_turns(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "a.jsonl", make_sessions(3, turns=4, persona_id="p1", tags=["scenario:support"])
    )
    result = import_file(path, origin="production")
    dataset = Dataset.objects.get(name="support")
    assert (result["sessions"], result["turns"]) == (3, 12)
    assert (dataset.session_count, dataset.turn_count) == (3, 12)
    assert (dataset.origin, dataset.status) == ("production", "raw")
    assert list(
        Session.objects.filter(dataset=dataset)
        .order_by("id")
        .values_list("session_id", "persona_id", "turn_count")
    ) == [
        ("s1", "p1", 4),
        ("s2", "p1", 4),
        ("s3", "p1", 4),
    ]
    first = Turn.objects.in_order().first()
    assert (first.turn_index, first.role, first.tags) == (1, "user", ["scenario:support"])


def test_the_import_is_in_the_audit_trail_without_any_text(tmp_path: Path) -> None:
    import_file(write_jsonl(tmp_path / "a.jsonl", make_session(text="canary-5f2c")))
    event = AuditEvent.objects.get(action="import")
    assert (event.dataset_name, event.details["turns"]) == ("support", 2)
    assert "canary" not in json.dumps(event.details)


def test_cut_json_a_wrong_role_and_a_gap_are_all_named_and_nothing_is_saved(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "a.jsonl",
        [
            make_turn("a", 1),
            b'{"session_id": "a", "turn_index": 2, "te',
            make_turn("b", 1, role="system"),
            make_turn("c", 3),
        ],
    )
    assert refused(path) == [(2, "E101"), (3, "E103"), (4, "E201")]
    assert not Dataset.objects.exists()


def test_quarantine_imports_the_sound_sessions_and_keeps_the_rest_byte_for_byte(tmp_path: Path) -> None:
    bad = [
        make_turn("a", 1),
        b'{"session_id": "a", "turn_index": 2, "te',
        make_turn("b", 1, role="system"),
        make_turn("c", 3),
    ]
    path = write_jsonl(tmp_path / "a.jsonl", [*bad, *make_session("good")])
    result = import_file(path, quarantine=True, quarantine_dir=tmp_path)
    assert list(Session.objects.values_list("session_id", flat=True)) == ["good"]
    assert (tmp_path / "a.quarantine.jsonl").read_bytes() == encode_jsonl(bad)
    assert {file.stat().st_mode & 0o777 for file in tmp_path.glob("a.quarantine.*")} == {0o600}
    reasons = (tmp_path / "a.quarantine.reasons.txt").read_text()
    assert "a.jsonl:3: E103 role must be 'user' or 'assistant', got 'system'" in reasons
    assert (result["quarantined_sessions"], result["problem_total"]) == (3, 3)


def test_a_bad_line_whose_session_cant_be_read_takes_the_session_before_it_along(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [*make_session("a"), b"not json at all", *make_session("b")])
    import_file(path, quarantine=True, quarantine_dir=tmp_path)
    assert list(Session.objects.values_list("session_id", flat=True)) == ["b"]


def test_quarantine_never_writes_over_what_lies_there(tmp_path: Path) -> None:
    (tmp_path / "a.quarantine.jsonl").write_text("precious")
    import_file(
        write_jsonl(tmp_path / "a.jsonl", [make_turn("c", 3), *make_session()]),
        quarantine=True,
        quarantine_dir=tmp_path,
    )
    assert (tmp_path / "a.quarantine.jsonl").read_text() == "precious"
    assert (tmp_path / "a.quarantine-2.jsonl").exists()


def test_the_first_hundred_problems_are_listed_with_their_total(tmp_path: Path) -> None:
    with pytest.raises(UserError) as refusal:
        import_file(write_jsonl(tmp_path / "a.jsonl", [make_turn(f"s{n}", 2) for n in range(250)]))
    assert len(refusal.value.details["problems"]) == 100
    assert refusal.value.details["problem_total"] == 250


def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", make_session())
    import_file(path)
    other_name = tmp_path / "b.jsonl"
    other_name.write_bytes(path.read_bytes())
    result = import_file(other_name)
    assert result["files"][0]["unchanged"]
    assert Turn.objects.count() == 2
    assert AuditEvent.objects.filter(action="import").count() == 1


def test_a_session_that_stands_already_is_an_error_unless_append_and_identical(tmp_path: Path) -> None:
    import_file(write_jsonl(tmp_path / "a.jsonl", make_sessions(2, metadata={"b": 1, "a": 1e23})))
    again = write_jsonl(
        tmp_path / "b.jsonl", [*make_sessions(2, metadata={"a": 1e23, "b": 1}), *make_session("s3")]
    )
    with pytest.raises(UserError) as refusal:
        import_file(again)
    assert [problem["code"] for problem in refusal.value.details["problems"]] == ["E207", "E207"]
    result = import_file(again, append=True)
    assert (result["sessions"], result["files"][0]["sessions_already_there"]) == (1, 2)
    changed = write_jsonl(tmp_path / "c.jsonl", [*make_session("s1", text="other"), *make_session("s4")])
    with pytest.raises(UserError, match="1 problem"):
        import_file(changed, append=True)
    assert Dataset.objects.get().session_count == 3


def test_renumber_repairs_a_count_from_zero_and_gaps_but_not_doubles(tmp_path: Path) -> None:
    lines = [make_turn("zero", n, role="user") for n in (0, 1)] + [
        make_turn("gap", n, role="user") for n in (1, 5, 9)
    ]
    path = write_jsonl(tmp_path / "a.jsonl", lines)
    assert refused(path) == [(1, "E201"), (4, "E201")]
    import_file(path, renumber=True)
    assert list(Turn.objects.in_order().values_list("turn_index", flat=True)) == [1, 2, 1, 2, 3]


def test_two_turns_of_one_index_are_refused_even_when_renumbering(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [make_turn(), make_turn(text="the other first")])
    assert refused(path, renumber=True) == [(2, "E202")]


def test_lines_in_any_order_are_put_in_order(tmp_path: Path) -> None:
    lines = make_sessions(40, turns=5)
    path = write_jsonl(tmp_path / "a.jsonl", lines[1::2] + lines[0::2][::-1])
    result = import_file(path)
    assert result["files"][0]["reordered"]
    assert (result["sessions"], result["turns"]) == (40, 200)
    for stored in Session.objects.all():
        assert list(stored.turns.order_by("turn_index").values_list("text", flat=True)) == [
            line["text"] for line in lines if line["session_id"] == stored.session_id
        ]


def test_one_persona_a_session_and_a_turn_without_one_has_its_sessions(tmp_path: Path) -> None:
    mixed = [make_turn("a", 1, persona_id="p"), make_turn("a", 2, persona_id="q")]
    assert refused(write_jsonl(tmp_path / "a.jsonl", mixed)) == [(2, "E204")]
    path = write_jsonl(
        tmp_path / "b.jsonl", [make_turn("a", 1), make_turn("a", 2, persona_id="p"), make_turn("b", 1)]
    )
    import_file(path, persona="given")
    assert dict(Session.objects.values_list("session_id", "persona_id")) == {"a": "p", "b": "given"}


def test_a_label_in_a_line_is_an_annotation_as_well(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "a.jsonl",
        [
            make_turn("a", 1),
            make_turn("a", 2, persona_id="p", label=1, confidence=0.5, labeler="ana", notes="warm"),
            make_turn("b", 1, label="greeting"),
        ],
    )
    assert import_file(path)["annotations"] == 1
    annotation = Annotation.objects.get()
    assert (annotation.label, annotation.annotator, annotation.notes) == (1, "ana", "warm")
    assert (annotation.confidence, annotation.persona_id) == (0.5, "p")
    assert Turn.objects.get(pk=annotation.turn_id).extra["label"] == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n \n\r\n", "is empty"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (b"{\x00}\x00", "UTF-16"),
        (b"PK\x03\x04 and so on", "zip archive"),
        (b"\x7fELF\x00\x00\x01", "isn't a text file"),
        (gzip.compress(encode_jsonl(make_sessions(500)))[:-900], "cut off"),
        (b"\x1f\x8b but no gzip at all", "damaged"),
    ],
)
def test_what_is_no_text_is_named_for_what_it_is(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(UserError, match=f"a.jsonl: E100 .*{sentence}"):
        import_file(path)


def test_missing_files_and_directories(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(UserError, match="no such file|is a folder without"):
            import_file(path)


def test_a_byte_order_mark_crlf_blank_lines_and_gzip_are_all_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        gzip.compress(b"\xef\xbb\xbf" + encode_jsonl(make_session()).replace(b"\n", b"\r\n\r\n"))
    )
    assert import_file(path)["turns"] == 2


def test_what_unpacks_beyond_the_limit_is_refused(tmp_path: Path, settings: Any) -> None:
    settings.MAX_UNPACKED_BYTES = 1 << 20
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * (50 << 20)))
    with pytest.raises(UserError, match="ALIGNMENTER_MAX_UNPACKED_BYTES"):
        import_file(path)


def test_a_line_beyond_the_limit_is_an_error_of_that_line(tmp_path: Path, settings: Any) -> None:
    settings.MAX_LINE_BYTES = 1 << 20
    path = write_jsonl(
        tmp_path / "a.jsonl",
        [*make_session("a"), make_turn("b", 1, text="x" * (5 << 20)), *make_session("c")],
    )
    assert refused(path) == [(3, "E109")]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"session_id":"a","turn_index":1,"role":"user","text":NaN}', "E101"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":"\\ud800"}', "E108"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":"\\u0000"}', "E108"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":"a\x00b"}', "E108"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":"\xff"}', "E101"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":"x","text":"y"}', "E107"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":"x","metadata":{"k":1,"k":2}}', "E107"),
        (b'{"session_id":"a","turn_index":"1","role":"user","text":"x"}', "E102"),
        (b'{"session_id":"a","turn_index":1.0,"role":"user","text":"x"}', "E102"),
        (b'{"session_id":"a","turn_index":1,"role":"Assistant","text":"x"}', "E103"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":null}', "E102"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":"x","tags":"t"}', "E104"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":"x","timestamp":"soon"}', "E105"),
        (b'{"session_id":"a","turn_index":1,"role":"user","text":"x","metadata":[]}', "E106"),
        (b"[1, 2]", "E101"),
    ],
)
def test_what_json_allows_and_the_format_does_not(tmp_path: Path, line: bytes, code: str) -> None:
    assert refused(write_jsonl(tmp_path / "a.jsonl", [line])) == [(1, code)]


def test_no_message_repeats_the_text_of_a_line(tmp_path: Path) -> None:
    secret = "jane.canary@example.org"
    lines = [
        make_turn("a", 1, text=secret, timestamp=secret),
        make_turn("b", 1, role=secret),
        json.dumps(make_turn("c", 1, text=secret)).encode()[:-9],
        make_turn("d", 1, tags=[1], text=secret),
    ]
    with pytest.raises(UserError) as refusal:
        import_file(write_jsonl(tmp_path / "a.jsonl", lines))
    assert "canary" not in str(refusal.value.details) + refusal.value.message


def test_one_session_of_many_turns(tmp_path: Path) -> None:
    assert (
        import_file(write_jsonl(tmp_path / "a.jsonl", make_session("long", turns=20_000)))["turns"] == 20_000
    )
    assert Session.objects.get().turn_count == 20_000


def test_facts_are_taken_from_the_metadata_file_beside(tmp_path: Path) -> None:
    (tmp_path / "a.meta.yaml").write_text("license: CC-BY-4.0\nsource: helpdesk\nseed: 7\nour_key: kept\n")
    import_file(write_jsonl(tmp_path / "a.jsonl", make_session()))
    dataset = Dataset.objects.get()
    assert (dataset.license, dataset.source) == ("CC-BY-4.0", "helpdesk")
    assert dataset.provenance == {"seed": 7, "our_key": "kept"}


def test_a_broken_metadata_file_refuses_the_import(tmp_path: Path) -> None:
    (tmp_path / "a.meta.yaml").write_text("license: [unclosed")
    with pytest.raises(UserError, match=r"a\.meta\.yaml"):
        import_file(write_jsonl(tmp_path / "a.jsonl", make_session()))
    assert not Turn.objects.exists()


@pytest.mark.parametrize("name", ["", "../up", "a b", "-x", "a" * 101, "é"])
def test_a_name_that_can_be_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="can't be the name"):
        import_file(write_jsonl(tmp_path / "a.jsonl", make_session()), name=name)


def test_data_of_another_origin_is_kept_apart(tmp_path: Path) -> None:
    import_file(write_jsonl(tmp_path / "a.jsonl", make_session("a")), origin="synthetic")
    with pytest.raises(UserError, match="origin"):
        import_file(write_jsonl(tmp_path / "b.jsonl", make_session("b")), origin="production")


def test_openai_and_sharegpt_files_are_recognised(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]}
    chat["messages"].append({"role": "assistant", "content": "Hello"})
    share = {
        "id": "c7",
        "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}],
    }
    assert (
        import_file(write_jsonl(tmp_path / "chat.jsonl", [chat]), name="chat")["files"][0]["format"]
        == "openai"
    )
    assert (
        import_file(write_jsonl(tmp_path / "share.jsonl", [share]), name="share")["files"][0]["format"]
        == "sharegpt"
    )
    assert set(Session.objects.values_list("session_id", flat=True)) == {"chat-000001", "c7"}


def test_the_session_of_a_line_is_its_own_and_not_one_that_its_metadata_speaks_of(tmp_path: Path) -> None:
    lines = [
        make_turn("A", 1, metadata={"session_id": "B"}),
        {"metadata": {"session_id": "B"}, **make_turn("A", 2, role="system")},
        b'{"metadata": {"session_id": "B"}, "session_id": "A", "turn_index": 3, "te',
        make_turn("B", 1),
    ]
    lines[0] = {"metadata": lines[0].pop("metadata"), **lines[0]}
    path = write_jsonl(tmp_path / "a.jsonl", lines)
    import_file(path, quarantine=True, quarantine_dir=tmp_path)
    assert list(Session.objects.values_list("session_id", flat=True)) == ["B"]
    assert (tmp_path / "a.quarantine.jsonl").read_bytes() == encode_jsonl(lines[:3])


def test_what_can_not_be_set_aside_whole_is_not_set_aside_in_part(tmp_path: Path, settings: Any) -> None:
    settings.MAX_LINE_BYTES = 1 << 20
    lines = [make_turn("a", 1), make_turn("a", 2, text="x" * (2 << 20)), *make_session("b")]
    assert refused(write_jsonl(tmp_path / "a.jsonl", lines), quarantine=True, quarantine_dir=tmp_path) == [
        (2, "E109")
    ]


def test_one_session_in_two_files_of_one_import(tmp_path: Path) -> None:
    one = write_jsonl(tmp_path / "one.jsonl", [*make_session("a"), *make_session("b")])
    two = write_jsonl(tmp_path / "two.jsonl", [*make_session("a"), *make_session("c")])
    sources = [ImportSource(path, path.name) for path in (one, two)]
    with pytest.raises(UserError) as refusal:
        import_dataset(sources, name="support")
    assert [problem["code"] for problem in refusal.value.details["problems"]] == ["E207"]
    assert not Turn.objects.exists()
    assert import_dataset(sources, name="support", options=ImportOptions(append=True))["sessions"] == 3


def test_the_audit_log_keeps_no_value_that_was_given_as_a_persona(tmp_path: Path) -> None:
    lines = write_jsonl(tmp_path / "a.jsonl", [make_turn("a"), make_turn("a", 2, label=1)])
    import_file(lines, persona="jo@example.org")
    dataset = Dataset.objects.get()
    edit_dataset(dataset.pk, {"source": "Mail of jo@example.org"}, actor=None)
    export_annotations(dataset, persona="jo@example.org", out=BytesIO(), override="Agreed")
    details = list(AuditEvent.objects.order_by("pk").values_list("action", "details"))
    assert [action for action, _ in details] == ["import", "edit_dataset", "override", "export_annotations"]
    assert "jo@example.org" not in str(details)


def test_a_file_of_blank_lines_can_be_stopped(tmp_path: Path) -> None:
    """A small archive can hold billions of them."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * (3 << 20)))

    def cancel(done: int) -> None:
        raise OperationCanceled

    with pytest.raises(OperationCanceled):
        list(read_lines(path, on_bytes=cancel))
    assert list(read_lines(path)) == []


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", make_sessions(3000))

    def grow(done: int, total: int | None = None) -> None:
        if done > path.stat().st_size and not grown:
            grown.append(True)
            with path.open("ab") as file:
                file.write(encode_jsonl(make_session("late")))

    grown: list[bool] = []
    with pytest.raises(UserError, match="changed while it was read"):
        import_file(path, report_progress=grow)
    assert not Turn.objects.exists()


def test_the_quarantine_of_an_archive_has_none_of_what_was_imported(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.jsonl", encode_jsonl(make_session("s")))
        bad = [make_turn("s", 1, text="Hello?"), make_turn("s", 2, role="bot?", text="Hi!")]
        archive.writestr("b.jsonl", encode_jsonl(bad))
    result = import_file(tmp_path / "a.zip", quarantine=True, quarantine_dir=tmp_path)
    assert (result["turns"], result["quarantined_sessions"]) == (2, 1)
    kept = (tmp_path / "a.zip.quarantine.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in kept] == ["Hello?", "Hi!"]


def test_quarantine_has_lines_that_cannot_be_read_and_conversations_with_unknown_roles(
    tmp_path: Path,
) -> None:
    def chat(name: str, role: str) -> bytes:
        messages = [{"role": "user", "content": f"Hi {name}"}, {"role": role, "content": "Yes", "n": [1]}]
        return json.dumps({"id": name, "chat": messages}).encode() + b"\n"

    damaged = b'{"id": "z", "chat": [{"role": "us'
    content = chat("a", "assistant") + chat("b", "narrator") + damaged + b"\n" + chat("c", "narrator")
    (tmp_path / "one.jsonl").write_bytes(content)
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("x.jsonl", content)
    for name, dataset in (("one.jsonl", "one"), ("all.zip", "all")):
        result = import_file(tmp_path / name, quarantine=True, quarantine_dir=tmp_path, name=dataset)
        assert (result["sessions"], result["quarantined_sessions"]) == (1, 2)
        kept = (tmp_path / f"{name.removesuffix('.jsonl')}.quarantine.jsonl").read_bytes().splitlines()
        assert [json.loads(line)["text"] for line in kept[:-1]] == ["Hi b", "Hi c"]
        assert kept[-1] == damaged
        reasons = (tmp_path / f"{name.removesuffix('.jsonl')}.quarantine.reasons.txt").read_text()
        assert reasons.count("1 message with 1 unknown role; map each: sender:ROLE=user") == 2
        assert f"Settle that and import {name} again" in reasons
