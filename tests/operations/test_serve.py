"""What is served: places are never overbooked, sessions stay together, nothing is lost that comes back."""

from collections import Counter
from pathlib import Path

import pytest
from django.utils import timezone

from annotations_app.campaigns.edit import edit_campaign
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Assignment, CampaignItem, CampaignMember
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


def test_one_is_current_and_two_are_ahead_and_asking_again_gives_the_same(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 5), "ana")
    first = lease_for(round_1, "ana")
    assert first.state == "open"
    assert first.message == ""
    again = lease_for(round_1, "ana")
    assert again.leased == first.leased
    assert len(first.leased) == 3
    submit(first.current)
    then = lease_for(round_1, "ana")
    assert then.leased[:2] == first.leased[1:]
    assert len(then.leased) == 3
    assert not find_inconsistencies()


def test_every_reply_is_labelled_as_often_as_asked_and_by_nobody_twice(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 12), "ana", "ben", "cy", overlap=2)
    names = ["ana", "ben", "cy"]
    states = {}
    while any(states.get(name) != "finished" for name in names):
        for name in names:
            serving = lease_for(round_1, name)
            states[name] = serving.state
            if serving.current:
                submit(serving.current)
    given = Counter(Assignment.objects.filter(state="labelled").values_list("item", flat=True))
    assert set(given.values()) == {2}
    assert len(given) == 12
    assert not CampaignItem.objects.exclude(open=0).exists()
    assert not find_inconsistencies()


def test_who_waits_for_the_last_replies_is_told_so(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 2), "ana", "ben")
    assert lease_for(round_1, "ana").state == "open"
    waiting = lease_for(round_1, "ben")
    assert (waiting.state, waiting.current) == ("nothing_now", None)
    assert "Other annotators" in waiting.message
    label_all_replies(round_1, "ana")
    assert lease_for(round_1, "ben").state == lease_for(round_1, "ana").state == "finished"


def test_what_nobody_has_looked_at_for_too_long_goes_to_others(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 3), "ana", "ben")
    held = lease_for(round_1, "ana")
    let_leases_run_out()
    taken = lease_for(round_1, "ben")
    assert taken.current.item in {row.item for row in held.leased}
    assert set(Assignment.objects.filter(annotator=get_user("ana")).values_list("state", flat=True)) == {
        "released"
    }
    assert not find_inconsistencies()
    label_all_replies(round_1, "ben")
    assert lease_for(round_1, "ana").state == "finished"


def test_who_comes_back_before_others_want_it_keeps_what_they_had(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 3), "ana", "ben")
    held = lease_for(round_1, "ana")
    let_leases_run_out()
    back = lease_for(round_1, "ana")
    assert back.current == held.current
    assert back.current.leased_until > timezone.now()
    assert lease_for(round_1, "ben").state == "nothing_now"


def test_what_is_skipped_comes_to_those_who_had_passed_it_by(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 8), "ana", "ben")
    label_all_replies(round_1, "ana", limit=2)
    label_all_replies(round_1, "ben", limit=2)
    skipped = lease_for(round_1, "ana").current
    submit(skipped, "skip")
    given = [assignment.item for assignment in label_all_replies(round_1, "ben")]
    assert skipped.item in given
    assert skipped.item not in [assignment.item for assignment in label_all_replies(round_1, "ana")]
    assert not find_inconsistencies()


def test_nobody_but_its_annotators_is_served(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 3), "ana", "ben")
    [eve] = make_annotators("eve")
    with pytest.raises(UserError, match="aren.t an annotator"):
        lease_next(round_1, eve)


def test_who_is_taken_out_gets_nothing_and_gives_back(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 3), "ana", "ben")
    held = lease_for(round_1, "ana")
    edit_campaign(round_1, changes={"annotators": ["ben"]}, actor=None)
    gone = lease_for(round_1, "ana")
    assert (gone.state, gone.current) == ("closed", None)
    assert "no longer an annotator" in gone.message
    assert len(label_all_replies(round_1, "ben")) == 3
    assert submit(held.current).what == "late"
    assert not find_inconsistencies()
    assert not CampaignMember.objects.get(user=get_user("ana")).active


@pytest.mark.parametrize("status", ["paused", "closed"])
def test_nothing_is_served_of_what_is_paused_or_closed(tmp_path: Path, status: str) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 3), "ana")
    held = lease_for(round_1, "ana").current
    edit_campaign(round_1, changes={"status": status}, actor=None)
    serving = lease_for(round_1, "ana")
    assert (serving.state, serving.leased) == (status, [])
    assert serving.message
    assert submit(held).what == ("counted" if status == "paused" else "late")
    edit_campaign(round_1, changes={"status": "open"}, actor=None)
    assert lease_for(round_1, "ana").state == "open"
    assert not find_inconsistencies()
