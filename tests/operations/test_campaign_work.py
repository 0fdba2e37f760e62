"""Gold items, hidden repeats, sessions kept together; what a lead changes, queues again and settles."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations_app.agreement.adjudicate import adjudicate, count_disputed, list_disputed
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.domain.assignment import MIN_REPEAT_DISTANCE
from annotations_app.labeling.requeue_stale import requeue_stale
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation, Assignment, Campaign, CampaignItem, Decision
from datasets_app.catalog.import_persona import import_persona
from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent, Dataset, Turn
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.campaigns import (
    PERSONA_YAML,
    find_inconsistencies,
    get_user,
    label_all_replies,
    lease_for,
    make_annotators,
    make_campaign,
    make_replies,
    submit,
)
from tests.factories import write_jsonl

pytestmark = pytest.mark.django_db


def settle(stored: Dataset, count: int) -> None:
    for reply in Turn.objects.filter(session__dataset=stored, role="assistant").order_by("pk")[:count]:
        adjudicate(reply, "warm_v1", label=1, reason="Clear.", actor=None)


# --- gold items and repeats -------------------------------------------------------------------------


def test_gold_items_and_repeats_come_at_about_the_share_asked_for(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 13, turns=20)
    settle(stored, 40)
    round_1 = make_campaign(stored, "ana", "ben", overlap=1, gold_share=0.2, repeat_share=0.15)
    given = label_all_replies(round_1, "ana", limit=100)
    gold = sum(assignment.item.gold and not assignment.repeat for assignment in given)
    repeats = [assignment for assignment in given if assignment.repeat]
    assert 0.13 <= gold / len(given) <= 0.27
    assert 0.07 <= len(repeats) / len(given) <= 0.22
    first = {item.item_id: place for place, item in enumerate(given) if not item.repeat}
    distances = [place - first[item.item_id] - 1 for place, item in enumerate(given) if item.repeat]
    assert min(distances) >= MIN_REPEAT_DISTANCE
    assert max(Counter(assignment.item_id for assignment in given).values()) == 2
    kinds = Counter(Annotation.objects.filter(campaign=round_1).values_list("kind", flat=True))
    assert kinds == {"label": len(given) - len(repeats), "repeat": len(repeats)}
    assert not find_inconsistencies()


def test_every_annotator_meets_the_gold_items(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 30)
    settle(stored, 3)
    round_1 = make_campaign(stored, "ana", "ben", overlap=2, gold_share=0.2)
    for name in ("ana", "ben"):
        given = label_all_replies(round_1, name)
        assert sum(assignment.item.gold for assignment in given) == 3
        assert len(given) == 30


def test_the_same_campaign_again_gives_the_same(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 20)
    settle(stored, 5)
    runs = []
    for name in ("one", "two"):
        made = make_campaign(stored, "ana", name=name, gold_share=0.2, repeat_share=0.2)
        runs.append([(item.item.turn_id, item.repeat) for item in label_all_replies(made, "ana")])
    assert runs[0] == runs[1]


# --- session by session -----------------------------------------------------------------------------


def sessions_of(given: list[Assignment]) -> list[int]:
    return [assignment.item.session_id for assignment in given]


def test_a_session_is_read_in_one_go(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 6, turns=8), "ana", order="session")
    read = sessions_of(label_all_replies(round_1, "ana"))
    assert sum(now != then for now, then in pairwise(read)) == 5


@pytest.mark.parametrize("overlap", [1, 2])
def test_no_more_people_than_the_overlap_are_in_a_session(tmp_path: Path, overlap: int) -> None:
    names = ["ana", "ben", "cy", "dan"]
    round_1 = make_campaign(make_replies(tmp_path, 8, turns=4), *names, order="session", overlap=overlap)
    readers: dict[int, set[str]] = {}
    for _ in range(8):
        for name in names:
            current = lease_for(round_1, name).current
            if current:
                readers.setdefault(current.item.session_id, set()).add(name)
                submit(current)
    assert {len(those) for those in readers.values()} == {overlap}
    assert not find_inconsistencies()


def test_one_who_comes_late_helps_with_what_is_left(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 1, turns=20), "ana", "ben", order="session")
    lease_for(round_1, "ana")
    helped = lease_for(round_1, "ben")
    assert helped.current is not None
    assert len(label_all_replies(round_1, "ana")) + len(label_all_replies(round_1, "ben")) == 10
    assert not find_inconsistencies()


def test_a_session_that_was_left_is_gone_on_with_by_others(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 2, turns=10), "ana", "ben", order="session")
    left = label_all_replies(round_1, "ana", limit=1)[0].item.session_id
    lease_for(round_1, "ana")
    label_all_replies(round_1, "ben", limit=2)
    edit_campaign(round_1, changes={"annotators": ["ben"]}, actor=None)
    read = sessions_of(label_all_replies(round_1, "ben"))
    assert read.count(left) == 4
    assert sum(now != then for now, then in pairwise(read)) == 1
    assert not find_inconsistencies()


# --- what a lead changes -------------------------------------------------------------------------------


def test_what_is_changed_is_told_and_kept(tmp_path: Path, admin_user: Any) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 9), "ana", "ben")
    make_annotators("cy")
    label_all_replies(round_1, "ana", limit=2)
    changes = {"guidelines": "Be fair.", "annotators": ["ana", "cy"], "lease_minutes": 5, "status": "open"}
    assert edit_campaign(round_1, changes=changes, actor=admin_user) == [
        "annotators",
        "guidelines",
        "lease_minutes",
    ]
    event = AuditEvent.objects.get(action="edit_campaign")
    assert event.details["changes"] == {
        "annotators": {"added": ["cy"], "removed": ["ben"]},
        "guidelines": 8,
        "lease_minutes": 5,
    }
    assert edit_campaign(round_1, changes=changes, actor=admin_user) == []
    assert AuditEvent.objects.filter(action="edit_campaign").count() == 1
    edit_campaign(round_1, changes={"annotators": ["ana", "ben", "cy"]}, actor=admin_user)
    assert lease_for(round_1, "ben").state == "open"
    assert not find_inconsistencies()


def test_a_higher_overlap_brings_back_what_was_done(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 5), "ana", "ben")
    label_all_replies(round_1, "ana")
    assert lease_for(round_1, "ben").state == "finished"
    edit_campaign(round_1, changes={"overlap": 2}, actor=None)
    assert len(label_all_replies(round_1, "ben")) == 5
    assert lease_for(round_1, "ana").state == "finished"
    assert not find_inconsistencies()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"overlap": 1}, "can only be raised from 2"),
        ({"overlap": 3}, "needs 3 annotators, but only 2 are assigned"),
        ({"annotators": ["ana"]}, "needs 2 annotators, but only 1 is assigned"),
        ({"annotators": ["ana", "nobody"]}, "no user nobody"),
        ({"status": "preparing"}, "can't change to 'preparing'"),
        ({"status": "gone"}, "can't change to 'gone'"),
        ({"seed": 7}, "seed of a campaign can't be changed"),
        ({"lease_minutes": 0}, "1 to 1440"),
    ],
)
def test_what_can_not_be_changed_is_refused(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 2), "ana", "ben", overlap=2)
    with pytest.raises(UserError, match=sentence):
        edit_campaign(round_1, changes=changes, actor=None)
    assert not AuditEvent.objects.filter(action="edit_campaign").exists()


# --- the persona changes ---------------------------------------------------------------------------------


def changed_persona(round_1: Campaign) -> None:
    import_persona(PERSONA_YAML + "# tell them apart\n")
    round_1.refresh_from_db()


def test_labels_made_under_an_older_persona_are_stale_and_can_be_asked_for_again(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 6), "ana", "ben", overlap=2)
    early = label_all_replies(round_1, "ana", limit=3)
    open_then = lease_for(round_1, "ana").current
    changed_persona(round_1)
    assert Annotation.objects.stale(round_1).count() == 3
    again = lease_for(round_1, "ana").current
    assert again == open_then
    assert again.persona_digest == round_1.persona.digest
    submit(again)
    label_all_replies(round_1, "ben", limit=1)
    assert requeue_stale(round_1, actor=None) == 3
    assert not Annotation.objects.stale(round_1).exists()
    assert Counter(Annotation.objects.values_list("kind", flat=True)) == {"label": 2, "withdrawn": 3}
    assert Decision.objects.filter(kind="requeue").count() == 3
    assert AuditEvent.objects.get(action="requeue_stale").details["labels"] == 3
    assert not find_inconsistencies()
    given = [assignment.item_id for assignment in label_all_replies(round_1, "ana")]
    assert {assignment.item_id for assignment in early} <= set(given)
    label_all_replies(round_1, "ben")
    assert Annotation.objects.countable().count() == 12
    assert requeue_stale(round_1, actor=None) == 0
    assert not find_inconsistencies()


def test_who_decides_anew_does_so_by_the_persona_as_it_is_now(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 2), "ana")
    current = lease_for(round_1, "ana").current
    submit(current, label=1)
    persona = round_1.persona
    persona.yaml += "# calmer\n"
    persona.save()
    submit(current, label=0)
    assert Annotation.objects.get().persona_digest == persona.digest
    assert list(Decision.objects.values_list("persona_digest", flat=True).distinct().order_by("pk")) == [
        current.persona_digest,
        persona.digest,
    ]


def test_gold_items_are_asked_for_again_as_well(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 10)
    settle(stored, 2)
    round_1 = make_campaign(stored, "ana", gold_share=0.5)
    label_all_replies(round_1, "ana")
    changed_persona(round_1)
    assert requeue_stale(round_1, actor=None) == 10
    assert not find_inconsistencies()
    assert sum(assignment.item.gold for assignment in label_all_replies(round_1, "ana")) == 2
    assert Annotation.objects.countable().count() == 10
    assert not find_inconsistencies()


# --- adjudication --------------------------------------------------------------------------------------


def test_the_most_disputed_come_first_page_by_page(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 5)
    round_1 = make_campaign(stored, "ana", "ben", "cy", overlap=3)
    for name, labels in {"ana": [1, 0, 1, 1, 0], "ben": [1, 1, 1, 0, 0], "cy": [1, 1, 0, 1, 0]}.items():
        by_item = dict(zip(CampaignItem.objects.order_by("position"), labels, strict=True))
        while current := lease_for(round_1, name).current:
            submit(current, label=by_item[current.item])
    first = list_disputed(stored, "warm_v1", limit=2)
    rest = list_disputed(stored, "warm_v1", campaign=round_1, after=(first[-1].dispute, first[-1].turn))
    assert [(one.labels, one.on_brand, one.dispute) for one in [*first, *rest]] == [(3, 2, 666_666)] * 3
    assert len({one.turn for one in [*first, *rest]}) == 3
    adjudicate(
        Turn.objects.get(pk=first[0].turn), "warm_v1", label=0, reason="Too loud.", actor=get_user("cy")
    )
    assert count_disputed(stored, "warm_v1") == (3, 1)
    assert first[0].turn not in [one.turn for one in list_disputed(stored, "warm_v1")]
    assert [one.settled for one in list_disputed(stored, "warm_v1", include_adjudicated=True)].count(
        True
    ) == 1
    assert Annotation.objects.countable().count() == 15


def test_who_settles_anew_withdraws_what_was_settled(tmp_path: Path) -> None:
    make_replies(tmp_path, 1)
    reply = Turn.objects.get(role="assistant")
    first = adjudicate(reply, "warm_v1", label=1, reason="Warm.", actor=None)
    second = adjudicate(reply, "warm_v1", label=0, reason="On second thought.", actor=None)
    first.refresh_from_db()
    assert (first.kind, second.kind, second.notes) == ("withdrawn", "adjudicated", "On second thought.")
    assert AuditEvent.objects.filter(action="adjudicate").first().details["replaced"] == [first.pk]
    assert "second thought" not in str(AuditEvent.objects.values_list("details", flat=True))
    for given, sentence in (
        ({"label": 2, "reason": "x"}, "A label is"),
        ({"label": 1, "reason": "x" * 2001}, "A reason has at most"),
    ):
        with pytest.raises(UserError, match=sentence):
            adjudicate(reply, "warm_v1", actor=None, **given)
    said = {"dataset": reply.session.dataset, "turn": reply, "persona_id": "warm_v1"}
    Annotation.objects.create(**said, label=0, annotator="ana")
    with pytest.raises(UserError, match="Most annotators say off-brand. Explain briefly why"):
        adjudicate(reply, "warm_v1", label=1, reason=" ", actor=None)
    Annotation.objects.create(**said, label=1, annotator="ben")
    assert adjudicate(reply, "warm_v1", label=1, reason=" ", actor=None).notes is None
    with pytest.raises(UserError, match="assistant's reply"):
        adjudicate(Turn.objects.get(role="user"), "warm_v1", label=1, reason="x", actor=None)


def test_settled_labels_can_be_brought_in(tmp_path: Path) -> None:
    make_replies(tmp_path, 3)

    def bring(*labels: tuple[str, int]) -> Any:
        lines = [
            {"session_id": name, "turn_index": 2, "text": "", "label": label, "persona_id": "warm_v1"}
            for name, label in labels
        ]
        file = write_jsonl(tmp_path / "gold.jsonl", lines)
        return import_annotations(file, dataset_name="support", adjudicated=True).saved

    assert bring(("s1", 1), ("s2", 0), ("s1", 1))[:2] == (2, 1)
    assert bring(("s1", 1), ("s2", 1))[:2] == (1, 1)
    kinds = Annotation.objects.order_by("pk").values_list("turn__session__session_id", "label", "kind")
    assert list(kinds) == [("s1", 1, "adjudicated"), ("s2", 0, "withdrawn"), ("s2", 1, "adjudicated")]
    with pytest.raises(UserError, match="contradict each other; nothing was saved") as refused:
        bring(("s3", 1), ("s3", 0))
    assert refused.value.details["problem_total"] == 1
    assert refused.value.details["problems"][0]["line"] == 2
    assert Annotation.objects.count() == 3


# --- with a scrub ------------------------------------------------------------------------------------------


def test_what_was_noted_is_scrubbed_with_the_session_wherever_it_stands(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 2)
    round_1 = make_campaign(stored, "ana")
    first, second = lease_for(round_1, "ana").leased[:2]
    submit(first, notes="He wrote to jo@example.org.")
    submit(first, label=0, notes="She wrote to kim@example.org.")
    submit(second, "flag", notes="Call 10.1.2.3 has it.")
    scrub_dataset(stored, parse_policy(None))
    assert Annotation.objects.get().notes == "She wrote to [EMAIL]."
    assert list(Decision.objects.order_by("pk").values_list("notes", flat=True)) == [
        "He wrote to [EMAIL].",
        "She wrote to [EMAIL].",
        "Call [IP] has it.",
    ]


def test_serving_takes_no_more_queries_the_more_was_done(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 40), "ana", "ben", repeat_share=0.1)
    counts = []
    for most in (8, 16):
        label_all_replies(round_1, "ana", limit=most)
        current = lease_for(round_1, "ana").current
        with CaptureQueriesContext(connection) as queries:
            submit(current)
            lease_for(round_1, "ana")
        counts.append(len(queries))
    assert abs(counts[0] - counts[1]) <= 3
