"""The most useful replies first: at every door the same, with chances that estimates use."""

from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotations_app.agreement.measure import measure_agreement
from annotations_app.campaigns.add_replies import add_replies
from annotations_app.domain.agreement.agreement_text import say_agreement_plan
from annotations_app.estimates.measure import estimate_quality
from annotations_app.estimates.order_replies import order_replies
from annotations_app.judges.judges import get_judge
from annotations_app.judges.measure import measure_judge
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Assignment, Campaign, JudgeRun, Verdict
from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent
from tests.api.calls import Caller, make_user
from tests.campaigns import find_inconsistencies, get_user, make_campaign, make_replies, submit
from tests.everything import make_user_with

pytestmark = pytest.mark.django_db
FIRST = 40


def off_brand(turn: int) -> bool:
    return turn // 2 % 3 == 0


def label_some(campaign: Campaign, count: int, name: str = "ana") -> list[int]:
    """People find every third reply off-brand; returns the turns in order."""
    turns = []
    for _ in range(count):
        current = lease_next(campaign, get_user(name)).current
        assert current is not None
        turns.append(current.item.turn_id)
        submit(current, label=int(not off_brand(current.item.turn_id)))
    return turns


def give_verdicts(campaign: Campaign) -> JudgeRun:
    """Of a judge that finds every sixth off-brand, so that half of what it passes people fail."""
    judge = get_judge("offline")
    run = JudgeRun.objects.create(campaign=campaign, judge=judge, prompt_digest="0" * 64, persona_digest="")
    turns = campaign.items.values_list("turn_id", flat=True)
    Verdict.objects.bulk_create(
        Verdict(dataset=campaign.dataset, turn_id=turn, run=run, codes={"on_brand": int(turn // 2 % 6 > 0)})
        for turn in turns
    )
    return run


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    made = make_campaign(make_replies(tmp_path, 100, turns=4), "ana", "ben")
    label_some(made, FIRST)
    give_verdicts(made)
    return made


def test_replies_that_judges_may_get_wrong_come_first(campaign: Campaign) -> None:
    before = label_some(campaign, 0)
    assert order_replies(campaign) == 200 - Assignment.objects.filter(campaign=campaign).count()
    campaign.refresh_from_db()
    assert campaign.order == Campaign.Order.USEFUL
    label_some(campaign, 3)  # prefetched before
    asked = label_some(campaign, 40)
    assert not set(asked) & set(before)
    # Some of what the judge passes is wrong, nothing of what it fails; how many are drawn is chance.
    worth = dict(campaign.items.values_list("turn_id", "usefulness"))
    failed = [value for turn, value in worth.items() if turn // 2 % 6 == 0]
    assert max(failed) < min(value for turn, value in worth.items() if turn // 2 % 6)
    in_order = list(campaign.items.order_by("position").values_list("turn_id", flat=True))
    assert asked == sorted(asked, key=in_order.index)
    assert find_inconsistencies() == []


def test_rates_weigh_labels_by_their_chance_and_say_so(campaign: Campaign) -> None:
    order_replies(campaign)
    campaign.refresh_from_db()
    label_some(campaign, 60)
    report = estimate_quality(campaign)
    [rate] = report.rates
    share = campaign.annotations.filter(label=1).count() / campaign.annotations.count()
    truth = np.mean([not off_brand(turn) for turn in campaign.items.values_list("turn_id", flat=True)])
    # Which replies are drawn depends on their keys; how often intervals hold is measured by simulations.
    assert rate.people.value is not None
    assert rate.people.standard_error is not None
    assert abs(rate.people.value - truth) < 4 * rate.people.standard_error < 0.2
    assert share != pytest.approx(rate.people.value)
    assert report.notes[0].startswith("The most useful replies come first: each label counts by the recorded")


def test_labels_beyond_a_reply_that_somebody_holds_wait_for_it(campaign: Campaign) -> None:
    order_replies(campaign)
    campaign.refresh_from_db()
    lease_next(campaign, get_user("ben"))
    label_some(campaign, 20)
    assert any("before an earlier one was" in note for note in estimate_quality(campaign).notes)


def test_agreement_and_judges_are_measured_with_the_random_sample_alone(campaign: Campaign) -> None:
    run = JudgeRun.objects.get()
    label_some(campaign, FIRST, "ben")
    order_replies(campaign)
    campaign.refresh_from_db()
    asked = label_some(campaign, 60)
    report = measure_agreement(campaign=campaign)
    assert "only the other" in report.notes[0]
    counted = report.headline.labels
    assert FIRST <= counted < 2 * FIRST + len(asked)
    run.refresh_from_db()
    [criterion] = measure_judge(JudgeRun.objects.get()).criteria
    assert criterion.whole.comparison.n < 60 + FIRST
    assert criterion.whole.comparison.n >= FIRST


def test_a_second_order_keeps_what_was_drawn(campaign: Campaign) -> None:
    order_replies(campaign)
    campaign.refresh_from_db()
    label_some(campaign, 30)
    before = dict(campaign.items.values_list("turn_id", "reached"))
    order_replies(campaign)
    after = dict(campaign.items.values_list("turn_id", "reached"))
    assert all(after[turn] >= before[turn] for turn in before)
    assert dict(campaign.items.values_list("turn_id", "draw"))
    assert AuditEvent.objects.filter(action="order_replies").count() == 2


def test_other_orders_pairs_and_campaigns_without_a_judge_are_refused(tmp_path: Path) -> None:
    data = make_replies(tmp_path, 10)
    by_session = make_campaign(data, "ana", order="session")
    give_verdicts(by_session)
    with pytest.raises(UserError, match="aren't a random sample"):
        order_replies(by_session)
    without = make_campaign(data, "ana", name="round-2")
    with pytest.raises(UserError, match="Run a judge first"):
        order_replies(without)
    with pytest.raises(UserError, match="A new campaign is in random order"):
        make_campaign(data, "ana", name="round-3", order="useful")


def test_a_campaign_of_gold_replies_has_nothing_to_order(campaign: Campaign) -> None:
    """As after the erasure of all others."""
    campaign.items.update(gold=True)
    assert order_replies(campaign) == 0
    campaign.refresh_from_db()
    assert order_replies(campaign) == 0
    assert [rate.people.value for rate in estimate_quality(campaign).rates] == [None]


def test_command_api_and_page_order_the_same(
    campaign: Campaign, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("order_replies", campaign.name)
    assert "left, the most useful first." in capsys.readouterr().out
    with pytest.raises(CommandError, match="There is no campaign"):
        call_command("order_replies", "nothing")
    answer = Caller(make_user("lead"))("POST", f"/campaigns/{campaign.name}/order")
    assert answer.json()["replies"] > 100
    assert Caller(make_user("annotator", name="x"))(
        "POST", f"/campaigns/{campaign.name}/order"
    ).status_code in (
        403,
        404,
    )
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    quality = client.get(reverse("admin:annotations_app_campaign_quality", args=[campaign.pk]))
    address = reverse("admin:annotations_app_campaign_order", args=[campaign.pk])
    assert address in quality.content.decode()
    assert client.post(address).status_code == 302
    campaign.refresh_from_db()
    with pytest.raises(UserError, match="recorded chances"):
        add_replies(campaign, list(campaign.dataset.sessions.values_list("pk", flat=True)[:1]))


def test_a_plan_of_agreement_is_the_same_at_every_door(
    tmp_path: Path, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = make_campaign(make_replies(tmp_path, 40), "ana", "ben", overlap=2)
    label_some(campaign, 20)
    for number in range(20):
        current = lease_next(campaign, get_user("ben")).current
        assert current is not None
        submit(current, label=int(not off_brand(current.item.turn_id)) ^ (number % 5 == 0))
    plan = measure_agreement(campaign=campaign, width=0.5).plan
    assert plan is not None  # what it says depends on which replies were drawn, which depends on their keys
    call_command("agreement", campaign=campaign.name, plan=0.5)
    sentence = say_agreement_plan(plan)
    assert sentence in capsys.readouterr().out
    answer = Caller(make_user("lead"))("GET", f"/campaigns/{campaign.name}/agreement?width=0.5")
    assert answer.json()["report"]["plan"]["more"] == plan.more
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    page = client.get(reverse("admin:annotations_app_campaign_measured", args=[campaign.pk]) + "?width=0.5")
    assert sentence[3:] in page.content.decode()
    with pytest.raises(UserError, match="from 0.01 to 1"):
        measure_agreement(campaign=campaign, width=0)
