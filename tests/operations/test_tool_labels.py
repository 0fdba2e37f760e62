"""Labels of other tools: which become annotations, which stay with their questions, and of whom."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.label_rules import LabelRules, map_labels, read_label_rules
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.importing.parameters import ImportOptions
from datasets_app.importing.preview import preview_upload
from datasets_app.models import Session, Turn
from tests.traces.reading import write

HI, HELLO, SO, BYE = "Hi, is it open?", "Hello! It is.", "So when does it close?", "At six."
PAIR = [{"role": "user", "content": HI}, {"role": "assistant", "content": HELLO}]
CHAT = [*PAIR, {"role": "user", "content": SO}, {"role": "assistant", "content": BYE}]
T = "2024-05-01T10:00:00Z"


def answer(name: str, value: Any, kind: str = "choices", **place: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": "chat", "type": kind, "value": {kind: value, **place}}


LABEL_STUDIO = [
    {
        "id": 7,
        "data": {"dialogue": [{"author": who["role"], "text": who["content"]} for who in CHAT]},
        "annotations": [
            {"completed_by": {"email": "ann@x.test"}, "created_at": T, "result": [
                answer("brand", ["On-brand"], "paragraphlabels", start="1", end="1"),
                answer("on_brand", ["no"]), answer("tone", ["warm"])]},
            {"completed_by": 2, "result": [answer("on_brand", ["Yes"])]},
            {"completed_by": 3, "was_cancelled": True, "result": [answer("on_brand", ["no"])]},
        ],
    }
]  # fmt: skip
ARGILLA = [
    {"id": "a", "fields": {"chat": CHAT}, "metadata": {}, "responses": {
        "on_brand": [{"value": "no", "user_id": "u1"}, {"value": "yes", "user_id": "u2"},
                     {"value": "yes", "user_id": "u3", "status": "discarded"}],
        "stars": [{"value": 1, "user_id": "u1"}]}}
]  # fmt: skip
ARGILLA_HUB = [
    {"id": "a", "chat": CHAT, "brand.responses": ["👍", "👎", "👎"],
     "brand.responses.users": ["u1", "u2", "u3"],
     "brand.responses.status": ["submitted", "submitted", "discarded"]}
]  # fmt: skip
TRANSCRIPT = f"user: {HI}\nassistant: {HELLO}"
PRODIGY = [
    {"text": TRANSCRIPT, "label": "ON_BRAND", "_input_hash": 5, "_task_hash": 6, "answer": given,
     "_annotator_id": who}
    for given, who in (("accept", "ann"), ("reject", "ben"), ("ignore", "cy"))
]  # fmt: skip
DOCCANO = [
    {"id": 3, "text": TRANSCRIPT, "label": ["on-brand"], "username": "ann"},
    {"id": 3, "text": TRANSCRIPT, "label": ["off-brand"], "username": "ben"},
    {"id": 4, "text": TRANSCRIPT, "annotations": [{"label": 1, "user": 4}]},
]
JSON_MIN = [
    {"dialogue": PAIR, "id": 9, "brand": value, "annotator": who, "annotation_id": who, "lead_time": 3.5}
    for value, who in (("Yes", 1), ("No", 2))
]
ROWS = (
    "chat,turn,speaker,message,annotator,on_brand,notes\n"
    f"s,1,user,\"{HI}\",ann,,\ns,2,assistant,{HELLO},ann,yes,fine\n"
    f"s,1,user,\"{HI}\",ben,,\ns,2,assistant,{HELLO},ben,no,\n"
)  # fmt: skip
WIDE = f'question,answer,label_ann,label_ben\n"{HI}",{HELLO},1,0\n'

# (file, content, labels as (annotator, text, label), those that stay)
FILES: list[tuple[str, Any, list[tuple[str | None, str, int]], int]] = [
    ("studio.json", LABEL_STUDIO, [("2", BYE, 1), ("ann@x.test", BYE, 0), ("ann@x.test", HELLO, 1)], 1),
    ("argilla.json", ARGILLA, [("u1", BYE, 0), ("u2", BYE, 1)], 1),
    ("hub.jsonl", ARGILLA_HUB, [("u1", BYE, 1), ("u2", BYE, 0)], 0),
    ("prodigy.jsonl", PRODIGY, [("ann", HELLO, 1), ("ben", HELLO, 0)], 0),
    ("doccano.jsonl", DOCCANO, [("ann", HELLO, 1), ("ben", HELLO, 0)], 1),
    ("min.json", JSON_MIN, [("1", HELLO, 1), ("2", HELLO, 0)], 0),
    ("rows.csv", ROWS, [("ann", HELLO, 1), ("ben", HELLO, 0)], 0),
    ("wide.csv", WIDE, [("ann", HELLO, 1), ("ben", HELLO, 0)], 0),
]


def list_labels(dataset: str) -> list[tuple[str | None, str, int]]:
    rows = Annotation.objects.filter(dataset__name=dataset)
    return sorted(rows.values_list("annotator", "turn__text", "label"), key=str)


def import_file(path: Path, name: str, **options: Any) -> dict[str, Any]:
    return import_dataset(
        [ImportSource(path, path.name)], name=name, options=ImportOptions(persona="p", **options)
    )


@pytest.mark.django_db
def test_labels_of_each_tool_become_annotations_once(tmp_path: Path) -> None:
    wrong = []
    for name, content, expected, kept in FILES:
        path, dataset = write(tmp_path, content, name), name.partition(".")[0]
        result = import_file(path, dataset)
        found = list_labels(dataset)
        if found != sorted(expected, key=str) or result.get("kept_labels", 0) != kept:
            wrong.append((name, found, result.get("kept_labels")))
        again = import_annotations(path, dataset_name=dataset, persona="p")
        if again.saved.added or again.saved.sessions_added or again.unmapped != kept:
            wrong.append((name, "again", again))
    assert wrong == []
    kept = Turn.objects.get(session__dataset__name="studio", turn_index=4).metadata["labels"]
    tone = {"question": "tone", "value": "warm", "annotator": "ann@x.test", "about": "chat", "timestamp": T}
    assert tone in kept
    note = Annotation.objects.get(dataset__name="rows", annotator="ann")
    assert note.notes == "fine"
    assert Session.objects.filter(dataset__name="rows").get().turn_count == 2


@pytest.mark.django_db
def test_the_meaning_of_values_and_the_question_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, LABEL_STUDIO, "x.json")
    import_file(path, "by-value", labels=read_label_rules("", "warm=off-brand, yes=1"))
    assert list_labels("by-value") == [("2", BYE, 1), ("ann@x.test", BYE, 0)]
    import_file(path, "by-question", labels=LabelRules("on_brand"))
    assert list_labels("by-question") == [("2", BYE, 1), ("ann@x.test", BYE, 0)]
    with pytest.raises(UnreadableFile):
        read_label_rules("", "good")
    assert map_labels([("brand", "1"), ("brand", "4"), ("brand", "no")], LabelRules()) == {("brand", "no"): 0}
    with path.open("rb") as file:
        preview = preview_upload(file, "x.json")
    assert preview.questions == [
        ("on_brand", "1 on-brand, 1 off-brand"),
        ("brand", "1 on-brand"),
        ("tone", "1 kept in the metadata"),
    ]
    assert preview.annotators == 2


@pytest.mark.django_db
def test_labeled_texts_find_their_turns(tmp_path: Path) -> None:
    lines = [
        {"session_id": "s", "turn_index": n, "role": m["role"], "text": m["content"]}
        for n, m in enumerate(CHAT, 1)
    ]
    import_file(write(tmp_path, lines, "chats.jsonl"), "chats")
    place = {"session_id": "s", "turn_index": 2}
    files: list[tuple[str, Any]] = [
        ("doccano.jsonl", [{"text": HELLO, "label": ["on-brand"], "username": "a"}]),
        ("prodigy.jsonl", [{"text": "Scrubbed.", "meta": place, "label": "off-brand", "answer": "accept",
                            "_task_hash": 1, "_annotator_id": "b"}]),
        ("studio.json", [{"id": 1, "data": {"text": HELLO, **place}, "annotations": [
            {"completed_by": 5, "result": [answer("on_brand", ["yes"])]}]}]),
        ("argilla.json", [{"id": "1", "fields": {"reply": BYE}, "metadata": {"session_id": "s"},
                           "responses": {"on_brand": [{"value": "no", "user_id": "u"}]}}]),
        ("table.csv", f"text,label,annotator,session_id,turn_index\n{BYE},1,t,s,4\n"),
    ]  # fmt: skip
    for name, content in files:
        path = write(tmp_path, content, name)
        for added in (1, 0):
            saved = import_annotations(path, dataset_name="chats", persona="p").saved
            assert (saved.added, saved.sessions_added) == (added, 0), name
    assert list_labels("chats") == sorted(
        [("a", HELLO, 1), ("b", HELLO, 0), ("5", HELLO, 1), ("u", BYE, 0), ("t", BYE, 1)], key=str
    )
    other = write(tmp_path, [{"text": HELLO, "label": ["refund"], "username": "a"}], "other.jsonl")
    with pytest.raises(UserError, match="1 label of label, but none that says on-brand"):
        import_annotations(other, dataset_name="chats", persona="p")
    own = write(tmp_path, json.dumps({"text": BYE, "label": "good", "annotator": "o"}) + "\n", "own.jsonl")
    rules = read_label_rules("", "good=1")
    assert import_annotations(own, dataset_name="chats", persona="p", rules=rules).saved.added == 1


@pytest.mark.django_db
def test_tables_as_spreadsheets_write_them(tmp_path: Path) -> None:
    """Names of columns with capitals, whole numbers with a fraction, and rows without a label or a text."""
    import_file(write(tmp_path, ROWS, "chats.csv"), "chats")
    table = f"Text,Label,Session ID,Annotator\n{HELLO},1.0,s,x\n{HELLO},0.0,s,y\n{HELLO},,s,z\n,1.0,s,z\n"
    found = import_annotations(write(tmp_path, table, "t.csv"), dataset_name="chats", persona="q")
    assert (found.saved.added, found.saved.sessions_added) == (2, 0)
    assert found.warnings == ["Left out: 2 records without a text or a label (lines 4 and 5)."]
    scale = write(tmp_path, f"text,label\n{HELLO},1.0\n{HELLO},0.5\n", "scale.csv")
    with pytest.raises(UserError, match="none that says on-brand"):
        import_annotations(scale, dataset_name="chats", persona="q")
