"""Files of label tools and tables: what people answered there, and what of ours they keep."""

import contextlib
import csv
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotations_app.criteria.schemas import import_schema
from annotations_app.domain.answer_files.formats import FORMATS
from annotations_app.domain.evidence import digest_text
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation, Judgment, LabelSchema
from datasets_app.catalog import text_gates
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset
from tests.api.calls import Caller, make_user
from tests.campaigns import lease_for, make_campaign, make_persona, make_replies, submit
from tests.factories import make_dataset, make_sessions, write_jsonl
from tests.strategies import EXAMPLES_FACTOR, names, texts, timestamps
from tests.traces.reading import write

pytestmark = pytest.mark.django_db

EVERY_KIND = """\
schema: kinds
criteria:
  - {key: safe, question: Is it safe?, kind: yes_no}
  - {key: mood, question: Which mood?, kind: choice, answers: [calm, {value: 7, name: Loud}]}
  - {key: helpful, question: How helpful?, kind: ordinal, answers: [1, 2, 3]}
  - {key: faults, question: Which faults?, kind: tags, answers: [tone, length, facts]}
  - {key: minutes, question: How many minutes?, kind: number, optional: true}
  - {key: why, question: Why?, kind: text, optional: true}
  - {key: solved, question: Is it solved?, kind: yes_no, of: session, optional: true}
"""
ANSWERS: dict[str, Any] = {
    "safe": 1, "mood": 7, "helpful": 2, "faults": ["tone", "facts"], "minutes": 2.5, "why": "=1+1, loud;\r\n",
    "solved": 0,
}  # fmt: skip
STORED = (
    {"safe": 1, "mood": 1, "helpful": 1, "faults": 5, "minutes": 2.5, "solved": 0},
    {"why": ANSWERS["why"]},
)
PLACE = {"session_id": "s1", "turn_index": 2}


@pytest.fixture(autouse=True)
def schema() -> LabelSchema:
    make_persona()
    return import_schema(EVERY_KIND).schema


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 3)


def result(name: str, kind: str, said: Any, field: str = "") -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": {field or kind: said}}


STUDIO = [
    {
        "id": 1,
        "data": {"text": "Reply", **PLACE},
        "annotations": [
            {"completed_by": {"email": "ana@x.test"}, "result": [
                result("safe", "choices", ["Yes"]), result("mood", "choices", ["Loud"]),
                result("helpful", "rating", 2), result("faults", "choices", ["tone", "facts"]),
                result("minutes", "number", 2.5), result("why", "textarea", [ANSWERS["why"]], "text"),
                result("solved", "choices", ["0"]), result("other", "choices", ["x"])]},
            {"completed_by": 2, "was_cancelled": True, "result": [result("safe", "choices", ["No"])]},
        ],
    }
]  # fmt: skip
STUDIO_MIN = [{"id": 1, "text": "Reply", **PLACE, **ANSWERS, "faults": {"choices": ["tone", "facts"]},
               "helpful": [{"rating": 2}], "annotator": 4, "annotation_id": 9, "lead_time": 2.0}]  # fmt: skip
SAID_IN_ARGILLA = {**ANSWERS, "safe": "1", "mood": "7", "minutes": "2.5", "solved": "no"}
ARGILLA = [
    {"id": "a", "fields": {"text": "Reply"}, "metadata": PLACE, "suggestions": {}, "responses": {
        key: [{"value": said, "user_id": "u1"}, {"value": said, "user_id": "u2", "status": "draft"}]
        for key, said in SAID_IN_ARGILLA.items()}}
]  # fmt: skip
ARGILLA_1 = [
    {"fields": {"text": "Reply"}, "metadata": PLACE, "responses": [
        {"user_id": "u1", "status": "submitted",
         "values": {key: {"value": said} for key, said in SAID_IN_ARGILLA.items()}}]}
]  # fmt: skip
ARGILLA_HUB = [
    {"id": "a", "status": "completed", "text": "Reply", **PLACE} | {
        f"{key}.{column}": [one] for key, said in SAID_IN_ARGILLA.items()
        for column, one in (("responses", said), ("responses.users", "u1"), ("responses.status", ""))}
]  # fmt: skip
DOCCANO = [
    {"id": 3, "text": "Reply", **PLACE, "username": "ana",
     "label": ["safe: 1", "mood: Loud", "helpful: 2", "faults: tone", "faults: facts", "solved: 0"],
     "answers": {"minutes": 2.5, "why": ANSWERS["why"]}}
]  # fmt: skip
PRODIGY = [
    {"text": "Reply", "answer": "accept", "_annotator_id": "ana", "_timestamp": 1700000000,
     "meta": {**PLACE, "criterion": key},
     **({"accept": [str(one) for one in (said if type(said) is list else [said])]}
        if key not in ("why", "minutes") else {"user_input": str(said)})}
    for key, said in ANSWERS.items()
]  # fmt: skip
WIDE = [{"text": "Reply", **PLACE, **ANSWERS, "faults": '["tone", "facts"]', "annotator": "ana"}]
BY_TOOL = {
    "studio.json": STUDIO,
    "studio-min.json": STUDIO_MIN,
    "argilla.json": ARGILLA,
    "argilla-1.json": ARGILLA_1,
    "argilla-hub.jsonl": ARGILLA_HUB,
    "doccano.jsonl": DOCCANO,
    "prodigy.jsonl": PRODIGY,
    "wide.csv": WIDE,
}


def write_tool_file(folder: Path, name: str) -> Path:
    if not name.endswith(".csv"):
        return write(folder, BY_TOOL[name], name)
    path = folder / name
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(BY_TOOL[name][0]))
        writer.writeheader()
        writer.writerows(BY_TOOL[name])
    return path


@pytest.mark.parametrize("name", BY_TOOL)
def test_answers_given_in_a_tool_are_read(tmp_path: Path, dataset: Dataset, name: str) -> None:
    path = write_tool_file(tmp_path, name)
    options: dict[str, Any] = {"dataset_name": "support", "persona": "warm_v1", "schema": "kinds@1"}
    done = import_annotations(path, **options)
    judged = Judgment.objects.select_related("rater", "turn__session").get()
    assert (judged.codes, judged.texts) == STORED
    assert (judged.turn.session.session_id, judged.turn.turn_index) == ("s1", 2)
    assert judged.rater.name in ("ana@x.test", "4", "u1", "ana")
    assert done.unmapped == (1 if name == "studio.json" else 0)
    assert import_annotations(path, **options).saved.added == 0


def test_a_wrong_answer_is_refused_with_its_record(tmp_path: Path, dataset: Dataset) -> None:
    wrong = [*STUDIO, {**STUDIO[0], "annotations": [{"result": [result("safe", "choices", ["maybe"])]}]}]
    options: dict[str, Any] = {"dataset_name": "support", "persona": "warm_v1"}
    with pytest.raises(UserError) as refused:
        import_annotations(write(tmp_path, wrong, "x.json"), schema="kinds@1", **options)
    [problem] = refused.value.details["problems"]
    assert (problem["line"], problem["field"]) == (2, "value")
    with pytest.raises(UserError, match="There is no schema kinds@9"):
        import_annotations(write(tmp_path, wrong, "x.json"), schema="kinds@9", **options)
    incomplete = [{**STUDIO[0], "annotations": [{"result": [result("safe", "choices", ["Yes"])]}]}]
    with pytest.raises(UserError) as refused:
        import_annotations(write(tmp_path, incomplete, "x.json"), schema="kinds@1", **options)
    assert "mood has no answer" in refused.value.details["problems"][0]["message"]
    assert not Judgment.objects.exists()


def _replace_texts(value: Any, by: Any) -> Iterator[Any]:
    """The value with another in place of one of its texts, for each of them."""
    if type(value) is str:
        yield by
    if type(value) in (dict, list):
        for key, item in value.items() if type(value) is dict else enumerate(value):
            for changed in _replace_texts(item, by):
                copy = value.copy()
                copy[key] = changed
                yield copy


@pytest.mark.parametrize("name", [name for name in BY_TOOL if not name.endswith(".csv")])
def test_hostile_files_of_tools_are_refused(tmp_path: Path, dataset: Dataset, name: str) -> None:
    details = result("annotation-details", "textarea", ['{"a": "\\ud800"}'], "text")
    records = [
        *(one for by in ("a\0b", ["x"]) for one in _replace_texts(BY_TOOL[name][0], by)),
        {**STUDIO[0], "annotations": [{"result": [details]}]},
        {**STUDIO[0], "annotations": [{"result": [result("annotation-details", "text", "[" * 5000)]}]},
    ]
    for record in records:
        path = write(tmp_path, [record], name)
        with contextlib.suppress(UserError), transaction.atomic():
            import_annotations(path, dataset_name="support", persona="warm_v1", schema="kinds@1")
            transaction.set_rollback(True)
    assert not Judgment.objects.exists()


def make_answers(folder: Path, **fields: Any) -> None:
    lines = [
        {"text": "", "criterion": key, "value": value, "schema": "kinds@1", "persona_id": "warm_v1", **PLACE,
         "annotator": "ana", **fields}
        for key, value in ANSWERS.items()
    ]  # fmt: skip
    import_annotations(write_jsonl(folder / "answers.jsonl", lines), dataset_name="support")


def export(dataset: Dataset, schema: LabelSchema, format: str) -> tuple[str, list[str]]:
    out = BytesIO()
    done = export_annotations(dataset, schema=schema, out=out, format=format)
    return out.getvalue().decode(errors="replace"), done.omissions


CONDITIONAL = """\
schema: reasons
criteria:
  - {key: safe, question: Is it safe?, kind: yes_no}
  - {key: rules, question: Which rules?, kind: tags, answers: [privacy, harm], when: {safe: 0}}
  - {key: why, question: Why?, kind: text, when: {safe: 0}}
  - {key: mood, question: Which mood?, kind: choice, answers: [calm, {value: 7, name: Loud}]}
  - {key: helpful, question: How helpful?, kind: ordinal, answers: [1, 2, 3]}
  - {key: minutes, question: How many minutes?, kind: number, optional: true}
  - {key: solved, question: Is it solved?, kind: yes_no, of: session}
"""


@pytest.mark.parametrize("format", FORMATS)
def test_a_campaign_comes_back_in_an_empty_dataset(tmp_path: Path, dataset: Dataset, format: str) -> None:
    """With marked words, notes, times, confidence, and answers that only some replies have."""
    schema = import_schema(CONDITIONAL).schema
    campaign = make_campaign(dataset, "ana", "ben", overlap=2, schema=schema)
    for number, name in enumerate(("ana", "ben")):
        while current := lease_for(campaign, name).current:
            said: dict[str, Any] = {"safe": number, "mood": 7, "helpful": 3, "solved": 1}
            if not number:
                said |= {"rules": [], "why": "Two\nlines, =1+1", "minutes": 2.5, "mood": "calm"}
            marked = {"digest": digest_text(current.item.turn.text), "spans": [[0, 4], [6, 9]]}
            submit(current, label=None, answers=said, notes="A note.", confidence=0.75, evidence=marked)
    assert Judgment.objects.filter(evidence__isnull=False).count() == 6
    before = BytesIO()
    done = export_annotations(dataset, schema=schema, campaign=campaign, out=before)
    assert (done.labels, done.answers) == (6, 3 * 7 + 3 * 4)
    path = tmp_path / f"labels.{FORMATS[format].ending}"
    with path.open("wb") as file:
        export_annotations(dataset, schema=schema, campaign=campaign, out=file, format=format)
    for known in (0, 6):
        saved = import_annotations(path, dataset_name="empty", create=True).saved
        assert (saved.added, saved.known) == (6 - known, known)
    empty = Dataset.objects.get(name="empty")
    text_gates.scan_and_describe(empty)
    export_annotations(empty, schema=schema, out=(after := BytesIO()))
    assert sorted(after.getvalue().splitlines()) == sorted(before.getvalue().splitlines())


def test_each_tool_gets_its_own_form(tmp_path: Path, dataset: Dataset, schema: LabelSchema) -> None:
    make_answers(tmp_path)
    text = dataset.turns.get(session__session_id="s1", turn_index=2).text
    said, notes = export(dataset, schema, "labelstudio")
    [task] = json.loads(said)
    assert task["data"] == {"text": text, **PLACE, "persona_id": "warm_v1"}
    found = {one["from_name"]: (one["type"], one["value"]) for one in task["annotations"][0]["result"]}
    assert found["safe"] == ("choices", {"choices": ["1"]})
    assert found["helpful"] == ("rating", {"rating": 2})
    assert found["minutes"] == ("number", {"number": 2.5})
    assert found["why"] == ("textarea", {"text": [ANSWERS["why"]]})
    assert notes == []
    said, notes = export(dataset, schema, "argilla")
    record = json.loads(said)
    assert record["fields"] == {"text": text}
    assert record["responses"]["faults"][0]["value"] == ["tone", "facts"]
    assert notes == ["1 answer: numbers are texts: Argilla has no question for them"]
    said, notes = export(dataset, schema, "doccano")
    assert json.loads(said)["label"] == [
        "safe: 1", "mood: 7", "helpful: 2", "faults: tone", "faults: facts", "solved: 0",
    ]  # fmt: skip
    assert notes == [
        "2 answers: numbers, texts and empty choices of tags are metadata: doccano has no labels for them"
    ]
    tasks = [json.loads(line) for line in export(dataset, schema, "prodigy")[0].splitlines()]
    assert [task["meta"]["criterion"] for task in tasks] == list(ANSWERS)
    assert tasks[1]["options"] == [{"id": "calm", "text": "Calm"}, {"id": "7", "text": "Loud"}]
    assert (tasks[1]["accept"], tasks[5]["user_input"]) == (["7"], ANSWERS["why"])
    with pytest.raises(UserError, match="The format must be one of jsonl, csv"):
        export(dataset, schema, "xml")


@st.composite
def label_lines(draw: st.DrawFn) -> list[dict[str, Any]]:
    optional = {"notes": texts, "timestamp": timestamps, "confidence": st.floats(0, 1), "worker": texts}
    who = draw(st.lists(names.filter(lambda name: len(name) < 40), min_size=1, max_size=4, unique=True))
    return [
        {"text": "", "label": draw(st.sampled_from([0, 1])), "persona_id": "warm_v1", **PLACE,
         "annotator": name, **draw(st.fixed_dictionaries({}, optional=optional))}
        for name in who
    ]  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
@settings(
    max_examples=10 * EXAMPLES_FACTOR,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(lines=label_lines(), reply=names)
def test_labels_of_the_built_in_criterion_come_back(
    tmp_path_factory: Any, format: str, lines: list[dict[str, Any]], reply: str
) -> None:
    path = tmp_path_factory.mktemp("files")
    with transaction.atomic():
        turns = make_sessions(1)
        turns[1]["text"] = reply
        first, copy = (make_dataset(path, turns, name) for name in ("first", "copy"))
        import_annotations(write_jsonl(path / "given.jsonl", lines), dataset_name="first")
        of_tool = path / f"file.{FORMATS[format].ending}"
        of_tool.write_bytes(export_labels(first, format))
        import_annotations(of_tool, dataset_name="copy")
        assert export_labels(copy, "jsonl") == export_labels(first, "jsonl")
        assert Annotation.objects.filter(dataset=copy).count() == len(lines)
        transaction.set_rollback(True)


def export_labels(dataset: Dataset, format: str) -> bytes:
    text_gates.scan_and_describe(dataset)
    out, why = BytesIO(), "A test of arbitrary characters."
    export_annotations(dataset, persona="warm_v1", labels="all", format=format, out=out, override=why)
    return out.getvalue()


def test_the_api_reads_files_of_tools(tmp_path: Path, dataset: Dataset) -> None:
    caller = Caller(make_user("lead"))
    path = "/datasets/support/labels?persona=warm_v1&label_schema=kinds@1"
    answer = caller("POST", path, write_tool_file(tmp_path, "prodigy.jsonl").read_bytes())
    assert answer.json()["saved"]["added"] == 1, answer.content
