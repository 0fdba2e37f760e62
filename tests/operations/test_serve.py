"""What is served: places are never overbooked, sessions stay together, nothing is lost that comes back."""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotations_app.campaigns.edit import edit_campaign
from annotations_app.labeling.lease_next import serve
from annotations_app.models import Assignment, CampaignItem, CampaignMember
from datasets_app.core.errors import Refused
from tests.campaigns import campaign, label_all, people, press, replies, served, user, what_is_wrong

pytestmark = pytest.mark.django_db


def let_leases_run_out(**of: object) -> None:
    Assignment.objects.filter(state="leased", **of).update(leased_until=timezone.now() - timedelta(hours=1))


def test_one_is_current_and_two_are_ahead_and_asking_again_gives_the_same(tmp_path: Path) -> None:
    round_1 = campaign(replies(tmp_path, 5), "ana")
    first = served(round_1, "ana")
    assert first.state == "open"
    assert first.message == ""
    again = served(round_1, "ana")
    assert [again.current, *again.ahead] == [first.current, *first.ahead]
    assert len(first.ahead) == 2
    press(first.current)
    then = served(round_1, "ana")
    assert [then.current, then.ahead[0]] == first.ahead
    assert len(then.ahead) == 2
    assert not what_is_wrong()


def test_every_reply_is_labelled_as_often_as_asked_and_by_nobody_twice(tmp_path: Path) -> None:
    round_1 = campaign(replies(tmp_path, 12), "ana", "ben", "cy", overlap=2)
    names = ["ana", "ben", "cy"]
    states = {}
    while any(states.get(name) != "finished" for name in names):
        for name in names:
            serving = served(round_1, name)
            states[name] = serving.state
            if serving.current:
                press(serving.current)
    given = Counter(Assignment.objects.filter(state="labelled").values_list("item", flat=True))
    assert set(given.values()) == {2}
    assert len(given) == 12
    assert not CampaignItem.objects.exclude(open=0).exists()
    assert not what_is_wrong()


def test_who_waits_for_the_last_replies_is_told_so(tmp_path: Path) -> None:
    round_1 = campaign(replies(tmp_path, 2), "ana", "ben")
    assert served(round_1, "ana").state == "open"
    waiting = served(round_1, "ben")
    assert (waiting.state, waiting.current) == ("nothing_now", None)
    assert "others" in waiting.message
    label_all(round_1, "ana")
    assert served(round_1, "ben").state == served(round_1, "ana").state == "finished"


def test_what_nobody_has_looked_at_for_too_long_goes_to_others(tmp_path: Path) -> None:
    round_1 = campaign(replies(tmp_path, 3), "ana", "ben")
    held = served(round_1, "ana")
    let_leases_run_out()
    taken = served(round_1, "ben")
    assert taken.current.item in {held.current.item, *(item.item for item in held.ahead)}
    assert set(Assignment.objects.filter(annotator=user("ana")).values_list("state", flat=True)) == {
        "released"
    }
    assert not what_is_wrong()
    label_all(round_1, "ben")
    assert served(round_1, "ana").state == "finished"


def test_who_comes_back_before_others_want_it_keeps_what_they_had(tmp_path: Path) -> None:
    round_1 = campaign(replies(tmp_path, 3), "ana", "ben")
    held = served(round_1, "ana")
    let_leases_run_out()
    back = served(round_1, "ana")
    assert back.current == held.current
    assert back.current.leased_until > timezone.now()
    assert served(round_1, "ben").state == "nothing_now"


def test_what_is_skipped_comes_to_those_who_had_passed_it_by(tmp_path: Path) -> None:
    round_1 = campaign(replies(tmp_path, 8), "ana", "ben")
    label_all(round_1, "ana", most=2)
    label_all(round_1, "ben", most=2)
    skipped = served(round_1, "ana").current
    press(skipped, "skip")
    given = [assignment.item for assignment in label_all(round_1, "ben")]
    assert skipped.item in given
    assert skipped.item not in [assignment.item for assignment in label_all(round_1, "ana")]
    assert not what_is_wrong()


def test_nobody_but_its_annotators_is_served(tmp_path: Path) -> None:
    round_1 = campaign(replies(tmp_path, 3), "ana", "ben")
    [eve] = people("eve")
    with pytest.raises(Refused, match="no annotator"):
        serve(round_1, eve)


def test_who_is_taken_out_gets_nothing_and_gives_back(tmp_path: Path) -> None:
    round_1 = campaign(replies(tmp_path, 3), "ana", "ben")
    held = served(round_1, "ana")
    edit_campaign(round_1, changes={"annotators": ["ben"]}, actor=None)
    gone = served(round_1, "ana")
    assert (gone.state, gone.current) == ("closed", None)
    assert "any more" in gone.message
    assert len(label_all(round_1, "ben")) == 3
    assert press(held.current).what == "late"
    assert not what_is_wrong()
    assert not CampaignMember.objects.get(user=user("ana")).active


@pytest.mark.parametrize("status", ["paused", "closed"])
def test_nothing_is_served_of_what_is_paused_or_closed(tmp_path: Path, status: str) -> None:
    round_1 = campaign(replies(tmp_path, 3), "ana")
    held = served(round_1, "ana").current
    edit_campaign(round_1, changes={"status": status}, actor=None)
    serving = served(round_1, "ana")
    assert (serving.state, serving.current, serving.ahead) == (status, None, [])
    assert serving.message
    assert press(held).what == ("counted" if status == "paused" else "late")
    edit_campaign(round_1, changes={"status": "open"}, actor=None)
    assert served(round_1, "ana").state == "open"
    assert not what_is_wrong()
