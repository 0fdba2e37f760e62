"""What is pressed: counted once, checked, kept in the history, taken back and changed."""

import math
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations_app.agreement.figures import member_stats
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.domain.submission import MAX_NOTE_LENGTH
from annotations_app.labeling.decide import decide
from annotations_app.labeling.progress import annotator_progress, recent_decisions
from annotations_app.models import Annotation, Assignment, Campaign, Decision
from datasets_app.core.errors import UserError
from tests.campaigns import (
    find_inconsistencies,
    get_user,
    label_all_replies,
    lease_for,
    let_leases_run_out,
    make_annotators,
    make_campaign,
    make_replies,
    submit,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_1(tmp_path: Path) -> Campaign:
    return make_campaign(make_replies(tmp_path, 6), "ana", "ben", "cy", overlap=2)


def test_a_label_says_who_what_when_and_under_which_persona(round_1: Campaign) -> None:
    current = lease_for(round_1, "ana").current
    outcome = submit(current, label=0, notes=" Too loud.\r\n", confidence=0.5, seconds=3.25)
    assert (outcome.what, outcome.assignment.state) == ("counted", "labelled")
    label = Annotation.objects.get()
    assert (label.dataset, label.turn, label.campaign) == (round_1.dataset, current.item.turn, round_1)
    assert (label.kind, label.label, label.annotator, label.notes) == ("label", 0, "ana", "Too loud.")
    assert (label.confidence, label.seconds) == (0.5, 3.25)
    assert (label.persona_id, label.persona_digest) == ("warm_v1", round_1.persona.digest)
    assert timezone.datetime.fromisoformat(label.timestamp).utcoffset() == timedelta()
    decision = Decision.objects.get()
    assert (decision.kind, decision.label, decision.counted) == ("label", 0, True)
    assert not find_inconsistencies()


def test_the_same_key_is_one_decision_however_often_it_comes(round_1: Campaign) -> None:
    current, key = lease_for(round_1, "ana").current, uuid.uuid4()
    assert submit(current, key=key, label=1).what == "counted"
    assert submit(current, key=str(key), label=1).what == "known"
    assert Decision.objects.count() == Annotation.objects.count() == 1


def test_a_retried_older_key_does_not_overwrite_a_newer_decision(round_1: Campaign) -> None:
    current, key = lease_for(round_1, "ana").current, uuid.uuid4()
    submit(current, key=key, label=1)
    submit(current, label=0)
    assert submit(current, key=key, label=1).what == "known"
    assert Annotation.objects.get().label == 0
    submit(current, "undo")
    assert submit(current, key=key, label=1).what == "known"
    assert not Annotation.objects.exists()


def test_a_key_of_another_decision_is_refused(round_1: Campaign) -> None:
    serving, theirs = lease_for(round_1, "ana"), lease_for(round_1, "ben").current
    key = uuid.uuid4()
    submit(serving.current, key=key)
    for other in (serving.leased[1], theirs):
        with pytest.raises(UserError, match="another decision"):
            submit(other, key=key)


def test_a_reply_of_somebody_else_is_refused(round_1: Campaign) -> None:
    current = lease_for(round_1, "ana").current
    [eve] = make_annotators("eve")
    for other in (get_user("ben"), eve):
        with pytest.raises(UserError, match="not assigned to you"):
            decide(current.pk, other, key=uuid.uuid4(), kind="skip")
    with pytest.raises(UserError, match="not assigned to you"):
        decide(10**12, get_user("ana"), key=uuid.uuid4(), kind="skip")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"kind": "like"}, "one of label, skip, flag, undo"),
        ({"kind": "label", "label": None}, "1 .on-brand. or 0"),
        ({"kind": "label", "label": 2}, "1 .on-brand. or 0"),
        ({"kind": "label", "label": True}, "1 .on-brand. or 0"),
        ({"kind": "flag", "notes": " \n"}, "Say why"),
        ({"kind": "skip", "notes": "x" * (MAX_NOTE_LENGTH + 1)}, "2,000 characters; this one has 2,001"),
        ({"kind": "skip", "notes": "a\0b"}, "control character"),
        ({"kind": "skip", "notes": "a\x1b[2Jb"}, "control character"),
        ({"kind": "skip", "notes": "\ud800"}, "half a character"),
        ({"kind": "label", "label": 1, "confidence": 1.5}, "from 0 to 1"),
        ({"kind": "label", "label": 1, "confidence": math.nan}, "from 0 to 1"),
        ({"kind": "label", "label": 1, "seconds": -1}, "0 or more"),
        ({"kind": "label", "label": 1, "seconds": math.inf}, "0 or more"),
        ({"kind": "label", "label": 1, "key": "seven"}, "UUID"),
        ({"kind": "undo"}, "Nothing to undo"),
    ],
)
def test_what_can_not_be_is_refused_with_a_sentence(
    round_1: Campaign, given: dict[str, Any], sentence: str
) -> None:
    current = lease_for(round_1, "ana").current
    with pytest.raises(UserError, match=sentence):
        decide(current.pk, get_user("ana"), **{"key": uuid.uuid4()} | given)
    assert not Decision.objects.exists()


def test_the_time_on_task_is_cut_off_at_the_lease(round_1: Campaign) -> None:
    submit(lease_for(round_1, "ana").current, seconds=1e7)
    assert Annotation.objects.get().seconds == 15 * 60


def test_undo_brings_the_reply_back_and_takes_the_label_away(round_1: Campaign) -> None:
    first = lease_for(round_1, "ana").current
    submit(first, label=1, notes="Hm.")
    second = lease_for(round_1, "ana").current
    submit(second, "flag")
    assert submit(second, "undo").assignment.state == "leased"
    assert submit(first, "undo").what == "counted"
    serving = lease_for(round_1, "ana")
    assert serving.leased[:2] == [first, second]
    assert not Annotation.objects.exists()
    assert list(Decision.objects.values_list("kind", flat=True)) == ["label", "flag", "undo", "undo"]
    assert not find_inconsistencies()
    with pytest.raises(UserError, match="Nothing to undo"):
        submit(first, "undo")


def test_what_others_have_by_now_can_not_be_taken_back(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 2), "ana", "ben")
    skipped = lease_for(round_1, "ana").current
    submit(skipped, "skip")
    label_all_replies(round_1, "ben")
    with pytest.raises(UserError, match="already reassigned"):
        submit(skipped, "undo")
    assert submit(skipped, label=1).what == "late"
    assert not find_inconsistencies()


def test_a_decision_can_be_changed_and_keeps_its_place(round_1: Campaign) -> None:
    done = label_all_replies(round_1, "ana", limit=4)
    submit(done[1], label=0, notes="On second thought.")
    submit(done[2], "skip")
    assert [item.pk for item in recent_decisions(round_1, get_user("ana"))] == [
        item.pk for item in done[::-1]
    ]
    kept = {item.pk: item for item in recent_decisions(round_1, get_user("ana"))}
    assert (kept[done[1].pk].annotation.label, kept[done[1].pk].annotation.notes) == (0, "On second thought.")
    assert (kept[done[2].pk].state, kept[done[2].pk].annotation) == ("skipped", None)
    assert Annotation.objects.count() == 3
    assert Decision.objects.count() == 6
    submit(done[2], label=1)
    assert Annotation.objects.count() == 4
    assert not find_inconsistencies()


def test_a_late_label_counts_if_the_place_is_free(round_1: Campaign) -> None:
    current = lease_for(round_1, "ana").current
    let_leases_run_out()
    lease_for(round_1, "ben")
    current.refresh_from_db()
    assert current.state == "released"
    assert submit(current).what == "counted"
    assert not find_inconsistencies()


def test_a_late_label_is_kept_and_told_if_others_fill_the_overlap(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 2), "ana", "ben")
    current = lease_for(round_1, "ana").current
    let_leases_run_out()
    label_all_replies(round_1, "ben")
    key = uuid.uuid4()
    outcome = submit(current, key=key, notes="It was hard.")
    assert (outcome.what, outcome.assignment.state) == ("late", "released")
    assert submit(current, key=key).what == "known"
    decision = Decision.objects.get(key=key)
    assert (decision.counted, decision.notes) == (False, "It was hard.")
    assert Annotation.objects.filter(annotator="ana").count() == 0
    assert recent_decisions(round_1, get_user("ana"))[0].state == "released"
    assert not find_inconsistencies()


def test_what_came_late_is_offered_again_when_its_place_is_free(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 1), "ana", "ben")
    current = lease_for(round_1, "ana").current
    let_leases_run_out()
    [theirs] = label_all_replies(round_1, "ben")
    assert submit(current).what == "late"
    submit(theirs, "skip")
    assert lease_for(round_1, "ana").current == current
    assert submit(current).what == "counted"
    assert lease_for(round_1, "ana").state == "finished"
    assert not find_inconsistencies()


def test_of_a_closed_campaign_nothing_is_taken_back(round_1: Campaign) -> None:
    current = lease_for(round_1, "ana").current
    submit(current)
    edit_campaign(round_1, changes={"status": "closed"}, actor=None)
    with pytest.raises(UserError, match="closed"):
        submit(current, "undo")
    assert submit(current, label=0).what == "late"
    assert Annotation.objects.get().label == 1


def test_progress_counts_all_and_the_pace_is_that_of_the_last(round_1: Campaign) -> None:
    done = label_all_replies(round_1, "ana", limit=4)
    submit(lease_for(round_1, "ana").current, "skip")
    submit(lease_for(round_1, "ana").current, "flag")
    label_all_replies(round_1, "ben", limit=3)
    start = timezone.now() - timedelta(hours=2)
    rows = Assignment.objects.filter(annotator=get_user("ana"), decided_at__isnull=False).order_by(
        "decided_at"
    )
    for number, row in enumerate(rows):
        pause = timedelta(hours=1) if number > 2 else timedelta()
        Assignment.objects.filter(pk=row.pk).update(decided_at=start + timedelta(seconds=10 * number) + pause)
    of_ana = annotator_progress(round_1, get_user("ana"))
    counters = round_1.members.values_list("labelled", "skipped", "flagged").get(user=get_user("ana"))
    assert counters == (4, 1, 1)
    assert (of_ana.mine, of_ana.total, of_ana.target, of_ana.share) == (4, 7, 12, 7 / 12)
    per_hour = {row.member.user.get_username(): row.per_hour for row in member_stats(round_1)}
    assert (per_hour["ana"], per_hour["cy"]) == (360, None)
    of_cy = annotator_progress(round_1, get_user("cy"))
    assert of_cy.mine == 0
    assert len(done) == 4


def test_a_decision_and_what_comes_next_take_few_queries(round_1: Campaign) -> None:
    label_all_replies(round_1, "ana", limit=1)
    current = lease_for(round_1, "ana").current
    with CaptureQueriesContext(connection) as queries:
        submit(current, notes="A note.")
        lease_for(round_1, "ana")
    own = [query for query in queries if "SAVEPOINT" not in query["sql"]]
    # Two of them are the test's own, for the user; a note takes one more, which asks for a verified scrub.
    assert len(own) <= 16 + 2, [query["sql"][:80] for query in own]
