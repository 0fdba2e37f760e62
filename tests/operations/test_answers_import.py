"""Answers under a schema from files: what goes in comes out, all or nothing, and each error says where."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotations_app.criteria.schemas import import_schema, save_schema
from annotations_app.domain.answer_files.formats import FORMATS
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation, Judgment, LabelSchema, Rater
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.schema_document import read_document
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, Turn
from datasets_app.retention.erase_session import erase_session
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.campaigns import make_persona, make_replies
from tests.factories import write_jsonl
from tests.operations.test_judgments import QUALITY
from tests.strategies import EXAMPLES_FACTOR, answers_to, label_schemas, names, texts, timestamps

pytestmark = pytest.mark.django_db

MODEL = {"kind": "model", "version": "2", "prompt_digest": "ab" * 32}


@pytest.fixture(autouse=True)
def quality() -> LabelSchema:
    make_persona()
    return import_schema(QUALITY).schema


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 3)


def answer(criterion: str, value: Any, session: int = 1, **fields: Any) -> dict[str, Any]:
    return {
        "text": "", "criterion": criterion, "value": value, "schema": "quality@1", "persona_id": "warm_v1",
        "session_id": f"s{session}", "turn_index": 2, "annotator": "ana", **fields,
    }  # fmt: skip


def decision(session: int = 1, **fields: Any) -> list[dict[str, Any]]:
    """All that QUALITY asks."""
    said: dict[str, Any] = {"correct": 0, "faults": ["tone"], "helpful": 2}
    return [answer(criterion, value, session, **fields) for criterion, value in said.items()]


def read(tmp_path: Path, lines: list[Any], **options: Any) -> Any:
    path = write_jsonl(tmp_path / "answers.jsonl", lines)
    return import_annotations(path, **{"dataset_name": "support", **options}).saved


def refuse(tmp_path: Path, lines: list[Any], **options: Any) -> list[dict[str, Any]]:
    with pytest.raises(UserError) as refused:
        read(tmp_path, lines, **options)
    assert not Judgment.objects.exists()
    return list(refused.value.details["problems"])


def export(dataset: Dataset, schema: LabelSchema) -> bytes:
    export_annotations(dataset, schema=schema, out=(out := BytesIO()))
    return out.getvalue()


def test_lines_of_one_decision_become_one(tmp_path: Path, dataset: Dataset, quality: LabelSchema) -> None:
    old = {"text": "", "label": 1, "persona_id": "warm_v1", "session_id": "s2", "turn_index": 2}
    saved = read(tmp_path, [*decision(), answer("why", "Too loud."), *decision(2, rater=MODEL), old])
    assert (saved.added, saved.known, saved.sessions_added, saved.text_differs) == (3, 0, 0, 0)
    first, second = Judgment.objects.all()
    assert (first.codes, first.texts) == ({"correct": 0, "faults": 2, "helpful": 1}, {"why": "Too loud."})
    assert (first.kind, first.campaign, first.schema, first.persona_id) == ("label", None, quality, "warm_v1")
    assert (first.turn.session.session_id, first.turn.turn_index) == ("s1", 2)
    assert list(Rater.objects.order_by("id").values_list("kind", "name", "version")) == [
        ("import", "ana", ""), ("model", "ana", "2"),
    ]  # fmt: skip
    assert second.rater.prompt_digest == "ab" * 32
    assert Annotation.objects.get().label == 1


def test_known_decisions_are_skipped_in_any_order_of_lines(tmp_path: Path, dataset: Dataset) -> None:
    lines = [*decision(), *decision(2), *decision(1, annotator=None)]
    assert read(tmp_path, [*lines, *lines]).added == 3
    saved = read(tmp_path, sorted(lines, key=lambda line: line["criterion"]))
    assert (saved.added, saved.known) == (0, 3)
    saved = read(tmp_path, [*decision(), *decision(notes="Read again.")])
    assert (saved.added, saved.known) == (1, 1)


def test_of_several_decisions_by_one_annotator_the_last_decides(
    tmp_path: Path, dataset: Dataset, quality: LabelSchema
) -> None:
    first, again, other = (
        decision(notes="At first."),
        decision(notes="Read again."),
        decision(annotator="ben"),
    )
    first[2]["value"], again[2]["value"], other[2]["value"] = 1, 3, 3
    assert read(tmp_path, [*first, *again, *other]).added == 3
    out = BytesIO()
    exported = export_annotations(dataset, schema=quality, labels="adjudicated", out=out)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert {line["criterion"]: line["value"] for line in lines}["helpful"] == 3
    assert exported.omissions == [
        "1 earlier label by an annotator who labeled the same reply again: left out"
    ]


def test_two_unnamed_annotators_stay_two(tmp_path: Path, dataset: Dataset) -> None:
    one, two = decision(annotator=None), decision(annotator=None)
    two[0]["value"], two[1:2] = 1, []
    assert read(tmp_path, [*one, *two]).added == 2


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        (answer("mood", 1), "criterion", "must be of quality@1: correct, faults, helpful, why, got 'mood'"),
        (answer("correct", 2), "value", "must be 0 (no) or 1 (yes) for correct, got the number 2"),
        (answer("correct", None), "value", "value is missing"),
        (answer("correct", {"a": 1}), "value", "must be a number, a string or an array, got an object"),
        (answer("faults", ["tone", 1]), "value", "for faults, got an array"),
        (answer("correct", 1, schema="quality@2"), "schema", "import it first (import_schema), got a string"),
        (answer("correct", 1, schema="quality"), "schema", "such as quality@1"),
        (answer("correct", 1, schema=None), "schema", "schema is missing"),
        (answer("correct", 1, persona_id="who"), "persona_id", "import it first (import_persona)"),
        (answer("correct", 1, rater={"kind": "person"}), "rater", "must be a model"),
        (answer("correct", 1, rater={**MODEL, "version": ""}), "rater", "needs a version"),
        (answer("correct", 1), "criterion", "helpful has no answer: How helpful is it?"),
        (answer("faults", ["tone"]), "criterion", "correct has no answer"),
    ],
)  # fmt: skip
def test_each_error_says_where_what_and_why(
    tmp_path: Path, dataset: Dataset, line: dict[str, Any], field: str, message: str
) -> None:
    [problem] = refuse(tmp_path, [*decision(2), line])
    assert (problem["file"], problem["line"], problem["field"]) == ("answers.jsonl", 4, field)
    assert message in problem["message"]


def test_all_problems_are_counted_and_nothing_is_saved(tmp_path: Path, dataset: Dataset) -> None:
    problems = refuse(tmp_path, [answer("mood", 1), answer("correct", 7), *decision()])
    assert [problem["line"] for problem in problems] == [1, 2]
    problems = refuse(tmp_path, [answer("correct", 1, 1), answer("correct", 1, 2), *decision(3)])
    assert [problem["line"] for problem in problems] == [1, 2]


def test_a_place_that_no_turn_has_needs_a_text(tmp_path: Path, dataset: Dataset) -> None:
    """The file that the queue offers has places alone: after a scrub that renamed sessions, it finds none."""
    missing = {"session_id": "renamed", "text": ""}
    of_label = {"label": 1, "persona_id": "warm_v1", "annotator": "ana"}
    lines = [
        *decision(),
        *(line | missing for line in decision()),
        missing | of_label,
        {"text": ""} | of_label,
    ]
    problems = refuse(tmp_path, lines)
    assert [problem["line"] for problem in problems] == [4, 5, 6, 7, 8]
    assert problems[0]["message"] == "text is empty, and no turn has this session_id and turn_index"
    dataset.refresh_from_db()
    assert dataset.session_count == 3


@pytest.mark.parametrize("written", ["yes,2.0", "1.0,2"])
def test_whole_numbers_of_tables_may_have_a_fraction(tmp_path: Path, dataset: Dataset, written: str) -> None:
    """pandas writes them where another cell is empty."""
    path = tmp_path / "t.csv"
    path.write_text(f"session_id,turn_index,text,correct,helpful,annotator\ns1,2.0,,{written},ana\n")
    assert import_annotations(path, dataset_name="support", persona="warm_v1", schema="quality@1").saved.added
    assert Judgment.objects.get().codes == {"correct": 1, "helpful": 1}


def test_a_table_without_answers_to_the_schema_says_what_these_are(tmp_path: Path, dataset: Dataset) -> None:
    path = tmp_path / "t.csv"
    path.write_text("session_id,turn_index,text,color\ns1,2,Sure.,red\n")
    options: Any = {"dataset_name": "support", "persona": "warm_v1", "schema": "quality@1"}
    with pytest.raises(UserError, match="answers no criterion of quality@1.*these: correct, faults, helpful"):
        import_annotations(path, **options)


def test_adjudicated_decisions(tmp_path: Path, dataset: Dataset) -> None:
    other = decision()
    other[2]["value"] = 3
    problems = refuse(tmp_path, [*decision(), *other], adjudicated=True)
    assert [problem["line"] for problem in problems] == [4]
    assert read(tmp_path, decision(), adjudicated=True).added == 1
    assert read(tmp_path, decision(), adjudicated=True).added == 0
    assert read(tmp_path, other, adjudicated=True).added == 1
    assert list(Judgment.objects.values_list("kind", flat=True)) == ["withdrawn", "adjudicated"]


def test_a_reply_that_is_not_stored_keeps_its_place(
    tmp_path: Path, dataset: Dataset, quality: LabelSchema
) -> None:
    lines = [*decision(7, text="Hello.", worker=4), *decision(8, text="Hello.", worker=5)]
    assert read(tmp_path, lines).sessions_added == 2
    assert read(tmp_path, lines).added == 0
    said = [json.loads(line) for line in export(dataset, quality).splitlines()]
    assert [(line["session_id"], line["turn_index"], line["worker"]) for line in said[::3]] == [
        ("s7", 2, 4), ("s8", 2, 5),
    ]  # fmt: skip


def test_an_erased_session_takes_decisions_that_name_it(tmp_path: Path, dataset: Dataset) -> None:
    text = Turn.objects.get(session__session_id="s2", turn_index=2).text
    read(tmp_path, [*decision(1, turn_index=9, text=text), *decision(2), *decision(7, text="Hello.")])
    assert Judgment.objects.filter(turn__session__session_id="s2").count() == 2
    erase_session(dataset.sessions.get(session_id="s1"), "Asked for by letter.")
    assert Judgment.objects.filter(turn__session__session_id="s2").count() == 1
    assert Judgment.objects.count() == 2


def test_what_people_wrote_is_scrubbed(tmp_path: Path, dataset: Dataset) -> None:
    lines = [
        *decision(7, text="Hi.", mail="ana@example.com"),
        answer("why", "ana@example.com", 7, text="Hi."),
    ]
    lines[3]["mail"] = "ana@example.com"
    read(tmp_path, lines)
    scrub_dataset(dataset, Policy(hash_session_ids=True))
    judged = Judgment.objects.get()
    assert judged.texts == {"why": "[EMAIL]"}
    assert judged.extra["mail"] == "[EMAIL]"
    assert len(judged.extra["session_id"]) == 64


def test_a_scrubbed_dataset_is_told_of_personal_data(tmp_path: Path, dataset: Dataset) -> None:
    scrub_dataset(dataset, Policy())
    path = write_jsonl(tmp_path / "answers.jsonl", [*decision(), answer("why", "Write to ana@example.com")])
    done = import_annotations(path, dataset_name="support")
    assert done.personal_data == {"EMAIL": 1}


@st.composite
def answer_files(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A schema and lines of answers to it, each with what the reply says."""
    document = draw(label_schemas())
    lines: list[dict[str, Any]] = []
    for rater in draw(
        st.lists(names.filter(lambda name: len(name) < 40), min_size=1, max_size=4, unique=True)
    ):
        said_by = {
            "session_id": draw(st.sampled_from(["s1", "s2"])),
            "turn_index": 2,
            "annotator": rater,
            **draw(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "notes": texts,
                        "timestamp": timestamps,
                        "confidence": st.floats(0, 1),
                        "rater": st.just(MODEL),
                        "worker": texts,
                    },
                )
            ),
        }
        for criterion, value in draw(answers_to(document)).items():
            lines.append(answer(criterion, value, **{**said_by, "schema": "generated@1"}))
    return document, lines


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Dataset, Dataset]:
    """Two datasets with the same sessions."""
    return make_replies(tmp_path, 2, name="first"), make_replies(tmp_path, 2, name="copy")


@contextmanager
def answered(pair: tuple[Dataset, Dataset], folder: Path, file: Any) -> Iterator[tuple[LabelSchema, bytes]]:
    """The schema of an example and what the first dataset exports of its answers; all is rolled back."""
    document, lines = file
    with transaction.atomic():
        schema = save_schema(read_document(document)).schema
        import_annotations(write_jsonl(folder / "given.jsonl", lines), dataset_name="first")
        yield schema, export_anyhow(pair[0], schema)
        transaction.set_rollback(True)


@settings(
    max_examples=40 * EXAMPLES_FACTOR,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(file=answer_files().filter(lambda file: file[1]))
def test_export_import_export_is_the_same_file(
    tmp_path: Path, pair: tuple[Dataset, Dataset], file: Any
) -> None:
    lines = file[1]
    with answered(pair, tmp_path, file) as (schema, exported):
        said = [json.loads(line) for line in exported.splitlines()]
        assert {(line["annotator"], line["criterion"], repr(line["value"])) for line in said} == {
            (line["annotator"], line["criterion"], repr(without_negative_zero(line["value"])))
            for line in lines
        }
        (tmp_path / "exported.jsonl").write_bytes(exported)
        import_annotations(tmp_path / "exported.jsonl", dataset_name="copy")
        assert export_anyhow(pair[1], schema) == exported


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "jsonl"])
@settings(
    max_examples=25 * EXAMPLES_FACTOR,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(file=answer_files().filter(lambda file: file[1]))
def test_tables_and_files_of_label_tools_lose_nothing(
    tmp_path: Path, pair: tuple[Dataset, Dataset], format: str, file: Any
) -> None:
    with answered(pair, tmp_path, file) as (schema, exported):
        of_tool = tmp_path / f"file.{FORMATS[format].ending}"
        of_tool.write_bytes(export_anyhow(pair[0], schema, format=format))
        saved = import_annotations(of_tool, dataset_name="copy")
        assert (saved.unmapped, saved.saved.text_differs, saved.saved.sessions_added) == (0, 0, 0)
        assert export_anyhow(pair[1], schema) == exported
        again = import_annotations(of_tool, dataset_name="copy").saved
        assert again.added == 0


def without_negative_zero(value: Any) -> Any:
    """PostgreSQL has none."""
    return value + 0 if type(value) is float else value


def export_anyhow(dataset: Dataset, schema: LabelSchema, **options: Any) -> bytes:
    export_annotations(
        dataset,
        schema=schema,
        out=(out := BytesIO()),
        override="A test of arbitrary characters.",
        **options,
    )
    return out.getvalue()
