"""Agreement measured from the database: the labels that count, whatever order and number they come in."""

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from annotations_app.agreement.measure import measure_agreement, measure_files
from annotations_app.domain import label_table
from annotations_app.domain.agreement.agreement_report import AgreementReport
from annotations_app.labels import label_counts
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.models import Annotation, Campaign, CampaignItem
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, Persona, Session, Turn
from tests.conftest import as_owner
from tests.domain.test_agreement_report import close
from tests.factories import make_dataset, make_sessions, write_jsonl

pytestmark = pytest.mark.django_db
BY = ("annotator", "persona", "tag", "split", "month")


def labelled(stored: Dataset, rows: list[dict[str, Any]]) -> None:
    """Rows with a place (session, turn index) and what else is not as usual."""
    turns = {
        (turn.session.session_id, turn.turn_index): turn
        for turn in Turn.objects.filter(session__dataset=stored).select_related("session")
    }
    Annotation.objects.bulk_create(
        Annotation(**{"dataset": stored, "persona_id": "p", "turn": turns[row.pop("place")]} | row)
        for row in rows
    )


def at_random(stored: Dataset, seed: int, rows: int) -> None:
    """Labels of every kind and shape that there is."""
    chance = random.Random(seed)
    places = [(f"s{number}", index) for number in range(1, 7) for index in (2, 4, 6)]
    times = ["2025-11-03T14:25:00Z", "20251203T142500", "2025-10-30", None]
    labelled(
        stored,
        [
            {
                "place": chance.choice(places),
                "annotator": chance.choice(["ada", "ben", "chi", "dän", "", None]),
                "label": chance.randrange(2),
                "persona_id": chance.choice(["p", "p", "q"]),
                "timestamp": chance.choice(times[:3]),
                "kind": chance.choice(["label"] * 8 + ["repeat", "withdrawn"]),
            }
            for _ in range(rows)
        ],
    )


def comparable(report: AgreementReport) -> dict[str, Any]:
    """What a file can know as well: no gold, no repeats."""
    value: dict[str, Any] = json.loads(json.dumps(report.as_json(), allow_nan=False))
    for known in (value, *value["per_annotator"]):
        for key in ("gold", "self", "self_agreement"):
            known.pop(key, None)
    return value


@pytest.mark.parametrize(("seed", "rows"), [(1, 0), (2, 1), (3, 12), (4, 80), (5, 300)])
def test_a_dataset_and_the_file_of_its_labels_agree_on_agreement(
    tmp_path: Path, seed: int, rows: int
) -> None:
    stored = make_dataset(tmp_path, make_sessions(6, 6))
    at_random(stored, seed, rows)
    path = tmp_path / "labels.jsonl"
    with path.open("wb") as file:
        for persona in ("p", "q"):
            if Annotation.objects.filter(persona_id=persona, kind="label").exists():
                out = io.BytesIO()
                export_annotations(stored, persona=persona, out=out, labels="all")
                file.write(out.getvalue())
    by = ("annotator", "persona", "month")
    of_rows = comparable(measure_agreement(dataset=stored, by=by, resamples=50))
    close(of_rows, comparable(measure_files([path], by=by, resamples=50)))
    assert of_rows["labels"] <= rows


def test_turns_far_apart_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = make_dataset(tmp_path, make_sessions(6, 6))
    at_random(stored, 6, 120)
    usual = measure_agreement(dataset=stored, by=BY, resamples=20).as_json()
    sizes = {"MAX_LISTED_TURNS": 0, "TURN_BITS": 1}
    for module, name, value in (
        (label_table, "MAX_SPARSENESS", 0),
        *((label_counts, name, value) for name, value in sizes.items()),
    ):
        monkeypatch.setattr(module, name, value)
        close(usual, measure_agreement(dataset=stored, by=BY, resamples=20).as_json())


def test_more_than_two_answers_are_read_with_their_annotators(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    with as_owner() as cursor:
        # Until the rollback, labels may be answers to a question of more than two.
        cursor.execute("ALTER TABLE annotations_app_annotation DROP CONSTRAINT annotation_label_0_or_1")
    said = {f"annotator {code}": code for code in (0, 1, 2, 63, 64, 99)}
    place = {"place": ("s1", 2)}
    labelled(stored, [place | {"annotator": name, "label": code} for name, code in said.items()])
    labelled(stored, [place | {"annotator": None, "label": 99}])
    table = label_counts.read_labels([label_counts.LabelScope(stored.pk, "p")])
    annotators = [table.names[who] if who >= 0 else None for who in table.annotator]
    found = list(zip(annotators, table.label.tolist(), strict=True))
    assert dict(found[1:]) == said
    assert found[0] == (None, 99)


def test_of_several_labels_by_one_annotator_the_last_saved_counts(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    first = {"place": ("s1", 2), "annotator": "ada", "timestamp": "2025-12-01"}
    labelled(stored, [first | {"label": 0}, first | {"label": 1, "timestamp": "2025-01-01"}])
    labelled(stored, [{"place": ("s1", 2), "annotator": "ben", "label": 1}])
    report = measure_agreement(dataset=stored)
    assert (report.headline.labels, report.headline.raw_agreement.value) == (2, 1)


def test_personas_are_judged_apart_and_told_apart(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    both = [
        {"place": ("s1", 2), "annotator": name, "label": label, "persona_id": persona}
        for name, label, persona in [("ada", 1, "p"), ("ben", 1, "p"), ("ada", 0, "q"), ("ben", 1, "q")]
    ]
    labelled(stored, both)
    report = measure_agreement(dataset=stored, by=["persona"])
    assert (report.headline.items, report.headline.raw_agreement.value) == (2, 0.5)
    assert {name: part.raw_agreement.value for name, part in report.by["persona"].items()} == {
        "p": 1,
        "q": 0,
    }
    assert measure_agreement(dataset=stored, persona_id="q").headline.labels == 2
    assert measure_agreement(dataset=stored, persona_id="nobody").headline.labels == 0


def test_other_datasets_are_not_looked_at(tmp_path: Path) -> None:
    stored, other = (
        make_dataset(tmp_path, make_sessions(1)),
        make_dataset(tmp_path, make_sessions(1), name="other"),
    )
    labelled(other, [{"place": ("s1", 2), "annotator": "ada", "label": 1}])
    assert measure_agreement(dataset=stored).headline.labels == 0


def test_tags_and_splits_divide_the_replies(tmp_path: Path) -> None:
    lines = make_sessions(3)
    for line, tags in zip(lines, ([], ["x", "y"], [], ["x", "x"], [], []), strict=True):
        line["tags"] = tags
    stored = make_dataset(tmp_path, lines)
    Session.objects.filter(session_id="s1").update(split="train")
    labelled(
        stored,
        [
            {"place": (f"s{number}", 2), "annotator": name, "label": 1}
            for number in (1, 2, 3)
            for name in ("ada", "ben")
        ],
    )
    report = measure_agreement(dataset=stored, by=["tag", "split"])
    assert {tag: part.items for tag, part in report.by["tag"].items()} == {"none": 1, "x": 2, "y": 1}
    assert {split: part.items for split, part in report.by["split"].items()} == {"none": 2, "train": 1}


def test_a_label_without_a_time_is_of_the_month_it_was_saved_in(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    labelled(
        stored,
        [
            {"place": ("s1", 2), "annotator": "ada", "label": 1, "timestamp": "2025-11-03T14:25:00Z"},
            {"place": ("s1", 2), "annotator": "ben", "label": 1, "timestamp": '20251203"142500'},
            {"place": ("s1", 2), "annotator": "chi", "label": 1},
        ],
    )
    now = Annotation.objects.get(annotator="chi").created_at
    found = measure_agreement(dataset=stored, by=["month"]).by["month"]
    assert list(found) == ["2025-11", "2025-12", f"{now:%Y-%m}"]


# --- gold, repeats, campaigns --------------------------------------------------------------------


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """Ada and Ben on three replies, the third settled; Ada is shown the first again."""
    stored = make_dataset(tmp_path, make_sessions(3))
    persona = Persona.objects.create(persona_id="p", yaml="id: p\n")
    made = Campaign.objects.create(name="may", dataset=stored, persona=persona)
    own = {"campaign": made}
    for annotator, said in (("ada", "101"), ("ben", "100")):
        labelled(
            stored,
            [
                {"place": (f"s{number}", 2), "annotator": annotator, "label": int(label)} | own
                for number, label in enumerate(said, 1)
            ],
        )
    labelled(
        stored,
        [
            {"place": ("s1", 2), "annotator": "ada", "label": 0, "kind": "repeat"} | own,
            {"place": ("s3", 2), "annotator": "lead", "label": 0, "kind": "adjudicated"},
            {"place": ("s2", 2), "annotator": "chi", "label": 1},
        ],
    )
    return made


def test_a_campaign_has_its_own_labels_and_gold_from_anywhere(campaign: Campaign) -> None:
    report = measure_agreement(campaign=campaign)
    assert (report.headline.labels, report.headline.annotators) == (6, 2)
    assert measure_agreement(dataset=campaign.dataset).headline.labels == 7
    ada, ben = report.annotators
    assert (ada.gold.n, ada.gold.accuracy.value, ben.gold.accuracy.value) == (1, 0, 1)
    assert report.gold_basis == "adjudicated labels"
    assert (ada.repeats.n, ada.repeats.raw_agreement.value) == (1, 0)
    assert ben.repeats.cohen_kappa.note == "undefined: no reply was shown to an annotator again"


def test_a_repeat_is_compared_with_what_was_said_before_in_its_campaign(campaign: Campaign) -> None:
    earlier = {"place": ("s1", 2), "annotator": "ada", "label": 0}
    labelled(campaign.dataset, [dict(earlier), dict(earlier)])
    for asked in ({"campaign": campaign}, {"dataset": campaign.dataset}):
        assert measure_agreement(**asked).repeats.table == ((0, 0), (1, 0))
    # Said under another text of the persona: to differ is not to differ from oneself.
    campaign.annotations.filter(kind="repeat").update(persona_digest="f" * 64)
    assert measure_agreement(dataset=campaign.dataset).repeats.n == 0


def test_where_there_are_gold_items_only_they_are_gold(campaign: Campaign) -> None:
    turn = Turn.objects.get(session__session_id="s1", turn_index=2)
    CampaignItem.objects.create(
        campaign=campaign, turn=turn, session=turn.session, position=1, open=0, gold=True
    )
    report = measure_agreement(campaign=campaign)
    assert report.gold_basis == "gold items of the campaign"
    assert report.gold.n == 0
    labelled(
        campaign.dataset,
        [{"place": ("s1", 2), "annotator": "lead", "label": 1, "kind": "adjudicated"}],
    )
    assert measure_agreement(campaign=campaign).gold.n == 2


# --- how -----------------------------------------------------------------------------------------


def test_the_number_of_queries_does_not_hang_on_the_number_of_labels(
    tmp_path: Path, django_assert_max_num_queries: Any
) -> None:
    stored = make_dataset(tmp_path, make_sessions(6, 6))
    for rows in (3, 200):
        at_random(stored, rows, rows)
        with django_assert_max_num_queries(20):
            measure_agreement(dataset=stored, by=BY, resamples=0)


def test_labels_are_read_from_the_index_alone(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    query = label_counts._labels_query(label_counts.LabelScope(stored.pk, "p"), "label", False, False)
    with as_owner() as cursor:
        # The planner's choice between two indexes depends on statistics and on the last vacuum. Without the
        # other one, until the rollback, the plan shows whether this index holds all that is read.
        cursor.execute("DROP INDEX annotation_export")
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute("EXPLAIN " + query.as_string(cursor.cursor))
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Index Only Scan using annotation_agreement" in plan


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [({"by": ["year"]}, "can't be divided by 'year'"), ({"resamples": -1}, "from 0 to 100,000")],
)
def test_what_can_not_be_asked_is_refused(tmp_path: Path, asked: dict[str, Any], sentence: str) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    with pytest.raises(UserError, match=sentence):
        measure_agreement(dataset=stored, **asked)
    with pytest.raises(UserError, match=sentence):
        measure_files([write_jsonl(tmp_path / "x.jsonl", [])], **asked)
