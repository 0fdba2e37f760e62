"""A campaign's items: which replies, in which order, and why one can't be made."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotations_app.agreement.adjudicate import adjudicate
from annotations_app.campaigns.create import fill_campaign, prepare_campaign
from annotations_app.campaigns.parameters import CampaignParameters
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation, Campaign, CampaignItem, CampaignMember
from datasets_app.catalog import text_gates
from datasets_app.core.errors import UserError
from datasets_app.jobs import runs
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, Session, Turn
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.campaigns import (
    find_inconsistencies,
    label_all_replies,
    lease_for,
    make_annotators,
    make_campaign,
    make_persona,
    make_replies,
    submit,
)
from tests.factories import import_file, make_dataset, make_sessions, make_turn, write_jsonl

pytestmark = pytest.mark.django_db


def places(of: Campaign) -> list[tuple[str, int]]:
    rows = CampaignItem.objects.filter(campaign=of).order_by("position")
    return [
        (item.turn.session.session_id, item.turn.turn_index) for item in rows.select_related("turn__session")
    ]


def settle(stored: Dataset, count: int) -> None:
    for reply in Turn.objects.filter(session__dataset=stored, role="assistant").order_by("pk")[:count]:
        adjudicate(reply, "warm_v1", label=reply.pk % 2, reason="Clear.", actor=None)


def test_only_replies_with_text_are_labelled(tmp_path: Path) -> None:
    stored = make_dataset(
        tmp_path,
        [make_turn("a", 1), make_turn("a", 2), make_turn("a", 3), make_turn("a", 4), make_turn("b", 1)],
    )
    Turn.objects.filter(turn_index=4).update(text=" \n\t")
    round_1 = make_campaign(stored, "ana")
    assert places(round_1) == [("a", 2)]
    assert (round_1.status, round_1.item_count, round_1.gold_count) == ("open", 1, 0)


def test_the_order_is_drawn_by_the_seed(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 30)
    orders = [
        places(make_campaign(stored, "ana", name=f"n{seed}-{n}", seed=seed))
        for n, seed in enumerate((1, 1, 2))
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    assert orders[0] != sorted(orders[0])


def test_session_by_session_keeps_turns_together_and_in_order(tmp_path: Path) -> None:
    found = places(make_campaign(make_replies(tmp_path, 10, turns=6), "ana", order="session"))
    assert [index for _, index in found] == [2, 4, 6] * 10
    names = [name for name, index in found if index == 2]
    assert [name for name, _ in found] == [name for name in names for _ in range(3)]
    assert names != sorted(names)


def test_a_number_of_replies_takes_the_first_of_the_order(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 12, turns=4)
    for order in ("random", "session"):
        every = places(make_campaign(stored, "ana", name=f"all-{order}", order=order))
        some = make_campaign(stored, "ana", name=f"some-{order}", order=order, max_replies=5)
        assert (places(some), some.item_count) == (every[:5], 5)
    settle(stored, 10)
    gold = make_campaign(stored, "ana", name="gold", gold_share=0.2, max_replies=10)
    assert (gold.item_count, gold.gold_count) == (10, 2)
    assert CampaignItem.objects.filter(campaign=gold, gold=True).count() == 2
    assert make_campaign(stored, "ana", name="more", max_replies=100).item_count == 24
    with pytest.raises(UserError, match="must be 1 or more"):
        make_campaign(stored, "ana", name="none", max_replies=0)


def test_the_most_disputed_come_first(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 6)
    said = {"s3": [0, 1], "s5": [0, 0, 1], "s1": [1, 1, 1], "s2": [1]}
    lines = [
        {
            "session_id": name,
            "turn_index": 2,
            "text": "",
            "label": label,
            "persona_id": "warm_v1",
            "annotator": f"a{number}",
        }
        for name, labels in said.items()
        for number, label in enumerate(labels)
    ]
    import_annotations(write_jsonl(tmp_path / "labels.jsonl", lines), dataset_name="support")
    round_1 = make_campaign(stored, "ana", order="disputed")
    assert [name for name, _ in places(round_1)][:4] == ["s3", "s5", "s1", "s2"]


def test_only_what_has_the_tag_and_is_of_the_split(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(3, 4))
    Turn.objects.filter(session__session_id="s2", turn_index=4).update(tags=["scenario:billing", "hard"])
    Session.objects.filter(session_id="s3").update(split="validation")
    Session.objects.filter(session_id="s1").update(split="test")
    assert places(make_campaign(stored, "ana", name="a", tag="hard")) == [("s2", 4)]
    assert sorted(places(make_campaign(stored, "ana", name="b", split="validation"))) == [
        ("s3", 2),
        ("s3", 4),
    ]
    everything = make_campaign(stored, "ana", name="c")
    assert {name for name, _ in places(everything)} == {"s2", "s3"}


def test_the_test_split_is_locked_but_for_a_reason_that_is_kept(tmp_path: Path, admin_user: User) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    Session.objects.update(split="test")
    with pytest.raises(UserError, match="no assistant's reply"):
        make_campaign(stored, "ana")
    with pytest.raises(UserError, match="The test split of support is locked"):
        make_campaign(stored, "ana", split="test")
    [lea] = make_annotators("lea", role="lead")
    with pytest.raises(UserError, match="You don.t have permission"):
        make_campaign(stored, "ana", split="test", override="I want to", actor=lea)
    made = make_campaign(
        stored, "ana", split="test", override="to measure\nagreement on it", actor=admin_user
    )
    assert made.item_count == 2
    event = AuditEvent.objects.get(action="override")
    assert event.details == {"purpose": "annotate test split", "reason": "to measure agreement on it"}


def test_gold_items_are_what_was_settled_before(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 40)
    settle(stored, 30)
    round_1 = make_campaign(stored, "ana", "ben", overlap=2, gold_share=0.25)
    gold = CampaignItem.objects.filter(gold=True)
    assert (round_1.item_count, round_1.gold_count, gold.count()) == (40, 10, 10)
    assert not gold.exclude(open=0).exists()
    assert set(CampaignItem.objects.filter(gold=False).values_list("open", flat=True)) == {2}
    settled = Annotation.objects.filter(kind="adjudicated").values("turn")
    assert gold.filter(turn__in=settled).count() == 10


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"name": "no/name"}, "can't be the name of a campaign"),
        ({"overlap": 0}, "overlap must be from 1"),
        ({"overlap": 3}, "Each reply needs 3 annotators, but only 2 are assigned"),
        ({"gold_share": 0.6}, "gold share must be from 0 to 0.5"),
        ({"repeat_share": -0.1}, "repeat share must be from 0"),
        ({"repeat_share": float("nan")}, "repeat share must be from 0"),
        ({"gold_share": 0.5, "repeat_share": 0.45}, "too few new replies"),
        ({"gold_share": 0.1}, "No reply of support has an adjudicated label for warm_v1"),
        ({"lease_minutes": 0}, "lock timeout must be from 1 to 1440 minutes"),
        ({"order": "alphabetic"}, "order must be one of random, session, disputed"),
        ({"tag": "unheard"}, "no assistant's reply with text with that tag or split"),
        ({"split": "dev"}, "no assistant's reply with text with that tag or split"),
        ({"seed": 2**63}, "64-bit integer"),
        ({"guidelines": "a\0"}, "NUL"),
        ({"guidelines": "x" * 50_001}, "longer than 50,000"),
    ],
)
def test_what_can_not_be_is_refused_with_a_sentence(
    tmp_path: Path, asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        make_campaign(make_replies(tmp_path, 2), "ana", "ben", **asked)
    assert not Campaign.objects.exists()
    assert not AuditEvent.objects.filter(action="create_campaign").exists()


def test_who_is_to_label_must_be_able_to(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 2)
    make_annotators("ana", "off")
    make_annotators("vic", role="viewer")
    User.objects.filter(username="off").update(is_active=False)
    for names, sentence in (
        (["ana", "nobody"], "There is no user nobody"),
        (["ana", "off"], "account of off is deactivated"),
        (["ana", "vic"], "vic may not label"),
        ([" ", ""], "Name at least one annotator"),
    ):
        with pytest.raises(UserError, match=sentence):
            prepare_campaign(Campaign(name="c", dataset=stored, persona=make_persona(), overlap=1), names)


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 2)
    make_campaign(stored, "ana")
    with pytest.raises(UserError, match="A campaign named round-1 already exists"):
        make_campaign(stored, "ana")


def test_nothing_but_gold_is_no_campaign(tmp_path: Path) -> None:
    stored = make_replies(tmp_path, 1)
    settle(stored, 1)
    with pytest.raises(UserError, match="All replies would be gold items"):
        make_campaign(stored, "ana", gold_share=0.5)


def test_production_data_must_be_scrubbed_and_stay_so(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(3), origin="production")
    with pytest.raises(UserError, match="without a verified scrub, so it can.t be annotated"):
        make_campaign(stored, "ana")
    scrub_dataset(stored, parse_policy(None))
    stored.refresh_from_db()
    round_1 = make_campaign(stored, "ana")
    held = lease_for(round_1, "ana").current
    import_file(write_jsonl(tmp_path / "more.jsonl", [make_turn("new")]), append=True)
    serving = lease_for(round_1, "ana")
    assert (serving.state, serving.current) == ("paused", None)
    assert "personal data" in serving.message
    assert submit(held).what == "counted"
    scrub_dataset(stored, parse_policy(None))
    assert lease_for(round_1, "ana").state == "open"


def test_by_a_reason_raw_data_is_labelled_and_served(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(3), origin="production")
    round_1 = make_campaign(stored, "ana", override="the annotators are the support team")
    assert round_1.overridden
    assert lease_for(round_1, "ana").state == "open"
    assert AuditEvent.objects.get(action="override").details["purpose"] == "annotate"


def test_the_trail_tells_what_was_asked_and_no_text(tmp_path: Path, admin_user: User) -> None:
    stored = make_replies(tmp_path, 2, tags=["jo@example.org"])
    text_gates.attest(stored, actor=None, reason="An invented address.")
    make_campaign(stored, "ana", guidelines="Secret words.", tag="jo@example.org", actor=admin_user)
    event = AuditEvent.objects.get(action="create_campaign")
    assert (event.actor, event.dataset_name) == ("admin", "support")
    assert event.details == {
        "campaign": "round-1",
        "persona_id": "warm_v1",
        "annotators": ["ana"],
        "overridden": False,
        "only_a_tag": True,
        "overlap": 1,
        "gold_share": 0,
        "repeat_share": 0,
        "order": "random",
        "split": "",
        "max_replies": None,
        "lease_minutes": 15,
        "seed": 42,
    }


def test_made_by_a_job_it_is_filled_once_however_often_that_runs(tmp_path: Path) -> None:
    make_annotators("ana")
    stored = make_replies(tmp_path, 3)
    made = prepare_campaign(Campaign(name="c", dataset=stored, persona=make_persona(), overlap=1), ["ana"])
    waiting = lease_for(made, "ana")
    assert (waiting.state, waiting.current) == ("paused", None)
    assert "being prepared" in waiting.message
    for _ in range(2):
        job = runs.create_job(
            "create_campaign", actor=None, dataset=stored, parameters=CampaignParameters(campaign=made.pk)
        )
        runs.enqueue_job(job)
        perform(job.pk)
        job.refresh_from_db()
        assert (job.state, job.result) == ("done", {"campaign": made.pk, "replies": 3, "gold": 0})
    made.refresh_from_db()
    assert (made.status, CampaignItem.objects.count()) == ("open", 3)
    label_all_replies(made, "ana")
    assert fill_campaign(made).item_count == 3
    assert CampaignMember.objects.get().labelled == 3
    assert not find_inconsistencies()


def test_a_job_that_can_not_fill_it_says_why(tmp_path: Path) -> None:
    make_annotators("ana")
    stored = make_replies(tmp_path, 3)
    made = prepare_campaign(Campaign(name="c", dataset=stored, persona=make_persona(), overlap=1), ["ana"])
    Turn.objects.update(text="")
    job = runs.create_job(
        "create_campaign", actor=None, dataset=stored, parameters=CampaignParameters(campaign=made.pk)
    )
    runs.enqueue_job(job)
    perform(job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "no assistant's reply" in job.error
    made.refresh_from_db()
    assert made.status == "preparing"
