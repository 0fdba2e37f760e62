"""Marked words: stored with the label, exported, shown, dropped when a scrub changes the text."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations_app.criteria.schemas import import_schema
from annotations_app.domain.evidence import digest_text
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation, Campaign, Judgment
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import AuditEvent, Dataset, ScrubRun, Turn
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.campaigns import find_inconsistencies, lease_for, make_campaign, make_replies, submit
from tests.everything import make_user_with
from tests.factories import write_jsonl

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 4)


@pytest.fixture
def campaign(dataset: Dataset) -> Campaign:
    return make_campaign(dataset, "ana", "ben", overlap=2)


def mark(assignment: Any, *spans: list[int], **options: Any) -> Any:
    digest = digest_text(assignment.item.turn.text)
    return submit(assignment, evidence={"digest": digest, "spans": list(spans)}, **options)


def read_lines(written: BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_stored_changed_and_taken_back_with_the_label(campaign: Campaign) -> None:
    first = lease_for(campaign, "ana").current
    mark(first, [0, 4])
    assert Annotation.objects.get().evidence == {
        "digest": digest_text(first.item.turn.text),
        "spans": [[0, 4]],
    }
    mark(first, [2, 3])
    assert Annotation.objects.get().evidence["spans"] == [[2, 3]]
    with pytest.raises(UserError, match="has changed"):
        submit(first, evidence={"digest": "0" * 64, "spans": [[0, 1]]})
    submit(first)
    assert Annotation.objects.get().evidence is None
    submit(first, "undo")
    mark(first, [0, 1])
    submit(first, "skip", evidence={"digest": "", "spans": [[0, 1]]})
    assert not find_inconsistencies()


def test_labels_without_marked_words_cost_nothing(campaign: Campaign) -> None:
    counts = []
    for marked in (False, True):
        current = lease_for(campaign, "ana").current
        with CaptureQueriesContext(connection) as queries:
            mark(current, [0, 1]) if marked else submit(current)
        counts.append(len(queries))
    assert counts[1] == counts[0] + 1


def test_exported_with_each_label(campaign: Campaign, dataset: Dataset) -> None:
    current = lease_for(campaign, "ana").current
    mark(current, [0, 4], [6, 8])
    submit(lease_for(campaign, "ben").current)
    export_annotations(dataset, persona="warm_v1", labels="all", out=(out := BytesIO()))
    lines = {line["annotator"]: line for line in read_lines(out)}
    assert lines["ana"]["evidence"] == [{"start": 0, "end": 4}, {"start": 6, "end": 8}]
    assert "evidence" not in lines["ben"]
    schema = import_schema("schema: s\ncriteria:\n  - {key: a, question: A?, kind: yes_no}\n").schema
    judged = make_campaign(dataset, "ana", name="judged", schema=schema)
    mark(lease_for(judged, "ana").current, [1, 2], label=None, answers={"a": 1})
    assert Judgment.objects.get().evidence["spans"] == [[1, 2]]
    export_annotations(judged.dataset, schema=judged.schema, campaign=judged, out=(out := BytesIO()))
    assert [line["evidence"] for line in read_lines(out)] == [[{"start": 1, "end": 2}]]


def test_dropped_with_a_count_when_a_scrub_changes_the_text(campaign: Campaign, dataset: Dataset) -> None:
    first, second = lease_for(campaign, "ana").leased[:2]
    Turn.objects.filter(pk=first.item.turn_id).update(text="Write to jane.roe@example.org about the bill.")
    first.item.turn.refresh_from_db()
    for assignment in (first, second):
        mark(assignment, [0, 5])
    scrub_dataset(dataset, Policy())
    assert "[EMAIL]" in Turn.objects.get(pk=first.item.turn_id).text
    left = {label.turn_id: label.evidence for label in Annotation.objects.all()}
    assert left[first.item.turn_id] is None
    assert left[second.item.turn_id]["spans"] == [[0, 5]]
    assert ScrubRun.objects.get().verification["dropped_evidence"] == 1
    assert AuditEvent.objects.get(action="scrub").details["dropped_evidence"] == 1


def test_imported_marks_are_dropped_too(campaign: Campaign, dataset: Dataset, tmp_path: Path) -> None:
    schema = import_schema("schema: s\ncriteria:\n  - {key: a, question: A?, kind: yes_no}\n").schema
    turns = {turn.session.session_id: turn for turn in dataset.turns.filter(turn_index=2)}
    turns["s1"].text = "Write to jane.roe@example.org about the bill."
    turns["s1"].save(update_fields=["text"])
    lines = [
        {"text": turns[session].text, "persona_id": "warm_v1", "session_id": session, "turn_index": 2,
         "annotator": "cid", "evidence": [{"start": 0, "end": 5}], **said}
        for session in ("s1", "s2")
        for said in ({"label": 1}, {"criterion": "a", "value": 1, "schema": "s@1"})
    ]  # fmt: skip
    # What isn't in the text is no mark, but a field that nobody knows.
    lines.append({**lines[0], "annotator": "dan", "evidence": [{"start": 0, "end": 500}]})
    path = write_jsonl(tmp_path / "marked.jsonl", lines)
    assert import_annotations(path, dataset_name=dataset.name).saved.added == 5
    assert import_annotations(path, dataset_name=dataset.name).saved.added == 0
    export_annotations(dataset, persona="warm_v1", labels="all", out=(out := BytesIO()), override="A test")
    assert [line["evidence"][0]["end"] for line in read_lines(out)] == [5, 500, 5]
    scrub_dataset(dataset, Policy())
    assert ScrubRun.objects.get().verification["dropped_evidence"] == 2
    for rows in (Annotation.objects.filter(annotator="cid"), Judgment.objects.all()):
        left = {row.turn.session.session_id: row.evidence for row in rows}
        assert (left["s1"], left["s2"]["spans"]) == (None, [[0, 5]])
    assert import_annotations(path, dataset_name=dataset.name).saved.added == 0
    export_annotations(dataset, schema=schema, out=(out := BytesIO()))
    assert [line.get("evidence") for line in read_lines(out)] == [None, [{"start": 0, "end": 5}]]


def test_shown_in_adjudication_and_on_the_page_again(campaign: Campaign, client: Client) -> None:
    current = lease_for(campaign, "ana").current
    words = current.item.turn.text[:6]
    mark(current, [0, 6], label=0)
    other = next(one for one in lease_for(campaign, "ben").leased if one.item_id == current.item_id)
    submit(other, label=1)
    client.force_login(current.annotator)
    page = client.get(reverse("annotate:queue", args=[campaign.name])).content.decode()
    assert 'data-spans="[[0, 6]]"' in page
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    page = client.get(
        f"{reverse('admin:annotations_app_campaign_adjudicate')}?campaign={campaign.pk}", follow=True
    )
    assert f">{words}</q>" in page.content.decode()


def test_exported_with_an_adjudicated_label(dataset: Dataset, tmp_path: Path) -> None:
    line = {"text": dataset.turns.filter(turn_index=2)[0].text, "label": 1, "persona_id": "warm_v1"}
    line |= {"annotator": "lead", "evidence": [{"start": 0, "end": 5}]}
    path = write_jsonl(tmp_path / "gold.jsonl", [line])
    assert import_annotations(path, dataset_name=dataset.name, adjudicated=True).saved.added == 1
    export_annotations(dataset, persona="warm_v1", labels="adjudicated", out=(out := BytesIO()))
    assert [one["evidence"] for one in read_lines(out)] == [line["evidence"]]
