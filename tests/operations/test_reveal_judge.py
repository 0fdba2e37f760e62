"""A judge's verdict is known after the commitment only; what people do with it is counted."""

from pathlib import Path

import pytest

from annotations_app.judges.judge_rows import read_people
from annotations_app.judges.judges import get_judge
from annotations_app.judges.reveal import measure_following, reveal_judge
from annotations_app.judges.run_judge import run_judge
from annotations_app.labeling.progress import recent_decisions
from annotations_app.labeling.requeue_stale import requeue_replies
from annotations_app.labeling.reveal import list_revealed
from annotations_app.models import Annotation, Campaign, Decision, Verdict
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.models import AuditEvent
from tests.campaigns import get_user, label_all_replies, lease_for, make_campaign, make_replies, submit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """The judge finds every reply on-brand."""
    campaign = make_campaign(make_replies(tmp_path, 8), "ana")
    run_judge(campaign, get_judge("offline"))
    reveal_judge(campaign, get_judge("offline"), actor=None)
    return Campaign.objects.get(pk=campaign.pk)


def test_both_labels_are_kept_and_following_is_counted(campaign: Campaign) -> None:
    decided = []
    for label in (0, 0, 0, 1, 1):
        current = lease_for(campaign, "ana").current
        assert current is not None
        assert list_revealed(campaign, [current]) == {}
        submit(current, label=label)
        decided.append(current)
    submit(decided[0], label=1)  # takes the verdict over
    submit(decided[3], label=0)  # and this one leaves it
    shown = list_revealed(campaign, recent_decisions(campaign, get_user("ana")))
    assert {one.answer for one in shown.values()} == {"On-brand"}
    assert {one.judge for one in shown.values()} == {"offline 1"}
    assert len(shown) == 5
    [following] = measure_following(campaign)
    assert following == ("on_brand", 2, 1, 3, 1)
    assert following.share == pytest.approx(1 / 3)
    first = Decision.objects.filter(assignment=decided[0]).order_by("pk").first()
    assert first is not None
    assert (first.label, first.revealed) == (0, {"on_brand": 1})
    assert Annotation.objects.get(assignment=decided[0].pk).label == 1
    assert AuditEvent.objects.filter(action="reveal_judge").count() == 1


def test_what_is_not_judged_or_skipped_reveals_nothing(campaign: Campaign) -> None:
    current = lease_for(campaign, "ana").current
    assert current is not None
    Verdict.objects.filter(turn_id=current.item.turn_id).update(failure="no answer in time", codes={})
    submit(current)
    following = lease_for(campaign, "ana").current
    assert following is not None
    submit(following, kind="skip", label=None)
    assert not Decision.objects.filter(revealed__isnull=False).exists()
    assert measure_following(campaign) == []


def test_hidden_repeats_and_a_judge_in_the_open_exclude_each_other(tmp_path: Path) -> None:
    campaign = make_campaign(make_replies(tmp_path, 8), "ana", repeat_share=0.2)
    with pytest.raises(UserError, match="hidden repeats"):
        reveal_judge(campaign, get_judge("offline"), actor=None)


def test_after_a_requeue_the_new_decision_is_the_first(campaign: Campaign) -> None:
    """What was said of a reply before it was asked again counts neither for judges nor as followed."""
    current = lease_for(campaign, "ana").current
    assert current is not None
    submit(current, label=0)
    turn = current.item.turn_id
    assert requeue_replies(campaign, [turn], actor=None) == 1
    # Nothing new has been said: the label that stays would be measured by what came before it was shown.
    assert measure_following(campaign) == [("on_brand", 0, 0, 1, 0)]
    assert turn in [one.item.turn_id for one in label_all_replies(campaign, "ana", label=1)]
    turns, said = read_people(campaign, ON_BRAND)
    assert said[turns == turn].tolist() == [1]
    assert measure_following(campaign) == [("on_brand", 8, 0, 0, 0)]
