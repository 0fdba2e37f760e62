"""The rate of on-brand replies, or of any answer, from the labels of a campaign: at every door the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotations_app.criteria.schemas import import_schema
from annotations_app.domain.estimates.quality import explain_rate, format_quality
from annotations_app.domain.to_json import to_json
from annotations_app.estimates.measure import estimate_quality
from annotations_app.judges.judges import get_judge
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Annotation, Campaign, Judge, JudgeRun, Verdict
from datasets_app.core.errors import UserError
from tests.api.calls import Caller, make_user
from tests.campaigns import get_user, make_campaign, make_replies, submit
from tests.everything import make_user_with

pytestmark = pytest.mark.django_db

SCHEMA = """\
schema: mixed
criteria:
  - {key: safe, question: Is it safe?, kind: yes_no}
  - {key: faults, question: Faults?, kind: tags, answers: [facts, length]}
  - {key: why, question: Why?, kind: text, optional: true}
"""


def label_some(campaign: Campaign, name: str, count: int, **options: Any) -> None:
    """Every fourth label is off-brand, or unsafe with a fault of facts."""
    for number in range(count):
        current = lease_next(campaign, get_user(name)).current
        assert current is not None
        good = number % 4 > 0
        if campaign.schema:
            options = {"label": None, "answers": {"safe": int(good), "faults": [] if good else ["facts"]}}
        else:
            options = {"label": int(good)}
        submit(current, **options)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    made = make_campaign(make_replies(tmp_path, 60, turns=4), "ana")
    label_some(made, "ana", 40)
    return made


def test_the_rate_is_the_mean_of_the_labels_with_an_interval(campaign: Campaign) -> None:
    report = estimate_quality(campaign)
    [rate] = report.rates
    assert (report.replies, rate.answer, rate.people.labels) == (120, "On-brand", 40)
    assert rate.people.value == pytest.approx(0.75)
    assert rate.people.low is not None
    assert rate.people_any_time.low is not None
    assert rate.people_any_time.low < rate.people.low < 0.75
    assert "75.0 % of replies, between" in explain_rate(rate)


def test_two_labels_of_one_reply_count_as_one_reply(tmp_path: Path) -> None:
    campaign = make_campaign(make_replies(tmp_path, 20), "ana", "ben", overlap=2)
    label_some(campaign, "ana", 20)
    label_some(campaign, "ben", 20)
    [rate] = estimate_quality(campaign).rates
    assert rate.people.labels == 20
    assert rate.people.value == pytest.approx(Annotation.objects.filter(label=1).count() / 40)


def test_each_answer_of_a_schema_has_a_rate_and_texts_have_none(tmp_path: Path) -> None:
    schema = import_schema(SCHEMA).schema
    campaign = make_campaign(make_replies(tmp_path, 40), "ana", schema=schema)
    label_some(campaign, "ana", 20)
    rates = {(rate.criterion, rate.answer): rate.people.value for rate in estimate_quality(campaign).rates}
    assert rates == {
        ("safe", "Yes"): pytest.approx(0.75),
        ("faults", "Facts"): pytest.approx(0.25),
        ("faults", "Length"): 0.0,
    }


def test_labels_of_the_most_disputed_replies_have_no_interval(tmp_path: Path) -> None:
    campaign = make_campaign(make_replies(tmp_path, 30), "ana", order="disputed")
    label_some(campaign, "ana", 20)
    [rate] = estimate_quality(campaign).rates
    assert rate.people.low is None
    assert "no random sample" in explain_rate(rate)
    assert explain_rate(rate).endswith("in random order.")


def test_replies_that_were_skipped_are_counted(campaign: Campaign) -> None:
    current = lease_next(campaign, get_user("ana")).current
    assert current is not None
    submit(current, kind="skip", label=None)
    assert estimate_quality(campaign).notes == (
        "1 reply was skipped or flagged by everybody who saw them: not in the rates.",
    )


def test_a_plan_says_how_many_more_labels_are_needed(campaign: Campaign) -> None:
    wide, narrow = (estimate_quality(campaign, width=width).rates[0].plan for width in (0.22, 0.01))
    assert wide is not None
    assert narrow is not None
    assert wide.more is not None
    assert 0 < wide.more < 80
    assert narrow.labels is None
    with pytest.raises(UserError, match=r"from 0\.1 to 100 points"):
        estimate_quality(campaign, width=8)


def give_verdicts(campaign: Campaign, failed: int = 0) -> Judge:
    """As a judge that says of each reply what most labels of it would, but for every ninth."""
    judge = get_judge("offline")
    run = JudgeRun.objects.create(campaign=campaign, judge=judge, prompt_digest="0" * 64, persona_digest="")
    labels = dict(campaign.annotations.values_list("turn_id", "label"))
    turns = campaign.items.order_by("position").values_list("turn_id", flat=True)
    Verdict.objects.bulk_create(
        Verdict(
            dataset=campaign.dataset,
            turn_id=turn,
            run=run,
            codes={}
            if number < failed
            else {"on_brand": int(labels.get(turn, number % 4 > 0) ^ (number % 9 == 0))},
            failure="refused" if number < failed else "",
        )
        for number, turn in enumerate(turns)
    )
    return judge


def test_a_judge_shortens_the_interval_and_says_what_it_is_worth(campaign: Campaign) -> None:
    give_verdicts(campaign, failed=6)
    report = estimate_quality(campaign)
    [rate] = report.rates
    assert report.judges == ("offline@1",)
    assert rate.judges is not None
    assert rate.judges.low is not None
    assert rate.people.low is not None
    assert rate.judges.standard_error < rate.people.standard_error  # type: ignore[operator]
    assert rate.judges.gain > 0
    assert "the judges are worth" in explain_rate(rate)
    assert report.notes == ("offline@1: 6 replies (5.0 %) not judged; they count as neither answer.",)


def test_a_judge_that_judged_nothing_here_is_refused_by_name(campaign: Campaign) -> None:
    give_verdicts(campaign)
    assert estimate_quality(campaign, judges=["offline@1"]).judges == ("offline@1",)
    for name in ("other", "offline@2", "offline@x"):
        with pytest.raises(UserError, match="has judged no reply of round-1"):
            estimate_quality(campaign, judges=[name])


def test_command_api_and_page_say_the_same(
    campaign: Campaign, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    give_verdicts(campaign)
    report = estimate_quality(campaign, width=0.2)
    call_command("estimate_quality", campaign=campaign.name, plan=20, format="json")
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(to_json(report)))
    call_command("estimate_quality", campaign=campaign.name, plan=20)
    assert capsys.readouterr().out == format_quality(report)

    call = Caller(make_user("lead"))
    answer = call("GET", f"/campaigns/{campaign.name}/quality?width=0.2")
    assert answer.json() == json.loads(json.dumps(to_json(report)))
    assert call("GET", f"/campaigns/{campaign.name}/quality?width=20").status_code == 422

    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    page = client.get(reverse("admin:annotations_app_campaign_quality", args=[campaign.pk]))
    assert explain_rate(report.rates[0]) in page.content.decode()


def test_without_labels_the_command_says_so(tmp_path: Path) -> None:
    campaign = make_campaign(make_replies(tmp_path, 3), "ana")
    with pytest.raises(CommandError, match="There are no labels in round-1"):
        call_command("estimate_quality", campaign=campaign.name)
