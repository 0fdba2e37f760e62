"""Labels go out ordered by turn, whole or not at all, and it is told how balanced they are."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from annotations_app.models import Annotation
from annotations_app.operations.export_annotations import ExportedLabels, export_annotations
from datasets_app.models import AuditEvent, Dataset, Turn
from datasets_app.operations.refused import Refused
from tests.factories import dataset, sessions

pytestmark = pytest.mark.django_db


def annotate(stored: Dataset, session_id: str, turn_index: int, **fields: Any) -> Annotation:
    turn = Turn.objects.get(session__dataset=stored, session__session_id=session_id, turn_index=turn_index)
    given = {"label": 1, "persona_id": "p"} | fields
    return Annotation.objects.create(dataset=stored, turn=turn, **given)


def exported(stored: Dataset, **given: Any) -> tuple[list[dict[str, Any]], ExportedLabels]:
    out = io.BytesIO()
    done = export_annotations(stored, persona=given.pop("persona", "p"), out=out, **given)
    return [json.loads(line) for line in out.getvalue().splitlines()], done


def test_labels_are_ordered_by_turn_and_then_as_they_were_given(tmp_path: Path) -> None:
    stored = dataset(tmp_path, sessions(3, 4))
    for place in (("s3", 2), ("s1", 4), ("s1", 2), ("s2", 2), ("s1", 2)):
        annotate(stored, *place)
    lines, _ = exported(stored)
    assert [(line["session_id"], line["turn_index"]) for line in lines] == [
        ("s1", 2),
        ("s1", 2),
        ("s1", 4),
        ("s2", 2),
        ("s3", 2),
    ]


def test_a_line_has_what_there_is_and_the_annotator_under_both_names(tmp_path: Path) -> None:
    stored = dataset(tmp_path, sessions(1))
    annotate(stored, "s1", 2)
    annotate(
        stored,
        "s1",
        2,
        label=0,
        annotator="ada",
        notes="",
        confidence=0.5,
        timestamp="2025-01-01",
        extra={"k": None},
    )
    bare, full = exported(stored)[0]
    place = {
        "text": "What assistant says as number 2 of s1.",
        "persona_id": "p",
        "session_id": "s1",
        "turn_index": 2,
    }
    assert bare == place | {"label": 1}
    assert full == place | {
        "label": 0,
        "annotator": "ada",
        "labeler": "ada",
        "notes": "",
        "confidence": 0.5,
        "timestamp": "2025-01-01",
        "k": None,
    }


def test_only_labels_of_the_persona_and_of_the_dataset_go_out(tmp_path: Path) -> None:
    stored, other = dataset(tmp_path, sessions(1)), dataset(tmp_path, sessions(1), name="other")
    annotate(stored, "s1", 2)
    annotate(stored, "s1", 2, persona_id="q")
    annotate(other, "s1", 2)
    assert len(exported(stored)[0]) == 1


@pytest.mark.parametrize(
    ("on", "off", "warned"),
    [
        (30, 30, []),
        (36, 24, []),
        (37, 23, ["unbalanced"]),
        (10, 10, ["fewer"]),
        (49, 0, ["fewer", "unbalanced"]),
    ],
)
def test_balance_and_size_are_judged(on: int, off: int, warned: list[str]) -> None:
    warnings = ExportedLabels(on + off, on).warnings
    assert [warning.split()[0].rstrip(":") for warning in warnings] == warned


def test_what_has_no_labels_is_refused_with_what_there_is(tmp_path: Path) -> None:
    stored = dataset(tmp_path, sessions(1))
    with pytest.raises(Refused, match="no labels at all"):
        exported(stored)
    annotate(stored, "s1", 2, persona_id="q")
    with pytest.raises(Refused, match="labels for: q"):
        exported(stored)
    with pytest.raises(Refused, match="one of all"):
        exported(stored, labels="majority")
    assert not AuditEvent.objects.filter(action="export_annotations").exists()


def test_nothing_goes_out_that_the_trail_does_not_know_of(tmp_path: Path) -> None:
    stored = dataset(tmp_path, sessions(1))
    annotate(stored, "s1", 2)

    class Watched(io.BytesIO):
        def write(self, block: Any) -> int:
            assert AuditEvent.objects.filter(action="export_annotations").exists()
            return super().write(block)

    export_annotations(stored, persona="p", out=Watched())
    event = AuditEvent.objects.get(action="export_annotations")
    assert event.details == {"persona_id": "p", "labels": 1, "on_brand": 1}
